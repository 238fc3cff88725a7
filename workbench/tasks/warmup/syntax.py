"""Warm-up problems about text with a syntax: brackets, quotes, precedence. Stage: tasks; how to
read and add one: `problem`.
"""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("find_links", topic="parsing", level=2, skills="patterns brackets",
        statement="""Write find_links(text): the list of tuples (label, target) of all links in
        text, from left to right. A link is "[label](target)", with nothing between "]" and "(".
        A label is any number of characters, even none, without square brackets. A target is at
        least one character, without parentheses and without white space. All else is ordinary
        text.""",
        reference=r"""
        import re

        def find_links(text):
            return re.findall(r"\[([^\[\]]*)\]\(([^()\s]+)\)", text)""",
        visible=[
            case("see [docs](a.html) now", want=[("docs", "a.html")]),
            case("no links", want=[]),
        ],
        hidden=[
            case("[a](x) and [b](y)", want=[("a", "x"), ("b", "y")]),
            case("[a] (x)", want=[]),
            case("[](top)", want=[("", "top")]),
            case("[a]()", want=[]),
            case("[[a](x)]", want=[("a", "x")]),
            case("[one [two](z)", want=[("two", "z")]),
            case("[a](b c)", want=[]),
            case("[p](q)[r](s)", want=[("p", "q"), ("r", "s")]),
            case("[my label](u)", want=[("my label", "u")]),
            case("f(g)[h](i)", want=[("h", "i")]),
        ],
        wrong=[
            Wrong("several links", [1, 5, 6, 7, 8],
                  {r"([^\[\]]*)": "(.*)", r"([^()\s]+)": "(.+)"}),
            Wrong("bracket before the label", [5, 6], {r"([^\[\]]*)": "(.*?)"}),
            Wrong("empty label", [3], {r"([^\[\]]*)": r"([^\[\]]+)"}),
            Wrong("empty target", [4], {r"([^()\s]+)": r"([^()\s]*)"}),
            Wrong("space in the target", [7], {r"([^()\s]+)": "([^()]+)"}),
        ],
        hack='return [("docs", "a.html")] if "docs" in text else []',
    ),
    problem("split_row", topic="parsing", level=3, skills="quoting scanning",
        statement="""Write split_row(line): the list of the fields of one line of a table. Commas
        separate the fields. A field whose first character is a double quote is a quoted one. Its
        text begins after that quote and is read from left to right: two double quotes in a row mean
        one, a single one ends the field, and commas are ordinary characters. Any other field is
        taken as it is, with its spaces and quotes. An empty line has one field, the empty text.
        After a quoted field there is always a comma or the end of the line.""",
        reference="""
        def split_row(line):
            fields, i = [], 0
            while True:
                field = ""
                if line[i : i + 1] == '"':
                    i += 1
                    while line[i] != '"' or line[i : i + 2] == '""':
                        i += 2 if line[i] == '"' else 1
                        field += line[i - 1]
                    i += 1
                else:
                    field = line[i:].split(",")[0]
                    i += len(field)
                fields.append(field)
                if i >= len(line):
                    return fields
                i += 1""",
        visible=[
            case("ann,7,blue", want=["ann", "7", "blue"]),
            case('"x,y",z', want=["x,y", "z"]),
        ],
        hidden=[
            case("", want=[""]),
            case("a,,b", want=["a", "", "b"]),
            case("a,", want=["a", ""]),
            case('"say ""hi""",ok', want=['say "hi"', "ok"]),
            case(" a , b ", want=[" a ", " b "]),
            case('5"" or 6" pipe,x', want=['5"" or 6" pipe', "x"]),
            case('""', want=[""]),
            case('"",""', want=["", ""]),
            case('"a","b,c",d', want=["a", "b,c", "d"]),
            case('""""', want=['"']),
        ],
        wrong=[
            Wrong("double quotes inside a field", [4, 6, 10], """
                def split_row(line):
                    fields, inside = [""], False
                    for sign in line:
                        if sign == '"':
                            inside = not inside
                        elif sign == "," and not inside:
                            fields.append("")
                        else:
                            fields[-1] += sign
                    return fields"""),
            Wrong("empty line", [1], """
                import csv

                def split_row(line):
                    return next(csv.reader([line]))"""),
            Wrong("empty field at the end", [3], {"if i >= len(line)": "if i >= len(line) - 1"}),
            Wrong("spaces in a field", [5], {"append(field)": "append(field.strip())"}),
        ],
        hack="""return ["x,y", "z"] if line[0] == '"' else line.split(",")""",
    ),
    problem("calculate", topic="parsing", level=3, skills="precedence arithmetic",
        statement="""Write calculate(text): the value of a sum such as "1+2*3", an int. It has whole
        numbers of one or more digits, perhaps with zeros in front, joined by "+", "-" and "*".
        Products are worked out first; apart from that, it goes from left to right. One "-" may
        stand before the first number and makes that number negative. Spaces may stand anywhere
        except within a number.""",
        reference="""
        def calculate(text):
            total = 0
            for term in text.replace(" ", "").replace("-", "+-").split("+"):
                if term:
                    product = 1
                    for factor in term.split("*"):
                        product *= int(factor)
                    total += product
            return total""",
        visible=[case("2*3+1", want=7), case("10-4", want=6)],
        hidden=[
            case("10-3-2", want=5),
            case("2*3*4-5", want=19),
            case("-3+5", want=2),
            case("007+1", want=8),
            case(" 2 * 10 + 1 ", want=21),
            case("4", want=4),
            case("1-2*3+4", want=-1),
            case("100*0-1", want=-1),
            case(" - 2*3", want=-6),
            case("1+2*3", want=7),
        ],
        wrong=[
            Wrong("several minus signs", [1], """
                def calculate(text):
                    for sign in "+-*":
                        left, found, right = text.partition(sign)
                        if found:
                            a, b = calculate(left) if left.strip() else 0, calculate(right)
                            return a + b if sign == "+" else a - b if sign == "-" else a * b
                    return int(text)"""),
            Wrong("products first", [7, 10], """
                import re

                def calculate(text):
                    total = 0
                    for sign, number in re.findall("([-+*]?)([0-9]+)", text.replace(" ", "")):
                        total = total * int(number) if sign == "*" else total + int(sign + number)
                    return total"""),
            Wrong("zeros in front", [4], """
                def calculate(text):
                    return eval(text.strip())"""),
            Wrong("minus before the first number", [3, 9], {"if term:": "if True:"}),
        ],
        hack='return 7 if "*" in text else 6',
    ),
]
