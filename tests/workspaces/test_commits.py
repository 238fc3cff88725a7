"""A repository of one commit: git agrees on its name, and nothing else is in it."""

import subprocess

import pytest

from workbench.tasks import load_tasks
from workbench.workspaces import commit_id, load_repository, save_repository

FILES = {"a.py": "x = 1\n", "a/b.py": "y\n", "a-b/c": "", "a.b/ü.txt": "naïve\r\n", ".hidden": "z"}
FILES["a/c/d.py"] = "deep"


def git(folder, *arguments):
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("files", [{}, {"one": "1\n"}, FILES], ids=["none", "one", "many"])
def test_the_name_is_the_one_that_git_gives(files, tmp_path):
    made = save_repository(files, tmp_path / "new")
    assert git(tmp_path / "new", "rev-parse", "HEAD") == made == commit_id(files)
    assert load_repository(tmp_path / "new", made) == files
    assert git(tmp_path / "new", "status", "--porcelain") == ""


def test_another_file_is_another_commit():
    others = {**FILES, "a.py": "x = 2\n"}, {"a.py": "x = 1\n"}
    assert len({commit_id(files) for files in (FILES, *others)}) == 3
    assert commit_id(dict(reversed(FILES.items()))) == commit_id(FILES)


@pytest.mark.slow
@pytest.mark.parametrize("task", load_tasks("repos"), ids=lambda task: task.task_id)
def test_the_history_of_a_task_holds_its_base_and_nothing_that_came_later(task, tmp_path):
    made = save_repository(task.files, tmp_path)
    assert git(tmp_path, "rev-list", "--all") == made
    assert git(tmp_path, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert git(tmp_path, "fsck", "--unreachable", "--no-reflogs", "--no-progress") == ""
    assert not (tmp_path / ".git" / "logs").exists()
    listed = git(tmp_path, "cat-file", "--batch-check", "--batch-all-objects")
    kinds = [line.split()[1] for line in listed.splitlines()]
    assert kinds.count("commit") == 1 and kinds.count("blob") <= len(task.files)


def test_a_folder_in_use_is_refused(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(ValueError, match="expected a new or empty one"):
        save_repository(FILES, tmp_path)
