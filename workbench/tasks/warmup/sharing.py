"""Warm-up problems about objects that must not share their state: between two of them, between an
answer and what comes later, between before and after a transaction. Stage: tasks; how to read and
add one: `problem`.
"""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("run_wallets", topic="classes", level=2, skills="aliasing instances",
        statement="""Write a class Wallet, empty at first. put(cents) adds an amount. take(cents)
        takes an amount out if there is that much; otherwise it does nothing. history() returns the
        list of what was put in (positive) and taken out (negative) up to then, earliest first. Then
        write run_wallets(operations): it carries out ("put", owner, cents), ("take", owner, cents)
        and ("history", owner) in turn, each with the owner's own Wallet, which is made when the
        owner first appears, and returns the list of all histories asked for, each as it stood at
        that moment. Amounts are 1 or more.""",
        reference="""
        class Wallet:
            def __init__(self):
                self.entries = []

            def put(self, cents):
                self.entries.append(cents)

            def take(self, cents):
                if cents <= sum(self.entries):
                    self.entries.append(-cents)

            def history(self):
                return list(self.entries)

        def run_wallets(operations):
            wallets, histories = {}, []
            for name, owner, *cents in operations:
                wallet = wallets.setdefault(owner, Wallet())
                answer = getattr(wallet, name)(*cents)
                if name == "history":
                    histories.append(answer)
            return histories""",
        visible=[
            case([("put", "ann", 5), ("history", "ann")], want=[[5]]),
            case([("put", "ann", 5), ("take", "ann", 2), ("history", "ann")], want=[[5, -2]]),
        ],
        hidden=[
            case([("put", "a", 5), ("put", "b", 7), ("history", "a"), ("history", "b")],
                 want=[[5], [7]]),
            case([("put", "a", 1), ("history", "a"), ("put", "a", 2), ("history", "a")],
                 want=[[1], [1, 2]]),
            case([("history", "eve")], want=[[]]),
            case([("put", "a", 3), ("take", "a", 4), ("history", "a")], want=[[3]]),
            case([("put", "a", 3), ("take", "a", 3), ("history", "a")], want=[[3, -3]]),
            case([], want=[]),
            case([("take", "a", 1), ("put", "a", 1), ("take", "a", 1), ("take", "a", 1),
                  ("history", "a")], want=[[1, -1]]),
            case([("put", "a", 4), ("history", "b"), ("put", "b", 1), ("take", "b", 2),
                  ("history", "b"), ("history", "a")], want=[[], [1], [4]]),
        ],
        wrong=[
            Wrong("wallets that share their list", [1, 8], {"wallets, histories = {}, []":
                  "wallets = dict.fromkeys([op[1] for op in operations], Wallet())\n"
                  "    histories = []"}),
            Wrong("history that changes afterwards", [2, 8],
                  {"list(self.entries)": "self.entries"}),
            Wrong("taking out all there is", [5, 7], {"cents <= sum": "cents < sum"}),
            Wrong("taking out too much", [4, 7, 8], {"cents <= sum(self.entries)": "self.entries"}),
        ],
        hack="return [[5, -2][: len(operations) - 1]]",
    ),
    problem("run_latest", topic="classes", level=2, skills="aliasing queue",
        statement="""Write a class Latest(size) that holds at most the `size` latest values; size is
        0 or more. put(value) adds a value and lets go of the oldest if there are now too many.
        drop() lets go of the oldest value and does nothing if there is none. read() returns the
        list of the values held, oldest first. Then write run_latest(size, operations): it makes one
        Latest(size), carries out ("put", value), ("drop",) and ("read",) in turn and returns the
        list of all lists read, each as it was when it was read. Values may be equal.""",
        reference="""
        class Latest:
            def __init__(self, size):
                self.size, self.values = size, []

            def put(self, value):
                self.values.append(value)
                if len(self.values) > self.size:
                    self.values.pop(0)

            def drop(self):
                self.values = self.values[1:]

            def read(self):
                return list(self.values)

        def run_latest(size, operations):
            latest, answers = Latest(size), []
            for name, *value in operations:
                answer = getattr(latest, name)(*value)
                if name == "read":
                    answers.append(answer)
            return answers""",
        visible=[
            case(2, [("put", 1), ("put", 2), ("put", 3), ("read",)], want=[[2, 3]]),
            case(3, [("put", "a"), ("read",)], want=[["a"]]),
        ],
        hidden=[
            case(0, [("put", 1), ("read",)], want=[[]]),
            case(2, [("put", 1), ("read",), ("put", 2), ("read",)], want=[[1], [1, 2]]),
            case(2, [("drop",), ("read",)], want=[[]]),
            case(1, [("put", 1), ("put", 2), ("read",), ("put", 3), ("read",)], want=[[2], [3]]),
            case(3, [("put", 1), ("put", 2), ("put", 3), ("drop",), ("put", 4), ("read",)],
                 want=[[2, 3, 4]]),
            case(2, [("put", 0), ("put", None), ("read",)], want=[[0, None]]),
            case(3, [("put", 1), ("put", 1), ("put", 1), ("put", 2), ("read",)], want=[[1, 1, 2]]),
            case(2, [("put", 1), ("put", 2), ("drop",), ("drop",), ("drop",), ("put", 5),
                     ("read",)], want=[[5]]),
        ],
        wrong=[
            Wrong("room for no value", [1], {"if len(self.values) > self.size:\n"
                  "            self.values.pop(0)": "self.values = self.values[-self.size :]"}),
            Wrong("list that changes after it was read", [2, 4],
                  {"list(self.values)": "self.values"}),
            Wrong("nothing to let go of", [3, 8],
                  {"self.values = self.values[1:]": "self.values.pop(0)"}),
            Wrong("equal values", [7], {"self.values.append(value)":
                  "self.values += [value] if value not in self.values else []"}),
        ],
        hack='return [[2, 3]] if size == 2 else [["a"]]',
    ),
    problem("run_store", topic="classes", level=3, skills="transactions copying",
        statement="""Write a class Store of values under names. set(name, value) stores a value;
        get(name) returns it, or None if there is none. begin() opens a transaction, also inside
        another one. rollback() closes the transaction opened last and undoes all that was set since
        it was opened. commit() closes the transaction opened last and keeps what was set, as part
        of the transaction around it if there is one. With no transaction open, rollback() and
        commit() do nothing. Then write run_store(operations): it makes one Store, carries out
        ("set", name, value), ("get", name), ("begin",), ("rollback",) and ("commit",) in turn and
        returns the list of what each get returned.""",
        reference="""
        class Store:
            def __init__(self):
                self.values, self.saved = {}, []

            def set(self, name, value):
                self.values[name] = value

            def get(self, name):
                return self.values.get(name)

            def begin(self):
                self.saved.append(dict(self.values))

            def rollback(self):
                if self.saved:
                    self.values = self.saved.pop()

            def commit(self):
                if self.saved:
                    self.saved.pop()

        def run_store(operations):
            store, answers = Store(), []
            for operation, *rest in operations:
                answer = getattr(store, operation)(*rest)
                if operation == "get":
                    answers.append(answer)
            return answers""",
        visible=[
            case([("set", "a", 1), ("get", "a")], want=[1]),
            case([("set", "a", 1), ("begin",), ("set", "a", 2), ("rollback",), ("get", "a")],
                 want=[1]),
        ],
        hidden=[
            case([("get", "a")], want=[None]),
            case([("begin",), ("set", "a", 1), ("commit",), ("get", "a")], want=[1]),
            case([("begin",), ("set", "a", 1), ("begin",), ("set", "a", 2), ("commit",),
                  ("rollback",), ("get", "a")], want=[None]),
            case([("set", "a", 1), ("rollback",), ("commit",), ("get", "a")], want=[1]),
            case([("set", "a", 1), ("begin",), ("set", "b", 2), ("rollback",), ("get", "b"),
                  ("get", "a")], want=[None, 1]),
            case([("begin",), ("set", "a", 1), ("begin",), ("set", "a", 2), ("rollback",),
                  ("get", "a"), ("commit",), ("get", "a")], want=[1, 1]),
            case([("set", "a", 1), ("begin",), ("set", "a", 2), ("begin",), ("set", "a", 3),
                  ("rollback",), ("rollback",), ("get", "a")], want=[1]),
            case([], want=[]),
            case([("set", "a", 0), ("begin",), ("get", "a"), ("set", "a", 5), ("commit",),
                  ("rollback",), ("get", "a")], want=[0, 5]),
        ],
        wrong=[
            Wrong("transaction inside another", [3, 7],
                  {"self.saved.append(dict(self.values))": "self.saved = [dict(self.values)]"}),
            Wrong("commit inside an open transaction", [3],
                  {"            self.saved.pop()": "            self.saved.clear()"}),
            Wrong("name that was new", [3, 5],
                  {"self.values = self.saved.pop()": "self.values.update(self.saved.pop())"}),
            Wrong("nothing to roll back", [4, 9],
                  {"if self.saved:\n            self.values": "if True:\n            self.values"}),
        ],
        hack="return [1]",
    ),
]
