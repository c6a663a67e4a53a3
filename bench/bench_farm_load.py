#!/usr/bin/env python3
"""Whether one daemon carries a farm: the real service over a Unix socket, with SQLite, under load.

    bench/bench_farm_load.py [--only busy,rate,idle] [--rounds 1] [--folder FOLDER]

Builder and devices are simulated (bench/load_bench): a build takes no time, a measurement is a wait. All else is real: jobs come over
the tuning service, workers speak the farm's protocol, each over a connection of its own, artifacts of 16 KiB travel, every result is
settled in a synced transaction before it is acknowledged, finals included. Daemon and workers are a process each.

- busy: 64 workers on two targets, 100 ms a measurement. Bar: the workers of each target measure for 95 % of the time.
- rate: 200 workers at 1,000 results a second for 60 s. Bars: 99 % of the results are acknowledged within 100 ms of their sending; the
  daemon's resident memory stays within 5 % of its median, and does not grow by more.
- idle: 2,000 workers are connected and wait. Bar: 2 GiB resident.

--folder says where databases and sockets lie: a file system whose syncs are those of a disk. Writes bench/results/CPU/farm_load.json.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import result_file

TARGETS = [f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu} -threads=1" for cpu in ("x86-64-v3", "x86-64-v4")]
MIB = 1 << 20
SAMPLE_S = 1.0
ENDS = 10  # samples at either end


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    workers: int
    measure_ms: float
    warm_up_s: float
    seconds: float
    open_jobs: int  # of each target

    def command(self, address: str) -> list[str]:
        command = [str(result_file.BUILD / "bin" / "load_bench"), "workers", address, "--targets", *TARGETS]
        for flag in ("workers", "measure_ms", "warm_up_s", "seconds", "open_jobs"):
            command += [f"--{flag.replace('_', '-')}", str(getattr(self, flag))]
        return command


SCENARIOS = [
    Scenario("busy", workers=64, measure_ms=100, warm_up_s=15, seconds=30, open_jobs=4),
    # Less than 200 ms, for between two measurements there is a moment. After a minute every job that was there first has ended.
    Scenario("rate", workers=200, measure_ms=185, warm_up_s=60, seconds=60, open_jobs=8),
    Scenario("idle", workers=2000, measure_ms=100, warm_up_s=15, seconds=15, open_jobs=0),
]


class Watcher(threading.Thread):
    """What a process takes, once a second from when it is told to begin."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.stopping = threading.Event()
        self.resident_mib: list[float] = []
        self.threads = 0
        self.cpu_share = 0.0

    def cpu_s(self) -> float:
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status(self, name: str) -> int:
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
        raise ValueError(f"expected {name} in the status of process {self.pid}, found none")

    def run(self) -> None:
        begin, cpu = time.monotonic(), self.cpu_s()
        while True:
            self.resident_mib.append(self.status("VmRSS") * 1024 / MIB)
            self.threads = max(self.threads, self.status("Threads"))
            if self.stopping.wait(SAMPLE_S):
                break
        self.cpu_share = (self.cpu_s() - cpu) / (time.monotonic() - begin)

    def stop(self) -> None:
        self.stopping.set()
        self.join()


@contextlib.contextmanager
def daemon(folder: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Its process and address."""
    command = [str(result_file.BUILD / "bin" / "load_bench"), "daemon", str(folder / "hone.db"), str(folder / "socket")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        ready = (process.stdout.readline() if process.stdout else "").split()
        if not ready or ready[0] != "ready":
            raise RuntimeError(f"expected the daemon to say that it is ready, found {ready}")
        try:
            yield process.pid, ready[1]
        finally:
            process.terminate()


def run(scenario: Scenario, parent: pathlib.Path | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=parent) as name, daemon(pathlib.Path(name)) as (pid, address):
        watcher = Watcher(pid)
        with subprocess.Popen(scenario.command(address), stdout=subprocess.PIPE, text=True) as workers:
            lines = iter(workers.stdout or ())
            if next(lines, "").strip() != "measuring":
                raise RuntimeError(f"{scenario.name}: the workers ended before they measured")
            watcher.start()
            figures: dict[str, Any] = json.loads(next(lines))
            watcher.stop()
        resident = watcher.resident_mib
    steady = statistics.median(resident)
    return {
        "scenario": scenario.name,
        **figures,
        "resident_mib": steady,
        "resident_most_mib": max(resident),
        # How far it strays from its median, and from its first ten seconds to its last.
        "resident_spread": max(abs(mib / steady - 1) for mib in resident),
        "resident_growth": statistics.mean(resident[-ENDS:]) / statistics.mean(resident[:ENDS]) - 1,
        "daemon_threads": watcher.threads,
        "daemon_cores": watcher.cpu_share,
        "load": os.getloadavg()[0],
    }


def bars(row: dict[str, Any]) -> list[tuple[str, float, float, bool]]:
    """What is asked, what was found, the bar, and whether it holds."""
    if row["scenario"] == "busy":
        least = min(row["busy_share"].values())
        return [("least share of time in which a target's workers measure", least, 0.95, least >= 0.95)]
    if row["scenario"] == "rate":
        return [
            ("results a second", row["results_per_s"], 1000, row["results_per_s"] >= 1000),
            ("p99 from result to acknowledgement, ms", row["settled_p99_ms"], 100, row["settled_p99_ms"] < 100),
            ("spread of resident memory about its median", row["resident_spread"], 0.05, row["resident_spread"] <= 0.05),
            ("growth of resident memory over the minute", row["resident_growth"], 0.05, abs(row["resident_growth"]) <= 0.05),
        ]
    return [("resident memory, MiB", row["resident_most_mib"], 2048, row["resident_most_mib"] <= 2048)]


def sync_ms(parent: pathlib.Path | None) -> float:
    """What a sync of one page takes there: every commit waits for one."""
    with tempfile.TemporaryFile(dir=parent) as file:
        times = []
        for _ in range(50):
            file.write(b"x" * 4096)
            file.flush()
            begin = time.monotonic()
            os.fdatasync(file.fileno())
            times.append(time.monotonic() - begin)
    return statistics.median(times) * 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="scenarios")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, help="for databases and sockets")
    parser.add_argument("--dry", action="store_true", help="writes no results")
    args = parser.parse_args()
    print("builder and devices are simulated: a build takes no time, a measurement is a wait", flush=True)
    rows = []
    for _ in range(args.rounds):
        for scenario in SCENARIOS:
            if args.only and scenario.name not in args.only.split(","):
                continue
            row = run(scenario, args.folder)
            row["bars"] = [{"what": what, "found": found, "bar": bar, "holds": holds} for what, found, bar, holds in bars(row)]
            rows.append(row)
            for bar in row["bars"]:
                print(f"{scenario.name}: {bar['what']}: {bar['found']:.3f} (bar {bar['bar']}): {'holds' if bar['holds'] else 'MISSED'}")
            print(json.dumps({name: value for name, value in row.items() if name != "bars"}), flush=True)
    document = {
        "simulated": "builder and devices",
        "rounds": args.rounds,
        "artifact_bytes": 16384,
        "sync_ms": sync_ms(args.folder),
        "rows": rows,
    }
    if not args.dry:
        print(result_file.write("farm_load", [], document).relative_to(result_file.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
