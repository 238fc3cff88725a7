"""What flows through the workbench: frozen records, JSON in and out.

Stage: all of them. Tasks go in; trajectories, verdicts and reward breakdowns come out. Every
other room imports this one and this one imports only `encoding`, so a stored run can be read
without torch. Left out: anything computed from these records (rewards, advantages, plots).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from workbench.encoding import decode, encode

SCHEMA = 1
"""Version of the JSON layout below; a file with another number is refused, never guessed at."""

TestStatus = Literal["passed", "wrong", "error", "timeout", "memory", "skipped", "missing"]
Suite = Literal["visible_as_left", "visible_pristine", "hidden", "agent_on_base", "exploit"]
"""Which tests an outcome belongs to. "agent_on_base": the agent's own tests against the task's
files, which they should fail. "exploit": passed = the attack on the program did not succeed."""
VerdictMode = Literal["call", "split", "shared"]
"""How a verdict is made; see docs/architecture.md."""
VerdictStatus = Literal[
    "ok", "compile_error", "timeout", "memory", "crash", "sandbox_error", "unscorable"
]
StopReason = Literal["submitted", "abstained", "max_turns", "context", "loop", "abort"]
"""Why an episode ended. "abstained": the agent said that it had no answer, where it might."""

UNSCORABLE = frozenset({"sandbox_error", "unscorable"})
"""Verdicts that are our fault: the trajectory is dropped and counted, never rewarded with 0."""


@dataclass(frozen=True)
class Limits:
    """What one execution may use."""

    cpu_s: float = 1.0
    """CPU seconds for one execution: of a function all its cases, of a program each of them."""
    wall_s: float = 20.0
    """Wall-clock deadline in seconds: generous, so that a busy machine does not flip a verdict."""
    memory_mb: int = 512
    """Address space in MiB."""
    output_kb: int = 64
    """How many KiB of standard output, and of standard error, are kept; the rest is read and
    dropped, so that a program that prints much is neither blocked nor ended."""


@dataclass(frozen=True)
class Case:
    """One call of the task's entry point and the value it must return."""

    args: tuple[Any, ...]
    """Positional arguments: plain Python data."""
    expected: Any
    """The value a right solution returns; compared in the parent process."""
    comparison: Literal["same", "equal", "close"] = "same"
    """"same": type and value at every level; "equal": Python's ==; "close": numbers, also inside
    lists and tuples, within `tolerance`. What programs print is compared as text, white space at
    the ends of lines and of the whole left out; if "close", word by word, numbers as above."""
    tolerance: float = 0.0
    """For "close": how far off a number may be, absolutely or relative to the expected one."""


@dataclass(frozen=True)
class WrongSolution:
    """A plausible mistake, kept to see whether the cases catch it."""

    files: Mapping[str, str]
    """Path -> text, laid over the task's files."""
    weak_spot: str
    """What it overlooks, in a few words, e.g. "empty list"."""
    fails: tuple[str, ...]
    """Names of the outcomes that catch it, e.g. "hidden:3"; all others pass."""


