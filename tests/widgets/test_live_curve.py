"""LiveCurve follows a run and stops it; no browser is needed to see that."""

import asyncio
import threading

import pytest

from workbench.widgets import LiveCurve


class RunByHand:
    """A run whose rows the test writes: what LiveCurve asks of a real one."""

    def __init__(self):
        self.metrics, self.done, self.asked_to_stop = [], False, 0

    def add(self, number, solved):
        self.metrics.append(
            {
                "kind": "iteration",
                "stage": "rl",
                "iteration": number,
                "num_iterations": 40,
                "num_rollouts": 128,
                "solved_share": solved,
            }
        )

    def stop(self):
        self.asked_to_stop += 1


@pytest.fixture
def run():
    made = RunByHand()
    yield made
    made.done = True  # ends the widget's thread


def test_new_rows_change_the_picture_and_the_text(run):
    curve = LiveCurve(run, every_s=1000)
    empty = curve.children[0].value
    run.add(0, 0.25)
    curve.refresh()
    assert curve.text.startswith("running: RL iteration 1 of 40: solved 25.0%")
    assert curve.children[0].value != empty
    assert bytes(curve.children[0].value[:4]) == b"\x89PNG"


def test_the_button_asks_the_run_to_stop_once_and_the_text_follows(run):
    curve = LiveCurve(run, every_s=1000)
    button = curve.children[1].children[0]
    button.click()
    button.click()
    assert run.asked_to_stop == 1 and button.disabled and curve.state == "stopping"
    run.done = True
    curve.refresh()
    assert curve.state == "stopped" and curve.text.startswith("stopped: ")


def test_a_run_that_came_to_its_end_is_finished_and_its_last_row_is_shown(run):
    run.add(0, 0.5)
    run.done = True
    curve = LiveCurve(run)
    assert curve.state == "finished" and "iteration 1 of 40" in curve.text
    assert curve.children[1].children[0].disabled


def test_its_thread_picks_up_rows_and_ends_with_the_run(run):
    curve = LiveCurve(run, every_s=0.01)
    seen = threading.Event()
    curve.observe(lambda _: seen.set(), "num_rows")
    run.add(0, 0.1)
    assert seen.wait(60)
    ended = threading.Event()
    curve.observe(lambda change: change["new"] == "finished" and ended.set(), "state")
    run.done = True
    assert ended.wait(60)


def test_waiting_returns_how_the_run_ended_and_hears_the_button_meanwhile(run):
    curve = LiveCurve(run, every_s=1000)

    async def wait_and_click():
        waiting = asyncio.create_task(curve.wait())
        await asyncio.sleep(0)
        curve.children[1].children[0].click()
        run.done = True
        return await waiting

    assert asyncio.run(wait_and_click()) == "stopped"


def test_an_interrupted_wait_stops_the_run(run):
    curve = LiveCurve(run, every_s=1000)

    async def interrupt():
        waiting = asyncio.create_task(curve.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupt())
    assert run.asked_to_stop == 1


def test_there_is_a_still_figure_for_pages_without_a_kernel(run):
    run.add(0, 0.5)
    figure = LiveCurve(run, every_s=1000).figure()
    assert figure.axes[0].get_xlabel() == "attempts at training tasks so far"
