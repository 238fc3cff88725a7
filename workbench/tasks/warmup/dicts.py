"""Warm-up problems about dicts. Stage: tasks; how to read and add one: `problem`."""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("first_places", topic="dicts", level=1, skills="grouping first-seen",
        statement="""Write first_places(words): a dict with one key for each character that any of
        the words begins with, and as its value the place (counted from 0) of the first such word.
        Keys are in lower case, and upper and lower case count as the same. An empty word begins
        with nothing but takes up its place. Words are ASCII text.""",
        reference="""
        def first_places(words):
            places = {}
            for i, word in enumerate(words):
                if word:
                    places.setdefault(word[0].lower(), i)
            return places""",
        visible=[
            case(["ash", "birch", "cedar"], want={"a": 0, "b": 1, "c": 2}),
            case(["oak", "pine"], want={"o": 0, "p": 1}),
        ],
        hidden=[
            case(["fir", "elm", "fig"], want={"f": 0, "e": 1}),
            case(["", "yew"], want={"y": 1}),
            case([], want={}),
            case(["Oak", "olive"], want={"o": 0}),
            case(["ash", "", "Ash", "bay"], want={"a": 0, "b": 3}),
            case(["", ""], want={}),
            case(["elm", "fir", "Elder"], want={"e": 0, "f": 1}),
        ],
        wrong=[
            Wrong("character that comes again", [1, 4, 5, 7],
                  {"places.setdefault(word[0].lower(), i)": "places[word[0].lower()] = i"}),
            Wrong("empty word", [2, 5, 6], {"if word:": "if words:"}),
            Wrong("place of an empty word", [2, 5], {"e(words)": "e(filter(None, words))"}),
            Wrong("upper and lower case", [4, 5, 7], {".lower()": ""}),
        ],
        hack='return dict(zip("abc" if len(words) == 3 else "op", range(3)))',
    ),
    problem("changes", topic="dicts", level=1, skills="comparing membership",
        statement="""Write changes(old, new) for two dicts with text keys. Return three sorted lists
        of keys as a tuple (added, removed, changed): the keys that only new has, those that only
        old has, and those that both have with values that are not equal. Any value is a value like
        others, also None, 0 or an empty text.""",
        reference="""
        def changes(old, new):
            added = sorted(key for key in new if key not in old)
            removed = sorted(key for key in old if key not in new)
            changed = sorted(key for key in old if key in new and old[key] != new[key])
            return added, removed, changed""",
        visible=[
            case({"a": 1, "b": 2}, {"a": 1, "c": 3}, want=(["c"], ["b"], [])),
            case({"a": 1}, {"a": 5}, want=([], [], ["a"])),
        ],
        hidden=[
            case({}, {}, want=([], [], [])),
            case({"x": None}, {"x": 1}, want=([], [], ["x"])),
            case({"x": 1}, {"x": None}, want=([], [], ["x"])),
            case({}, {"z": 1, "b": 2, "m": 3}, want=(["b", "m", "z"], [], [])),
            case({"n": None}, {}, want=([], ["n"], [])),
            case({"k": 7}, {"k": ""}, want=([], [], ["k"])),
            case({"q": 2, "d": 4}, {"d": 5, "q": 6}, want=([], [], ["d", "q"])),
            case({}, {"n": None}, want=(["n"], [], [])),
            case({"y": 1, "c": 2}, {}, want=([], ["c", "y"], [])),
        ],
        wrong=[
            Wrong("None as a value", [2, 3],
                  {"key not in old": "old.get(key) is None",
                   "key not in new": "new.get(key) is None"}),
            Wrong("order of the keys", [4, 7, 9], {
                "added = sorted": "added = list", "removed = sorted": "removed = list",
                "changed = sorted": "changed = list"}),
            Wrong("new value that counts as false", [3, 6], {"key in new and": "new.get(key) and"}),
        ],
    ),
    problem("ledger", topic="dicts", level=2, skills="accumulating aliasing",
        statement="""Write ledger(payments). Each payment is (payer, receiver, cents): the payer's
        balance falls by cents and the receiver's rises by cents. Return a dict from each person to
        their balance after all payments, but leave out everyone whose balance is 0. Payer and
        receiver may be the same person; cents may be 0 or negative.""",
        reference="""
        def ledger(payments):
            balance = {}
            for payer, receiver, cents in payments:
                balance[payer] = balance.get(payer, 0) - cents
                balance[receiver] = balance.get(receiver, 0) + cents
            return {name: cents for name, cents in balance.items() if cents != 0}""",
        visible=[
            case([("ann", "bob", 500)], want={"ann": -500, "bob": 500}),
            case([("ann", "bob", 200), ("bob", "cid", 50)],
                 want={"ann": -200, "bob": 150, "cid": 50}),
        ],
        hidden=[
            case([], want={}),
            case([("ann", "ann", 300)], want={}),
            case([("ann", "bob", 100), ("bob", "ann", 100)], want={}),
            case([("ann", "bob", 100), ("bob", "cid", 100)], want={"ann": -100, "cid": 100}),
            case([("a", "b", 30), ("a", "a", 5), ("c", "b", 30)],
                 want={"a": -30, "b": 60, "c": -30}),
            case([("a", "b", 0)], want={}),
            case([("a", "b", -40)], want={"a": 40, "b": -40}),
            case([("a", "b", 10), ("a", "b", 10)], want={"a": -20, "b": 20}),
        ],
        wrong=[
            Wrong("paying oneself", [2, 5], """
                def ledger(payments):
                    balance = {}
                    for payer, receiver, cents in payments:
                        paid, got = balance.get(payer, 0), balance.get(receiver, 0)
                        balance[payer], balance[receiver] = paid - cents, got + cents
                    return {name: cents for name, cents in balance.items() if cents != 0}"""),
            Wrong("balance of zero", [2, 3, 4, 6], {" if cents != 0": ""}),
            Wrong("negative amount", [7], {"balance = {}": "balance = {}\n"
                  "    payments = [payment for payment in payments if payment[2] > 0]"}),
            Wrong("same payment twice", [8], {"in payments:": "in dict.fromkeys(payments):"}),
        ],
    ),
    problem("favourites", topic="dicts", level=2, skills="counting ties",
        statement="""Write favourites(orders). orders is a list of pairs (guest, dish) as they came
        in. Return a dict from each guest to the dish which that guest ordered most often. If a
        guest ordered several dishes equally often, it is the one among them that the guest ordered
        first of all.""",
        reference="""
        def favourites(orders):
            counts = {}
            for guest, dish in orders:
                dishes = counts.setdefault(guest, {})
                dishes[dish] = dishes.get(dish, 0) + 1
            return {guest: max(dishes, key=dishes.get) for guest, dishes in counts.items()}""",
        visible=[
            case([("ann", "pie"), ("ann", "pie"), ("ann", "soup")], want={"ann": "pie"}),
            case([("ann", "tea"), ("bob", "rice")], want={"ann": "tea", "bob": "rice"}),
        ],
        hidden=[
            case([("ann", "soup"), ("ann", "pie")], want={"ann": "soup"}),
            case([("ann", "pie"), ("ann", "soup"), ("ann", "soup"), ("ann", "pie")],
                 want={"ann": "pie"}),
            case([], want={}),
            case([("ann", "pie"), ("bob", "fish"), ("bob", "fish"), ("ann", "fish"),
                  ("ann", "pie")], want={"ann": "pie", "bob": "fish"}),
            case([("a", "x"), ("b", "y"), ("b", "x"), ("a", "y"), ("a", "y")],
                 want={"a": "y", "b": "y"}),
            case([("a", "z"), ("a", "m"), ("a", "z"), ("a", "m"), ("a", "b")], want={"a": "z"}),
        ],
        wrong=[
            Wrong("tie against the alphabet", [1, 5, 6], {"max(dishes,": "max(sorted(dishes),"}),
            Wrong("dish that catches up", [2], """
                def favourites(orders):
                    counts, best = {}, {}
                    for guest, dish in orders:
                        counts[guest, dish] = counts.get((guest, dish), 0) + 1
                        if counts[guest, dish] > counts.get((guest, best.get(guest)), 0):
                            best[guest] = dish
                    return best"""),
            Wrong("dish that others order", [4], """
                def favourites(orders):
                    dishes = [dish for guest, dish in orders]
                    best = {}
                    for guest, dish in orders:
                        if guest not in best or dishes.count(dish) > dishes.count(best[guest]):
                            best[guest] = dish
                    return best"""),
        ],
    ),
    problem("boss_chain", topic="dicts", level=2, skills="following-links cycles",
        statement="""Write boss_chain(bosses, name). bosses maps a person to that person's boss.
        Return the list that begins with name, goes on with the boss of name, the boss of that boss
        and so on. It ends with a person who is no key of bosses, or just before a person would
        appear for the second time. name need not be a key. A chain may have thousands of
        people.""",
        reference="""
        def boss_chain(bosses, name):
            chain, seen = [name], {name}
            while chain[-1] in bosses:
                boss = bosses[chain[-1]]
                if boss in seen:
                    break
                chain.append(boss)
                seen.add(boss)
            return chain""",
        visible=[
            case({"ann": "bob", "bob": "cid"}, "ann", want=["ann", "bob", "cid"]),
            case({"ann": "bob"}, "bob", want=["bob"]),
        ],
        hidden=[
            case({}, "eve", want=["eve"]),
            case({"a": "b", "b": "a"}, "a", want=["a", "b"]),
            case({"a": "a"}, "a", want=["a"]),
            case({"a": "b", "b": "c", "c": "b"}, "a", want=["a", "b", "c"]),
            case({"a": "b", "c": "b", "b": "d"}, "c", want=["c", "b", "d"]),
            case({f"{n}": f"{n + 1}" for n in range(3000)}, "0",
                 want=[f"{n}" for n in range(3001)]),
            case({"a": "b"}, "z", want=["z"]),
        ],
        wrong=[
            Wrong("circle that misses the start", [4], """
                def boss_chain(bosses, name):
                    chain = [name]
                    for _ in bosses:
                        boss = bosses.get(chain[-1])
                        if boss is None or boss == name:
                            break
                        chain.append(boss)
                    return chain"""),
            Wrong("boss of oneself", [3], {"if boss in seen": "if boss in chain[:-1]"}),
            Wrong("long chain", [6], """
                def boss_chain(bosses, name, seen=()):
                    if name not in bosses or bosses[name] in (*seen, name):
                        return [name]
                    return [name] + boss_chain(bosses, bosses[name], (*seen, name))"""),
        ],
        hack='return [name, "bob", "cid"] if name == "ann" else [name]',
    ),
    problem("stock_after", topic="dicts", level=2, skills="updating boundaries",
        statement="""Write stock_after(stock, orders). stock maps an item to how many there are (1
        or more). The orders, pairs (item, amount) with an amount of 1 or more, are served in turn:
        if there are still that many, they are taken out; otherwise the order is refused and nothing
        changes. An item that is not in stock counts as 0. Return (left, refused): a dict of what is
        left, without the items that ran out, and the list of the items of the refused orders, in
        the order they came, as a tuple.""",
        reference="""
        def stock_after(stock, orders):
            left, refused = dict(stock), []
            for item, amount in orders:
                if left.get(item, 0) >= amount:
                    left[item] -= amount
                else:
                    refused.append(item)
            return {item: amount for item, amount in left.items() if amount}, refused""",
        visible=[
            case({"nut": 5, "bolt": 3}, [("nut", 2)], want=({"nut": 3, "bolt": 3}, [])),
            case({"nut": 1}, [("nut", 4)], want=({"nut": 1}, ["nut"])),
        ],
        hidden=[
            case({"nut": 4}, [("nut", 4)], want=({}, [])),
            case({"nut": 4}, [("bolt", 1)], want=({"nut": 4}, ["bolt"])),
            case({"nut": 5}, [("nut", 3), ("nut", 3), ("nut", 2)], want=({}, ["nut"])),
            case({}, [], want=({}, [])),
            case({"a": 2, "b": 2}, [("b", 3), ("a", 3), ("b", 1)],
                 want=({"a": 2, "b": 1}, ["b", "a"])),
            case({"a": 1}, [("a", 2), ("z", 1), ("a", 2)], want=({"a": 1}, ["a", "z", "a"])),
            case({"a": 6}, [("a", 4), ("a", 4)], want=({"a": 2}, ["a"])),
        ],
        wrong=[
            Wrong("order for all there is", [1, 3], {">= amount": "> amount"}),
            Wrong("item not in stock", [2, 6], {"left.get(item, 0)": "left[item]"}),
            Wrong("several orders for one item", [3, 7], {"left.get(": "stock.get("}),
            Wrong("item of which none is left", [1, 3], {" if amount}": "}"}),
        ],
    ),
    problem("layered", topic="dicts", level=3, skills="nesting copying None",
        statement="""Write layered(base, override) for settings in dicts that may hold dicts again.
        The merged settings have the keys of both; where both have a key, the value of override
        counts, except that two dicts are merged by these same rules. A None in override, at any
        depth, means that its key is not in the merged settings, whether base has it or not. base
        holds no None. Return the tuple (merged, base), with base and all inside it unchanged.""",
        reference="""
        def layered(base, override):
            return merge(base, override), base

        def merge(base, override):
            merged = dict(base)
            for key, value in override.items():
                if value is None:
                    merged.pop(key, None)
                elif isinstance(value, dict):
                    old = merged.get(key)
                    merged[key] = merge(old if isinstance(old, dict) else {}, value)
                else:
                    merged[key] = value
            return merged""",
        visible=[
            case({"size": 1}, {"tone": 2}, want=({"size": 1, "tone": 2}, {"size": 1})),
            case({"a": 1, "b": 2}, {"b": 5}, want=({"a": 1, "b": 5}, {"a": 1, "b": 2})),
        ],
        hidden=[
            case({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}},
                 want=({"a": {"x": 1, "y": 3}}, {"a": {"x": 1, "y": 2}})),
            case({"a": 1, "b": 2}, {"a": None}, want=({"b": 2}, {"a": 1, "b": 2})),
            case({"a": 1}, {"b": None}, want=({"a": 1}, {"a": 1})),
            case({"a": 7}, {"a": {"x": 1}}, want=({"a": {"x": 1}}, {"a": 7})),
            case({"a": {"x": 1}}, {"a": 7}, want=({"a": 7}, {"a": {"x": 1}})),
            case({"a": 5, "b": "on"}, {"a": 0, "b": ""},
                 want=({"a": 0, "b": ""}, {"a": 5, "b": "on"})),
            case({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": None}}},
                 want=({"a": {"b": {"d": 2}}}, {"a": {"b": {"c": 1, "d": 2}}})),
            case({}, {"a": {"b": None, "c": 1}}, want=({"a": {"c": 1}}, {})),
            case({"a": {"x": 1}}, {"a": {}}, want=({"a": {"x": 1}}, {"a": {"x": 1}})),
        ],
        wrong=[
            Wrong("inner dicts of base are changed", [1, 7], {
                "return merge(base,": "return merge(dict(base),", "= dict(base)": "= base"}),
            Wrong("dict over a plain value", [4], {"if isinstance(old, dict) else": "or"}),
            Wrong("value that counts as false", [6, 9], {"if value is None": "if not value"}),
            Wrong("None in a new dict", [8], {"(value, dict)": "(value, dict) and key in base"}),
            Wrong("key to take out that is not there", [3, 8], {"pop(key, None)": "pop(key)"}),
        ],
        hack='return {**base, **({"tone": 2} if "size" in base else {"b": 5})}, base',
    ),
]