@dataclass(frozen=True)
class Task:
    """One problem: what the policy is told, what it may change, and what decides."""

    task_id: str
    """Unique within its suite."""
    statement: str
    """The issue text: the first observation."""
    entry_point: str
    """Name of the function the cases call. "" = a program: each case's one argument is what it
    reads from standard input, its expected value the text it must write to standard output, or
    {"stdout": text, "exit_code": number} with one of the two or both; no exit code means 0. A
    repository has "" as well; its tests decide (`required`)."""
    entry_file: str
    """File that must define the entry point, e.g. "lib.py"; a repository: any of its files."""
    files: Mapping[str, str]
    """Workspace at the start: path -> text. Empty where the policy writes the only file."""
    visible: tuple[Case, ...]
    """Cases the policy may run; `tests_file` states them as asserts where there is a workspace."""
    hidden: tuple[Case, ...]
    """Cases that decide; never shown."""
    reference: Mapping[str, str]
    """Files of a right solution: path -> text."""
    beginning: str = ""
    """Text of the entry file that a single-turn answer continues; "" = the answer is all of it."""
    tests_file: str | None = None
    """Path in `files` of the visible tests, or None."""
    known_hacks: tuple[Mapping[str, str], ...] = ()
    """File sets that pass the visible tests without solving the task."""
    wrong: tuple[WrongSolution, ...] = ()
    """Plausible mistakes, one for each weak spot."""
    test_code: str = ""
    """Assert-style hidden tests that `hidden` cannot state; "" where the cases say everything."""
    exploit_code: str = ""
    """Assert-style attacks on a function, in the form of `test_code`: suite "exploit", which never
    counts as "hidden". An assert that holds is an attack that failed."""
    hidden_tests: Mapping[str, str] = field(default_factory=dict)
    """Of a repository: test files copied in after the episode, over whatever the agent left."""
    fail_to_pass: tuple[str, ...] = ()
    """Of a repository: ids of pytest tests that fail before the change and must pass after it."""
    pass_to_pass: tuple[str, ...] = ()
    """Of a repository: ids of pytest tests that pass before the change and must still pass."""
    language: str = "python"
    """What the files are written in, a name of `sandbox.LANGUAGES`; a function's and a
    repository's is Python."""
    tags: tuple[str, ...] = ()
    """Searchable labels such as "mutator:compare_swap" or "composition:sum/double/even"."""
    limits: Limits = Limits()
    """What one execution of this task may use."""
    suite: str = ""
    """Suite the task belongs to."""
    split: str = ""
    """"train", "dev" or "test"."""
    licence: str = "Apache-2.0"
    """Licence of the task's text."""
    source: str = "generated"
    """Where the task comes from."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the row it was loaded from that have no place above, as plain JSON."""

    @property
    def required(self) -> tuple[str, ...]:
        """Ids of the pytest tests that decide; empty unless the task is a repository."""
        return self.fail_to_pass + self.pass_to_pass

    @property
    def is_repository(self) -> bool:
        """True if pytest tests decide (mode "shared"), not cases."""
        return bool(self.required)


@dataclass(frozen=True)
class TestOutcome:
    """What one test said."""

    __test__ = False  # pytest: this is a record, not a test class

    name: str
    """Identifier within its suite, e.g. "hidden:3"."""
    suite: Suite
    """Which suite the test belongs to; `visible_as_left` is what the agent left behind."""
    status: TestStatus
    """What happened."""
    message: str = ""
    """For people: the call, what was got and what was wanted, or the exception."""


@dataclass(frozen=True)
class Verdict:
    """What grading found, test by test."""

    mode: VerdictMode
    """How `visible_pristine` and `hidden` were judged. `visible_as_left` is always shared."""
    status: VerdictStatus
    """How the graded execution ended; see UNSCORABLE for the two that are our fault."""
    outcomes: tuple[TestOutcome, ...]
    """Every test of every suite, also after a timeout."""
    sandbox: str = ""
    """Backend and tier that ran the code, e.g. "local:3"."""
    grader: str = ""
    """Version of the grader."""

    def of_suite(self, suite: str) -> tuple[TestOutcome, ...]:
        """The outcomes of one suite. Raises ValueError if that suite was never run."""
        found = tuple(o for o in self.outcomes if o.suite == suite)
        if not found:
            ran = sorted({o.suite for o in self.outcomes})
            raise ValueError(
                f"suite {suite!r} was not run for this verdict (ran: {ran}); "
                "grade the trajectory with that suite before rewarding it"
            )
        return found


@dataclass(frozen=True)
class Finding:
    """One remark of a linter or a security scanner about a line of source text."""

    tool: str
    """Who says so: "ruff" or "bandit"."""
    rule: str
    """Its name for it, e.g. "F841" or "B608"."""
    path: str
    """File of the workspace."""
    line: int
    """Line in that file, from 1."""
    message: str
    """For people."""
    severity: Literal["", "low", "medium", "high"] = ""
    """How bad the tool thinks it is; "" = it does not say."""
    new: bool = True
    """False = the task's files had it already: not the attempt's doing."""


@dataclass(frozen=True)
class Evidence:
    """What collectors saw when the episode ended; None = that collector did not run."""

    diff: str | None = None
    """Unified diff from the task's files to the final files (collector "diff")."""
    files_touched: tuple[str, ...] | None = None
    """Paths whose text differs from the task's (collector "diff")."""
    tampered: tuple[str, ...] | None = None
    """Protected paths (tests, and what configures their runner) that differ ("tampering")."""
    tripwires: tuple[str, ...] | None = None
    """Of a repository: new source text that honest code seldom has, "lib.py:3 sys._getframe": a
    sign and no proof (collector "tripwires")."""
    cpu_s: float | None = None
    """CPU seconds of the graded execution (collector "timing"); the collector "speed" puts the
    median of several runs on the hidden tests in its place."""
    reference_cpu_s: float | None = None
    """CPU seconds of the reference on the same tests, measured beside it (collector "speed")."""
    executed: Mapping[str, tuple[int, ...]] | None = None
    """Lines that the hidden tests ran, by path, sorted (collector "coverage")."""
    lint: tuple[Finding, ...] | None = None
    """What ruff says about the final files (collector "lint")."""
    security: tuple[Finding, ...] | None = None
    """What bandit says about the final files (collector "security")."""
    turn_scores: tuple[float, ...] | None = None
    """How well a model of turns thought the attempt was going at the end of each turn, in [0, 1]
    (collector "turn_scores")."""
    turn_scores_by: str | None = None
    """Version of that model ("turn_scores")."""


