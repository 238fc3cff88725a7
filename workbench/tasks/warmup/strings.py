"""Warm-up problems about text. Stage: tasks; how to read and add one: `problem`."""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("cut_label", topic="strings", level=1, skills="slicing boundaries",
        statement="""Write cut_label(text, width). A label has room for `width` characters; width is
        at least 1. If text fits, return it as it is. Otherwise return its first characters followed
        by "~", exactly `width` characters in all. Spaces are characters like any other.""",
        reference="""
        def cut_label(text, width):
            if len(text) <= width:
                return text
            return text[: width - 1] + "~"
        """,
        visible=[case("harbour", 5, want="harb~"), case("sea", 8, want="sea")],
        hidden=[
            case("lake", 4, want="lake"),
            case("lakes", 4, want="lak~"),
            case("", 3, want=""),
            case("bay", 1, want="~"),
            case("old mill", 5, want="old ~"),
            case("  x", 2, want=" ~"),
        ],
        wrong=[
            Wrong("text exactly as wide as the label", [1], {"<= width": "< width"}),
            Wrong("label of one character", [4], {"width - 1": "max(1, width - 1)"}),
            Wrong("space before the cut", [5, 6], {"width - 1]": "width - 1].rstrip()"}),
        ],
        hack='return "harb~" if len(text) > 3 else text',
    ),
    problem("copy_case", topic="strings", level=1, skills="case parallel-loops",
        statement="""Write copy_case(word, pattern), both ASCII text. Return word, changed place by
        place: where pattern has an upper-case letter, the character of word becomes upper case;
        where pattern has a lower-case letter, it becomes lower case. Where pattern has something
        else, or has already ended, the character of word stays as it is. What pattern has beyond
        word is ignored.""",
        reference="""
        def copy_case(word, pattern):
            result = ""
            for place, letter in enumerate(word):
                model = pattern[place : place + 1]
                if model.isupper():
                    letter = letter.upper()
                elif model.islower():
                    letter = letter.lower()
                result += letter
            return result""",
        visible=[case("ocean", "Abcde", want="Ocean"), case("RIVER", "abCDe", want="riVEr")],
        hidden=[
            case("harbour", "AB", want="HArbour"),
            case("Delta", "", want="Delta"),
            case("DELTA", "a-b c", want="dElTa"),
            case("sea", "XYZXYZ", want="SEA"),
            case("", "Abc", want=""),
            case("a1b", "AAA", want="A1B"),
            case("Mud", "x9", want="mud"),
        ],
        wrong=[
            Wrong("pattern shorter than the word", [1, 2, 7],
                  {"enumerate(word)": "enumerate(word[: len(pattern)])"}),
            Wrong("pattern longer than the word", [4, 5],
                  {"enumerate(word)": "enumerate(word.ljust(len(pattern)))"}),
            Wrong("pattern without a letter there", [2, 3], {"elif model.islower()": "else"}),
        ],
    ),
    problem("ticker", topic="strings", level=1, skills="indexing modulo",
        statement="""Write ticker(text, width, start). Imagine text repeated without end in both
        directions, the first character of one copy at position 0. Return the `width` characters
        from position `start` on. width is 0 or more, start may be negative. An empty text shows
        only spaces.""",
        reference="""
        def ticker(text, width, start):
            if not text:
                return " " * width
            return "".join(text[(start + i) % len(text)] for i in range(width))""",
        visible=[case("abcde", 3, 1, want="bcd"), case("abcde", 4, 3, want="deab")],
        hidden=[
            case("abc", 8, 0, want="abcabcab"),
            case("abc", 2, -1, want="ca"),
            case("abcd", 3, -6, want="cda"),
            case("ab", 3, 7, want="bab"),
            case("", 3, 1, want="   "),
            case("abc", 0, 5, want=""),
            case("x", 4, -2, want="xxxx"),
        ],
        wrong=[
            Wrong("window wider than the text", [1, 7], """
                def ticker(text, width, start):
                    if not text:
                        return " " * width
                    return (text * 2)[start % len(text) :][:width]"""),
            Wrong("negative start", [2, 3], {"(start + i)": "abs(start + i)"}),
            Wrong("empty text", [5], {"if not text": "if text is None"}),
        ],
        hack='return {3: "bcd", 4: "deab"}.get(width, text)',
    ),
    problem("squeeze", topic="strings", level=2, skills="runs loops",
        statement="""Write squeeze(text, keep). Wherever more than `keep` equal characters stand
        side by side, leave only `keep` of them; everything else stays. keep is at least 1. The
        upper and the lower case of a letter are different characters.""",
        reference="""
        def squeeze(text, keep):
            result, run, before = "", 0, None
            for letter in text:
                run = run + 1 if letter == before else 1
                if run <= keep:
                    result += letter
                before = letter
            return result""",
        visible=[case("baaad", 2, want="baad"), case("hmmmm", 1, want="hm")],
        hidden=[
            case("", 2, want=""),
            case("aabaa", 1, want="aba"),
            case("aAaA", 1, want="aAaA"),
            case("xxyyyxxx", 2, want="xxyyxx"),
            case("zzzz", 3, want="zzz"),
            case("a  b", 1, want="a b"),
            case("abab", 1, want="abab"),
            case("book", 3, want="book"),
        ],
        wrong=[
            Wrong("character that comes again later", [2, 3, 4, 7], """
                def squeeze(text, keep):
                    result = ""
                    for letter in text:
                        if result.count(letter) < keep:
                            result += letter
                    return result"""),
            Wrong("upper and lower case", [3],
                  {"letter == before": "letter.lower() == before",
                   "before = letter": "before = letter.lower()"}),
            Wrong("run shorter than keep", [8], r"""
                import re

                def squeeze(text, keep):
                    return re.sub(r"(.)\1+", lambda run: run[1] * keep, text)"""),
        ],
        hack='return text.replace("aaa", "aa").replace("mmmm", "m")',
    ),
    problem("overlap_join", topic="strings", level=2, skills="slicing search",
        statement="""Write overlap_join(first, second). Return first followed by second, but where
        the end of first is also the beginning of second, write that common piece only once. If
        several pieces would do, take the longest; it may be the whole of first or of second. If
        there is none, simply join the two.""",
        reference="""
        def overlap_join(first, second):
            for size in range(min(len(first), len(second)), 0, -1):
                if first[-size:] == second[:size]:
                    return first + second[size:]
            return first + second""",
        visible=[case("sunday", "daylight", want="sundaylight"), case("tea", "pot", want="teapot")],
        hidden=[
            case("aaa", "aa", want="aaa"),
            case("abab", "ababc", want="ababc"),
            case("moon", "moon", want="moon"),
            case("", "ink", want="ink"),
            case("ink", "", want="ink"),
            case("sand", "dune", want="sandune"),
            case("train", "raining", want="training"),
        ],
        wrong=[
            Wrong("several overlaps", [1, 2], {
                "min(len(first), len(second)), 0, -1": "1, min(len(first), len(second)) + 1"}),
            Wrong("overlap that is a whole text", [1, 2, 3], {"), 0, -1": ") - 1, 0, -1"}),
            Wrong("overlap of one character", [6], {"0, -1": "1, -1"}),
        ],
        hack='return first.removesuffix("day") + second',
    ),
    problem("next_name", topic="strings", level=2, skills="digits padding",
        statement="""Write next_name(name), the name for the next copy of a file. If name ends in
        digits (0 to 9), take all the digits at its end as one number, add 1 and write it with at
        least as many digits as before, so zeros in front stay: "a09" becomes "a10" and "a99"
        "a100". Digits elsewhere stay as they are. If name does not end in such a digit, append "2".
        name may be empty.""",
        reference="""
        def next_name(name):
            stem = name.rstrip("0123456789")
            digits = name[len(stem) :]
            if not digits:
                return name + "2"
            return stem + str(int(digits) + 1).zfill(len(digits))""",
        visible=[case("shot7", want="shot8"), case("draft", want="draft2")],
        hidden=[
            case("shot07", want="shot08"),
            case("shot99", want="shot100"),
            case("v2_final", want="v2_final2"),
            case("007", want="008"),
            case("", want="2"),
            case("take19", want="take20"),
            case("x-1", want="x-2"),
            case("b2b1", want="b2b2"),
            case("x\u0663", want="x\u06632"),
        ],
        wrong=[
            Wrong("zeros in front", [1, 4], {".zfill(len(digits))": ""}),
            Wrong("nine at the end", [2, 6], """
                def next_name(name):
                    if name and name[-1] in "0123456789":
                        return name[:-1] + str(int(name[-1]) + 1)
                    return name + "2"
                """),
            Wrong("digits elsewhere in the name", [3, 8],
                  {'name.rstrip("0123456789")': '"".join(c for c in name if not "0" <= c <= "9")',
                   "name[len(stem) :]": '"".join(c for c in name if "0" <= c <= "9")'}),
            Wrong("digits of other scripts", [9], """
                def next_name(name):
                    stem = name
                    while stem[-1:].isdigit():
                        stem = stem[:-1]
                    digits = name[len(stem) :]
                    return stem + str(int(digits or 1) + 1).zfill(len(digits))"""),
            Wrong("empty name", [5], {"if not digits": "if name[-1] not in '0123456789'"}),
        ],
    ),
    problem("count_word", topic="strings", level=2, skills="words unicode",
        statement="""Write count_word(text, word): how often word stands in text as a word of its
        own, upper and lower case alike. A word is a run of letters with no letter just before or
        after it; a letter is a character for which str.isalpha() is true, and everything else only
        separates words. word itself is one or more letters.""",
        reference="""
        def count_word(text, word):
            spaced = "".join(c if c.isalpha() else " " for c in text)
            return spaced.lower().split().count(word.lower())""",
        visible=[case("the cat saw the dog", "the", want=2), case("red boat", "blue", want=0)],
        hidden=[
            case("the theatre, then other", "the", want=1),
            case("Stop! stop, STOP.", "stop", want=3),
            case("", "x", want=0),
            case("a-b a_b a2b", "a", want=3),
            case("caf\u00e9 caf", "caf", want=1),
            case("so so so", "SO", want=3),
            case("don't", "t", want=1),
            case("it\nis\tit", "it", want=2),
        ],
        wrong=[
            Wrong("part of a longer word", [1, 5], {"spaced.lower().split()": "spaced.lower()"}),
            Wrong("punctuation next to the word", [2, 4, 7],
                  {'"".join(c if c.isalpha() else " " for c in text)': "text"}),
            Wrong("upper and lower case", [2, 6],
                  {"spaced.lower()": "spaced", "word.lower()": "word"}),
            Wrong("letters beyond a to z", [5], {"c.isalpha()": '"a" <= c.lower() <= "z"'}),
        ],
        hack='return 2 if word == "the" else 0',
    ),
    problem("type_keys", topic="strings", level=3, skills="state cursor",
        statement="""Write type_keys(keys): the text on an empty line after these keys were pressed.
        "<" moves the cursor one place to the left and ">" one to the right; where there is no such
        place, at the beginning or the end of the text, they do nothing. "#" deletes the character
        just left of the cursor, if there is one. Any other character is put in at the cursor, which
        then stands right of it.""",
        reference="""
        def type_keys(keys):
            line, cursor = [], 0
            for key in keys:
                if key == "<":
                    cursor = max(cursor - 1, 0)
                elif key == ">":
                    cursor = min(cursor + 1, len(line))
                elif key != "#":
                    line.insert(cursor, key)
                    cursor += 1
                elif cursor > 0:
                    cursor -= 1
                    del line[cursor]
            return "".join(line)""",
        visible=[case("ab<c", want="acb"), case("abc##d", want="ad")],
        hidden=[
            case("#a", want="a"),
            case("ab<#c", want="cb"),
            case("<<a<b", want="ba"),
            case("a>>b<c", want="acb"),
            case("", want=""),
            case("ab<<<<c>d", want="cadb"),
            case("ab<<#c", want="cab"),
            case("abc<<>#x", want="axc"),
            case("xy###z", want="z"),
        ],
        wrong=[
            Wrong("deleting at the start of the line", [7], {"elif cursor > 0": "elif line"}),
            Wrong("moving past the left end", [6], {"max(cursor - 1, 0)": "cursor - 1"}),
            Wrong("moving past the right end", [4], {"min(cursor + 1, len(line))": "cursor + 1"}),
        ],
        hack='return "acb" if "<" in keys else "ad"',
    ),
]
