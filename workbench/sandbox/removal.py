"""What a run has written to the disk, however it is built: is it too much, and away with it.

Stage: sandbox (both sides). Standard library only, and little of it: the server forks with this
loaded. Left out: shutil.rmtree, which gives up on folders nested a thousand deep and on paths
longer than the system allows; a hostile program needs one loop to make either.
"""

from __future__ import annotations

import errno
import os


def holds_more(folder, num_files, num_bytes):
    """Whether there is more than that below `folder`; also if there are paths longer than the
    system takes, or folders that can be filled and not listed. A run may be writing there
    meanwhile."""
    folders = [folder]
    while folders:
        inner = folders.pop()
        try:
            with os.scandir(inner) as entries:
                for entry in entries:
                    num_files -= 1
                    num_bytes -= entry.stat(follow_symlinks=False).st_blocks * 512
                    if num_files < 0 or num_bytes < 0:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except PermissionError:
            if os.access(inner, os.W_OK | os.X_OK):
                return True
        except OSError as error:  # it is gone again
            if error.errno == errno.ENAMETOOLONG:
                return True
    return False


def empty_folder(folder):
    """Remove everything below `folder`; links are removed, never followed.

    Folders found inside others are first moved up to `folder`, so that no path gets long. Nothing
    may be writing there any more. Raises OSError if something cannot be removed.
    """
    number = 0
    while names := os.listdir(folder):
        for name in names:
            path = f"{folder}/{name}"
            if not _is_folder(path):
                os.unlink(path)
                continue
            os.chmod(path, 0o700)  # a run may take away its own folders' permissions
            for inner in os.listdir(path):
                if not _is_folder(f"{path}/{inner}"):
                    os.unlink(f"{path}/{inner}")
                    continue
                os.chmod(f"{path}/{inner}", 0o700)
                while os.path.lexists(f"{folder}/{number}"):
                    number += 1
                os.rename(f"{path}/{inner}", f"{folder}/{number}")
            os.rmdir(path)


def remove_folder(folder):
    """Remove `folder` and everything below it, as far as that can be done; raises nothing."""
    try:
        empty_folder(folder)
        os.rmdir(folder)
    except OSError:
        pass  # gone already, or not ours to remove


def _is_folder(path):
    return os.path.isdir(path) and not os.path.islink(path)