@dataclass(frozen=True)
class ToolCall:
    """A well-formed command."""

    name: str
    """One of the environment's tools."""
    argument: str
    """Everything after the name and one blank; "" if there is none."""


@dataclass(frozen=True)
class Action:
    """What the policy sampled in one turn."""

    ids: tuple[int, ...]
    """Token ids exactly as sampled, the end-of-turn token included; never re-tokenised."""
    logprobs: tuple[float, ...]
    """Log-probability of each sampled token under the policy that sampled it (float32)."""
    text: str
    """The ids decoded, without the end-of-turn token."""
    finish: Literal["end_of_turn", "length", "context", "fault"]
    """Why sampling stopped; "context" = no room was left, and ids may be empty; "fault" = what
    samples is broken, nothing was said: the episode is dropped."""
    kept_prefix: int = 0
    """How many tokens of the sequence so far this turn's prompt keeps."""
    new_ids: tuple[int, ...] = ()
    """Prompt tokens since the kept prefix: observation and role markers."""


@dataclass(frozen=True)
class Turn:
    """One message of the policy and the observation after it."""

    action: Action
    """What was sampled, with its prompt."""
    tool_call: ToolCall | None
    """The parsed command, or None if it did not parse."""
    parse_error: str | None
    """Why the message is not a command, or None."""
    observation: str
    """What the environment answered; "" after submit."""
    workspace_hash: str
    """Hash of the workspace after the turn (anchor states for GiGPO, caches)."""
    agent: str = "solver"
    """Which agent spoke; more than one in multi-agent episodes."""
    seconds: float = 0.0
    """Wall-clock seconds the environment took for this turn."""


@dataclass(frozen=True)
class Agent:
    """One of several who share an episode: what it may do, and what it is told about itself."""

    name: str
    """What its turns are marked with (`Turn.agent`)."""
    tools: tuple[str, ...]
    """Commands it may use; "hand" gives the floor to the next agent, with a message."""
    role: str = ""
    """Told to it before the task's statement; "" = the statement is all it is told."""
    max_turns: int | None = None
    """After so many messages in a row the floor passes on by itself; None = it has to hand over."""


@dataclass(frozen=True)
class SamplerSettings:
    """How actions were sampled. No top-p, no top-k: a filtered distribution is another policy."""

    temperature: float = 1.0
    """1 in training; 0 means greedy."""
    max_action_tokens: int = 64
    """A turn is cut after this many sampled tokens."""
    max_context: int = 768
    """An episode ends when its tokens no longer fit."""


@dataclass(frozen=True)
class Trajectory:
    """One finished attempt at one task, with everything a reward may look at."""

    task_id: str
    """Which task."""
    seed: int
    """Seed of the rollout call that produced it."""
    sampler: SamplerSettings
    """How it was sampled."""
    turns: tuple[Turn, ...]
    """K >= 1 turns in order."""
    final_files: Mapping[str, str]
    """The workspace when the episode ended."""
    verdict: Verdict
    """What grading found."""
    evidence: Evidence
    """What the collectors saw."""
    stop_reason: StopReason
    """Why the episode ended."""
    policy_version: str = ""
    """Hash or label of the weights that sampled it."""

    @property
    def num_action_tokens(self) -> int:
        """Tokens the policy sampled, all turns together."""
        return sum(len(turn.action.ids) for turn in self.turns)

    @property
    def ran_out_of_tokens(self) -> bool:
        """Whether its last message was cut at the limit, or there was no room for one."""
        last = self.turns[-1].action.finish if self.turns else "context"
        return last in ("length", "context")

    def __repr__(self) -> str:  # the whole of it fills many screens
        hidden = _hidden_passed(self)
        return (
            f"Trajectory({self.task_id!r}, {_count(len(self.turns), 'turn')}, "
            f"{_count(self.num_action_tokens, 'token')}, {self.stop_reason}, "
            f"verdict {self.verdict.status}, {sum(hidden)} of {len(hidden)} hidden tests passed)"
        )


