"""`run` for scripted episodes: the sandbox's answers, without a process for each.

Stage: pretraining. In: a workspace that the grammar, the mutators and the scripted behaviours
wrote. Out: the `TestsResult` that the sandbox would give. Only text of this package ever gets
here, never a policy's; a test holds the answers equal to the real sandbox's. It exists because
a corpus runs a hundred thousand test files.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Mapping

from workbench.records import Limits
from workbench.sandbox import TestsResult, candidate

_BOX = "/box"


class TrustedRunner:
    """Stands in for the sandbox in an `Environment`; it can only run tests."""

    name = "trusted"
    workers = 1

    def run_tests(
        self, files: Mapping[str, str], tests_file: str, limits: Limits
    ) -> TestsResult:
        """What the sandbox's `run_tests` returns for these files."""
        source = files[tests_file]
        path = f"{_BOX}/{tests_file}"
        namespace: dict = {"__name__": "tests"}
        outcomes = []
        try:
            statements = ast.parse(source, path).body
            for statement in statements:
                if isinstance(statement, ast.ImportFrom):
                    file = f"{statement.module}.py"
                    module = _module(files[file], f"{_BOX}/{file}")
                    namespace |= {a.name: getattr(module, a.name) for a in statement.names}
        except Exception as error:  # whatever a mutated line raises when its module is loaded
            return TestsResult("compile_error", (), candidate.describe(error, _BOX), 0.0, False)
        tests = [s for s in statements if not isinstance(s, ast.ImportFrom)]
        for number, statement in enumerate(tests, 1):
            status, message = candidate.run_test(
                statement, source.encode(), path, namespace, _BOX
            )
            outcomes.append((f"test:{number}", status, message))
        return TestsResult("ok", tuple(outcomes), "", 0.0, False)


@functools.lru_cache(maxsize=512)
def _module(source: str, path: str) -> types.SimpleNamespace:
    namespace: dict = {"__name__": "module"}
    exec(compile(source, path, "exec"), namespace)
    return types.SimpleNamespace(**namespace)
