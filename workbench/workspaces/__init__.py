"""Repositories as workspaces: loaded at one commit, changed by patches, guarded where tests decide.

Stage: between the tasks and everything that reads or changes their files. A workspace is a mapping
from path to text and is never changed in place, so keeping one costs nothing and
`records.files_hash` names it. Left out: binary files, links, permissions.
"""

from workbench.workspaces.commits import commit_id, save_repository
from workbench.workspaces.diffs import make_patch
from workbench.workspaces.history import load_repository
from workbench.workspaces.patches import PatchError, apply_patch, changed_paths
from workbench.workspaces.protected import (
    is_runner_file,
    is_test_file,
    manifest,
    pristine_files,
    tampered_paths,
    with_pristine_tests,
)

__all__ = [
    "PatchError",
    "apply_patch",
    "changed_paths",
    "commit_id",
    "is_runner_file",
    "is_test_file",
    "load_repository",
    "make_patch",
    "manifest",
    "pristine_files",
    "save_repository",
    "tampered_paths",
    "with_pristine_tests",
]
