#!/usr/bin/env python3
"""What a tuning database of a million records costs: its size, and what is asked of it most.

    bench/bench_tuning_db.py [--records 1000000] [--database FILE]

Fills a database as jobs of a farm would, in batches (tuning_db_cost), and times questions of one reader: the median of 21, and the
first. Bars for a million records: 500 MB; an exact lookup 1 ms; `log best` of a model with 60 kernels 20 ms; the first page of any
filter, and of usual pairs of them, in either order, 50 ms; to open it for writing 200 ms. --database keeps the file, and takes one that
is there. Writes bench/results/CPU/tuning_db.json.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import result_file

MEGABYTE = 1e6


def bars(figures: dict[str, Any]) -> list[dict[str, Any]]:
    by_name = {question["question"]: question["median_ms"] for question in figures["questions"]}
    pages = {name: ms for name, ms in by_name.items() if name.startswith("first page by ")}
    slowest = max(pages, key=lambda name: pages[name])
    found = [
        ("file, MB", figures["bytes"] / MEGABYTE, 500),
        ("exact lookup, ms", by_name["exact lookup"], 1),
        ("log best of a model, ms", by_name["log best of a model"], 20),
        (f"slowest first page, ms ({slowest.removeprefix('first page ')})", pages[slowest], 50),
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
        figures = measure(args.database or pathlib.Path(folder) / "hone.db", args.records)
    figures["bars"] = bars(figures)
    for bar in figures["bars"]:
        print(f"{bar['what']}: {bar['found']:.3f} (bar {bar['bar']}): {'holds' if bar['holds'] else 'MISSED'}")
    print(result_file.write("tuning_db", [], figures).relative_to(result_file.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
