#!/usr/bin/env python3
"""What a tuning database of a million records costs: its size, and what is asked of it most.

    bench/bench_tuning_db.py [--records 1000000] [--database FILE]

Fills a database as jobs of a farm would, in batches (tuning_db_cost), and times questions of one reader: the median of 21, and the
first. Bars for a million records: 500 MB; an exact lookup 1 ms; `log best` of a model with 60 kernels 20 ms; the first page of any
filter, and of usual pairs of them, in either order, 50 ms, and over RPC, from a honed on loopback through the Python client, 100 ms; all
statistics 1.5 s; to open it for writing 200 ms. --database keeps the file, and takes one that is there. Writes
bench/results/CPU/tuning_db.json, unless there are fewer records.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import result_file
from served_database import served

MEGABYTE = 1e6


FULL = 1_000_000
REPEATS = 21
FIRST = datetime.datetime.fromtimestamp(1_700_000_000).astimezone()
HOUR = datetime.timedelta(hours=1)


def filters(records: int) -> dict[str, dict[str, Any]]:
    """Each word of a filter: with few records, with many and with none; and usual pairs."""
    half = FIRST + datetime.timedelta(seconds=records // 2)
    return {
        "none": {},
        "op": {"op": "nn.conv2d"},
        "no op": {"op": "nn.dense"},
        "shape": {"shape": "1x77x56x56"},
        "workload": {"workload": "(1, 77, "},
        "target": {"target": "znver3"},
        "every target": {"target": "llvm"},
        "device": {"device": "cpu 3"},
        "every device": {"device": "cpu"},
        "no device": {"device": "none"},
        "job": {"job": 3},
        "no job": {"job": 999},
        "purpose search": {"purpose": "search"},
        "purpose confirm": {"purpose": "confirm"},
        "purpose rerun": {"purpose": "rerun"},
        "outcome ok": {"outcome": "ok"},
        "outcome crash": {"outcome": "crash"},
        "outcome failed": {"outcome": "failed"},
        "an old hour": {"before": FIRST + HOUR},
        "the newer half": {"since": half},
        "the older half": {"before": half},
        "retracted": {"retracted": True},
        "op and device": {"op": "nn.conv2d", "device": "cpu 3"},
        "target and failed": {"target": "znver3", "outcome": "failed"},
        "device and an old hour": {"device": "cpu 3", "before": FIRST + HOUR},
        "job and target": {"job": 3, "target": "threads=8"},
    }


def pages(database: pathlib.Path, records: int) -> list[dict[str, Any]]:
    sys.path.insert(0, str(result_file.BUILD / "python"))
    import hone

    rows = []
    with tempfile.TemporaryDirectory() as folder, served(str(database), pathlib.Path(folder)) as ways:
        with hone.Client(ways["socket"][1]) as client:
            for name, words in filters(records).items():
                for oldest_first in (False, True):
                    times = []
                    for _ in range(REPEATS):
                        start = time.monotonic()
                        next(client.log(page_size=50, oldest_first=oldest_first, **words), None)
                        times.append((time.monotonic() - start) * 1e3)
                    order = ", oldest first" if oldest_first else ""
                    rows.append({"filter": name + order, "median_ms": statistics.median(times), "first_ms": times[0]})
                    print(f"over RPC by {name + order:<35} {rows[-1]['median_ms']:>9.3f} ms")
    return rows


def bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    by_name = {question["question"]: question["median_ms"] for question in figures["questions"]}
    local = {name: ms for name, ms in by_name.items() if name.startswith("first page by ")}
    slowest = max(local, key=lambda name: local[name])
    remote = max(figures["pages_over_rpc"], key=lambda row: float(row["median_ms"]))
    found = [
        ("file, MB", figures["bytes"] / MEGABYTE, 500),
        ("exact lookup, ms", by_name["exact lookup"], 1),
        ("log best of a model, ms", by_name["log best of a model"], 20),
        (f"slowest first page, ms ({slowest.removeprefix('first page ')})", local[slowest], 50),
        (f"slowest first page over RPC, ms (by {remote['filter']})", remote["median_ms"], 100),
        ("statistics, ms", by_name["statistics"], 1500),
        ("start, ms", by_name["start"], 200),
    ]
    return [{"what": what, "found": value, "bar": bar, "holds": value <= bar} for what, value, bar in found]


def measure(database: pathlib.Path, records: int) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile(suffix=".json") as told:
        command = [str(result_file.BUILD / "bin" / "tuning_db_cost"), str(database), "--records", str(records)]
        subprocess.run([*command, "--json", told.name], check=True)
        figures: dict[str, Any] = json.loads(pathlib.Path(told.name).read_text())
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--database", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = args.database or pathlib.Path(folder) / "hone.db"
        figures = measure(database, args.records)
        figures["pages_over_rpc"] = pages(database, args.records)
    figures["bars"] = bars(figures)
    for bar in figures["bars"]:
        print(f"{bar['what']}: {bar['found']:.3f} (bar {bar['bar']}): {'holds' if bar['holds'] else 'MISSED'}")
    if args.records >= FULL:
        print(result_file.write("tuning_db", [], figures).relative_to(result_file.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
