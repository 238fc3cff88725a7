"""RewardMixer in a real Chromium: the keyboard moves a slider, a click opens an attempt."""

import time

import nbformat
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.browser]

NAME = "mixer.ipynb"
CODE = """
from workbench import RewardDesign, load_run
from workbench.rewards import all_pass, pass_fraction, tampered
from workbench.widgets import RewardMixer

naive = RewardDesign(tests=(pass_fraction("visible_as_left"), 1.0), tampering=(tampered, 0.0))
honest = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))
RewardMixer(load_run("bugfix-before-after"), naive, against=honest)
"""
NOTEBOOK = nbformat.v4.new_notebook(
    cells=[nbformat.v4.new_code_cell(CODE.strip())],
    metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
)
SENTENCE = ".jp-OutputArea-output [aria-live]"
RANKING = ".jp-OutputArea-output .wb-cols >> nth=0"


def test_a_slider_moved_by_keyboard_redraws_and_a_click_opens_a_rollout(
    page, lab_on, run_all, see_text
):
    run_all(lab_on(NAME, nbformat.writes(NOTEBOOK)), NAME)
    first = see_text(r"^[\d,]+ of 1,152 attempts are paid but wrong")
    picture = page.locator(RANKING).inner_html()

    handle = page.locator(".jp-OutputArea-output .widget-slider .noUi-handle").nth(1)
    handle.focus()
    taken = []
    for _ in range(10):  # a click of the key is 0.05, so the weight ends at -0.5
        before, start = page.locator(RANKING).inner_html(), time.perf_counter()
        page.keyboard.press("ArrowLeft")
        moved = "before => document.querySelector('.wb-cols').innerHTML !== before"
        page.wait_for_function(moved, arg=before, polling=5)
        taken.append(1000 * (time.perf_counter() - start))
    taken.sort()
    print(f"key to picture: median {taken[5]:.0f} ms, largest {taken[-1]:.0f} ms")
    assert page.locator(RANKING).inner_html() != picture
    assert page.locator(RANKING).inner_text().count("tampering × -0.5") == 1
    box = page.locator(".jp-OutputArea-output input[type=number]").nth(1)
    page.wait_for_function("box => Number(box.value) === -0.5", arg=box.element_handle())

    for _ in range(11):  # below -1 no edited tests are worth it
        page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.body.innerText.includes('tampering × -1.05')")
    last = page.locator(SENTENCE).inner_text()
    assert int(last.split()[0]) < int(first.split()[0])

    choices = page.locator(".jp-OutputArea-output select[size]")
    words = choices.locator("option").nth(1).text_content().replace("\xa0", " ")
    choices.select_option(index=1)
    group, trajectory = words.split(":")[0].removeprefix("group ").split(" #")
    page.wait_for_function("g => document.body.innerText.includes(`: group ${g}`)", arg=group)
    attempt = page.locator(".jp-OutputArea-output input[type=number]").last
    page.wait_for_function("([e, n]) => e.value === n", arg=[attempt.element_handle(), trajectory])
    shown = page.locator(".jp-OutputArea-output").last.inner_text()
    assert words.split("; ")[-1] in shown and "hidden tests (the truth)" in shown
    assert page.outside == []
