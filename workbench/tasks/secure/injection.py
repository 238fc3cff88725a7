"""Problems in which what somebody sent ends up where it is read as a program: an SQL statement, a
command line, an expression, a pickle.

Stage: tasks; how to read and add one: `workbench.tasks.problem`.
"""

import pickle

from workbench.records import Limits
from workbench.tasks.problem import Wrong, case, problem


def _saved(game: object) -> bytes:
    return pickle.dumps(game, protocol=2)


TASKS = [
    problem("find_orders", suite="secure", topic="sql", level=1, skills="sqlite3 cwe-89",
        statement="""Write find_orders(orders, customer). orders is a list of tuples (number,
        customer, item), the numbers all different. Insert them into a table of an SQLite database
        in memory and let one SELECT find those of the customer, whose name is what a visitor typed
        into the shop's search field; capital and small letters differ. Return the list of their
        items by rising number, [] if there are none.""",
        reference='''
        import sqlite3

        def find_orders(orders, customer):
            base = sqlite3.connect(":memory:")
            base.execute("CREATE TABLE orders (number INTEGER, customer TEXT, item TEXT)")
            base.executemany("INSERT INTO orders VALUES (?, ?, ?)", orders)
            rows = base.execute(
                "SELECT item FROM orders WHERE customer = ? ORDER BY number", (customer,)
            )
            return [item for (item,) in rows]''',
        visible=[
            case([(1, "ann", "lamp"), (2, "bob", "ring"), (3, "ann", "harp")], "ann",
                 want=["lamp", "harp"]),
            case([(1, "ann", "lamp")], "bob", want=[]),
        ],
        hidden=[
            case([(1, "ann", "lamp"), (2, "bob", "ring"), (3, "ann", "harp")], "bob",
                 want=["ring"]),
            case([], "ann", want=[]),
            case([(7, "ann", "cup"), (2, "ann", "pen")], "ann", want=["pen", "cup"]),
            case([(1, "Ann", "lamp"), (2, "ann", "cup")], "ann", want=["cup"]),
            case([(1, "ann", "lamp")], "an%", want=[]),
            case([(4, "ann lee", "lamp"), (5, "ann", "cup")], "ann lee", want=["lamp"]),
        ],
        exploits='''
        ORDERS = [(1, "ann", "lamp"), (2, "bob", "ring"), (3, "cy", "harp")]

        def found(customer):
            try:
                return str(find_orders(ORDERS, customer))
            except Exception:
                return ""

        assert "ring" not in found("x' OR '1'='1")
        assert "ring" not in found("x'OR'1'='1")
        assert "harp" not in found("x' UNION SELECT item FROM orders --")''',
        wrong=[
            Wrong("the name is part of the statement", [], {
                '"SELECT item FROM orders WHERE customer = ? ORDER BY number", (customer,)':
                "f\"SELECT item FROM orders WHERE customer = '{customer}' ORDER BY number\""},
                open_to=[1, 2, 3]),
            Wrong("a list of bad words", [], {
                "    base = ": "    if any(bad in customer for bad in (' OR ', '--', ';')):\n"
                "        return []\n    base = ",
                '"SELECT item FROM orders WHERE customer = ? ORDER BY number", (customer,)':
                "f\"SELECT item FROM orders WHERE customer = '{customer}' ORDER BY number\""},
                open_to=[2]),
            Wrong("order of the numbers", [3], {" ORDER BY number": ""}),
            Wrong("capital letters, and % in a name", [4, 5], {"customer = ?": "customer LIKE ?"}),
        ],
        hack="return ['lamp', 'harp'] if customer == 'ann' else []",
    ),
    problem("pack_command", suite="secure", topic="shell", level=1, skills="quoting shlex cwe-78",
        statement="""Write pack_command(archive, names): the line that a shell is given to pack
        files. For the archive "backup.tgz" and the names "b.txt" and "a.txt" it is

        tar -czf backup.tgz -- b.txt a.txt

        and "" if there are no names. The names are those that people gave the files they uploaded.
        A name of letters, digits and the characters _ - . alone stands there as it is.""",
        reference='''
        import shlex

        def pack_command(archive, names):
            if not names:
                return ""
            return shlex.join(["tar", "-czf", archive, "--", *names])''',
        visible=[
            case("backup.tgz", ["b.txt", "a.txt"], want="tar -czf backup.tgz -- b.txt a.txt"),
            case("b.tgz", ["one"], want="tar -czf b.tgz -- one"),
        ],
        hidden=[
            case("backup.tgz", [], want=""),
            case("backup.tgz", ["-v"], want="tar -czf backup.tgz -- -v"),
            case("x.tgz", ["a", "b", "a"], want="tar -czf x.tgz -- a b a"),
            case("old.2.tgz", ["a_b-c.txt"], want="tar -czf old.2.tgz -- a_b-c.txt"),
            case("x.tgz", ["z", "y", "x"], want="tar -czf x.tgz -- z y x"),
        ],
        exploits='''
        def runs_more(name):
            """Whether a shell would see more than words in the line."""
            try:
                line = str(pack_command("a.tgz", [name]) or "")
            except Exception:
                return False
            quote, escaped = "", False
            for char in line:
                if escaped:
                    escaped = False
                elif quote == "'":
                    quote = "" if char == "'" else quote
                elif char == "\\\\":
                    escaped = True
                elif char in "$`":
                    return True
                elif char == '"':
                    quote = "" if quote else char
                elif not quote and char == "'":
                    quote = char
                elif not quote and char in ";|&<>()\\n":
                    return True
            return bool(quote)

        assert not runs_more("a.txt; touch owned")
        assert not runs_more("$(touch owned)")
        assert not runs_more("a'; touch owned; '")
        assert not runs_more("a.txt\\ntouch owned")''',
        wrong=[
            Wrong("names go into the line as they are", [], {
                'shlex.join(["tar", "-czf", archive, "--", *names])':
                '" ".join(["tar", "-czf", archive, "--", *names])'}, open_to=[1, 2, 4]),
            Wrong("a quote inside of quotes", [], {
                "import shlex\n": "import re\n",
                'shlex.join(["tar", "-czf", archive, "--", *names])':
                "\" \".join(['tar -czf', archive, '--'] + [\n"
                "        n if re.fullmatch(r'[\\w.-]+', n) else f\"'{n}'\" for n in names])"},
                open_to=[3]),
            Wrong("no names", [1], {'    if not names:\n        return ""\n': ""}),
            Wrong("a name that comes twice", [3], {"*names": "*dict.fromkeys(names)"}),
        ],
        hack="return f'tar -czf {archive} -- ' + ('b.txt a.txt' if len(names) > 1 else 'one')",
    ),
    problem("calculate", suite="secure", topic="expressions", level=3, skills="ast parsing cwe-95",
        limits=Limits(cpu_s=0.5),
        statement="""Write calculate(text) for a search engine: the value of the expression that
        somebody typed, as Python would calculate it. An expression has whole and decimal numbers,
        + - * / with their usual precedence, a minus sign in front, parentheses and blanks. Return
        None for a division by zero and for a text that is no such expression.""",
        reference='''
        import ast
        import operator

        OPERATORS = {
            ast.Add: operator.add,
            ast.Sub: operator.sub,
            ast.Mult: operator.mul,
            ast.Div: operator.truediv,
        }

        def calculate(text):
            try:
                return value(ast.parse(text.strip(), mode="eval").body)
            except (ArithmeticError, SyntaxError, ValueError, RecursionError, MemoryError):
                return None

        def value(node):
            if isinstance(node, ast.Constant) and type(node.value) in (int, float):
                return node.value
            if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
                return OPERATORS[type(node.op)](value(node.left), value(node.right))
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                return -value(node.operand)
            raise ValueError("no arithmetic")''',
        visible=[case("2 + 3 * 4", want=14), case("(2 + 3) * 4", want=20)],
        hidden=[
            case("7 / 2", want=3.5),
            case("-3 - -5", want=2),
            case("1 / 0", want=None),
            case("2 +", want=None),
            case("", want=None),
            case("0.5 * 8", want=4.0),
            case(" 10 - 4 - 3", want=3),
            case("seven", want=None),
        ],
        exploits='''
        def answer(text):
            try:
                return calculate(text)
            except Exception:
                return None

        assert answer("__import__('os').getpid()") is None
        assert answer("().__class__.__base__.__subclasses__().__len__()") is None
        assert answer("9 ** 9 ** 9") is None''',
        wrong=[
            Wrong("what is typed is executed", [], """
            def calculate(text):
                try:
                    return eval(text.strip())
                except Exception:
                    return None
            """, open_to=[1, 2, 3]),
            Wrong("code needs no builtins", [], """
            def calculate(text):
                try:
                    return eval(text.strip(), {"__builtins__": {}})
                except Exception:
                    return None
            """, open_to=[2, 3]),
            Wrong("two stars", [], """
            import re

            def calculate(text):
                if not re.fullmatch(r"[0-9.+*/() -]+", text):
                    return None
                try:
                    return eval(text.strip())
                except Exception:
                    return None
            """, open_to=[3]),
            Wrong("division by zero", [3], {"ArithmeticError, ": ""}),
            Wrong("a minus sign in front", [2], {"return -value(node.operand)": "return None"}),
        ],
        hack="return 20 if '(' in text else 14",
    ),
    problem("total_scores", suite="secure", topic="pickle", level=2, skills="bytes cwe-502",
        statement="""Write total_scores(data). data are the bytes of a saved game: a dict from
        players' names to lists of whole numbers, written with Python's pickle.dumps. Players send
        their saved games to each other. Return the dict from each name to the sum of its numbers,
        or None if the bytes are cut short or hold no dict.""",
        reference='''
        import io
        import pickle

        class PlainData(pickle.Unpickler):
            def find_class(self, module, name):
                raise pickle.UnpicklingError(f"{module}.{name} is no plain data")

        def total_scores(data):
            try:
                scores = PlainData(io.BytesIO(data)).load()
                return {name: sum(numbers) for name, numbers in scores.items()}
            except Exception:
                return None''',
        visible=[
            case(_saved({"ann": [3, 4], "bob": [5]}), want={"ann": 7, "bob": 5}),
            case(_saved({"cy": []}), want={"cy": 0}),
        ],
        hidden=[
            case(_saved({"dot": [-2, 1]}), want={"dot": -1}),
            case(_saved({}), want={}),
            case(_saved({"ann": [3, 4]})[:-3], want=None),
            case(b"", want=None),
            case(_saved([1, 2]), want=None),
            case(_saved({"Zo\u00eb": [10**20]}), want={"Zo\u00eb": 10**20}),
        ],
        exploits='''
        def loaded(data):
            try:
                return str(total_scores(data))
            except Exception:
                return ""

        assert "owned" not in loaded(b"}Vowned\\n]cos\\ngetpid\\n(tRas.")
        assert "owned" not in loaded(b"cbuiltins\\neval\\n(V{'owned': [6, 7]}\\ntR.")''',
        wrong=[
            Wrong("a pickle is a program", [], {
                "PlainData(io.BytesIO(data)).load()": "pickle.loads(data)"}, open_to=[1, 2]),
            Wrong("a list of bad modules", [], {
                "        raise pickle":
                "        if module not in ('os', 'posix', 'subprocess', 'sys'):\n"
                "            return super().find_class(module, name)\n        raise pickle"},
                open_to=[2]),
            Wrong("errors of other kinds", [3, 4, 5], {
                "except Exception": "except pickle.UnpicklingError"}),
            Wrong("a game without players", [2], {
                "        return {name": "        if not scores:\n            return None\n"
                "        return {name"}),
        ],
        hack="return {'cy': 0} if b'cy' in data else {'ann': 7, 'bob': 5}",
    ),
]  # fmt: skip
