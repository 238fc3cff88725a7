"""What ruff and Bandit say of final files, and which of it is the attempt's own doing."""

from dataclasses import replace

import pytest

from workbench.grading import collect
from workbench.grading.collectors import findings, lint
from workbench.grading.collectors.findings import MAX_FILE_BYTES, MAX_KEPT
from workbench.grading.collectors.lint import ruff_remarks
from workbench.grading.collectors.security import bandit_remarks
from workbench.records import Task
from workbench.tasks import load_tasks
from workbench.tasks.secure import insecure_solutions

TASK = Task("f", "write f", "f", "lib.py", {}, (), (), {"lib.py": ""})
UNTIDY = "import os\n\n\ndef f(x=[]):\n    y = 1\n    return x\n"
RISKY = "import hashlib\n\n\ndef f(x):\n    return eval(hashlib.md5(x).hexdigest())\n"
DEEP = "x = " + "-" * 50_000 + "1\n"
"""Python has no tree for it, and ruff runs out of stack."""


def told(found):
    return [(f.rule, f.path, f.line, f.new) for f in found]


def lint_of(group_of, task, files):
    (group,) = collect([group_of(task, files)], [task], ("lint",))
    return group.trajectories[0].evidence.lint


def security_of(group_of, task, files):
    (group,) = collect([group_of(task, files)], [task], ("security",))
    return group.trajectories[0].evidence.security


def test_ruff_finds_an_unused_import_a_shared_default_and_an_unused_variable(group_of):
    found = lint_of(group_of, TASK, UNTIDY)
    assert told(found) == [("F401", "lib.py", 1, True), ("B006", "lib.py", 4, True),
                           ("F841", "lib.py", 5, True)]  # fmt: skip
    assert {f.tool for f in found} == {"ruff"} and {f.severity for f in found} == {""}
    assert "os" in found[0].message


def test_bandit_says_how_grave_it_is(group_of):
    found = security_of(group_of, TASK, RISKY)
    assert [(f.rule, f.line, f.severity) for f in found] == [
        ("B307", 5, "medium"), ("B324", 5, "high"),
    ]  # fmt: skip
    assert {f.tool for f in found} == {"bandit"}


def test_clean_code_has_no_findings_which_is_not_none(group_of):
    assert lint_of(group_of, TASK, "def f(x):\n    return x\n") == ()
    assert security_of(group_of, TASK, "def f(x):\n    return x\n") == ()


def test_what_the_task_had_already_is_not_new_even_where_it_moved(group_of):
    task = replace(TASK, files={"lib.py": RISKY})
    moved = "# a\n# b\n" + RISKY.replace("    return eval", "      return  eval")
    found = security_of(group_of, task, moved)
    assert told(found) == [("B307", "lib.py", 7, False), ("B324", "lib.py", 7, False)]


def test_the_same_line_once_more_is_new_once(group_of):
    task = replace(TASK, files={"lib.py": "def f(x):\n    return eval(x)\n"})
    twice = "def f(x):\n    return eval(x)\n\n\ndef g(x):\n    return eval(x)\n"
    assert [f.new for f in security_of(group_of, task, twice)] == [False, True]


def test_a_function_that_moved_to_another_file_is_not_new(group_of):
    task = replace(TASK, files={"lib.py": "def f(x):\n    return eval(x)\n"})
    files = {"lib.py": "from other import f\n", "other.py": "def f(x):\n    return eval(x)\n"}
    assert told(security_of(group_of, task, files)) == [("B307", "other.py", 2, False)]


def test_deleting_bad_code_earns_nothing(group_of):
    task = replace(TASK, files={"lib.py": RISKY})
    assert security_of(group_of, task, "def f(x):\n    return x\n") == ()


def test_what_a_prompt_begins_with_is_not_the_attempts_doing(group_of):
    beginning = "import os\n\n\ndef f(x):\n"
    task = replace(TASK, beginning=beginning)
    found = lint_of(group_of, task, beginning + "    y = 1\n    return x\n")
    assert told(found) == [("F401", "lib.py", 1, False), ("F841", "lib.py", 5, True)]


def test_comments_that_ask_for_silence_are_not_heard(group_of):
    assert told(lint_of(group_of, TASK, "import os  # noqa\n")) == [("F401", "lib.py", 1, True)]
    quiet = "def f(x):\n    return eval(x)  # nosec\n"
    assert told(security_of(group_of, TASK, quiet)) == [("B307", "lib.py", 2, True)]


def test_security_leaves_tests_out_and_lint_does_not(group_of):
    task = replace(TASK, files={"tests.py": ""}, tests_file="tests.py")
    files = {"tests.py": "assert 1\n", "test_a.py": "import os\nassert eval('1')\n", "a.txt": "("}
    assert security_of(group_of, task, files) == ()
    assert told(lint_of(group_of, task, files)) == [("F401", "test_a.py", 1, True)]


HOSTILE = {
    "signs": DEEP,
    "brackets": "x = " + "(" * 5_000 + ")" * 5_000 + "\n",
    "sum": "x = " + "+".join(["1"] * 100_000) + "\n",
    "attributes": "x = a" + ".b" * 20_000 + "\n",
    "elifs": "if x: pass\n" + "elif x: pass\n" * 5_000,
    "syntax": "def f(:\n",
    "nul": 'x = "\0"\n',
    "surrogate": "x = '\ud800'\n",
    "long": "#" * (MAX_FILE_BYTES + 1),
}


