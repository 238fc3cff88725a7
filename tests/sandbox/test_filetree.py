"""Which files of the machine other users can read."""

import tempfile
from pathlib import Path

import pytest

from workbench.sandbox.filetree import readable_by_all


@pytest.fixture
def package(tmp_path_factory):
    """A folder with a file, below folders that all may enter up to the temporary one."""
    folder = tmp_path_factory.mktemp("package")
    for parent in (folder, *folder.parents):
        if parent == Path(tempfile.gettempdir()):
            break
        if parent.owner() == folder.owner():
            parent.chmod(0o755)
    (folder / "one.py").write_text("")
    (folder / "one.py").chmod(0o644)
    return folder


def test_what_all_may_read(package):
    assert readable_by_all(str(package)) and readable_by_all(str(package / "one.py"))


def test_a_file_that_only_its_owner_may_read(package):
    (package / "one.py").chmod(0o600)
    assert readable_by_all(str(package)) and not readable_by_all(str(package / "one.py"))


def test_a_closed_folder_hides_what_lies_below_it(package):
    package.chmod(0o700)
    assert not readable_by_all(str(package)) and not readable_by_all(str(package / "one.py"))


def test_a_link_is_as_readable_as_what_it_leads_to(package, tmp_path):
    (tmp_path / "link").symlink_to(package)
    assert readable_by_all(str(tmp_path / "link"))
