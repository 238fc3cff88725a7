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


class Engine:
    """A running engine at `address`. Raises RuntimeError with the end of its log."""

    def __init__(self, driver):
        self.folder = Path(tempfile.mkdtemp(prefix="workbench-engine-"))
        self.address = f"unix://{self.folder}/docker.sock"
        log = self.folder / "log"
        command = ["dockerd", f"--host={self.address}", f"--storage-driver={driver}"]
        command += [f"--data-root={self.folder}/data", f"--exec-root={self.folder}/exec"]
        command += [f"--pidfile={self.folder}/pid", "--bridge=none", "--iptables=false"]
        with log.open("w") as output:
            self._process = subprocess.Popen(
                command + ["--ip6tables=false"],
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=lambda: kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM),
            )
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
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            if line.split()[1].startswith(f"{self.folder}/"):
                subprocess.run(["umount", "-l", line.split()[1]], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_engine():
    """An Engine, or a text that says why there is none."""
    if not shutil.which("dockerd"):
        return "no dockerd on this machine (Debian: docker.io)"
    if os.geteuid() != 0:
        return "starting a Docker engine for the tests needs root"
    reasons = []
    for driver in ("overlay2", "vfs"):
        try:
            return Engine(driver)
        except RuntimeError as error:
            reasons.append(str(error))
    return "; ".join(reasons)