def test_no_text_stops_a_scanner_and_what_bandit_cannot_read_is_grave(group_of):
    group = group_of(TASK, UNTIDY, *HOSTILE.values(), RISKY)
    (collected,) = collect([group], [TASK], ("lint", "security"))
    untidy, *hostile, risky = (t.evidence for t in collected.trajectories)
    assert [f.rule for f in untidy.lint] == ["F401", "B006", "F841"]
    assert [f.rule for f in risky.security] == ["B307", "B324"]
    for name, evidence in zip(HOSTILE, hostile, strict=True):
        found = [(f.rule, f.severity, f.new) for f in evidence.security]
        assert found == [("unreadable", "high", True)], name
        assert len(evidence.lint) <= MAX_KEPT, name


def test_a_file_that_ends_ruff_is_found_among_others():
    said = ruff_remarks([UNTIDY, DEEP, UNTIDY, "x = 1\n"])
    assert [[r.rule for r in remarks] for remarks in said] == [
        ["F401", "B006", "F841"], ["unreadable"], ["F401", "B006", "F841"], [],
    ]  # fmt: skip


def test_remarks_about_one_long_line_do_not_each_hold_a_mended_copy_of_it():
    """With copies 2,000 comparisons make ruff say 54 MB, 20,000 more than a machine's memory."""
    said = ruff_remarks(["x = " + "a == None != " * 2_000 + "b\n", UNTIDY])
    assert [r.rule for r in said[0]].count("E711") == 2_000
    assert [r.rule for r in said[1]] == ["F401", "B006", "F841"]


def test_a_file_about_which_ruff_says_too_much_is_unreadable_and_no_other(monkeypatch):
    """Two letters, a name on a line of its own, are two remarks of some 400 bytes each."""
    monkeypatch.setattr(lint, "MAX_ANSWER_BYTES", 1 << 20)
    said = ruff_remarks([UNTIDY, "a\n" * 2_000, UNTIDY])
    assert [[r.rule for r in remarks] for remarks in said] == [
        ["F401", "B006", "F841"], ["unreadable"], ["F401", "B006", "F841"],
    ]  # fmt: skip


def test_beyond_a_hundred_thousand_files_each_still_gets_its_own_findings():
    """Bandit's process takes the files by their names: 100000.py would come before 99999.py."""
    names = [lint.file_name(number) for number in (0, 9_999, 10_001, 99_999, 100_000, 1_000_000)]
    assert names == sorted(names)


@pytest.mark.slow
def test_a_file_that_would_take_bandit_hours_costs_seconds_and_no_other_finding():
    endless = "x = [\n" + '"a",\n' * 20_000 + "]\n"
    said = bandit_remarks([RISKY, endless, RISKY])
    assert [[r.rule for r in remarks] for remarks in said] == [
        ["B307", "B324"], ["unreadable"], ["B307", "B324"],
    ]  # fmt: skip


def test_of_many_findings_the_new_and_grave_ones_are_kept(group_of):
    old = "".join(f"import a{i}\n" for i in range(MAX_KEPT + 20))
    task = replace(TASK, files={"lib.py": old})
    found = lint_of(group_of, task, old + "import new\n")
    assert len(found) == MAX_KEPT
    assert [f.line for f in found if f.new] == [MAX_KEPT + 21]


def test_equal_files_are_scanned_once(group_of):
    scanned = []

    def scan(texts):
        scanned.extend(texts)
        return [()] * len(texts)

    attempts = [(TASK, {"lib.py": text}) for text in ("a", "b", "a", "a")]
    assert findings.findings_of("ruff", scan, attempts, lambda task, path: True) == [()] * 4
    assert scanned == ["a", "b"]


def test_other_languages_are_refused_before_anything_is_read(group_of):
    task = replace(TASK, task_id="c", entry_point="", entry_file="main.c", language="c")
    with pytest.raises(ValueError, match="task c: lint and security read Python, and this is c"):
        collect([group_of(task, "int main;")], [task], ("lint",))


def test_a_missing_package_is_named_with_what_to_do(group_of, monkeypatch):
    monkeypatch.setattr(findings.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="needs the package 'bandit'.*pip install bandit"):
        security_of(group_of, TASK, RISKY)


BANDIT_SAYS = {
    "find_orders": ([], [["B608"], ["B608"]]),
    "pack_command": ([], [[], []]),
    "calculate": ([], [["B307"], ["B307"], ["B307"]]),
    "total_scores": (["B403"], [["B301", "B403"], ["B403"]]),
    "page_path": ([], [[], []]),
    "render_comment": ([], [[], [], []]),
    "check_link": ([], [[], []]),
    "check_password": ([], [["B324"], []]),
    "run_game": (["B311"], [["B311", "B311"], ["B311"]]),
    "run_drafts": ([], [["B306"], []]),
}
"""Rules broken by the reference, and by each insecure solution, as Bandit's documentation has them:
it cannot tell a die from a secret code, and knows nothing of paths, pages and command lines."""


def test_bandit_sees_9_of_the_22_insecure_solutions_of_the_suite_secure():
    solutions = [
        (task.entry_point, files[task.entry_file])
        for task in load_tasks("secure")
        for files in (task.reference, *(w.files for w in insecure_solutions(task)))
    ]
    found = {}
    for (name, _), remarks in zip(solutions, bandit_remarks([text for _, text in solutions])):
        found.setdefault(name, []).append(sorted(remark.rule for remark in remarks))
    assert found == {name: [right, *wrong] for name, (right, wrong) in BANDIT_SAYS.items()}
    more = [w != right for right, wrong in BANDIT_SAYS.values() for w in wrong]
    assert (sum(more), len(more)) == (9, 22)
