"""What every test may ask for. Environment variables are set before anything imports torch."""

import gc
import os
import signal

# A shell starts background jobs with interrupts ignored, and children inherit that: the tests of
# Ctrl-C need the usual handler however the suite was started.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
gc.disable()  # until all is collected: hardly anything of it is garbage

import pytest  # noqa: E402


def pytest_collection_finish():
    """What was imported and collected stays to the end: the garbage collector passes it over."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def before_after():
    """The recorded run of the shipped policy, read once."""
    from workbench import load_run

    return load_run("bugfix-before-after")


@pytest.fixture(scope="session")
def sandbox():
    """One local sandbox with two workers for the whole test run."""
    from workbench import open_sandbox

    with open_sandbox("local", workers=2) as opened:
        yield opened


@pytest.fixture(scope="module")
def walls():
    """A sandbox of a module's own for attacks, which are run only where they can do no harm."""
    from workbench import open_sandbox

    with open_sandbox("local", workers=2) as opened:
        if opened.tier == 1:
            pytest.skip("no walls on this machine")
        yield opened


@pytest.fixture(scope="session")
def docker_engine():
    """A Docker engine of the test run's own, named by DOCKER_HOST; skips where none can be had."""
    from tests.docker_engine import start_engine

    engine = start_engine()
    if isinstance(engine, str):
        pytest.skip(engine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", engine.address)
        yield engine
    engine.stop()
