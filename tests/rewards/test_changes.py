"""What was changed: lines, files and likeness counted by hand."""

from dataclasses import replace

import pytest

from workbench.records import Evidence
from workbench.rewards import diff_size, diff_within, scope, similarity

BEFORE = "def f(xs):\n    return 0\n"
AFTER = "def f(xs):\n    total = sum(xs)\n    return total\n"  # one line away, two lines new


@pytest.fixture
def repair(make_trajectory, task):
    """A function from final files to (trajectory, task with reference and tests)."""
    with_more = replace(
        task,
        files={"lib.py": BEFORE, "other.py": "x = 1\n", "tests.py": "assert f([1]) == 1\n"},
        tests_file="tests.py",
        reference={"lib.py": AFTER},
    )

    def make(**files):
        final = {**with_more.files, **{f"{name}.py": text for name, text in files.items()}}
        touched = tuple(p for p in sorted(final) if final[p] != with_more.files.get(p))
        trajectory = replace(
            make_trajectory(), final_files=final, evidence=Evidence(files_touched=touched)
        )
        return trajectory, with_more

    return make


def test_a_changed_line_counts_as_one_gone_and_one_new(repair):
    sizes = [repair(), repair(lib=BEFORE.replace("0", "1")), repair(lib=AFTER)]
    sizes.append(repair(lib=AFTER, other=""))
    assert [diff_size(0, 10)(*size) for size in sizes] == [0.0, -0.2, -0.3, -0.4]


def test_diff_size_is_free_up_to_a_number_and_ends_at_minus_one(repair):
    def value(num_lines):
        return diff_size(4, 8)(*repair(new="x = 1\n" * num_lines))

    assert [value(n) for n in (0, 4, 5, 8, 100)] == [0.0, 0.0, -0.25, -1.0, -1.0]
    with pytest.raises(ValueError, match="diff_size: expected 0 <= free < limit"):
        diff_size(8, 4)


def test_tests_are_no_part_of_the_size(repair):
    assert diff_size(0, 10)(*repair(tests="")) == 0.0


def test_of_a_repository_all_test_files_are_tests(repair):
    trajectory, task = repair(test_more="assert True\n")
    assert diff_size(0, 10)(trajectory, task) == -0.1
    assert diff_size(0, 10)(trajectory, replace(task, fail_to_pass=("t",))) == 0.0


def test_a_diff_is_measured_against_the_references(repair):
    """The reference changes three lines, so nine are allowed."""
    assert diff_within()(*repair(lib=AFTER)) == 1.0
    assert diff_within()(*repair(lib=AFTER, new="x = 1\n" * 6)) == 1.0
    assert diff_within()(*repair(lib=AFTER, new="x = 1\n" * 7)) == 0.0
    assert diff_within(1.0)(*repair(lib=AFTER, new="x = 1\n")) == 0.0
    with pytest.raises(ValueError, match="expected times > 0, got 0"):
        diff_within(0)


def test_scope_is_the_share_of_touched_files_that_the_reference_touches(repair):
    assert scope()(*repair()) == 1.0
    assert scope()(*repair(lib=AFTER)) == 1.0
    assert scope()(*repair(lib=AFTER, other="")) == 0.5
    assert scope()(*repair(other="")) == 0.0


def test_scope_minds_changed_tests_and_welcomes_new_ones(repair):
    assert scope()(*repair(lib=AFTER, tests="")) == 0.5
    trajectory, task = repair(lib=AFTER, test_more="assert True\n")
    assert scope()(trajectory, replace(task, fail_to_pass=("t",))) == 1.0


def test_scope_takes_paths_and_patterns(repair):
    both = repair(lib=AFTER, other="")
    assert scope(("lib.py", "other.py"))(*both) == 1.0
    assert scope(("o*.py",))(*both) == 0.5
    assert scope(())(*both) == 0.0
    with pytest.raises(ValueError, match=r'expected a tuple of paths, \("lib.py",\)'):
        scope("lib.py")


def test_similarity_sees_code_and_not_layout(repair):
    assert similarity(*repair(lib=AFTER)) == 1.0
    laid_out = "def f( xs ):  # adds up\n\n    total=sum(xs)\n    return (total)\n"
    assert similarity(*repair(lib=laid_out)) == 1.0


def test_similarity_is_twice_the_common_tokens_over_all(repair):
    """def f ( xs ) : return 0 has 8 tokens, the reference 14; seven are common, in order."""
    assert similarity(*repair()) == 2 * 7 / (8 + 14)


def test_similarity_of_text_that_does_not_parse_compares_the_text(repair):
    assert similarity(*repair(lib="def f(xs:")) == 2 * 5 / (5 + 14)
    trajectory, task = repair()
    assert similarity(replace(trajectory, final_files={}), task) == 0.0


def test_similarity_of_code_too_deep_to_be_written_anew_compares_the_text(repair):
    """1 + 1 + .. has a thousand tokens `1` and 999 `+`; one `x` and one `=` before them."""
    deep = "x = " + "+".join(["1"] * 1000) + "\n"
    assert similarity(*repair(lib=deep)) == 2 * 1 / (2001 + 14)  # the reference has one `=`


@pytest.mark.parametrize("component", [diff_within(), scope(), similarity])
def test_a_task_without_a_reference_has_nothing_to_compare_with(component, repair):
    trajectory, task = repair(lib=AFTER)
    with pytest.raises(ValueError, match="compares with the task's reference, and it has none"):
        component(trajectory, replace(task, reference={}))


def test_scope_names_the_collector_it_needs(repair):
    trajectory, task = repair()
    with pytest.raises(ValueError, match="`scope` needs the collector 'diff'"):
        scope()(replace(trajectory, evidence=Evidence()), task)
