"""Writes bench/results/NAME.json: figures with what is needed to judge and repeat them."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
BUILD = pathlib.Path(os.environ.get("HONE_BUILD", ROOT / "build" / "release"))


def run(*args: str) -> None:
    """Runs a verb of hone for what it does."""
    subprocess.run([str(BUILD / "bin" / "hone"), *args], check=True)


def hone(*args: str) -> dict[str, Any]:
    """Runs a verb of hone with --json and returns the document."""
    command = [str(BUILD / "bin" / "hone"), *args, "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def machine_peak(threads: int) -> dict[str, float]:
    """FMA peak (GFLOP/s) and copy bandwidth (GB/s), measured now."""
    command = [str(BUILD / "bin" / "machine_peak"), str(threads)]
    peak: dict[str, float] = json.loads(subprocess.check_output(command, text=True))
    return peak


def cpu_name() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def _git(*args: str) -> str:
    """In the tree that is measured: that of the build folder."""
    return subprocess.check_output(["git", *args], cwd=BUILD, text=True).strip()


def commit() -> str:
    """What the build folder is of; "+changes" where files differ from it."""
    changed = _git("status", "--porcelain", "-uno", "--", ":/", ":(top,exclude)bench/results", ":(top,exclude)README.md")
    return _git("rev-parse", "HEAD") + ("+changes" if changed else "")


# What decides how fast kernels are.
CODE = ["compiler", "runtime", "tuner", "measure_server"]


def code(revision: str = "HEAD") -> str:
    """Of the folders that decide how fast kernels are: equal in commits that change nothing there."""
    trees = _git("rev-parse", *(f"{revision}:{folder}" for folder in CODE))
    changed = _git("status", "--porcelain", "-uno", "--", *(f":/{folder}" for folder in CODE))
    return hashlib.sha256(trees.encode()).hexdigest()[:12] + ("+changes" if changed else "")


def write(name: str, peaks: list[dict[str, float]], figures: dict[str, Any]) -> pathlib.Path:
    """`peaks` are those measured during the run; their median stands beside the figures."""
    document = {
        # Files by their names: where they lay says nothing to others.
        "command": shlex.join(pathlib.Path(arg).name for arg in sys.argv),
        "commit": commit(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "peak": {
            "fma_gflops": statistics.median(p["fma_gflops"] for p in peaks),
            "copy_gbs": statistics.median(p["copy_gbs"] for p in peaks),
        },
        **figures,
    }
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path
