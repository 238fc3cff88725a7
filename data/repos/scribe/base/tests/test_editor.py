import pytest

from scribe import Editor


@pytest.fixture
def editor():
    return Editor(["one", "two"])


def test_lines_come_and_go(editor):
    editor.insert(2, "three")
    assert editor.delete(0) == "one"
    editor.replace(0, "TWO")
    assert editor.lines == ["TWO", "three"]


def test_edits_outside_the_text_are_refused(editor):
    with pytest.raises(IndexError, match="cannot insert at line 3 of 2"):
        editor.insert(3, "x")
    with pytest.raises(IndexError, match="there is no line 2 of 2"):
        editor.delete(2)
    assert editor.lines == ["one", "two"] and not editor.undo()


def test_lines_are_a_copy(editor):
    editor.lines.append("mine")
    assert editor.lines == ["one", "two"]


def test_a_group_that_raises_leaves_no_trace(editor):
    with pytest.raises(KeyError):
        with editor.group("half done"):
            editor.delete(0)
            raise KeyError("x")
    assert editor.lines == ["one", "two"] and not editor.undo()


def test_saved_is_what_was_saved(editor):
    assert editor.saved
    editor.insert(0, "zero")
    assert not editor.saved and editor.save() == "zero\none\ntwo\n" and editor.saved
    editor.undo()
    assert not editor.saved
    editor.redo()
    assert editor.saved
