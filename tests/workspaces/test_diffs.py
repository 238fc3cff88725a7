"""A workspace's changes as a patch: git and `apply_patch` make the same of it."""

import random
import subprocess

import pytest

from workbench.workspaces import apply_patch, changed_paths, make_patch, save_repository
from workbench.workspaces.patches import PatchError

CHANGES = {  # before, after
    "nothing": ({"a.py": "x = 1\n"}, {"a.py": "x = 1\n"}),
    "a line": ({"a.py": "x = 1\ny = 2\n"}, {"a.py": "x = 1\ny = 3\n"}),
    "a new file in a new folder": ({"a.py": "x\n"}, {"a.py": "x\n", "b/c/d.py": "y\n\nz\n"}),
    "a file less": ({"a.py": "x\n", "b/c.py": "y\nz\n"}, {"a.py": "x\n"}),
    "no line break at the end any more": ({"a.py": "x\ny\n"}, {"a.py": "x\ny"}),
    "one at last": ({"a.py": "x\ny"}, {"a.py": "x\ny\n"}),
    "neither before nor after": ({"a.py": "x"}, {"a.py": "y"}),
    "an empty file filled": ({"a.py": ""}, {"a.py": "x\n"}),
    "a file emptied": ({"a.py": "x\n"}, {"a.py": ""}),
    "other line breaks": ({"a.py": "x\r\ny\x0cz\u2028\n"}, {"a.py": "x\r\ny\x0cw\u2028\n"}),
    "a file becomes a folder": ({"a": "x\n"}, {"a/b": "x\n"}),
    "lines that look like headers": ({"a.py": "-- x\n"}, {"a.py": "-- x\n++ y\n@@ z\n"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_patch_makes_the_one_of_the_other(name):
    before, after = CHANGES[name]
    patch = make_patch(before, after)
    assert apply_patch(before, patch) == after
    touched = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert set(changed_paths(patch)) == touched and (patch == "") == (name == "nothing")


@pytest.mark.parametrize("name", CHANGES)
def test_git_says_so_too(name, tmp_path):
    before, after = CHANGES[name]
    save_repository(before, tmp_path)
    if patch := make_patch(before, after):
        command = ["git", "-C", str(tmp_path), "apply", "--whitespace=nowarn", "-"]
        subprocess.run(command, input=patch.encode(), check=True)
    found = {
        path.relative_to(tmp_path).as_posix(): path.read_bytes().decode()
        for path in tmp_path.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert found == after


def test_any_two_texts():
    for seed in range(50):
        chance = random.Random(seed)
        parts = "a\n", "b\n", "\n", "c", "\r"
        texts = ["".join(chance.choices(parts, k=chance.randrange(9))) for _ in range(2)]
        before, after = ({"a.txt": text} for text in texts)
        assert apply_patch(before, make_patch(before, after)) == after


@pytest.mark.parametrize("path", ["../a.py", "/etc/passwd", "a/.git/config", "a//b"])
def test_paths_outside_are_refused(path):
    with pytest.raises(PatchError, match="expected a path inside"):
        changed_paths(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n")


def test_both_names_of_a_renamed_file_are_meant():
    patch = "diff --git a/old.py b/new.py\nrename from old.py\nrename to new.py\n"
    assert changed_paths(patch) == ("new.py", "old.py")
