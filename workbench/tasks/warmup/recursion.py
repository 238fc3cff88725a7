"""Warm-up problems about nesting and search. Stage: tasks; how to read and add one: `problem`."""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("depth", topic="recursion", level=1, skills="nested-lists base-case",
        statement="""Write depth(box): how many lists deep box is. A value that is not a list has
        depth 0, an empty list has depth 1, and any other list has a depth one more than its deepest
        item. Only lists count: not tuples, whatever is in them, and not brackets in a text.""",
        reference="""
        def depth(box):
            if not isinstance(box, list):
                return 0
            return 1 + max((depth(item) for item in box), default=0)""",
        visible=[case([1, 2], want=1), case([[1], 2], want=2)],
        hidden=[
            case([], want=1),
            case([1, [2, [3]]], want=3),
            case(7, want=0),
            case([[], [[]]], want=3),
            case(["[[["], want=1),
            case([1, [2], [[3]], 4], want=3),
            case([("a", ["b"])], want=1),
            case("[]", want=0),
        ],
        wrong=[
            Wrong("empty list", [1, 4],
                  {"max((depth(item) for item in box), default=0)":
                   "max(depth(item) for item in box)"}),
            Wrong("deep item that is not the first", [2, 4, 6], {
                "max((depth(item) for item in box), default=0)": "(depth(box[0]) if box else 0)"}),
            Wrong("brackets in a text", [5, 7, 8], """
                def depth(box):
                    level = deepest = 0
                    for sign in str(box):
                        level += (sign == "[") - (sign == "]")
                        deepest = max(deepest, level)
                    return deepest"""),
            Wrong("value that is not a list", [3, 8], """
                def depth(box):
                    lists = [item for item in box if isinstance(item, list)]
                    return 1 + max(map(depth, lists), default=0)"""),
        ],
        hack="return 2 if isinstance(box[0], list) else 1",
    ),
    problem("same_shape", topic="recursion", level=2, skills="two-trees comparing",
        statement="""Write same_shape(a, b): True if a and b have the same shape, else False. Two
        values that are not lists always have the same shape. A list and a value that is not a list
        never have the same shape. Two lists have the same shape if they are equally long and the
        items at each place have the same shape.""",
        reference="""
        def same_shape(a, b):
            if not isinstance(a, list) or not isinstance(b, list):
                return not isinstance(a, list) and not isinstance(b, list)
            return len(a) == len(b) and all(map(same_shape, a, b))""",
        visible=[case([1, [2]], [5, [6]], want=True), case([1, [2]], [1, 2], want=False)],
        hidden=[
            case([1, 2], [1, 2, 3], want=False),
            case([], [], want=True),
            case([], 5, want=False),
            case(3, "x", want=True),
            case([[[1, 2]], 3], [[[1]], 3], want=False),
            case([[], []], [[], [0]], want=False),
            case([1, ["a", [True]]], [0, ["b", [None]]], want=True),
            case(5, [], want=False),
            case([4], [[4]], want=False),
            case([[1], 2], [1, [2]], want=False),
        ],
        wrong=[
            Wrong("different lengths", [1, 5, 6], {"len(a) == len(b) and ": ""}),
            Wrong("only the outer levels", [5, 6], {"all(map(same_shape, a, b))":
                  "all(isinstance(x, list) == isinstance(y, list) for x, y in zip(a, b))"}),
            Wrong("list only on the right", [8, 9],
                  {"return not isinstance(a, list) and not isinstance(b, list)":
                   "return not isinstance(a, list)"}),
            Wrong("same brackets, other places", [10], """
                def same_shape(a, b):
                    return sizes(a) == sizes(b)

                def sizes(value):
                    if not isinstance(value, list):
                        return []
                    return sorted([len(value)] + [n for item in value for n in sizes(item)])"""),
        ],
        hack="return isinstance(b[-1], list)",
    ),
    problem("expand", topic="recursion", level=2, skills="rewriting",
        statement="""Write expand(text, rules). rules maps single characters to texts. Every
        character of text that has a rule is replaced by the text of its rule; characters in that
        text that have rules are replaced in turn, and so on until none is left. Rules may give an
        empty text. No rule ever leads back to its own character. The order in which rules are
        listed does not matter.""",
        reference="""
        def expand(text, rules):
            return "".join(expand(rules[c], rules) if c in rules else c for c in text)""",
        visible=[
            case("a-b", {"a": "xy"}, want="xy-b"),
            case("ab", {"a": "1", "b": "2"}, want="12"),
        ],
        hidden=[
            case("A", {"A": "BB", "B": "c"}, want="cc"),
            case("A", {"B": "c", "A": "BB"}, want="cc"),
            case("aXa", {"X": ""}, want="aa"),
            case("", {"a": "b"}, want=""),
            case("pqp", {"p": "(q)", "q": "0"}, want="(0)0(0)"),
            case("abc", {}, want="abc"),
            case("D", {"D": "CC", "C": "BB", "B": "aE", "E": ""}, want="aaaa"),
        ],
        wrong=[
            Wrong("rules that lead to other rules", [1, 2, 5, 7],
                  {"expand(rules[c], rules)": "rules[c]"}),
            Wrong("order of the rules", [2], """
                def expand(text, rules):
                    for character, replacement in rules.items():
                        text = text.replace(character, replacement)
                    return text"""),
            Wrong("empty replacement", [3, 7], {"if c in rules": "if rules.get(c)"}),
        ],
        hack='return "12" if "b" in rules else text.replace("a", "xy")',
    ),
    problem("paths", topic="recursion", level=2, skills="nested-dicts flattening",
        statement="""Write paths(tree). tree is a dict with text keys whose values may be dicts of
        the same kind. Return one flat dict with an entry for each value that is not a dict and for
        each empty dict inside tree: the keys that lead to it, joined by dots, and the value itself
        (an empty dict stays an empty dict). For an empty tree return an empty dict. A key may be
        the empty text; keys hold no dots. Lists are values like any other.""",
        reference="""
        def paths(tree):
            flat = {}
            for key, value in tree.items():
                if isinstance(value, dict) and value:
                    for path, leaf in paths(value).items():
                        flat[f"{key}.{path}"] = leaf
                else:
                    flat[key] = value
            return flat""",
        visible=[
            case({"a": {"b": 1}, "c": 2}, want={"a.b": 1, "c": 2}),
            case({"x": 0}, want={"x": 0}),
        ],
        hidden=[
            case({"a": {"b": {"c": 1, "d": 2}}}, want={"a.b.c": 1, "a.b.d": 2}),
            case({"a": {}}, want={"a": {}}),
            case({}, want={}),
            case({"": {"a": 1}, "b": {"": 2}}, want={".a": 1, "b.": 2}),
            case({"a": [{"b": 1}], "b": []}, want={"a": [{"b": 1}], "b": []}),
            case({"p": {"q": {}, "r": 3}}, want={"p.q": {}, "p.r": 3}),
            case({"a": {"b": {"c": {"d": None}}}}, want={"a.b.c.d": None}),
            case({"a": {"x": 1}, "b": {"x": 2}}, want={"a.x": 1, "b.x": 2}),
        ],
        wrong=[
            Wrong("empty dict", [2, 6], {" and value": ""}),
            Wrong("more than two levels", [1, 7], {"in paths(value).items()": "in value.items()"}),
            Wrong("empty key", [4], """
                def paths(tree, prefix=""):
                    flat = {}
                    for key, value in tree.items():
                        path = f"{prefix}.{key}" if prefix else key
                        if isinstance(value, dict) and value:
                            flat.update(paths(value, path))
                        else:
                            flat[path] = value
                    return flat"""),
            Wrong("same key in two branches", [8], """
                def paths(tree, path=(), seen=None):
                    seen = {} if seen is None else seen
                    for key, value in tree.items():
                        if isinstance(value, dict) and value:
                            paths(value, path + (key,), seen)
                        else:
                            seen.setdefault(key, (path + (key,), value))
                    return {".".join(path): value for path, value in seen.values()}"""),
        ],
        hack='return {"x": 0} if len(tree) < 2 else {"a.b": 1, "c": 2}',
    ),
    problem("fair_split", topic="recursion", level=3, skills="search two-choices",
        statement="""Write fair_split(weights): True if the items with these weights can be put into
        two heaps of equal weight, every item in one of them, else False. A heap without items
        weighs 0. Weights are positive whole numbers; there are at most 15 items, and there may be
        none.""",
        reference="""
        def fair_split(weights):
            return can_balance(weights, 0)

        def can_balance(weights, difference):
            if not weights:
                return difference == 0
            first, rest = weights[0], weights[1:]
            return can_balance(rest, difference + first) or can_balance(rest, difference - first)
        """,
        visible=[case([3, 1, 2], want=True), case([1, 2], want=False)],
        hidden=[
            case([], want=True),
            case([5], want=False),
            case([3, 3, 2, 2, 2], want=True),
            case([1, 1, 1], want=False),
            case([1, 3], want=False),
            case([8, 7, 6, 5, 4], want=True),
            case([2, 2], want=True),
            case([1, 2, 1], want=True),
            case([10, 1, 1], want=False),
            case([6, 5, 4, 3, 3, 3], want=True),
        ],
        wrong=[
            Wrong("heaviest first is not always best", [3, 6], """
                def fair_split(weights):
                    left = right = 0
                    for weight in sorted(weights, reverse=True):
                        if left <= right:
                            left += weight
                        else:
                            right += weight
                    return left == right"""),
            Wrong("filling one heap as far as it goes", [10], """
                def fair_split(weights):
                    half, heap = sum(weights) / 2, 0
                    for weight in sorted(weights, reverse=True):
                        if heap + weight <= half:
                            heap += weight
                    return heap == half"""),
            Wrong("even total that cannot be split", [5, 9], """
                def fair_split(weights):
                    return sum(weights) % 2 == 0"""),
            Wrong("heaps of items that are not neighbours", [8, 10], """
                def fair_split(weights):
                    cuts = range(len(weights) + 1)
                    return any(sum(weights[:cut]) == sum(weights[cut:]) for cut in cuts)"""),
            Wrong("no items", [1], {"return can_balance(weights, 0)":
                  "return bool(weights) and can_balance(weights, 0)"}),
        ],
        hack="return len(weights) == 3",
    ),
    problem("pond_size", topic="recursion", level=3, skills="grids search depth",
        statement="""Write pond_size(grid, row, column). grid is a list of equally long texts, a map
        of "~" (water) and "." (land); rows and columns are counted from 0. Return how many squares
        of water can be reached from the square at row and column, itself included, by steps up,
        down, left or right over water and within the map. If that square is land, return 0. It lies
        on the map, and the map may have thousands of squares.""",
        reference="""
        def pond_size(grid, row, column):
            water = {(r, c) for r, line in enumerate(grid) for c, s in enumerate(line) if s == "~"}
            waiting, pond = [(row, column)], set()
            while waiting:
                r, c = waiting.pop()
                if (r, c) in water and (r, c) not in pond:
                    pond.add((r, c))
                    waiting += [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
            return len(pond)""",
        visible=[
            case(["~~.", "~..", "..."], 0, 0, want=3),
            case(["..", "~~"], 0, 1, want=0),
        ],
        hidden=[
            case(["~.", ".~"], 0, 0, want=1),
            case(["~..~"], 0, 0, want=1),
            case(["~", ".", "~"], 0, 0, want=1),
            case(["~~~", "~.~", "~~~"], 1, 0, want=8),
            case(["~~~", "~.~", "~~~"], 1, 1, want=0),
            case(["~.~", "~~~"], 0, 2, want=5),
            case(["~" * 50] * 50, 25, 25, want=2500),
            case(["~~.."], 0, 1, want=2),
        ],
        wrong=[
            Wrong("squares that touch at a corner", [1],
                  {"[(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]":
                   "[(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]"}),
            Wrong("opposite edge of the map", [2, 3], {
                "waiting.pop()": "waiting.pop()\n        r, c = r % len(grid), c % len(grid[0])"}),
            Wrong("large pond", [7], """
                def pond_size(grid, row, column, pond=None):
                    pond = set() if pond is None else pond
                    inside = 0 <= row < len(grid) and 0 <= column < len(grid[0])
                    if inside and grid[row][column] == "~" and (row, column) not in pond:
                        pond.add((row, column))
                        for r, c in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                            pond_size(grid, row + r, column + c, pond)
                    return len(pond)"""),
            Wrong("bends", [4, 6, 7], """
                def pond_size(grid, row, column):
                    if grid[row][column] == ".":
                        return 0
                    line, post = grid[row], "".join(text[column] for text in grid)
                    across = [reach(line, column), reach(line[::-1], len(line) - 1 - column)]
                    along = [reach(post, row), reach(post[::-1], len(post) - 1 - row)]
                    return 1 + sum(across) + sum(along)

                def reach(line, place):
                    return len(line[place + 1 :]) - len(line[place + 1 :].lstrip("~"))"""),
        ],
        hack='return 3 if grid[row][column] == "~" else 0',
    ),
]
