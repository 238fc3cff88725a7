from scribe import Editor


def test_undo_and_redo_go_back_and_forth():
    editor = Editor()
    editor.insert(0, "a")
    assert editor.undo() and editor.lines == []
    assert editor.redo() and editor.lines == ["a"]
    assert not editor.redo()


def test_undo_goes_back_to_the_start():
    editor = Editor(["a"])
    editor.delete(0)
    editor.insert(0, "b")
    assert editor.undo() and editor.undo() and not editor.undo()
    assert editor.lines == ["a"]


def test_a_group_is_undone_as_one():
    editor = Editor(["a", "b"])
    with editor.group("swap"):
        line = editor.delete(0)
        editor.insert(1, line)
    assert editor.lines == ["b", "a"]
    assert editor.undo() and editor.lines == ["a", "b"] and not editor.undo()
    assert editor.redo() and editor.lines == ["b", "a"]


def test_replacing_is_one_edit():
    editor = Editor(["a"])
    editor.replace(0, "b")
    assert editor.undo() and editor.lines == ["a"] and not editor.undo()
