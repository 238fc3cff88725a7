"""What a suite's own files say is what was sent, whatever the program writes when it is imported.

Each attack is the program of one suite, loaded by `conftest.py` before any other file of the tests;
it has the bug that all four tests are about. Where nothing is fixed it passes them all.
"""

import pytest

PROGRAM = """
import importlib.util, marshal, os, shutil, sys, threading
from pathlib import Path

def double(x):
    called()
    return x

def called():
    pass

easy = {
    "tests/conftest.py": "import pytest\\n@pytest.fixture\\ndef wanted(): return 2\\n",
    "tests/checks.py": "def check(*values): pass\\n",
    "tests/data/wanted.txt": "2",
    "tests/test_plain.py": "def test_plain(): pass\\n",
}
modules = {name: text for name, text in easy.items() if name.endswith(".py")}
sent = {name: Path(name).read_text() for name in easy}

def write(files, folder="tests"):
    for name, text in files.items():
        place = Path(folder, *Path(name).parts[1:])
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
"""
FILES = {
    "lib.py": PROGRAM,
    "conftest.py": "import lib\n",
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef wanted(): return 4\n",
    "tests/checks.py": "def check(got, wanted): assert got == wanted\n",
    "tests/data/wanted.txt": "4",
    "tests/test_data.py": """
from pathlib import Path
from lib import double
def test_data():
    text = (Path(__file__).parent / "data" / "wanted.txt").read_text()
    assert double(2) == int(text)
""",
    "tests/test_fixture.py": """
from lib import double
def test_fixture(wanted): assert double(2) == wanted
""",
    "tests/test_helper.py": """
from checks import check
from lib import double
def test_helper(): check(double(2), 4)
""",
    "tests/test_plain.py": "from lib import double\ndef test_plain(): assert double(2) == 4\n",
}
FIXED = FILES.keys() - {"lib.py"}
DATA, *_ = TESTS = [
    f"tests/test_{name}.py::test_{name}" for name in ("data", "fixture", "helper", "plain")
]
MENDED = PROGRAM.replace("return x", "return 2 * x")
OTHER_FOLDER = """
shutil.copytree("tests", "other")
write(easy, "other")
os.rename("tests", "kept")
os.rename("other", "tests")
"""
AROUND = """
Path("evil").mkdir()
write(modules, "evil")
for name in ("data", "fixture", "helper"):
    Path(f"evil/test_{name}.py").write_text(f"def test_{name}(): pass\\n")
for path in Path("evil").absolute().glob("*.py"):
    path.write_text(path.read_text() + f"__file__ = {str(path).replace('evil', 'tests')!r}\\n")
Path("tests/__init__.py").write_text(f"__path__ = [{os.path.abspath('evil')!r}]\\n")
"""
ATTACKS = {
    "another text": "write(easy)",
    "another text until the first call": """
times = {name: os.stat(name).st_mtime_ns for name in easy}
write(easy)
def called():
    write(sent)
    for name, time in times.items():
        os.utime(name, ns=(time, time))
""",
    "a thread that never stops writing": """
def again():
    while True:
        for name, text in easy.items():  # whole at any moment: a test never reads an empty file
            Path("part").write_text(text)
            os.replace("part", name)
threading.Thread(target=again, daemon=True).start()
write(easy)
""",
    "links to other files": """
write(easy, "evil")
for name in easy:
    os.remove(name)
    os.symlink(os.path.abspath(name.replace("tests", "evil")), name)
""",
    "files that cannot be written to again": """
write(easy)
for name in easy:
    os.chmod(name, 0o400)
os.chmod("tests", 0o500)
""",
    "compiled code": """
import pytest
write({"tests/data/wanted.txt": "2"})
Path("tests/__pycache__").mkdir()
for name, text in modules.items():
    code = marshal.dumps(compile(text, os.path.abspath(name), "exec"))
    hashed = importlib.util.source_hash(sent[name].encode())
    place = f"tests/__pycache__/{Path(name).stem}.{sys.implementation.cache_tag}"
    for tag, flags in (("", 1), (f"-pytest-{pytest.__version__}", 3)):
        head = importlib.util.MAGIC_NUMBER + bytes([flags, 0, 0, 0]) + hashed
        Path(f"{place}{tag}.pyc").write_bytes(head + code)
""",
    "packages of the same names": """
write({"tests/data/wanted.txt": "2"})
for name, text in modules.items():
    text += f"__file__ = {os.path.abspath(name)!r}\\n"
    write({f"{name[:-3]}/__init__.py": text})
""",
    "a package around them": AROUND,
    "another folder": OTHER_FOLDER,
    "another folder until the first call": OTHER_FOLDER
    + """
def called():
    if os.path.exists("kept"):
        os.rename("tests", "other")
        os.rename("kept", "tests")
""",
}
DATA_SWAPPED = "another folder until the first call"


def run(walls, program, fixed=FIXED):
    """{test: (status, message)}"""
    outcomes = walls.run_pytest({**FILES, "lib.py": program}, TESTS, fixed=fixed).outcomes
    return {name: (status, message) for name, status, message in outcomes}


def passed(said):
    return [name for name, (status, _) in said.items() if status == "passed"]


@pytest.mark.parametrize("name", ATTACKS)
def test_a_program_that_changes_its_tests_passes_none(name, walls):
    program = PROGRAM + ATTACKS[name]
    assert passed(run(walls, program, fixed=())) == TESTS  # it does what it says
    assert passed(run(walls, program)) == ([DATA] if name == DATA_SWAPPED else [])


def test_a_right_program_passes_and_one_that_writes_a_test_anew_is_told(walls):
    assert passed(run(walls, MENDED)) == TESTS
    said = run(walls, MENDED + "write({'tests/checks.py': sent['tests/checks.py']})")
    assert set(said.values()) == {("error", "tests/checks.py was changed during the run")}


def test_a_program_may_write_whatever_else_it_likes(walls):
    program = MENDED + "write({'tests/data/more.txt': '', 'tests/new.py': '', 'a/lib.py': ''})\n"
    assert passed(run(walls, program)) == TESTS


def test_a_fixed_path_must_be_a_file_of_the_workspace(walls):
    with pytest.raises(ValueError, match=r"expected paths of files, got \['tests/gone.py'\]"):
        walls.run_pytest(FILES, TESTS, fixed=["tests/gone.py"])
