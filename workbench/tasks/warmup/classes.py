"""Warm-up problems about objects with state. Stage: tasks; how to read and add one: `problem`.

A task is judged by calls of one function, so each asks for a class and for a function that drives
it through a list of operations.
"""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("run_tally", topic="classes", level=1, skills="undo stack",
        statement="""Write a class Tally that begins at 0. add(number) adds a number. undo() takes
        back the latest addition not yet taken back, an addition of 0 included; if there is none, it
        does nothing. total() returns the sum. Then write run_tally(operations): it makes one Tally,
        carries out the operations ("add", number), ("undo",) and ("total",) in turn and returns the
        list of all totals asked for.""",
        reference="""
        class Tally:
            def __init__(self):
                self.added = []

            def add(self, number):
                self.added.append(number)

            def undo(self):
                if self.added:
                    self.added.pop()

            def total(self):
                return sum(self.added)

        def run_tally(operations):
            tally, totals = Tally(), []
            for name, *number in operations:
                answer = getattr(tally, name)(*number)
                if name == "total":
                    totals.append(answer)
            return totals""",
        visible=[
            case([("add", 5), ("add", 2), ("total",)], want=[7]),
            case([("add", 5), ("add", 2), ("undo",), ("total",)], want=[5]),
        ],
        hidden=[
            case([("undo",), ("total",)], want=[0]),
            case([("add", 1), ("add", 2), ("add", 4), ("undo",), ("undo",), ("total",)], want=[1]),
            case([], want=[]),
            case([("add", 3), ("total",), ("undo",), ("total",)], want=[3, 0]),
            case([("add", 3), ("add", 0), ("undo",), ("total",)], want=[3]),
            case([("add", 3), ("undo",), ("undo",), ("add", 2), ("total",)], want=[2]),
            case([("add", -4), ("total",)], want=[-4]),
        ],
        wrong=[
            Wrong("nothing to take back", [1, 6], {
                "if self.added:\n            self.added.pop()": "self.added.pop()"}),
            Wrong("several undos in a row", [2], {
                "self.added.append(number)": "self.added = [sum(self.added), number]",
                "self.added.pop()": "self.added = [sum(self.added[:-1]), 0]"}),
            Wrong("addition of zero", [5], {
                "self.added.append(number)": "self.added += [number] if number else []"}),
            Wrong("total of zero", [1, 4], {'if name == "total"': "if answer"}),
        ],
        hack="return [7] if len(operations) == 3 else [5]",
    ),
    problem("run_gate", topic="classes", level=1, skills="state-machine",
        statement="""Write a class Gate that is locked at first. coin() opens a locked gate and
        returns "open"; if the gate is open already, the coin comes back: it returns "returned" and
        nothing changes. push() at an open gate lets one person through, locks the gate and returns
        "passed"; at a locked gate it returns "locked". Then write run_gate(actions): it makes one
        Gate, for each action in turn, the text "coin" or "push", calls the method of that name, and
        returns the list of what the calls returned.""",
        reference="""
        class Gate:
            def __init__(self):
                self.open = False

            def coin(self):
                if self.open:
                    return "returned"
                self.open = True
                return "open"

            def push(self):
                if not self.open:
                    return "locked"
                self.open = False
                return "passed"

        def run_gate(actions):
            gate = Gate()
            return [getattr(gate, action)() for action in actions]""",
        visible=[
            case(["coin", "push"], want=["open", "passed"]),
            case(["push"], want=["locked"]),
        ],
        hidden=[
            case(["coin", "push", "push"], want=["open", "passed", "locked"]),
            case(["coin", "coin", "push", "push"], want=["open", "returned", "passed", "locked"]),
            case([], want=[]),
            case(["push", "coin", "push"], want=["locked", "open", "passed"]),
            case(["coin", "coin", "coin"], want=["open", "returned", "returned"]),
            case(["coin", "push", "coin", "push"], want=["open", "passed", "open", "passed"]),
        ],
        wrong=[
            Wrong("gate locks after one person", [1, 2, 6],
                  {'self.open = False\n        return "passed"': 'return "passed"'}),
            Wrong("coin that comes back", [2], """
                class Gate:
                    coins = 0

                    def coin(self):
                        self.coins += 1
                        return "open" if self.coins == 1 else "returned"

                    def push(self):
                        if not self.coins:
                            return "locked"
                        self.coins -= 1
                        return "passed"

                def run_gate(actions):
                    gate = Gate()
                    return [getattr(gate, action)() for action in actions]"""),
            Wrong("new gate for every call", [6],
                  {"def run_gate": "GATE = Gate()\n\ndef run_gate", "= Gate()": "= GATE"}),
        ],
        hack='return ["open", "passed"] if len(actions) == 2 else ["locked"]',
    ),
    problem("run_desks", topic="classes", level=2, skills="allocation invariants",
        statement="""Write a class Desks(count) with desks numbered from 1 to count, all free at
        first; count is 0 or more. take() gives out the free desk with the lowest number and returns
        the number, or 0 if no desk is free. leave(desk) makes a desk free again and returns True;
        if that desk is free or does not exist, it changes nothing and returns False. Then write
        run_desks(count, operations): it makes one Desks(count), carries out ("take",) and ("leave",
        desk) in turn and returns the list of all that was returned.""",
        reference="""
        class Desks:
            def __init__(self, count):
                self.count, self.taken = count, set()

            def take(self):
                for desk in range(1, self.count + 1):
                    if desk not in self.taken:
                        self.taken.add(desk)
                        return desk
                return 0

            def leave(self, desk):
                if desk not in self.taken:
                    return False
                self.taken.discard(desk)
                return True

        def run_desks(count, operations):
            desks = Desks(count)
            return [getattr(desks, name)(*desk) for name, *desk in operations]""",
        visible=[
            case(2, [("take",), ("take",)], want=[1, 2]),
            case(3, [("take",), ("leave", 1), ("take",)], want=[1, True, 1]),
        ],
        hidden=[
            case(1, [("take",), ("take",)], want=[1, 0]),
            case(3, [("take",), ("take",), ("take",), ("leave", 1), ("leave", 3), ("take",),
                     ("take",)], want=[1, 2, 3, True, True, 1, 3]),
            case(2, [("leave", 1)], want=[False]),
            case(1, [("take",), ("leave", 1), ("leave", 1), ("take",), ("take",)],
                 want=[1, True, False, 1, 0]),
            case(0, [("take",)], want=[0]),
            case(2, [("leave", 5), ("take",)], want=[False, 1]),
            case(3, [("take",), ("take",), ("leave", 2), ("leave", 1), ("take",)],
                 want=[1, 2, True, True, 1]),
            case(4, [("take",), ("take",), ("leave", 1), ("take",), ("take",)],
                 want=[1, 2, True, 1, 3]),
        ],
        wrong=[
            Wrong("lowest number, not the last one left", [2], """
                class Desks:
                    def __init__(self, count):
                        self.free, self.taken = list(range(count, 0, -1)), set()

                    def take(self):
                        if not self.free:
                            return 0
                        self.taken.add(self.free[-1])
                        return self.free.pop()

                    def leave(self, desk):
                        if desk not in self.taken:
                            return False
                        self.taken.remove(desk)
                        self.free.append(desk)
                        return True

                def run_desks(count, operations):
                    desks = Desks(count)
                    return [getattr(desks, name)(*desk) for name, *desk in operations]"""),
            Wrong("desk that is free already", [3, 4], {
                "if desk not in self.taken:\n            return False":
                "if not 1 <= desk <= self.count:\n            return False"}),
            Wrong("desk that does not exist", [6], {
                "if desk not in self.taken:\n            return False":
                "if desk in range(1, self.count + 1) and desk not in self.taken:\n"
                "            return False"}),
            Wrong("no desk is free", [1, 4, 5], {"return 0": "return None"}),
        ],
        hack="return [1, 2] if count == 2 else [1, True, 1]",
    ),
]
