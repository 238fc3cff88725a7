"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil

import pytest

import workbench

STARTED_AS_PROGRAMS = {"workbench.__main__", "workbench.sandbox.server"}
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(workbench.__path__, "workbench.")
    if info.name not in STARTED_AS_PROGRAMS
    and ">>> " in info.module_finder.find_spec(info.name).loader.get_source(info.name)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples_to_run():
    found = doctest.DocTestFinder()
    modules = [importlib.import_module(name) for name in MODULES]
    assert sum(bool(t.examples) for module in modules for t in found.find(module)) >= 10
