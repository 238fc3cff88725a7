"""A repository is loaded as it was at one commit; what came later cannot be reached."""

import os
import subprocess

import pytest

from workbench.workspaces import load_repository

NOBODY = {
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_CONFIG_GLOBAL": os.devnull,
}  # fmt: skip


def git(folder, *arguments):
    environment = {**os.environ, **NOBODY}
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """Two commits, the second one is the fix; (folder, first commit)."""
    git(tmp_path, "init", "-q")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "core.py").write_text("x = 1\n")
    (tmp_path / "naïve.txt").write_text("ü\n", "utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    base = git(tmp_path, "rev-parse", "HEAD")
    git(tmp_path, "tag", "v1")
    (tmp_path / "lib" / "core.py").write_text("x = 'the fix'\n")
    (tmp_path / "later.py").write_text("the fix\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "the fix")
    (tmp_path / "not_committed.py").write_text("the fix\n")
    return tmp_path, base


@pytest.mark.parametrize("name", ["commit", "v1", "HEAD~1"])
def test_only_the_base_commit_is_there(repository, name):
    folder, base = repository
    files = load_repository(folder, base if name == "commit" else name)
    assert files == {"lib/core.py": "x = 1\n", "naïve.txt": "ü\n"}


def test_without_a_commit_it_is_the_one_checked_out(repository):
    files = load_repository(repository[0])
    assert sorted(files) == ["later.py", "lib/core.py", "naïve.txt"]
    assert not any(path.startswith(".git") for path in files)


def test_a_folder_without_history_is_taken_as_it_lies(tmp_path):
    (tmp_path / "a.py").write_text("a\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    for name in ("__pycache__", ".venv", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "c.py").write_text("c\n")
    assert load_repository(tmp_path) == {"a.py": "a\n", "b/c.py": "c\n"}


def test_what_is_not_text_is_named(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    with pytest.warns(UserWarning, match=r"not UTF-8 text: picture\.png"):
        assert load_repository(tmp_path) == {}


def test_what_cannot_be_loaded_says_why(repository, tmp_path_factory):
    with pytest.raises(ValueError, match="git rev-parse in .* failed"):
        load_repository(repository[0], "no-such-commit")
    with pytest.raises(ValueError, match="failed"):
        load_repository(repository[0], "--all")
    empty = tmp_path_factory.mktemp("empty")
    with pytest.raises(ValueError, match="has no history"):
        load_repository(empty, "HEAD")
    with pytest.raises(ValueError, match="expected a folder"):
        load_repository(empty / "none")
