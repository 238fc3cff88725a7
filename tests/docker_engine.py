"""A Docker engine for the tests alone: own socket, folders and process, nothing on the network.

Never the machine's service. Needs root and `dockerd` (Debian's package docker.io).
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from workbench.sandbox import kernel

START_S, STOP_S = 20, 30
DATA_MB = 1500
"""At most; a disk would take seconds to make an image, and again to remove it."""


class Engine:
    """A running engine at `address`. Raises RuntimeError with the end of its log."""

    def __init__(self, driver):
        self.folder = Path(tempfile.mkdtemp(prefix="workbench-engine-"))
        self.address = f"unix://{self.folder}/docker.sock"
        data = self.folder / "data"
        data.mkdir()
        log = self.folder / "log"
        command = ["dockerd", f"--host={self.address}", f"--storage-driver={driver}"]
        command += [f"--data-root={data}", f"--exec-root={self.folder}/exec"]
        if parent := os.environ.get("CGROUP_PARENT"):  # set where no systemd can be asked
            command += [f"--cgroup-parent={parent}", "--exec-opt=native.cgroupdriver=cgroupfs"]
        command += [f"--pidfile={self.folder}/pid", "--bridge=none", "--iptables=false"]
        in_memory = str(data) if driver == "overlay2" else ""  # vfs keeps every layer in full
        try:
            with log.open("w") as output:
                self._process = subprocess.Popen(
                    command + ["--ip6tables=false"],
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    preexec_fn=lambda: _own_mounts(in_memory),
                )
        except subprocess.SubprocessError:
            shutil.rmtree(self.folder)
            raise RuntimeError(
                "an engine's mounts need root's rights, not its name alone"
            ) from None
        deadline = time.monotonic() + START_S
        while "API listen on" not in log.read_text():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = log.read_text()[-500:]
                self.stop()
                raise RuntimeError(f"dockerd with {driver} did not start: {said}")
            time.sleep(0.05)

    def stop(self):
        """End it with its containers and remove its folders."""
        self._process.terminate()  # it ends its containerd
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _own_mounts(in_memory):
    """In the engine before it is one: what it mounts ends with it, its images' folder too."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    if in_memory:
        kernel.mount("images", in_memory, "tmpfs", 0, f"size={DATA_MB}m,mode=700")


def why_no_engine():
    """Why none can be started on this machine, or "" if that can be tried."""
    if not shutil.which("dockerd"):
        return "no dockerd on this machine (Debian: docker.io)"
    return "" if os.geteuid() == 0 else "starting a Docker engine for the tests needs root"


def start_engine():
    """An Engine, or a text that says why there is none."""
    if why := why_no_engine():
        return why
    reasons = []
    for driver in ("overlay2", "vfs"):
        try:
            return Engine(driver)
        except RuntimeError as error:
            reasons.append(str(error))
    return "; ".join(reasons)
