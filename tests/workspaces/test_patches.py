"""Patches: what `diff` and `git diff` write is applied exactly, and what does not fit says why."""

import subprocess

import pytest

from workbench.grading import collect_evidence
from workbench.records import Task
from workbench.workspaces import PatchError, apply_patch

LIB = "".join(f"line {n}\n" for n in range(1, 11))
FILES = {"lib.py": LIB, "pkg/a.py": "a = 1\n", "no_end.txt": "one\ntwo"}
CHANGE = """\
--- a/lib.py
+++ b/lib.py
@@ -2,3 +2,4 @@
 line 2
-line 3
+line three
+line three and a half
 line 4
"""


def test_a_changed_line_and_a_new_one():
    after = apply_patch(FILES, CHANGE)
    changed = LIB.replace("line 3\n", "line three\nline three and a half\n")
    assert after == {**FILES, "lib.py": changed}
    assert FILES["lib.py"] == LIB


def test_a_blank_patch_changes_nothing():
    assert apply_patch(FILES, " \n") == FILES


def test_a_header_without_prefixes_and_with_dates_is_understood():
    patch = CHANGE.replace("a/lib.py", "lib.py\t2024-01-01 10:00:00").replace("b/lib.py", "lib.py")
    assert apply_patch(FILES, patch) == apply_patch(FILES, CHANGE)


def test_text_around_a_patch_is_passed_over():
    mail = f"From: somebody\n\nPlease take this:\n\n{CHANGE}-- \n2.39\n"
    assert apply_patch(FILES, mail) == apply_patch(FILES, CHANGE)


def test_a_hunk_is_found_where_its_lines_are():
    moved = {**FILES, "lib.py": "new\nnew\nnew\n" + LIB}
    after = apply_patch(moved, CHANGE)["lib.py"]
    assert after == "new\nnew\nnew\n" + apply_patch(FILES, CHANGE)["lib.py"]


def test_of_several_places_the_nearest_one_is_taken():
    files = {"f": "x\na\n" * 10}
    patch = "--- f\n+++ f\n@@ -11,2 +11,2 @@\n x\n-a\n+b\n"
    lines = apply_patch(files, patch)["f"].split("\n")
    assert [number for number, line in enumerate(lines, 1) if line == "b"] == [12]


def test_later_hunks_count_in_the_old_file():
    patch = "--- f\n+++ f\n@@ -1,0 +2,2 @@\n+x\n+y\n@@ -3,0 +6,1 @@\n+z\n"
    assert apply_patch({"f": "1\n2\n3\n4\n"}, patch)["f"] == "1\nx\ny\n2\n3\nz\n4\n"


def test_files_come_and_go_and_move():
    patch = """\
diff --git a/new/b.py b/new/b.py
new file mode 100644
--- /dev/null
+++ b/new/b.py
@@ -0,0 +1,2 @@
+b = 2
+
diff --git a/no_end.txt b/no_end.txt
deleted file mode 100644
--- a/no_end.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
\\ No newline at end of file
diff --git a/pkg/a.py b/pkg/c.py
similarity index 50%
rename from pkg/a.py
rename to pkg/c.py
--- a/pkg/a.py
+++ b/pkg/c.py
@@ -1 +1 @@
-a = 1
+c = 1
diff --git a/lib.py b/moved.py
similarity index 100%
rename from lib.py
rename to moved.py
diff --git a/empty.txt b/empty.txt
new file mode 100644
"""
    assert apply_patch(FILES, patch) == {
        "new/b.py": "b = 2\n\n", "pkg/c.py": "c = 1\n", "moved.py": LIB, "empty.txt": ""
    }  # fmt: skip


RENAMED = """\
diff --git a/x b/a.py b/x b/c b/d.py
similarity index 100%
rename from x b/a.py
rename to x b/c b/d.py
"""


def test_folders_whose_name_ends_as_git_s_header_goes_on():
    files = {"x b/a.py": LIB, "x b/e.py": ""}
    header = "diff --git a/x b/a.py b/x b/a.py\nindex 1..2 100644\n"
    changed = header + CHANGE.replace("lib.py", "x b/a.py\t")
    after = apply_patch(FILES, CHANGE)["lib.py"]
    assert apply_patch(files, changed) == files | {"x b/a.py": after}
    gone = "diff --git a/x b/e.py b/x b/e.py\ndeleted file mode 100644\n"
    assert apply_patch(files, gone) == {"x b/a.py": LIB}
    assert apply_patch(files, RENAMED) == {"x b/c b/d.py": LIB, "x b/e.py": ""}


