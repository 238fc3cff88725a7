"""CreditViewer: which turn earned the reward, according to every scheme, and in truth.

Stage: reading. In: a group, what schemes said about its turns, what is true; out: a widget with
turns as rows and schemes as columns, two attempts compared, and the tokens of a chosen turn as the
loss sees them. The numbers come from `plots.crediting`, the HTML from `credit_html` and
`token_html`; `to_html` writes a page that needs no server. Left out: making credit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets
import traitlets
from matplotlib.figure import Figure

from workbench.plots.behaviour import verdict_words
from workbench.plots.credit_pictures import credit_table
from workbench.plots.crediting import Credit, CreditColumn, credit_columns, num_alike, signed
from workbench.plots.tokens import as_decode, expect_new_logprobs, tokens_of_turn
from workbench.records import Group, Task, Trajectory, TurnValue
from workbench.widgets.credit_html import BAR_STYLE, CREDIT_STYLE, credit_html, legend_html
from workbench.widgets.credit_page import credit_page
from workbench.widgets.episode_html import heading_html
from workbench.widgets.markup import STYLE, boxed, line, text
from workbench.widgets.token_html import COLOURS, TOKEN_STYLE, tokens_html

ALL_STYLES = STYLE + CREDIT_STYLE + BAR_STYLE + TOKEN_STYLE
NOBODY = -1
"""The value of `against` while nothing is compared."""
SHOWN = (("credit", "credit"), ("share of the update", "share"))


class CreditViewer(ipywidgets.VBox):
    """A widget that shows credit, turn by turn and token by token.

    >>> CreditViewer(group, credit, truth=group.turn_values)        # doctest: +SKIP
    """

    attempt = traitlets.Int(0)
    """Which trajectory is shown, from 0."""
    against = traitlets.Int(NOBODY)
    """Which trajectory it is compared with; NOBODY (-1) = none."""
    turn = traitlets.Int(0)
    """Whose tokens are shown, from 0: the row that the table calls `turn + 1`."""
    scheme = traitlets.Unicode()
    """The column whose credit is the tokens' advantage."""
    show = traitlets.Enum(("credit", "share"), "credit")
    """Numbers of the table: credit, or |credit| times tokens as a share of the group's."""
    colour = traitlets.Enum(COLOURS, COLOURS[0])
    """What the colour of a token stands for."""
    text = traitlets.Unicode("")
    """The line above the table, in words."""

    def __init__(
        self,
        group: Group,
        credit: Mapping[str, Credit],
        truth: Sequence[TurnValue] | Credit | None = None,
        task: Task | None = None,
        *,
        rewards: Sequence[float] | None = None,
        decode: Any = None,
        new_logprobs: Sequence[Sequence[Sequence[float]]] | None = None,
        clip_low: float = 0.2,
        clip_high: float = 0.28,
    ) -> None:
        """Show the first attempt of `group`.

        Args:
            credit: name of a scheme -> a (K,) array for each trajectory.
            truth: `group.turn_values`, or the true credit as such arrays; None = not known.
            task: its statement is shown.
            rewards: (G,) what the attempts earned; None = solved or not, by the hidden tests.
            decode: a tokenizer, or a function from token ids to text; None = ids are shown.
            new_logprobs: [trajectory][turn][token], the sampled tokens' logprobs under the weights
                as they are now; with them ratios and clipping are shown.
            clip_low, clip_high: the ratio's allowed range is [1 - clip_low, 1 + clip_high].
        Raises:
            ValueError: for a group without trajectories, a trajectory without turns, or credit or
                new logprobs that do not fit them.
        """
        if not group.trajectories or not all(t.turns for t in group.trajectories):
            raise ValueError(
                "group: expected at least one trajectory, each of one turn or more, got turns "
                f"{[len(t.turns) for t in group.trajectories]}"
            )
        self.group, self.task, self._busy = group, task, True
        self.columns = credit_columns(group, credit, truth, rewards)
        self.decode, self._new_logprobs = as_decode(decode), new_logprobs
        if new_logprobs is not None:
            expect_new_logprobs(group, new_logprobs)
        self._clip = dict(clip_low=clip_low, clip_high=clip_high)
        schemes = [column.name for column in self.columns]
        controls = self._controls(schemes)
        self._heading, self._table = ipywidgets.HTML(), ipywidgets.HTML()
        self._mark, self._tokens = ipywidgets.HTML(layout={"display": "none"}), ipywidgets.HTML()
        for shown in (self._heading, self._table, self._tokens):
            shown.add_class("wb-fit")
        style = ipywidgets.HTML(ALL_STYLES, layout={"display": "none"})
        parts = [style, self._mark, controls, self._heading, self._table, self._turns, self._tokens]
        super().__init__(parts, scheme=next((s for s in schemes if s != "truth"), schemes[0]))
        self.add_class(self._own_class)
        self._busy = False
        self._listen()
        self._draw()

    @property
    def _own_class(self) -> str:
        return f"wb-credit-{self.model_id}"

    @property
    def trajectory(self) -> Trajectory:
        """The one that is shown."""
        return self.group.trajectories[self.attempt]

    @property
    def column(self) -> CreditColumn:
        """The one that `scheme` names."""
        return next(column for column in self.columns if column.name == self.scheme)

    def figure(self) -> Figure:
        """The attempt that is shown, as a still figure."""
        return credit_table(self.group, self.columns, self.attempt, self.turn)

    def html(self) -> str:
        """What is shown, as HTML for a page without a kernel."""
        inside = (self._heading.value, self._table.value, self._tokens.value)
        return ALL_STYLES + "".join(inside)

    def to_html(self, path: str | Path) -> Path:
        """Write one file that shows the whole group in any browser, without server or network.

        Keys: up and down choose a turn, left and right an attempt, Enter opens the answer, s
        switches to shares of the update. The tokens' advantage is of the scheme chosen now.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            credit_page(
                self.group, self.columns, title=f"Credit: {line(self.group.task_id)}",
                styles=ALL_STYLES, heading=self._heading_html, words=self._words,
                tokens=self._tokens_html, start=(self.attempt, self.turn),
            ),
            encoding="utf-8",
        )  # fmt: skip
        return path

    def _repr_mimebundle_(self, **options) -> dict:
        """The widget, and its HTML for pages where widgets do not run (nbconvert, untrusted)."""
        return super()._repr_mimebundle_(**options) | {"text/html": self.html()}

    def _controls(self, schemes: Sequence[str]) -> ipywidgets.Box:
        names = [(self._words(i), i) for i in range(len(self.group.trajectories))]
        short = {"description_width": "initial"}
        self._attempts = ipywidgets.Dropdown(
            options=names, description="attempt", tooltip="the attempt that is shown",
            layout={"width": "240px"}, style=short,
        )  # fmt: skip
        self._others = ipywidgets.Dropdown(
            options=[("nothing", NOBODY)], description="compared with", style=short,
            tooltip="a second attempt, turn by turn beneath the first",
            layout={"width": "340px", "flex": "0 0 auto"},
        )  # fmt: skip
        self._show = ipywidgets.Dropdown(
            options=SHOWN, description="numbers", style=short, layout={"width": "220px"},
            tooltip="share of the update: |credit| times tokens, of the whole group's",
        )  # fmt: skip
        self._turns = ipywidgets.HBox(layout={"flex_flow": "row wrap"})
        self._turn = ipywidgets.SelectionSlider(
            options=[("1", 0)], description="tokens of turn", style=short,
            continuous_update=False, layout={"width": "340px"},
        )  # fmt: skip
        self._schemes = ipywidgets.Dropdown(
            options=schemes, description="advantage of", style=short, layout={"width": "260px"}
        )
        self._colours = ipywidgets.Dropdown(
            options=COLOURS, description="colour", style=short, layout={"width": "180px"},
            tooltip="ratio: centred at 1; surprise: -logprob",
        )  # fmt: skip
        self._turns.children = [self._turn, self._schemes, self._colours]
        parts = [self._attempts, self._others, self._show]
        return ipywidgets.HBox(parts, layout={"flex_flow": "row wrap"})

    def _words(self, i: int) -> str:
        trajectory = self.group.trajectories[i]
        ending, _, _ = verdict_words(trajectory)[1].lower().partition(":")
        turns = len(trajectory.turns)
        return f"#{i} {ending}, {turns} turn{'s' * (turns != 1)}"

    def _listen(self) -> None:
        for control, name in (
            (self._attempts, "attempt"), (self._others, "against"), (self._show, "show"),
            (self._turn, "turn"), (self._schemes, "scheme"), (self._colours, "colour"),
        ):  # fmt: skip
            control.observe(lambda change, name=name: self._from_control(name, change), "value")
        self.observe(lambda _: self._draw(), ["attempt", "against"])
        self.observe(lambda _: self._draw_tokens(), ["turn", "scheme", "colour"])
        self.observe(lambda _: self._draw_table(), "show")

    def _from_control(self, name: str, change: dict) -> None:
        if not self._busy and change["new"] is not None:
            self.set_trait(name, change["new"])

    @traitlets.validate("attempt", "against", "turn", "scheme")
    def _check(self, proposal: dict) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "scheme":
            if value not in (known := [column.name for column in self.columns]):
                raise traitlets.TraitError(f"scheme: expected one of {known}, got {value!r}")
            return value
        first = NOBODY if name == "against" else 0
        things = self.trajectory.turns if name == "turn" else self.group.trajectories
        if not first <= value < len(things):
            raise traitlets.TraitError(
                f"{name}: expected {first} to {len(things) - 1}, got {value}"
            )
        return value

    def _draw(self) -> None:
        """Everything: another attempt, or another one to compare with."""
        if self.against == self.attempt:
            self.against = NOBODY  # draws
            return
        self._busy = True
        try:
            self._attempts.value = self.attempt
            self._others.options = self._partners()
            self._others.value = self.against
            turns = self.trajectory.turns
            if len(self._turn.options) != len(turns):
                self._turn.options = [(str(k + 1), k) for k in range(len(turns))]
            self.turn = min(self.turn, len(turns) - 1)
            self._turn.value = self.turn
        finally:
            self._busy = False
        self._heading.value = boxed(self._heading_html(self.attempt))
        self._draw_table()
        self._draw_tokens()
        self.text = f"{line(self.group.task_id)}: {self._words(self.attempt)}"

    def _draw_tokens(self) -> None:
        """The tokens of the chosen turn, and the mark on its row."""
        if self._busy:
            return
        self._turn.value, self._schemes.value = self.turn, self.scheme
        self._colours.value = self.colour
        here = f'tr[data-attempt="{self.attempt}"][data-turn="{self.turn}"] > *'
        mark = "box-shadow: inset 0 2px var(--mark), inset 0 -2px var(--mark);"
        self._mark.value = f"<style>.{self._own_class} {here} {{ {mark} }}</style>"
        self._tokens.value = boxed(self._tokens_html(self.attempt, self.turn))

    def _draw_table(self) -> None:
        """Credit, or its share of the update."""
        self._show.value = self.show
        against = None if self.against == NOBODY else self.against
        table = credit_html(self.group, self.columns, self.attempt, against, show=self.show)
        self._table.value = boxed(table, legend_html(self.columns))

    def _partners(self) -> list[tuple[str, int]]:
        found = [("nothing", NOBODY)]
        for i, other in enumerate(self.group.trajectories):
            if i != self.attempt:
                alike = num_alike(self.trajectory, other)
                found.append((f"{self._words(i)}, {alike} alike at first", i))
        return found

    def _heading_html(self, attempt: int) -> str:
        return heading_html(self.group.trajectories[attempt], self.task)

    def _tokens_html(self, attempt: int, turn: int) -> str:
        column, new = self.column, self._new_logprobs
        advantage = float(column.credit[attempt][turn])
        said = self.group.trajectories[attempt].turns[turn]
        tokens = tokens_of_turn(
            said, advantage, decode=self.decode,
            new_logprobs=None if new is None else new[attempt][turn], **self._clip,
        )  # fmt: skip
        num = sum(token.in_loss for token in tokens)
        words = (
            f"{num} of {len(tokens)} tokens learn, each with advantage "
            f"{signed(advantage, column.scale)} ({column.name}); "
            f"{column.shares[attempt][turn]:.1%} of the group's update"
        )
        if advantage != advantage:
            words = f"no token learns: {column.name} gives this turn no number"
        head = f"turn {turn + 1} of #{attempt}: {line(said.action.text, 60)}"
        boxes = tokens_html(tokens, column.scale, self.colour)
        return f"<h4>{text(head)}</h4><div>{text(words)}</div>{boxes}"
