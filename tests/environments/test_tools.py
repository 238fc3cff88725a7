import pytest

from workbench.environments import tools

FILES = {
    "util.py": "def fold(xs):\n    # sum of even\n    return sum(xs)\n",
    "lib.py": "def pack(xs):\n    return fold(xs)\n\ndef unfold(xs):\n    return xs\n",
    "tests.py": "from util import fold\nassert fold([1, 2]) == 2\n",
}


def test_ls_names_the_files_in_order():
    assert tools.list_files(FILES) == "lib.py tests.py util.py"


def test_cat_shows_numbered_lines_with_their_indentation():
    assert tools.show_file(FILES, "util.py") == (
        "1|def fold(xs):\n2|    # sum of even\n3|    return sum(xs)"
    )
    assert tools.show_file(FILES, "nofile.py") == "error: no such file nofile.py"


def test_grep_finds_whole_words_and_not_in_the_tests():
    assert tools.find_word(FILES, "fold", skip="tests.py") == (
        "lib.py:2: return fold(xs)\nutil.py:1: def fold(xs):"
    )
    assert tools.find_word(FILES, "fol") == "no match"


def test_grep_takes_special_characters_as_they_are():
    assert tools.find_word(FILES, "sum(xs)") == "util.py:3: return sum(xs)"
    assert tools.find_word(FILES, ".*") == "no match"


def test_edit_replaces_one_line_and_leaves_the_old_files_alone():
    files, said = tools.replace_line(FILES, "util.py 3|    return sum(x for x in xs)")
    assert said == "3|    return sum(x for x in xs)"
    assert files["util.py"].splitlines()[2] == "    return sum(x for x in xs)"
    assert FILES["util.py"].splitlines()[2] == "    return sum(xs)"
    assert files["lib.py"] is FILES["lib.py"]


def test_an_edit_with_a_line_from_cat_changes_nothing():
    line = tools.show_file(FILES, "lib.py").splitlines()[1]
    files, said = tools.replace_line(FILES, f"lib.py {line}")
    assert files == FILES and said == line


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("nofile.py 1|x", "error: no such file nofile.py"),
        ("util.py 4|x", "error: util.py has no line 4"),
        ("util.py 0|x", "error: util.py has no line 0"),
        ("util.py 1|x\x0cy", "error: the new text is more than one line"),
    ],
)
def test_an_edit_that_misses_changes_nothing_and_says_so(argument, said):
    files, observation = tools.replace_line(FILES, argument)
    assert files is FILES and observation == said


def test_cut_says_how_much_is_missing():
    assert tools.cut("x" * 400, 400) == "x" * 400
    assert tools.cut("x" * 450, 400) == "x" * 400 + "\n... 50 more"
