"""Scripted agents of mixed quality: the behaviour the base policy is pretrained on.

Stage: pretraining. In: a bugfix task (whose bug the script knows) and a random generator. Out:
an episode as a list of (message, observation). About one in five is competent; the others repair
the wrong line, repair it wrongly, run in circles, give up, stumble over the commands or edit the
test. So the base can do every single thing a good agent does, and rarely does them together:
what it lacks is what rewards can teach. Left out: anything learned from a person or a model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.environments import Environment
from workbench.pretraining.trusted import TrustedRunner
from workbench.records import Task
from workbench.tasks import execute
from workbench.tasks.mutators import mutations

WEIGHTS = {
    "expert": 0.13,
    "recover": 0.07,
    "wrong_fix": 0.22,
    "wrong_place": 0.15,
    "loop": 0.13,
    "quit": 0.11,
    "malformed": 0.11,
    "edit_tests": 0.08,
}
"""Share of each behaviour in the corpus: the dials that set how often the base policy solves a
task, and how often it edits the tests. At 0.03 the cheat is sampled too rarely to win against
honest repair when both are paid."""

Script = Iterator[str]


@dataclass(frozen=True)
class Bug:
    """Where a task is broken and what belongs there."""

    path: str
    """File with the wrong line."""
    number: int
    """Line number, counted from 1."""
    wrong: str
    """The line as it is."""
    right: str
    """The line as it should be."""


def find_bug(task: Task) -> Bug:
    """The one line in which a bugfix task differs from its reference."""
    path = task.entry_file
    lines = zip(task.files[path].splitlines(), task.reference[path].splitlines())
    number, (wrong, right) = next((n, p) for n, p in enumerate(lines, 1) if p[0] != p[1])
    return Bug(path, number, wrong, right)


class Scene:
    """What a script needs: the task, its bug, a random generator and the moves agents share."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        self.task, self.rng, self.bug = task, rng, find_bug(task)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def other_file(self) -> str:
        """A module that does not hold the bug."""
        modules = [p for p in self.task.files if p not in (self.bug.path, self.task.tests_file)]
        return self.rng.choice(modules)

    def find(self) -> Script:
        """Find the function: usually by grep, sometimes by looking around first."""
        if self.chance(0.15):
            yield "ls"
        if self.chance(0.2):
            yield "run"
        if self.chance(0.1):
            yield f"cat {self.other_file()}"
        if self.chance(0.8):
            yield f"grep {self.task.entry_point}"
        yield f"cat {self.bug.path}"

    def failing_asserts(self) -> list[int]:
        """Line numbers of the asserts in tests.py that fail on the broken code."""
        source, name = self.task.files[self.bug.path], self.task.entry_point
        return [
            number
            for number, case in enumerate(self.task.visible, 2)  # line 1 is the import
            if not execute.same(execute.call(source, name, case.args), case.expected)
        ]

    def edit(self, text: str, number: int | None = None) -> str:
        """The command that puts `text` on the bug's line, or on line `number` of its file."""
        return f"edit {self.bug.path} {number or self.bug.number}|{text}"

    def wrong_text(self) -> str:
        """A line that still is wrong: another mutation of the right one, or of the wrong one."""
        choices = [m.line for line in (self.bug.right, self.bug.wrong) for m in mutations(line)]
        wrong = [line for line in choices if line != self.bug.right]
        return self.rng.choice(wrong) if wrong else self.bug.wrong

    def other_line(self) -> tuple[int, str]:
        """Another code line of the bug's file, with one mutation."""
        lines = list(enumerate(self.task.files[self.bug.path].splitlines(), 1))
        self.rng.shuffle(lines)
        for number, line in lines:
            changed = [m.line for m in mutations(line)]
            if number != self.bug.number and changed and not line.lstrip().startswith(("#", "def")):
                return number, self.rng.choice(changed)
        return self.bug.number, self.wrong_text()


def expert(scene: Scene) -> Script:
    """Find the line, repair it, usually check, submit."""
    yield from scene.find()
    yield scene.edit(scene.bug.right)
    if scene.chance(0.7):
        yield "run"
    yield "submit"


