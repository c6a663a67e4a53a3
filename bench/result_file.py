"""Writes bench/results/CPU/NAME.json: figures with what is needed to judge and repeat them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import IO, Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
SOURCE = ROOT / "share" / "source.json"  # of a bundle (scripts/bundle): what source() was where it was made
BUILD = pathlib.Path(os.environ.get("HONE_BUILD", ROOT if SOURCE.exists() else ROOT / "build" / "release"))

PEAKS = ("fma_gflops", "copy_gbs", "tile_int8_gops", "tile_bf16_gflops")  # that stand beside figures; tiles' where there are some
LINES_KEPT = 20  # of what a command told before it failed


@contextlib.contextmanager
def environment() -> Iterator[dict[str, str]]:
    """The environment for verbs of hone, in which they find no database without --db: the user's own would change their output."""
    with tempfile.TemporaryDirectory() as empty:
        yield {**os.environ, "XDG_DATA_HOME": empty}


def run(*args: str) -> None:
    """Runs a verb of hone for what it does."""
    with environment() as variables:
        subprocess.run([str(BUILD / "bin" / "hone"), *args], check=True, env=variables)


def hone(*args: str) -> dict[str, Any]:
    """Runs a verb of hone with --json and returns the document. What it tells on stderr is shown and kept for said()."""
    command = [str(BUILD / "bin" / "hone"), *args, "--json"]
    told: list[str] = []
    with (
        environment() as variables,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables) as process,
    ):
        listener = threading.Thread(target=_pass_on, args=(process.stderr, told))
        listener.start()
        output = process.stdout.read() if process.stdout else ""
        listener.join()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command, output, "".join(told[-LINES_KEPT:]))
    document: dict[str, Any] = json.loads(output)
    return document


def _pass_on(stream: IO[str] | None, told: list[str]) -> None:
    for line in stream or ():
        sys.stderr.write(line)
        told.append(line)


def said(error: Exception) -> str:
    """What a command or this program says of its failure, in a line."""
    if not isinstance(error, subprocess.CalledProcessError):
        return f"{type(error).__name__}: {error}"
    lines = [line.strip() for line in (error.stderr or "").splitlines() if line.strip()]
    what = f"{pathlib.Path(error.cmd[0]).name} {pathlib.Path(error.cmd[1]).name} ended with exit code {error.returncode}"
    return f"{what}: {lines[-1]}" if lines else what


def write_whole(path: pathlib.Path, text: str) -> None:
    """All of it or, where this is interrupted, what was there before."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def machine_peak(threads: int) -> dict[str, float]:
    """FMA peak (GFLOP/s), bandwidths (GB/s) and, where there are tile registers, the peak of their products, measured now."""
    command = [str(BUILD / "bin" / "machine_peak"), str(threads)]
    peak: dict[str, float] = json.loads(subprocess.check_output(command, text=True))
    return peak


def fma_peak(threads: int, vectors: str) -> float:
    """GFLOP/s of the FMA loop of the widest vectors ("best") or of ymm alone, measured now."""
    command = [str(BUILD / "bin" / "machine_peak"), str(threads), vectors]
    peak: dict[str, float] = json.loads(subprocess.check_output(command, text=True))
    return peak["ymm_fma_gflops" if vectors == "ymm" else "fma_gflops"]


def cpu_name() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


NO_WORK = "def @main(%x: Tensor[(1,), float32]) { nn.relu(%x) }\n"


def target_cpu() -> str:
    """The -mcpu that Hone finds for this machine, such as "znver5"; machines may tell less by cpu_name()."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "none.relay"
        model.write_text(NO_WORK, encoding="utf-8")
        target: str = hone("explain", str(model))["target"]
    if "-emulated=yes" in target.split():
        raise SystemExit("expected a real processor, for its figures are published; found an emulated one: " + target)
    (cpu,) = [flag.removeprefix("-mcpu=") for flag in target.split() if flag.startswith("-mcpu=")]
    return cpu


def of_this_machine() -> pathlib.Path:
    """The folder of its results: figures of several machines are not compared with each other."""
    return RESULTS / target_cpu()


# What decides how fast kernels are.
CODE = ["compiler", "runtime", "tuner", "measure_server", "support", "cli", "proto", "CMakeLists.txt", "CMakePresets.json"]
UNKNOWN = "unknown"


def _git(top: pathlib.Path, *args: str) -> str:
    return subprocess.check_output(["git", *args], cwd=top, text=True, errors="replace", stderr=subprocess.DEVNULL).strip()


def top_of(folder: pathlib.Path) -> pathlib.Path | None:
    """The top of the git tree that a folder is in; None if it is in none."""
    try:
        return pathlib.Path(_git(folder, "rev-parse", "--show-toplevel"))
    except (OSError, subprocess.CalledProcessError):
        return None


def commit_of(top: pathlib.Path) -> str:
    """ "+changes" where files differ from it."""
    changed = _git(top, "status", "--porcelain", "-uno", "--", ".", ":(exclude)bench/results", ":(exclude)README.md")
    return _git(top, "rev-parse", "HEAD") + ("+changes" if changed else "")


def code_of(top: pathlib.Path) -> str:
    """A digest of what decides how fast kernels are: equal in trees in which that is equal, also where it is not committed."""
    digest = hashlib.sha256(_git(top, "ls-tree", "HEAD", "--", *CODE).encode())
    changes = _git(top, "diff", "--no-ext-diff", "--binary", "HEAD", "--", *CODE)
    new = [name for name in _git(top, "ls-files", "-z", "--others", "--exclude-standard", "--", *CODE).split("\0") if name]
    digest.update(changes.encode())
    for name in new:
        digest.update(name.encode() + (top / name).read_bytes())
    return digest.hexdigest()[:12] + ("+changes" if changes or new else "")


def source(build: pathlib.Path = BUILD) -> dict[str, Any]:
    """Fields of an origin: commit and digest of the tree that is measured, that of the build folder.

    A bundle says what they were where it was made. Of another build folder in no tree they are those of the benchmarks, with
    "build_is_elsewhere".
    """
    if build == ROOT and SOURCE.exists():
        bundled: dict[str, Any] = json.loads(SOURCE.read_text(encoding="utf-8"))
        return bundled
    top = top_of(build)
    elsewhere = {} if top else {"build_is_elsewhere": True}
    top = top or top_of(ROOT)
    try:
        own = {"commit": commit_of(top), "code": code_of(top)} if top else {}
    except (OSError, subprocess.CalledProcessError):  # a tree without a commit
        own = {}
    return {"commit": UNKNOWN, "code": UNKNOWN, **own, **elsewhere}


def write(
    name: str, peaks: list[dict[str, float]], figures: dict[str, Any], folder: pathlib.Path | None = None
) -> pathlib.Path:
    """To of_this_machine(), where no folder is given.

    `peaks` are those measured during the run, if any; their median stands beside the figures.
    """
    names = [name for name in PEAKS if peaks and all(name in peak for peak in peaks)]
    document = {
        # Files by their names: where they lay says nothing to others.
        "command": shlex.join(pathlib.Path(arg).name for arg in sys.argv),
        "commit": source()["commit"],
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "peak": {name: statistics.median(p[name] for p in peaks) for name in names},
        **figures,
    }
    path = (folder or of_this_machine()) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(document, indent=1) + "\n")
    return path
