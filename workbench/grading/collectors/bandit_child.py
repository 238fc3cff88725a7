"""Bandit in a process of its own: a line of JSON for each file of a folder, by their names.

Stage: grading (started by `security` as a program, not imported). Hostile text can make Bandit
take hours (a list of 20,000 strings, a line each, does): a file that takes too long ends this
process, and the line that is missing says which one it was. Left out: reading anything into what
was found.
"""

import json
import logging
import os
import signal
import sys

from bandit.core.config import BanditConfig
from bandit.core.manager import BanditManager

CPU_S = 5.0
"""A file that needs longer cannot be read; one of 1,000 lines needs about 0.1."""


class Complaints(logging.Handler):
    """Remembers whether Bandit says that one of its own checks failed: it then goes on without."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.texts = []

    def emit(self, record):
        """Note what was said."""
        self.texts.append(record.getMessage())


def scan(path, complaints):
    """{"findings": [[rule, line, severity, text], ...], "trouble": why it was not read or ""}."""
    complaints.texts.clear()
    manager = BanditManager(BanditConfig(), "file", ignore_nosec=True)
    manager.discover_files([path])
    manager.run_tests()
    trouble = [reason for _, reason in manager.get_skipped()] + complaints.texts
    found = [[i.test_id, i.lineno, i.severity, i.text] for i in manager.get_issue_list()]
    return {"findings": found, "trouble": " ".join(trouble[0].split())[:200] if trouble else ""}


def main(folder, first):
    """Scan the files of `folder`, from the one with that number on."""
    complaints = Complaints()
    logging.getLogger("bandit").addHandler(complaints)
    logging.getLogger("bandit").propagate = False
    for name in sorted(os.listdir(folder))[first:]:
        signal.setitimer(signal.ITIMER_PROF, CPU_S)  # nobody handles the signal: it ends us
        print(json.dumps(scan(os.path.join(folder, name), complaints)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
