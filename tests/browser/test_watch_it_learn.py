"""Notebook 00 in a real Chromium: the curve moves, Stop stops, nothing leaves the machine."""

from pathlib import Path

import pytest

from workbench.commands import NOTEBOOK

TOP = Path(__file__).resolve().parent.parent.parent

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_curve_moves_stop_stops_and_nothing_leaves_the_machine(page, lab_on, run_all, see_text):
    text = (TOP / "notebooks" / NOTEBOOK).read_text("utf-8")
    assert text.count("fast=3") == 1  # RL iterations: the run is to be small but long
    run_all(lab_on(NOTEBOOK, text.replace("fast=3", "fast=500")), NOTEBOOK)

    picture = page.locator(".jp-OutputArea-output .widget-image").first
    see_text(r"^running: .*RL iteration \d")  # the first few may pass between two looks
    first = picture.get_attribute("src")
    moved = "src => document.querySelector('.jp-OutputArea-output .widget-image').src !== src"
    page.wait_for_function(moved, arg=first)

    page.get_by_role("button", name="Stop").click()
    see_text(r"^stopped: ")
    result = see_text(r"Of \d+ unseen tasks")  # the notebook's last measured sentence
    assert "%" in result
    assert page.outside == []
