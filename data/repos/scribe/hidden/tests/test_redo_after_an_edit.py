import pytest

from scribe import Editor


@pytest.fixture
def undone():
    """An editor with two edits that can be made again."""
    editor = Editor(["start"])
    editor.insert(1, "b")
    editor.insert(2, "c")
    editor.undo()
    editor.undo()
    return editor


def swap(editor):
    with editor.group("swap"):
        editor.delete(0)
        editor.insert(0, "else")


EDITS = {
    "insert": lambda editor: editor.insert(0, "new"),
    "delete": lambda editor: editor.delete(0),
    "replace": lambda editor: editor.replace(0, "other"),
    "group": swap,
}


@pytest.mark.parametrize("name", EDITS)
def test_after_an_edit_there_is_nothing_to_redo(undone, name):
    EDITS[name](undone)
    lines = undone.lines
    assert not undone.redo() and not undone.redo() and undone.lines == lines


@pytest.mark.parametrize("name", EDITS)
def test_the_edit_itself_can_be_undone_and_redone(undone, name):
    EDITS[name](undone)
    lines = undone.lines
    assert undone.undo() and undone.lines == ["start"]
    assert undone.redo() and undone.lines == lines
    assert not undone.redo()


def test_what_was_undone_is_redone_in_order(undone):
    assert undone.redo() and undone.lines == ["start", "b"]
    assert undone.redo() and undone.lines == ["start", "b", "c"]
    assert not undone.redo()


def test_undo_after_a_redo_leaves_the_rest_to_redo(undone):
    assert undone.redo() and undone.undo()
    assert undone.redo() and undone.redo() and undone.lines == ["start", "b", "c"]


def test_an_edit_that_fails_is_no_edit(undone):
    with pytest.raises(IndexError):
        undone.delete(9)
    with pytest.raises(IndexError):
        undone.replace(9, "x")
    assert undone.redo() and undone.lines == ["start", "b"]


def test_a_group_without_edits_or_with_an_error_is_none_either(undone):
    with undone.group("nothing"):
        pass
    with pytest.raises(ZeroDivisionError), undone.group("error"):
        undone.delete(0)
        1 / 0
    assert undone.redo() and undone.lines == ["start", "b"]


def test_looking_and_saving_are_no_edits(undone):
    assert undone.save() == "start\n" and undone.saved and undone.lines == ["start"]
    assert undone.redo() and not undone.saved


def test_a_document_that_went_another_way_is_not_the_saved_one():
    editor = Editor()
    editor.insert(0, "a")
    editor.save()
    editor.undo()
    editor.insert(0, "b")
    assert not editor.saved and not editor.redo() and not editor.saved
