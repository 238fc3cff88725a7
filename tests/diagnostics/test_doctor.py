"""The report, the vital signs and the machine: what needs no training."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file

from workbench import doctor
from workbench.credit import broadcast, gigpo, return_to_go, tool_status_rewards, turn_gae
from workbench.diagnostics import CHECKS, Report, SamplerProbe, Symptom, machine
from workbench.diagnostics.agreement import sampler_gap, stale_sampler
from workbench.diagnostics.before_training import eval_leak
from workbench.diagnostics.cases import RunCase, TrainerCase
from workbench.diagnostics.checklist import CannotTell, check, examine
from workbench.diagnostics.during_training import (
    clip_zero,
    no_gradient,
    reward_constant,
    tied_groups,
    truncated,
    unscorable,
)
from workbench.diagnostics.probes import Probe
from workbench.diagnostics.vitals import Vitals, of_rows, of_trl
from workbench.diagnostics.weights import lora_dead
from workbench.learning import RLConfig
from workbench.learning.provenance import describe_function
from workbench.tasks import load_tasks

BAD = Symptom("tied-groups", "error", "9 of 10 <groups>", "nothing is learned", "other tasks")
SLOW = Symptom("learning-rate", "warning", "1e-6", "a flat curve", "1e-5")


def test_a_report_reads_from_top_to_bottom():
    report = Report("run x", (BAD, SLOW), ("mask",), {"kl-explosion": "no reference"})
    text = repr(report)
    assert text.startswith("run x: 1 error, 1 warning in 3 checks")
    assert text.index("ERROR  tied-groups") < text.index("WARNING  learning-rate")
    assert "  change  other tasks" in text and "kl-explosion: no reference" in text
    assert report.names == ("tied-groups", "learning-rate") and not report.healthy


def test_a_report_is_a_table_in_a_notebook():
    html = Report("run x", (BAD,), ("mask",), {"kl-explosion": "no reference"})._repr_html_()
    assert "9 of 10 &lt;groups&gt;" in html and html.count("<tr>") == 2
    assert "not checked: 1" in html and "kl-explosion: no reference" in html


def test_what_keeps_several_checks_from_being_made_is_said_once():
    unknown = {
        "mask": "no update yet",
        "kl-explosion": "no <reference>",
        "never-up": "no update yet",
    }
    report = Report("run x", (), (), unknown)
    assert repr(report).endswith(
        "not checked:\n  mask, never-up: no update yet\n  kl-explosion: no <reference>"
    )
    html = report._repr_html_()
    assert "not checked: 3" in html
    assert "<br>mask, never-up: no update yet<br>kl-explosion: no &lt;reference&gt;" in html


def test_nothing_found_says_in_how_many_checks():
    assert repr(Report("run x", (), ("a", "b"))) == "run x: nothing found in 2 checks"


def test_errors_come_first_and_a_check_that_breaks_hides_none():
    @check("late", "warning", "thing", why="w", change="c")
    def late(case):
        """It is late."""
        return "late"

    @check("broken", "error", "thing", why="w", change="c")
    def broken(case):
        """It breaks."""
        return case.no_such_name

    @check("blind", "error", "thing", why="w", change="c")
    def blind(case):
        """It cannot tell."""
        raise CannotTell("too dark")

    @check("grave", "error", "thing other", why="w", change="c")
    def grave(case):
        """It is grave."""
        return "grave"

    report = examine("x", "thing", object(), (late, broken, blind, grave))
    assert report.names == ("grave", "late") and grave.finds == "It is grave."
    assert report.unknown["blind"] == "too dark"
    assert report.unknown["broken"].startswith("the check itself failed: AttributeError")
    assert examine("x", "other", object(), (late, broken, blind, grave)).names == ("grave",)


def test_every_check_says_what_it_finds_why_and_what_to_change():
    assert len({one.name for one in CHECKS}) == len(CHECKS)
    for one in (*CHECKS, *machine.CHECKS):
        assert one.finds.endswith(".") and one.why and one.change and one.on


def settings(**changes):
    known = dict(
        steps_per_generation=1, num_iterations=1, gradient_accumulation_steps=1, logging_steps=1,
        generation_batch_size=8, num_generations=4,
    )  # fmt: skip
    return SimpleNamespace(**(known | changes))


FRESH = {
    "grad_norm": 0.5,
    "reward": 0.25,
    "frac_reward_zero_std": 0.5,
    "rewards/a/b/mean": float("nan"),
    "rewards/a/b/std": 0.0,
    "clip_ratio/region_mean": 0.0,
    "unscorable": 2.0,
}
AGAIN = {"grad_norm": 0.25, "clip_ratio/region_mean": 0.125}


def test_vital_signs_of_trl_s_log():
    first, second = of_trl([FRESH, {"train_loss": 1.0}, AGAIN], settings(num_iterations=2))
    assert (first.num_groups, first.num_rollouts, first.dropped_share) == (2.0, 8.0, 0.25)
    assert first.functions == {"a/b": (None, 0.0)} and first.clip_share is None
    assert (second.num_groups, second.tied_share, second.clip_share) == (0.0, 0.5, 0.125)
    assert first.reused and second.reused
    (on_policy,) = of_trl([FRESH], settings())
    assert on_policy.clip_share == 0.0 and not on_policy.reused


def test_what_our_episodes_say_of_their_tokens_counts_and_not_how_trl_guesses_it():
    row = FRESH | {"completions/clipped_ratio": 1.0}
    guessed, told = of_trl([row, row | {"cut": 2.0}], settings())
    assert (guessed.truncated_share, told.truncated_share) == (1.0, 0.25)


def test_a_row_of_the_log_that_averages_updates_counts_their_groups():
    (row,) = of_trl([FRESH], settings(logging_steps=10))
    assert (row.num_groups, row.num_rollouts) == (20.0, 80.0)
    (row,) = of_trl([FRESH], settings(gradient_accumulation_steps=4))
    assert (row.num_groups, row.num_rollouts) == (8.0, 32.0)


def test_a_gradient_that_is_no_number_is_named():
    rows = of_trl([FRESH, FRESH | {"grad_norm": float("nan")}], settings())
    seen = no_gradient.look(SimpleNamespace(vitals=rows))
    assert seen == "grad_norm is nan in the newest row: so are the weights"


OWN_ROW = {
    "kind": "iteration", "stage": "rl", "num_groups": 4, "num_rollouts": 16, "num_tied": 1,
    "num_dropped": 4, "reward_mean": 0.5, "solved_share": 0.25, "clip_fraction": None,
    "grad_norm": 0.1, "ratio_gap_mean": 0.001, "num_updates": 2,
}  # fmt: skip


def test_vital_signs_of_our_own_rows():
    others = OWN_ROW | {"stage": "rft"}, {"kind": "evaluation", "stage": "rl"}
    (vitals,) = of_rows([OWN_ROW, *others])
    assert (vitals.tied_share, vitals.dropped_share, vitals.clip_share) == (0.25, 0.25, None)
    assert vitals.reused and vitals.gap == 0.001 and vitals.solved_share == 0.25


def case(*rows, credit=broadcast):
    return SimpleNamespace(vitals=rows, credit=describe_function(credit))


def test_a_leak_is_what_the_run_s_description_says_and_an_older_one_does_not_say():
    def look(**config):
        return eval_leak.look(RunCase({"dev": {"num": 4}} | config, (), Path()))

    assert look(practised_dev=[]) is None
    assert look(practised_dev=["b", "a"]) == "2 of 4 evaluation tasks are trained on, such as 'a'"
    with pytest.raises(CannotTell, match="no 'practised_dev': .* older version"):
        look()


def test_the_tasks_that_a_run_log_evaluates_may_leak_too(sandbox, tmp_path):
    from workbench.trl_bridge import MultiTurn, RunLogCallback

    tasks = load_tasks("bugfix", split="train", count=4)
    episodes = MultiTurn(tasks[:3], sandbox)
    rows = [{"task_id": task.task_id} for task in tasks[:3]]

    def look(eval_dataset=None, **options):
        log = RunLogCallback(tmp_path, episodes, **options)
        handler = SimpleNamespace(callbacks=[log])
        trainer = SimpleNamespace(
            train_dataset=rows, eval_dataset=eval_dataset, callback_handler=handler
        )
        return eval_leak.look(TrainerCase(trainer))

    renamed = replace(tasks[0], task_id="mine/0")
    assert look() is None and look(dev=tasks[3:]) is None
    said = "2 of 3 evaluation tasks are trained on, such as "
    assert look(dev=[renamed, *tasks[2:]]) == f"{said}{tasks[2].task_id!r}"
    assert look(dev=tasks[3:], eval_dataset=rows[1:]) == f"{said}{tasks[1].task_id!r}"


def test_few_groups_are_no_pattern():
    row = Vitals(num_groups=5, reward_mean=0.5, tied_share=1.0)
    other = replace(row, reward_mean=0.25)
    with pytest.raises(CannotTell, match="15 groups so far; 16 are needed"):
        tied_groups.look(case(row, row, other))
    assert "100% of the last 20 groups" in tied_groups.look(case(row, row, row, other))
    assert tied_groups.look(case(row, row, row, replace(row, tied_share=0.5))) is None  # 0.875


@pytest.mark.parametrize(
    "credit", [turn_gae, gigpo, partial(return_to_go, turn_rewards=tool_status_rewards)]
)
def test_ties_are_no_fault_where_more_than_the_rewards_is_compared(credit):
    """In a tied group these schemes can give a turn an advantage; `return_to_go` alone cannot."""
    rows = [Vitals(num_groups=10, reward_mean=mean, tied_share=1.0) for mean in (0.5, 0.25)]
    with pytest.raises(CannotTell, match="100% .* are tied, but .*:.* may teach"):
        tied_groups.look(case(*rows, credit=credit))
    assert tied_groups.look(case(*rows, credit=return_to_go)).endswith("0.5 at first, 0.25 now")


def test_the_credit_of_a_trainer_is_its_episodes_or_trl_s_own(sandbox):
    from workbench.trl_bridge import MultiTurn

    tasks = load_tasks("bugfix", split="train", count=1)
    episodes = MultiTurn(tasks, sandbox, rl=RLConfig(credit=gigpo))
    names = [
        TrainerCase(SimpleNamespace(rollout_func=function)).credit["function"].split(":")[1]
        for function in (episodes.rollout, print, None)
    ]
    assert names == ["gigpo", "broadcast", "broadcast"]


def test_tasks_that_are_always_solved_are_told_from_a_reward_that_does_not_look():
    row = Vitals(num_groups=8, num_rollouts=64, reward_mean=1.0, tied_share=1.0)
    said = "reward 1 in each of 64 attempts"
    for solved, seen in ((1.0, "100%"), (0.25, "25%")):
        found = reward_constant.look(case(replace(row, solved_share=solved)))
        assert found == f"{said}, of which {seen} solved their task"
    assert reward_constant.look(case(row)) == said  # TRL's log does not say how many solved theirs
    assert "all solve their task, the tasks are too easy" in reward_constant.why


def test_one_attempt_that_could_not_be_judged_is_no_pattern():
    """Wilson's 95 % intervals by hand: 1 of 16 is [1.1 %, 28.3 %], 5 of 32 is [6.9 %, 31.8 %]; the
    limit is 5 %."""
    one = Vitals(num_rollouts=16, dropped_share=1 / 16)
    with pytest.raises(CannotTell, match="6% of 16 attempts so far, which may be chance"):
        unscorable.look(case(one))
    five = (replace(one, dropped_share=n / 16) for n in (2, 3))
    assert unscorable.look(case(*five)).startswith("16% of the attempts of the last 2 rows")
    assert unscorable.look(case(one, replace(one, dropped_share=0.0))) is None


def test_ties_explain_a_zero_gradient():
    tied = Vitals(num_groups=5, tied_share=1.0, grad_norm=0.0)
    with pytest.raises(CannotTell, match="in no group do rewards differ"):
        no_gradient.look(case(tied))
    assert no_gradient.look(case(tied, replace(tied, tied_share=0.5)))
    assert no_gradient.look(case(replace(tied, grad_norm=0.1, tied_share=0.5))) is None


def test_missing_rewards_explain_a_zero_gradient():
    """TRL logs a reward of nan, and that no group is tied."""
    row = FRESH | {"grad_norm": 0.0, "reward": float("nan"), "frac_reward_zero_std": 0.0}
    rows = of_trl([row, AGAIN | {"grad_norm": 0.0}], settings(num_iterations=2))
    with pytest.raises(CannotTell, match="in no group do rewards differ"):
        no_gradient.look(case(*rows))


def test_ties_explain_adapters_that_never_moved(tmp_path):
    (tmp_path / "policy").mkdir()
    b = {"layers.0.lora_B.weight": torch.zeros(2, 2)}
    save_file(b, tmp_path / "policy" / "adapter_model.safetensors")
    policy = {"num_parameters": 8, "num_trained_parameters": 4}

    def look(num_tied):
        row = OWN_ROW | {"num_tied": num_tied}
        return lora_dead.look(RunCase({"policy": policy}, (row,), tmp_path))

    assert look(3) == "B is zero in 1 of 1 saved modules: layers.0.lora_B.weight"
    with pytest.raises(CannotTell, match="in no group did rewards differ"):
        look(4)


def test_ties_explain_why_sampler_and_trainer_were_not_compared():
    trainer = SimpleNamespace(rollout_func=print)
    tied = SimpleNamespace(vitals=(Vitals(tied_share=1.0),), probes=(Probe(0),), trainer=trainer)
    other = SimpleNamespace(vitals=(Vitals(tied_share=0.5),), probes=(Probe(0),), trainer=trainer)
    for one in (stale_sampler, sampler_gap):
        with pytest.raises(CannotTell, match="every group was tied"):
            one.look(tied)
        with pytest.raises(CannotTell, match="the sampler reports no log-probs"):
            one.look(other)


def test_what_a_rollout_function_cut_off_was_not_cut_at_trl_s_limit():
    def seen(rollout_func):
        args = SimpleNamespace(max_completion_length=64)
        trainer, rows = SimpleNamespace(rollout_func=rollout_func), (Vitals(truncated_share=1.0),)
        return truncated.look(SimpleNamespace(vitals=rows, args=args, trainer=trainer))

    assert seen(None).startswith("100% of the completions were cut at 64 tokens in the last 1 rows")
    assert seen(print).startswith("100% of the completions were cut in the last 1 rows")


def test_a_ratio_of_one_by_construction_is_not_pinned():
    row = Vitals(clip_share=0.0)
    assert clip_zero.look(case(*[row] * 20)) is None
    assert "in the last 10 rows" in clip_zero.look(case(*[replace(row, reused=True)] * 10))


def test_the_machine_has_facts_and_no_name_of_it_is_missing():
    report = doctor()
    assert list(report.facts) == ["system", "sandbox", "torch", "CPUs", "memory", "GPU", "versions"]
    assert set(report.passed) | set(report.names) | set(report.unknown) == {
        one.name for one in machine.CHECKS
    }


HEALTHY = machine.MachineCase(3, (), 1, 4, 16_000.0, {}, {"torch": "2.13.0"})


@pytest.mark.parametrize(
    "fault, name, said",
    [
        (dict(tier=1, missing_walls=("tier 2: no namespaces",)), "sandbox-tier", "no namespaces"),
        (dict(threads=None, facts={"torch": "cannot be imported"}), "torch", "cannot"),
        (dict(threads=4), "threads", "4 threads on 4 CPUs"),
        (dict(free_mb=500.0), "memory", "500 MB free"),
        (dict(versions={"trl": ("1.16.0", "1.15.0")}), "versions", "trl 1.15.0 (locked 1.16.0)"),
    ],
)
def test_each_fault_of_a_machine_is_named(fault, name, said):
    assert examine("m", "machine", HEALTHY, machine.CHECKS).healthy
    report = examine("m", "machine", replace(HEALTHY, **fault), machine.CHECKS)
    assert report.names == (name,) and said in report.symptoms[0].seen


def test_a_recording_is_examined_as_far_as_it_goes():
    report = doctor("bugfix-before-after")
    assert report.names == () and {"truncated", "mask"} <= set(report.passed)
    assert "was not made by train()" in report.unknown["learning-rate"]


def test_a_probe_of_a_name_is_refused_before_the_training():
    with pytest.raises(ValueError, match="policy: expected the one in training, .* got 'tiny'"):
        SamplerProbe("tiny")


def test_anything_else_is_refused():
    with pytest.raises(ValueError, match="expected a GRPOTrainer, a Run"):
        doctor(3)
    with pytest.raises(ValueError, match="found none"):
        doctor("no-such-run")


def test_the_command_prints_the_report_or_says_what_a_run_is(capsys, tmp_path):
    from workbench.__main__ import parser
    from workbench.bootstrap import SetupError
    from workbench.commands import run

    assert run(parser().parse_args(["doctor", "bugfix-before-after"])) == 0
    assert "nothing found" in capsys.readouterr().out
    with pytest.raises(SetupError, match="expected a folder that a run was written to .*demo"):
        run(parser().parse_args(["doctor", str(tmp_path)]))