@dataclass(frozen=True)
class Group:
    """The trajectories of one task from one policy version."""

    task_id: str
    """Which task."""
    policy_version: str
    """Which weights."""
    trajectories: tuple[Trajectory, ...]
    """G attempts."""
    turn_values: tuple[TurnValue, ...] = ()
    """How good it is to stand after a turn, where somebody has estimated it."""
    subset_values: tuple[SubsetValue, ...] = ()
    """What is left of an attempt without some of its turns, where somebody has replayed it."""
    agents_values: tuple[AgentsValue, ...] = ()
    """What an attempt is worth with stand-ins for some of its agents, where somebody has played
    it."""

    def __repr__(self) -> str:
        numbers = in_numbers([self]).removeprefix("1 group, ")
        return f"Group({self.task_id!r}, {numbers})"


@dataclass(frozen=True)
class TurnValue:
    """An estimate of how good it is to stand after one turn."""

    trajectory_index: int
    """Index within the group."""
    turn_index: int
    """-1 = before the first turn."""
    estimate: float
    """Estimated return from here."""
    standard_error: float
    """Standard error of the estimate."""
    num_rerolls: int
    """How many continuations were sampled."""
    how: str
    """How it was made, e.g. "reroll" or "exact"."""


@dataclass(frozen=True)
class SubsetValue:
    """What one attempt earns when only some of its turns are played again."""

    trajectory_index: int
    """Index within the group."""
    kept: tuple[int, ...]
    """Indices of the turns that were played, rising."""
    value: float
    """The reward of what came out."""


@dataclass(frozen=True)
class AgentsValue:
    """What one attempt is worth when stand-ins play all agents but some."""

    trajectory_index: int
    """Index within the group."""
    agents: tuple[str, ...]
    """Who played: names, sorted. () = only stand-ins did."""
    value: float
    """Mean reward of what came out."""


class StoredRun(Protocol):
    """What is read of a run's record (`load_run`) wherever groups and their tasks are wanted."""

    @property
    def groups(self) -> Iterable[Group]:
        """Everything that was rolled out."""

    @property
    def tasks(self) -> Iterable[Task]:
        """The tasks it was rolled out on."""


def groups_and_tasks(
    groups: Iterable[Group] | StoredRun, tasks: Iterable[Task] | None
) -> tuple[tuple[Group, ...], dict[str, Task]]:
    """The groups, and the tasks by their id; a run has its tasks with it.

    Raises ValueError if `tasks` is None and `groups` is no run.
    """
    if tasks is None:
        if not hasattr(groups, "tasks"):
            raise ValueError(
                f"tasks: expected the tasks of these groups, got none with {groups!r:.80}; only a "
                "stored run (load_run) has its own: pass tasks=run.tasks"
            )
        groups, tasks = groups.groups, groups.tasks
    return tuple(groups), {task.task_id: task for task in tasks}


def in_numbers(groups: Iterable[Group]) -> str:
    """Groups in a few words: how many, their trajectories, how many solved their task, tokens.

    Solved means handed in, and every hidden test passed; where no hidden test was judged, nothing
    is said about it.
    """
    groups = tuple(groups)
    trajectories = [t for group in groups for t in group.trajectories]
    words = [_count(len(groups), "group"), _count(len(trajectories), "trajectory")]
    hidden = list(map(_hidden_passed, trajectories))
    if any(hidden):
        pairs = zip(trajectories, hidden)
        solved = sum(t.stop_reason == "submitted" and bool(p) and all(p) for t, p in pairs)
        words.append(f"{solved:,} solved")
    return ", ".join([*words, _count(sum(t.num_action_tokens for t in trajectories), "token")])


def _hidden_passed(trajectory: Trajectory) -> list[bool]:
    return [o.status == "passed" for o in trajectory.verdict.outcomes if o.suite == "hidden"]


def _count(number: int, what: str) -> str:
    plural = what.removesuffix("y") + "ies" if what.endswith("y") else what + "s"
    return f"{number:,} {what if number == 1 else plural}"


