"""A JupyterLab of its own and a real Chromium for the tests of this folder."""

import contextlib
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

from workbench.commands import lab_command

TOP = Path(__file__).resolve().parent.parent.parent
TOKEN = "testtoken"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
PATIENCE_MS = 240_000
STARTED = """() => {
    const prompt = document.querySelector('.jp-Notebook .jp-CodeCell .jp-InputPrompt');
    return prompt && !/^\\[\\s*\\]/.test(prompt.textContent);
}"""


@contextlib.contextmanager
def running_lab(folder, scratch):
    """JupyterLab on the notebooks in `folder`; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    environment = os.environ | {f"JUPYTER_{name}": str(scratch / name) for name in names}
    environment |= {f"JUPYTERLAB_{n}_DIR": str(scratch / n) for n in ("SETTINGS", "WORKSPACES")}
    environment |= {"IPYTHONDIR": str(scratch / "ipython"), "WORKBENCH_FAST": "1"}
    environment |= {"PYTHONPATH": str(TOP)}
    command = lab_command(port, open_browser=False, notebooks=str(folder))
    command += ["--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
    with (scratch / "lab.log").open("wb") as log:
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
def lab_on(tmp_path):
    """A function from notebook name and text to the address of a JupyterLab that holds it."""
    with contextlib.ExitStack() as stack:

        def start(name, text):
            folder = tmp_path / "notebooks"
            folder.mkdir()
            (folder / name).write_text(text, "utf-8")
            return stack.enter_context(running_lab(folder, tmp_path))

        yield start


@pytest.fixture
def page():
    """An empty page, and the addresses it asked for that are not on this machine."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
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


@pytest.fixture
def run_all(page):
    """A function from a lab's address and a notebook's name: opens it and runs every cell."""

    from playwright.sync_api import TimeoutError

    dialog = page.locator("dialog.jp-Dialog")

    def close_dialog():  # JupyterLab's own, on a machine too busy to answer it in time
        print("closed:", dialog.inner_text())
        dialog.get_by_role("button").last.click()

    def run(lab, name):
        page.add_locator_handler(dialog, close_dialog)
        page.goto(f"{lab}/lab/tree/{name}?reset&token={TOKEN}")
        page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
        idle = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
        page.wait_for_selector(idle, state="attached")
        page.locator(".jp-NotebookPanel .jp-Notebook").first.click(position={"x": 20, "y": 5})
        for _ in range(10):  # JupyterLab drops the command while the kernel is still connecting
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
            with contextlib.suppress(TimeoutError):
                return page.wait_for_function(STARTED, timeout=PATIENCE_MS / 10)
        raise AssertionError("JupyterLab did not run the first cell")

    return run


@pytest.fixture
def see_text(page):
    """A function that waits until some shown text matches a pattern, and returns that text."""

    def see(pattern):
        script = """pattern => [...document.querySelectorAll(
                '.widget-label, .widget-html-content, .jp-OutputArea-output')]
            .map(e => e.textContent).find(text => new RegExp(pattern).test(text)) || false"""
        return page.wait_for_function(script, arg=pattern).json_value()

    return see
