"""What a run has written is measured however it is built; read as a user who is not root."""

import os

import pytest

from workbench.sandbox.removal import holds_more


def says_somebody(folder, num_files):
    """`holds_more` for 1 MiB, asked by a user for whom permissions count: root has them all."""
    pid = os.fork()
    if pid == 0:
        try:
            os.chdir(folder)  # the folders above are closed to others
            if os.geteuid() == 0:
                os.setresuid(12_345, 12_345, 12_345)
            os._exit(int(holds_more(".", num_files, 1 << 20)))
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.fixture
def folder(tmp_path):
    """A folder of that user's with a folder `in` in it."""
    (tmp_path / "in").mkdir()
    if os.geteuid() == 0:
        for path in (tmp_path, tmp_path / "in"):
            os.chown(path, 12_345, 12_345)
    yield tmp_path
    (tmp_path / "in").chmod(0o700)


def test_files_and_folders_are_counted_at_every_depth(folder):
    (folder / "in" / "a").write_text("")
    assert says_somebody(folder, 2) == 0
    assert says_somebody(folder, 1) == 1


@pytest.mark.parametrize("mode, too_much", [(0o300, 1), (0o200, 0), (0o100, 0), (0, 0)])
def test_a_folder_that_can_be_filled_and_not_listed_holds_more(folder, mode, too_much):
    (folder / "in").chmod(mode)
    assert says_somebody(folder, 10) == too_much
