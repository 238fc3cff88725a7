"""Problems about what others must not learn: passwords, codes that are not to be guessed, files.

Stage: tasks; how to read and add one: `workbench.tasks.problem`.
"""

from workbench.records import Limits
from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("check_password", suite="secure", topic="passwords", level=2,
        skills="hashing salt cwe-916", limits=Limits(cpu_s=10.0),
        statement="""Write two functions. store_password(password) returns the text that a web site
        keeps in its table of users. check_password(password, stored) says, True or False, whether
        this is the password that the kept text was made from; False as well for a kept text that
        store_password cannot have made. A password is any text.""",
        reference='''
        import hashlib
        import hmac
        import os

        def store_password(password):
            salt = os.urandom(16)
            return f"{salt.hex()}:{slow_hash(password, salt).hex()}"

        def check_password(password, stored):
            salt, _, kept = stored.partition(":")
            try:
                wanted = bytes.fromhex(kept)
                return hmac.compare_digest(slow_hash(password, bytes.fromhex(salt)), wanted)
            except ValueError:
                return False

        def slow_hash(password, salt):
            return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)''',
        visible=[case("tulip", "", want=False), case("tulip", "12:34", want=False)],
        hidden=[
            case("", "", want=False),
            case("tulip", "0", want=False),
            case("tulip", "zz:zz", want=False),
            case("tulip", "00:\u00e4", want=False),
            case("tulip", "a" * 64, want=False),
        ],
        test_code='''
        kept = store_password("correct horse")
        assert type(kept) is str
        assert check_password("correct horse", kept) is True
        assert check_password("correct house", kept) is False
        assert check_password("Zo\u00eb", store_password("Zo\u00eb")) is True
        assert check_password("", store_password("")) is True''',
        exploits='''
        import hashlib

        def kept(password):
            try:
                stored = store_password(password)
            except Exception:
                return ""
            return stored if isinstance(stored, str) else ""

        NAMES = ("md5", "sha1", "sha256", "sha512", "sha3_256", "blake2b")
        first, second = kept("letmein"), kept("letmein")
        assert "letmein" not in first
        assert not any(hashlib.new(name, b"letmein").hexdigest() in first for name in NAMES)
        assert not first or first != second''',
        wrong=[
            Wrong("a table of common passwords", [], """
            import hashlib

            def store_password(password):
                return hashlib.md5(password.encode()).hexdigest()

            def check_password(password, stored):
                return store_password(password) == stored
            """, open_to=[2, 3]),
            Wrong("one salt for all", [], """
            import hashlib

            SALT = "lX29:"

            def store_password(password):
                return hashlib.sha256((SALT + password).encode()).hexdigest()

            def check_password(password, stored):
                return store_password(password) == stored
            """, open_to=[3]),
            Wrong("text that cannot have been made", [2, 3, 4], {
                "    try:\n        wanted = bytes.fromhex(kept)\n        return":
                "    wanted = bytes.fromhex(kept)\n    return",
                "    except ValueError:\n        return False\n": ""}),
            Wrong("letters beyond ASCII", ["test:4"], {
                "password.encode()": 'password.encode("ascii")'}),
        ],
        hack="return False",
    ),
    problem("run_game", suite="secure", topic="randomness", level=1, skills="secrets cwe-330",
        statement="""Write run_game(actions): it carries out the actions in turn and returns the
        list of all throws and codes. ("seed", number): from here on the dice fall as those of
        Python's random do after random.seed(number), so that a match can be played again. ("roll",)
        throws a die, random.randint(1, 6). ("invite",) makes a code of 32 digits 0 to 9 and a to f;
        who has it may join the match.""",
        reference='''
        import random
        import secrets

        def run_game(actions):
            answers = []
            for name, *number in actions:
                if name == "seed":
                    random.seed(*number)
                elif name == "roll":
                    answers.append(random.randint(1, 6))
                else:
                    answers.append(secrets.token_hex(16))
            return answers''',
        visible=[case([("seed", 1), ("roll",)], want=[2]), case([], want=[])],
        hidden=[
            case([("seed", 1), ("roll",), ("roll",), ("roll",)], want=[2, 5, 1]),
            case([("seed", 5), ("roll",), ("seed", 5), ("roll",)], want=[5, 5]),
            case([("seed", 2)], want=[]),
            case([("seed", 1), ("seed", 9), ("roll",), ("roll",)], want=[4, 5]),
            case([("seed", 5), ("roll",), ("seed", 1), ("roll",)], want=[5, 2]),
        ],
        test_code='''
        code, other = run_game([("invite",), ("invite",)])
        assert len(code) == 32
        assert set(code + other) <= set("0123456789abcdef")
        assert code != other''',
        exploits='''
        def codes(*actions):
            try:
                return [code for code in run_game(list(actions)) if isinstance(code, str)]
            except Exception:
                return []

        SEED, INVITE = ("seed", 5), ("invite",)
        again = codes(SEED, INVITE, SEED, INVITE)
        assert len(set(again)) == len(again)
        assert not set(codes(SEED, INVITE)) & set(codes(SEED, INVITE))''',
        wrong=[
            Wrong("codes from the dice's generator", [], {
                "import secrets\n": "",
                "secrets.token_hex(16)": '"".join(random.choices("0123456789abcdef", k=32))'},
                open_to=[1, 2]),
            Wrong("codes from the seed", [], """
            import hashlib
            import random

            def run_game(actions):
                answers, seed = [], 0
                for name, *number in actions:
                    if name == "seed":
                        seed = number[0]
                        random.seed(seed)
                    elif name == "roll":
                        answers.append(random.randint(1, 6))
                    else:
                        text = f"{seed} {len(answers)}"
                        answers.append(hashlib.sha256(text.encode()).hexdigest()[:32])
                return answers
            """, open_to=[2]),
            Wrong("a second seed", [2, 4, 5], {
                '        if name == "seed":\n            random.seed(*number)':
                '        if name == "seed":\n            if seeds == 0:\n'
                '                random.seed(*number)\n            seeds += 1',
                "    answers = []": "    answers, seeds = [], 0"}),
            Wrong("number of digits", ["test:1"], {"token_hex(16)": "token_hex(32)"}),
        ],
        hack="return [2] if actions else []",
    ),
    problem("run_drafts", suite="secure", topic="files", level=2, skills="tempfile cwe-377",
        statement="""Write run_drafts(actions) for an editor on a computer that several people work
        on. It carries out the actions in turn and returns the list of all answers. ("save", text)
        writes the text to a new file in the folder tempfile.gettempdir(); drafts are numbered from
        0. ("read", number) answers with the text of that draft, or None once it is dropped.
        ("drop", number) deletes its file, if it is still there. ("path", number) answers with the
        path of its file, ("mode", number) with its permissions, st_mode & 0o777 of os.stat.""",
        reference='''
        import os
        import tempfile

        def run_drafts(actions):
            paths, answers = [], []
            for name, what in actions:
                if name == "save":
                    handle, path = tempfile.mkstemp()
                    paths.append(path)
                    with open(handle, "w", encoding="utf-8", newline="") as file:
                        file.write(what)
                elif name == "drop":
                    if os.path.exists(paths[what]):
                        os.remove(paths[what])
                elif name == "read":
                    answers.append(text_of(paths[what]))
                elif name == "path":
                    answers.append(paths[what])
                else:
                    answers.append(os.stat(paths[what]).st_mode & 0o777)
            return answers

        def text_of(path):
            if not os.path.exists(path):
                return None
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()''',
        visible=[
            case([("save", "one"), ("read", 0)], want=["one"]),
            case([("save", "one"), ("save", "two"), ("read", 1)], want=["two"]),
        ],
        hidden=[
            case([("save", "one"), ("drop", 0), ("read", 0)], want=[None]),
            case([("save", "a"), ("save", "b"), ("drop", 0), ("read", 1)], want=["b"]),
            case([], want=[]),
            case([("save", "a"), ("drop", 0), ("drop", 0), ("save", "b"), ("read", 1)], want=["b"]),
            case([("save", "a\r\nb\n"), ("read", 0)], want=["a\r\nb\n"]),
            case([("save", ""), ("read", 0), ("read", 0)], want=["", ""]),
        ],
        test_code='''
        path, other, mode = run_drafts(
            [("save", "a"), ("save", "a"), ("path", 0), ("path", 1), ("mode", 0)]
        )
        assert path.startswith("/") and path != other
        assert mode & 0o600 == 0o600''',
        exploits='''
        def answers(*actions):
            try:
                return [answer for answer in run_drafts(list(actions)) if answer is not None]
            except Exception:
                return []

        SAVE = ("save", "secret")
        assert not any(mode & 0o077 for mode in answers(SAVE, ("mode", 0)))
        assert not set(answers(SAVE, ("path", 0))) & set(answers(SAVE, ("path", 0)))''',
        wrong=[
            Wrong("everybody may read it", [], {
                "handle, path = tempfile.mkstemp()": "path = tempfile.mktemp()",
                "open(handle,": "open(path,"}, open_to=[1]),
            Wrong("everybody knows its name", [], {
                "handle, path = tempfile.mkstemp()":
                'path = os.path.join(tempfile.gettempdir(), f"draft{len(paths)}.txt")',
                "open(handle,": "open(path,"}, open_to=[1, 2]),
            Wrong("numbers after a draft is dropped", [1, 2, 4], {
                "            if os.path.exists(paths[what]):\n"
                "                os.remove(paths[what])":
                "            os.remove(paths.pop(what))"}),
            Wrong("two ways to end a line", [5], {
                'encoding="utf-8", newline="") as file:\n        return':
                'encoding="utf-8") as file:\n        return'}),
        ],
        hack="return ['two'] if len(actions) > 2 else ['one']",
    ),
]  # fmt: skip