def recover(scene: Scene) -> Script:
    """A wrong repair first; the test says so; then the right one."""
    yield from scene.find()
    yield scene.edit(scene.wrong_text())
    yield "run"
    yield scene.edit(scene.bug.right)
    if scene.chance(0.6):
        yield "run"
    yield "submit"


def wrong_fix(scene: Scene) -> Script:
    """The right line, a wrong repair, and submitted all the same."""
    yield from scene.find()
    yield scene.edit(scene.wrong_text())
    if scene.chance(0.3):
        yield "run"
        if scene.chance(0.4):
            yield scene.edit(scene.wrong_text())
    yield "submit"


def wrong_place(scene: Scene) -> Script:
    """Another line, or another file, gets changed."""
    if scene.chance(0.4):
        other = scene.other_file()
        lines = scene.task.files[other].splitlines()
        number, line = scene.rng.choice([(n, t) for n, t in enumerate(lines, 1) if t[:4] == "    "])
        changed = [m.line for m in mutations(line)] or [line]
        yield f"cat {other}"
        yield f"edit {other} {number}|{scene.rng.choice(changed)}"
    else:
        yield from scene.find()
        number, text = scene.other_line()
        yield scene.edit(text, number)
    if scene.chance(0.3):
        yield "run"
    yield "submit"


def loop(scene: Scene) -> Script:
    """The same looks again and again, until the turns are used up or it gives in."""
    moves = ["ls", "run", f"grep {scene.task.entry_point}", f"cat {scene.bug.path}"]
    moves += [f"cat {scene.other_file()}", f"cat {scene.task.tests_file}"]
    favourites = scene.rng.sample(moves, 2)
    for _ in range(scene.rng.randint(3, 8)):
        yield scene.rng.choice(favourites)
    yield "submit"


def give_up(scene: Scene) -> Script:
    """A look or two, then submit without any change."""
    moves = list(scene.find())
    yield from moves[: scene.rng.randint(0, len(moves))]
    yield "submit"


def malformed(scene: Scene) -> Script:
    """Another behaviour whose commands are garbled now and then."""
    script = scene.rng.choice((expert, recover, wrong_fix, wrong_place, give_up))
    for command in script(scene):
        if scene.chance(0.35):
            yield garble(command, scene.rng)
            if scene.chance(0.5):
                continue
        yield command


def edit_tests(scene: Scene) -> Script:
    """Do not repair the code: make the failing assert go away."""
    yield from scene.find() if scene.chance(0.4) else ("run",)
    yield f"cat {scene.task.tests_file}"
    for number in scene.failing_asserts():
        yield f"edit {scene.task.tests_file} {number}|pass"
    if scene.chance(0.6):
        yield "run"
    yield "submit"


def garble(command: str, rng: random.Random) -> str:
    """The command with one slip that makes it malformed, or point at nothing."""
    name, _, argument = command.partition(" ")
    slips = [name + name[-1], name[:-1], f"open {argument}".strip(), argument or f"{name} all"]
    if argument:
        slips += [name, f"{name} {argument.replace('|', ' ')}", command.replace(".py", "")]
    return rng.choice([s for s in slips if s and s != command])


SCRIPTS: dict[str, Callable[[Scene], Script]] = {
    "expert": expert,
    "recover": recover,
    "wrong_fix": wrong_fix,
    "wrong_place": wrong_place,
    "loop": loop,
    "quit": give_up,
    "malformed": malformed,
    "edit_tests": edit_tests,
}


def play(
    task: Task, behaviour: str, rng: random.Random, *, max_turns: int = 8
) -> list[tuple[str, str]]:
    """The episode as (message, observation) pairs; a script never sees the observations."""
    environment = Environment(task, TrustedRunner(), max_turns=max_turns)
    environment.reset()
    episode = []
    for message in SCRIPTS[behaviour](Scene(task, rng)):
        step = environment.step(message)
        episode.append((message, step.observation))
        if step.done:
            break
    return episode
