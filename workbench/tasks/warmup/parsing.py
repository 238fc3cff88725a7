"""Warm-up problems about reading text. Stage: tasks; how to read and add one: `problem`."""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("read_duration", topic="parsing", level=1, skills="units scanning",
        statement="""Write read_duration(text): how many seconds text stands for. It consists of
        parts, each a whole number of one or more digits directly followed by "h" (3600 seconds),
        "m" (60) or "s" (1). Parts may come in any order and with or without spaces around them, and
        a unit may occur several times; all parts are added. A text without parts is 0.""",
        reference="""
        def read_duration(text):
            seconds, number = 0, ""
            for sign in text:
                if sign.isdigit():
                    number += sign
                elif sign != " ":
                    seconds += int(number) * {"h": 3600, "m": 60, "s": 1}[sign]
                    number = ""
            return seconds""",
        visible=[case("1h 30m", want=5400), case("45s", want=45)],
        hidden=[
            case("", want=0),
            case("2h5s", want=7205),
            case("10m 10m", want=1200),
            case("5s 1h", want=3605),
            case("  7m ", want=420),
            case("0h 0s", want=0),
            case("100m", want=6000),
            case("1m1m1s", want=121),
        ],
        wrong=[
            Wrong("parts without spaces between them", [2, 8], """
                def read_duration(text):
                    units = {"h": 3600, "m": 60, "s": 1}
                    return sum(int(part[:-1]) * units[part[-1]] for part in text.split())"""),
            Wrong("unit that occurs twice", [3, 8], """
                import re

                def read_duration(text):
                    found = {unit: int(n) for n, unit in re.findall("([0-9]+)([hms])", text)}
                    h, m, s = (found.get(unit, 0) for unit in "hms")
                    return h * 3600 + m * 60 + s"""),
            Wrong("units in any order", [3, 4, 8], """
                import re

                def read_duration(text):
                    pattern = "(?:([0-9]+)h)? *(?:([0-9]+)m)? *(?:([0-9]+)s)?"
                    h, m, s = (int(n or 0) for n in re.fullmatch(pattern, text.strip()).groups())
                    return h * 3600 + m * 60 + s"""),
        ],
        hack='return 5400 if "h" in text else 45',
    ),
    problem("read_settings", topic="parsing", level=1, skills="lines splitting",
        statement="""Write read_settings(text): a dict of the settings in a text whose lines are
        separated by "\\n". A line is "key = value", divided at its first "="; spaces at both ends
        of the key and of the value are taken off. A line without "=" gives the value "" to the key
        that it consists of. Lines with nothing but spaces, and lines whose first character other
        than a space is "#", are skipped. If a key comes several times, the last one counts.""",
        reference="""
        def read_settings(text):
            settings = {}
            for line in text.split("\\n"):
                line = line.strip(" ")
                if line and not line.startswith("#"):
                    key, _, value = line.partition("=")
                    settings[key.strip(" ")] = value.strip(" ")
            return settings""",
        visible=[
            case("size = 4\ncolour=red", want={"size": "4", "colour": "red"}),
            case("# note\nmode = fast\n", want={"mode": "fast"}),
        ],
        hidden=[
            case("", want={}),
            case("sum = a=b", want={"sum": "a=b"}),
            case("flag", want={"flag": ""}),
            case("a = 1\n\n   \nb = 2", want={"a": "1", "b": "2"}),
            case("  # x = 1\ny = 2", want={"y": "2"}),
            case("tag = #5", want={"tag": "#5"}),
            case("a = 1\na = 2", want={"a": "2"}),
            case("empty =", want={"empty": ""}),
            case("full name = Ann  Lee", want={"full name": "Ann  Lee"}),
        ],
        wrong=[
            Wrong("equals sign in the value", [2],
                  {'line.partition("=")': '(line + "==").split("=", 3)[:3]',
                   "key, _, value": "key, value, _"}),
            Wrong("number sign in the value", [6],
                  {'line = line.strip(" ")': 'line = line.split("#")[0].strip(" ")'}),
            Wrong("line without an equals sign", [3], {"if line and": 'if "=" in line and'}),
            Wrong("spaces before a comment", [5], {'line.strip(" ")': 'line.rstrip(" ")'}),
            Wrong("spaces inside a value", [9],
                  {"in text.split": 'in text.replace(" ", "").split'}),
        ],
        hack='return {"mode": "fast"} if "#" in text else {"size": "4", "colour": "red"}',
    ),
    problem("newest", topic="parsing", level=2, skills="versions comparing",
        statement="""Write newest(versions): the newest of a list of at least one version. A version
        is a text of whole numbers separated by dots, such as "1.10.2". Versions are compared number
        by number from the left, where missing numbers count as 0, so "1" and "1.0" are equally new.
        Of equally new ones return the first in the list, as it is written there.""",
        reference="""
        def newest(versions):
            return max(versions, key=numbers)

        def numbers(version):
            found = [int(part) for part in version.split(".")]
            while found and found[-1] == 0:
                found.pop()
            return found""",
        visible=[case(["1.2", "1.4", "1.3"], want="1.4"), case(["2.0", "1.9"], want="2.0")],
        hidden=[
            case(["1.9", "1.10"], want="1.10"),
            case(["1", "1.0"], want="1"),
            case(["1.0", "1.0.1"], want="1.0.1"),
            case(["3"], want="3"),
            case(["1.0", "1"], want="1.0"),
            case(["01.2", "1.2"], want="01.2"),
            case(["1.2", "2"], want="2"),
            case(["2.1", "10.0"], want="10.0"),
            case(["1.2", "1.2.0", "1.1.9"], want="1.2"),
            case(["0.0", "0"], want="0.0"),
        ],
        wrong=[
            Wrong("numbers of several digits", [1, 2, 6, 8, 9], {", key=numbers": ""}),
            Wrong("zeros at the end", [2, 9], {"found[-1] == 0": "len(found) > 9"}),
            Wrong("equally new versions", [2, 5, 6, 9, 10],
                  {"max(versions, key=numbers)": "sorted(versions, key=numbers)[-1]"}),
            Wrong("versions of different lengths", [2, 7, 9], {
                "key=numbers": 'key=lambda version: int(version.replace(".", ""))'}),
        ],
        hack="return versions[len(versions) - 2]",
    ),
    problem("read_ranges", topic="parsing", level=2, skills="ranges negatives",
        statement="""Write read_ranges(text): the list of whole numbers that text names. It has
        parts separated by commas. A part is a number or a range, two numbers joined by "-", which
        stands for all numbers from the first to the second, both included; if the first is larger,
        it counts down. A number may be negative: "-3--1" is -3, -2, -1. Spaces mean nothing. Keep
        the order of the text, and numbers named twice. An empty text names none.""",
        reference="""
        import re

        def read_ranges(text):
            numbers = []
            for first, last in re.findall("(-?[0-9]+)(?:-(-?[0-9]+))?", text.replace(" ", "")):
                start, stop = int(first), int(last or first)
                step = 1 if start <= stop else -1
                numbers += range(start, stop + step, step)
            return numbers""",
        visible=[case("1-3,5", want=[1, 2, 3, 5]), case("7", want=[7])],
        hidden=[
            case("", want=[]),
            case("5-3", want=[5, 4, 3]),
            case("-2-1", want=[-2, -1, 0, 1]),
            case("-3--1", want=[-3, -2, -1]),
            case(" 4 , 6 - 8 ", want=[4, 6, 7, 8]),
            case("2-2", want=[2]),
            case("3,1-3,1", want=[3, 1, 2, 3, 1]),
            case("-5,-6", want=[-5, -6]),
            case("0--2", want=[0, -1, -2]),
            case("9-11", want=[9, 10, 11]),
        ],
        wrong=[
            Wrong("negative numbers", [3, 4, 8, 9],
                  {"(-?[0-9]+)(?:-(-?[0-9]+))?": "([0-9]+)(?:-([0-9]+))?"}),
            Wrong("range that counts down", [2, 9], {"1 if start <= stop else -1": "1"}),
            Wrong("numbers named twice", [7],
                  {"return numbers": "return list(dict.fromkeys(numbers))"}),
            Wrong("spaces around the minus of a range", [5], {'text.replace(" ", "")': "text"}),
        ],
        hack='return [1, 2, 3, 5] if "," in text else [7]',
    ),
]
