"""The machine: sandbox, torch, threads, memory, GPU, versions.

Stage: outside the loop. Nothing goes in; facts and what is wrong with them come out. Left out:
network, disks other than the current one.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.diagnostics.checklist import CannotTell, check

LOCKS = ("torch.lock", "requirements.lock")
"""Files of tested versions, at the top of the repository."""
TOP = Path(__file__).resolve().parents[2]
"""Where they lie in a checkout."""
ENOUGH_MB = 2_000
"""Free memory for a run of the tiny policy: a long one grew to about 0.9 GB, its sandbox to 0.3."""


@dataclass(frozen=True)
class MachineCase:
    """What was found on this machine."""

    tier: int
    """Tier of the sandbox that "auto" opens."""
    missing_walls: tuple[str, ...]
    """Why higher tiers were declined."""
    threads: int | None
    """torch's threads; None where torch cannot be imported."""
    cpus: int
    """CPUs that this process may use."""
    free_mb: float | None
    """Memory that can be had, MB; None if the system does not say."""
    versions: Mapping[str, tuple[str, str]]
    """Package -> (locked version, installed version or "missing"), where they differ."""
    facts: Mapping[str, str]
    """For people."""


def look_at_machine() -> MachineCase:
    """The machine as it is now; opens a sandbox for a moment."""
    from workbench.sandbox import open_sandbox

    with open_sandbox("auto", workers=1) as box:
        tier, name, declined = box.tier, box.name, box.declined
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads, torch_said, gpu = _torch()
    free = _free_mb()
    differing = _differing_versions()
    said = "as locked" if not differing else f"{len(differing)} differ from the locks"
    facts = {
        "system": f"{platform.platform(terse=True)}, Python {platform.python_version()}",
        "sandbox": name,
        "torch": torch_said,
        "CPUs": f"{cpus}, torch threads {threads}",
        "memory": "unknown" if free is None else f"{free:.0f} MB free",
        "GPU": gpu,
        "versions": said if _locks() else "no lock files here",
    }
    walls = tuple(f"tier {tier}: {reason}" for tier, reason in declined)
    return MachineCase(tier, walls, threads, cpus, free, differing, facts)


def _torch() -> tuple[int | None, str, str]:
    try:
        import torch
    except ImportError as error:
        return None, f"cannot be imported: {error}", "unknown"
    if not torch.cuda.is_available():
        return torch.get_num_threads(), torch.__version__, "none: enough for the tiny policy"
    about = torch.cuda.get_device_properties(0)
    gpu = f"{torch.cuda.device_count()} x {about.name}, {about.total_memory / 2**30:.0f} GiB"
    return torch.get_num_threads(), torch.__version__, gpu


def _free_mb() -> float | None:
    try:
        text = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return None
    (line,) = [row for row in text.splitlines() if row.startswith("MemAvailable")] or [""]
    return int(line.split()[1]) / 1024 if line else None


def _locks() -> dict[str, str]:
    lines = [
        row
        for name in LOCKS
        if (TOP / name).is_file()
        for row in (TOP / name).read_text("utf-8").splitlines()
        if row and not row.startswith("#")
    ]
    return dict(line.split("==") for line in lines)


def _differing_versions() -> dict[str, tuple[str, str]]:
    differing = {}
    for package, locked in _locks().items():
        try:
            installed = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            installed = "missing"
        if installed.split("+")[0] != locked.split("+")[0]:  # 2.13.0+cpu is 2.13.0
            differing[package] = locked, installed
    return differing


@check(
    "sandbox-tier",
    "warning",
    "machine",
    why="Below tier 2 a program under test can read and write what you can.",
    change="docs/sandbox.md says what each tier needs; open_sandbox('docker') where Docker is.",
)
def sandbox_tier(case: MachineCase) -> str | None:
    """The sandbox on this machine holds back little."""
    if case.tier >= 2:
        return None
    return f"tier {case.tier}; " + ("; ".join(case.missing_walls) or "no higher tier was tried")


@check(
    "torch",
    "error",
    "machine",
    why="Nothing can be trained or sampled without it; stored runs can be read.",
    change="python3 -m workbench setup",
)
def torch_imports(case: MachineCase) -> str | None:
    """torch cannot be imported."""
    return case.facts["torch"] if case.threads is None else None


@check(
    "threads",
    "warning",
    "machine",
    why="Threads that wait for one another cost more than they bring at this size: two threads "
    "beside a busy neighbour were two to eight times slower than one (measured on two cores).",
    change="OMP_NUM_THREADS=1 before Python starts, or torch.set_num_threads(1); more only for "
    "models above 10 M parameters on a machine of your own.",
)
def threads(case: MachineCase) -> str | None:
    """torch uses more threads than there are CPUs, or all of them."""
    if case.threads is None:
        raise CannotTell("torch cannot be imported")
    if case.threads == 1 or case.threads < case.cpus:
        return None
    return f"{case.threads} threads on {case.cpus} CPUs"


@check(
    "memory",
    "warning",
    "machine",
    why="A run killed for memory loses the iteration under way; sandboxes are killed first, "
    "which looks like wrong answers that nobody gave.",
    change="Close what is not needed, fewer sandbox workers, smaller batches.",
)
def memory(case: MachineCase) -> str | None:
    """Little memory is free."""
    if case.free_mb is None:
        raise CannotTell("the system does not say")
    said = f"{case.free_mb:.0f} MB free; a run of the tiny policy wants {ENOUGH_MB}"
    return said if case.free_mb < ENOUGH_MB else None


@check(
    "versions",
    "warning",
    "machine",
    why="Figures were measured, and private names of TRL were read, with the locked versions.",
    change="python3 -m workbench setup makes an environment with the locked ones.",
)
def versions(case: MachineCase) -> str | None:
    """Installed packages differ from the locked ones."""
    if not _locks():
        raise CannotTell("no lock files here")
    if not case.versions:
        return None
    some = [f"{n} {have} (locked {want})" for n, (want, have) in list(case.versions.items())[:6]]
    return f"{len(case.versions)} packages: {', '.join(some)}"


CHECKS = (sandbox_tier, torch_imports, threads, memory, versions)
"""In the order of the report."""