@dataclass(frozen=True)
class RewardPart:
    """One named component of a reward."""

    name: str
    """Name within the design."""
    raw: float | None
    """What the component returned; None = it could not judge."""
    weight: float
    """The design's weight."""
    gated: bool = False
    """True = behind a closed gate: it counts as 0, whatever it returned."""
    omitted: bool = False
    """True = an optional component that could not judge: left out of the sum, and counted."""

    @property
    def weighted(self) -> float | None:
        """raw * weight, 0.0 behind a closed gate, None where it could not judge."""
        if self.gated:
            return 0.0
        return None if self.raw is None else self.raw * self.weight


@dataclass(frozen=True)
class RewardBreakdown:
    """A reward and where it came from; separate from any advantage."""

    parts: tuple[RewardPart, ...]
    """Every component."""
    total: float | None
    """The reward; None = could not be judged, and the trajectory leaves its group's baseline."""
    blocked: tuple[str, ...] = ()
    """Blockers that failed: with any of them the total is 0, whatever the parts say."""
    divisor: float = 1.0
    """What the sum of the weighted parts was divided by: of a normalised design the sum of the
    weights that were judged."""


def to_json(record: Any) -> Any:
    """A JSON-able value for a record (or plain data inside one): inverse of `from_json`."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        if isinstance(record, Case):  # the only place where arbitrary Python data flows
            values = {"args": encode(tuple(record.args)), "expected": encode(record.expected)}
            if record.comparison != "same":
                values |= {"comparison": record.comparison, "tolerance": record.tolerance}
            return values
        return {f.name: to_json(getattr(record, f.name)) for f in dataclasses.fields(record)}
    if isinstance(record, Mapping):
        return {key: to_json(value) for key, value in record.items()}
    if isinstance(record, (tuple, list)):
        return [to_json(item) for item in record]
    return record


def from_json(kind: Any, value: Any, where: str = "") -> Any:
    """The record of type `kind` described by a value from `to_json`.

    Raises ValueError naming the place (`where`) of the first field that is unknown, missing or
    of another type; nothing is guessed.
    """
    where = where or getattr(kind, "__name__", str(kind))
    if kind is Case:
        return _case_from_json(value, where)
    if dataclasses.is_dataclass(kind):
        return _record_from_json(kind, value, where)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        return from_json(next(k for k in inner if k is not type(None)), value, where)
    if origin is tuple:
        _expect(isinstance(value, list), where, "a list", value)
        return tuple(from_json(inner[0], v, f"{where}[{i}]") for i, v in enumerate(value))
    if origin is Mapping:
        _expect(isinstance(value, dict), where, "an object", value)
        return {k: from_json(inner[1], v, f"{where}[{k!r}]") for k, v in value.items()}
    if origin is Literal:
        _expect(value in inner, where, f"one of {list(inner)}", value)
        return value
    if kind is Any:
        return value
    if kind is float:
        _expect(type(value) in (int, float), where, "a number", value)
        _expect(type(value) is float or abs(value) < 2**1023, where, "a smaller number", value)
        return float(value)
    _expect(type(value) is kind, where, kind.__name__, value)
    return value


def _case_from_json(value: Any, where: str) -> Case:
    try:
        args, expected = decode(value["args"]), decode(value["expected"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{where}: expected args and expected as tagged data: {error}")
    _expect(type(args) is tuple, f"{where}.args", "a tagged tuple", args)
    comparison = from_json(
        Literal["same", "equal", "close"], value.get("comparison", "same"), f"{where}.comparison"
    )
    tolerance = from_json(float, value.get("tolerance", 0.0), f"{where}.tolerance")
    return Case(args, expected, comparison, tolerance)


def _record_from_json(kind: type, value: Any, where: str) -> Any:
    _expect(isinstance(value, dict), where, "an object", value)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    hints = _hints(kind)
    if unknown := sorted(set(value) - set(fields)):
        raise ValueError(f"{where}: unknown fields {unknown}; known are {sorted(fields)}")
    for name, spec in fields.items():
        optional = (
            spec.default is not dataclasses.MISSING
            or spec.default_factory is not dataclasses.MISSING
        )
        if name not in value and not optional:
            raise ValueError(f"{where}: field {name!r} is missing")
    return kind(**{n: from_json(hints[n], v, f"{where}.{n}") for n, v in value.items()})


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _expect(good: bool, where: str, expected: str, got: Any) -> None:
    if not good:
        raise ValueError(f"{where}: expected {expected}, got {type(got).__name__} {got!r:.80}")


def files_hash(files: Mapping[str, str]) -> str:
    """Sixteen hex digits that change when any path or text in `files` changes."""
    canonical = json.dumps(sorted(files.items()), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]