def test_a_patch_with_windows_line_ends_fits_a_file_that_has_them_too():
    windows = {"lib.py": LIB.replace("\n", "\r\n"), "x b/a.py": ""}
    patch = f"diff --git a/lib.py b/lib.py\nindex 1..2 100644\n{CHANGE}{RENAMED}"
    after = apply_patch(FILES, CHANGE)["lib.py"].replace("\n", "\r\n")
    expected = {"lib.py": after, "x b/c b/d.py": ""}
    assert apply_patch(windows, patch.replace("\n", "\r\n")) == expected
    with pytest.raises(PatchError, match=r"only the file has lines that end in \\r\\n"):
        apply_patch(windows, CHANGE)


def test_a_missing_line_break_at_the_end_comes_and_goes():
    patch = "--- no_end.txt\n+++ no_end.txt\n@@ -1,2 +1,2 @@\n one\n-two\n"
    patch += "\\ No newline at end of file\n+two\n"
    after = apply_patch(FILES, patch)
    assert after["no_end.txt"] == "one\ntwo\n"
    back = "--- no_end.txt\n+++ no_end.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+two\n"
    assert apply_patch(after, back + "\\ No newline at end of file\n") == FILES


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("please change line 3", "expected a unified diff"),
        (CHANGE.replace("\n", "\r\n"), r"only the patch has lines that end in \\r\\n"),
        (CHANGE.replace("-line 3", "-line 33"), "lib.py, hunk 1 does not fit: expected 'line 2'"),
        (CHANGE.replace("lib.py", "gone.py"), "gone.py: no such file"),
        (CHANGE.replace("a/lib.py", "/dev/null"), "lib.py: this file exists already"),
        (CHANGE.replace("b/lib.py", "/dev/null"), "lib.py: to be deleted, but"),
        (CHANGE.replace("-2,3 +2,4", "-2,5 +2,4"), "promises 5 old and 4 new lines"),
        (CHANGE.replace("-2,3 +2,4", "-2,2 +2,9"), "promises 2 old and 9 new lines"),
        (CHANGE.replace("@@ -2,3 +2,4 @@", "@@ here @@"), "line 3: expected '@@ -1,2 .1,3 @@'"),
        (CHANGE.replace("-2,3", "-" + 5000 * "9" + ",3"), "line 3: expected '@@ -1,2 .1,3 @@'"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1: expected .* below a file's name"),
        ("--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", "'../x': expected a path inside"),
        ("--- /dev/null\n+++ b//etc/x\n@@ -0,0 +1 @@\n+x\n", "'/etc/x': expected a path inside"),
        ("--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n", "expected a path inside"),
        ("--- /dev/null\n+++ b/lib.py/x\n@@ -0,0 +1 @@\n+x\n", "lib.py is a file and cannot be a"),
        ("diff --git a/x b/x\nnew file mode 100644\nGIT binary patch\n", "line 3: binary changes"),
        ("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "copies cannot be"),
        ("diff --git a/x b/y\nrename from x\nrename to y\n", "x: no such file"),
        (
            "diff --git a/lib.py b/moved.py\nrename from lib.py\nrename to moved.py\n"
            'diff --git "a/\\303\\251.py" "b/\\303\\251.py"\nnew file mode 100644\n'
            '--- /dev/null\n+++ "b/\\303\\251.py"\n@@ -0,0 +1 @@\n+x\n',
            "line 4: quoted paths cannot be applied",
        ),
        ('--- /dev/null\n+++ "b/\\303\\251.py"\n@@ -0,0 +1 @@\n+x\n', "expected a path inside"),
    ],
)
def test_what_does_not_fit_says_why_and_changes_nothing(patch, message):
    before = dict(FILES)
    with pytest.raises(PatchError, match=message):
        apply_patch(FILES, patch)
    assert before == FILES


@pytest.mark.parametrize("context", [0, 1, 3])
def test_git_s_own_patches_are_applied_as_git_does(tmp_path, context):
    old = {"a.txt": "".join(f"{n % 7}\n" for n in range(60)), "b/c.txt": "gone\n", "m.txt": LIB}
    lines = old["a.txt"].splitlines(True)
    new = {
        "a.txt": "".join(["first\n", *lines[:10], *lines[14:50], "50\n", *lines[51:], "end"]),
        "d/e.txt": "new\n",
        "n.txt": LIB.replace("line 5\n", ""),
    }
    for name, files in (("a", old), ("b", new)):
        for path, text in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    command = ["git", "diff", "--no-index", "--no-prefix", "-M", f"-U{context}", "a", "b"]
    diff = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    patch = diff.replace("rename from a/", "rename from ").replace("rename to b/", "rename to ")
    assert "rename from m.txt" in patch and apply_patch(old, patch) == new


def test_the_diff_in_the_evidence_can_be_applied():
    task = Task("t", "", "f", "lib.py", FILES, (), (), {})
    after = {"lib.py": LIB.replace("line 9\n", "9\n"), "pkg/a.py": "", "new.py": "x = 1\n"}
    before = {**FILES, "no_end.txt": "one\ntwo\n"}
    assert apply_patch(before, collect_evidence(task, after).diff) == after
