"""Notebook 00 in a real Chromium: the curve moves, Stop stops, nothing leaves the machine."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from workbench.commands import NOTEBOOK, lab_command

TOP = Path(__file__).resolve().parent.parent.parent
TOKEN = "testtoken"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
PATIENCE_MS = 240_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium"),
]


@pytest.fixture
def lab(tmp_path):
    """JupyterLab on a copy of notebook 00 whose run is small but long; yields its address."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    text = (TOP / "notebooks" / NOTEBOOK).read_text("utf-8")
    assert text.count("fast=3") == 1  # RL iterations
    (folder / NOTEBOOK).write_text(text.replace("fast=3", "fast=500"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    environment = os.environ | {f"JUPYTER_{name}": str(tmp_path / name) for name in names}
    environment |= {f"JUPYTERLAB_{n}_DIR": str(tmp_path / n) for n in ("SETTINGS", "WORKSPACES")}
    environment |= {"IPYTHONDIR": str(tmp_path / "ipython"), "WORKBENCH_FAST": "1"}
    environment |= {"PYTHONPATH": str(TOP)}
    command = lab_command(port, open_browser=False, notebooks=str(folder))
    command += ["--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
    with (tmp_path / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for_server(url, server)
            yield url
        finally:
            server.terminate()
            server.wait(30)


def wait_for_server(url, server):
    for _ in range(600):
        assert server.poll() is None, "JupyterLab ended before it answered"
        try:
            with urllib.request.urlopen(f"{url}/api/status?token={TOKEN}") as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise AssertionError("JupyterLab did not answer within two minutes")


@pytest.fixture
def page():
    """An empty page, and the addresses it asked for that are not on this machine."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        opened = browser.new_page(viewport={"width": 1200, "height": 1000})
        opened.set_default_timeout(PATIENCE_MS)
        opened.outside = []
        opened.on("request", lambda request: note_outside(opened.outside, request.url))
        opened.on("websocket", lambda socket: note_outside(opened.outside, socket.url))
        yield opened
        browser.close()


def note_outside(found, url):
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob", "about") and parts.hostname != "127.0.0.1":
        found.append(url)


def see_text(page, pattern):
    """Wait until some label's text matches the regular expression; return that text."""
    script = """pattern => [...document.querySelectorAll('.widget-label, .jp-OutputArea-output')]
        .map(e => e.textContent).find(text => new RegExp(pattern).test(text)) || false"""
    return page.wait_for_function(script, arg=pattern).json_value()


def test_the_curve_moves_stop_stops_and_nothing_leaves_the_machine(lab, page):
    page.goto(f"{lab}/lab/tree/{NOTEBOOK}?reset&token={TOKEN}")
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached")
    page.locator(".jp-NotebookPanel .jp-Notebook").first.click(position={"x": 20, "y": 5})
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()

    picture = page.locator(".jp-OutputArea-output .widget-image").first
    see_text(page, r"^running: .*RL iteration \d")  # the first few may pass between two looks
    first = picture.get_attribute("src")
    moved = "src => document.querySelector('.jp-OutputArea-output .widget-image').src !== src"
    page.wait_for_function(moved, arg=first)

    page.get_by_role("button", name="Stop").click()
    see_text(page, r"^stopped: ")
    result = see_text(page, r"Of \d+ unseen tasks")  # the notebook's last measured sentence
    assert "%" in result
    assert page.outside == []
