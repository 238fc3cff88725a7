"""What every test may ask for. Environment variables are set before anything imports torch."""

import os
import signal

# A shell starts background jobs with interrupts ignored, and children inherit that: the tests of
# Ctrl-C need the usual handler however the suite was started.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest  # noqa: E402


@pytest.fixture(scope="session")
def sandbox():
    """One local sandbox with two workers for the whole test run."""
    from workbench import open_sandbox

    with open_sandbox("local", workers=2) as opened:
        yield opened
