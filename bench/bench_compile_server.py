#!/usr/bin/env python3
"""What `hone compile --server` costs over a compile with a database of its own.

    bench/bench_compile_server.py [--models resnet50 ...] [--trials 1] [--threads 2] [--rounds 15] [--db FILE] [--write]

A honed of its own serves a tuned database on loopback, over its Unix socket and over TLS with a token; every round
compiles with the file, over the socket and over TLS, in turns and rotating order, each a new process that is timed from
outside. Their kernels must be the same. Differences are paired by round. The bar: ResNet-50 over TLS takes at most 50 ms
longer than with the file (the median of the differences). tests/cli/server_configs_test.cc counts the calls: one.

--trials: what a database that is empty is filled with first; times of kernels do not matter here. --write: writes
bench/results/CPU/compile_server.json. Exit code 1 where the bar is missed.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
import tempfile
import time
from typing import Any

import paired_ratio
import result_file
from served_database import served

BAR_MS = 50.0
BAR_MODEL = "resnet50"
WAYS = ("file", "socket", "tls")


def compile_once(model: str, flags: list[str], threads: int, folder: str) -> tuple[float, list[dict[str, Any]]]:
    """Milliseconds, and its kernels."""
    start = time.monotonic()
    report = result_file.hone("compile", model, "-o", f"{folder}/out.so", "--threads", str(threads), *flags)
    return (time.monotonic() - start) * 1e3, report["kernels"]


def measured(name: str, model: str, ways: dict[str, list[str]], args: argparse.Namespace, folder: str) -> dict[str, Any]:
    walls: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(-1, args.rounds):  # the first is not counted
        kernels = {}
        turn = number % len(WAYS)
        for way in (*WAYS[turn:], *WAYS[:turn]):
            wall_ms, kernels[way] = compile_once(model, ways[way], args.threads, folder)
            if number >= 0:
                walls[way].append(wall_ms)
        if not kernels["file"] == kernels["socket"] == kernels["tls"]:
            raise RuntimeError(f"{name}: expected the same kernels whoever has the configs")
    row: dict[str, Any] = {"model": name, "kernels": len(kernels["file"])}
    for way in WAYS:
        row[f"{way}_ms"] = statistics.median(walls[way])
    for way in WAYS[1:]:
        over = [remote - local for remote, local in zip(walls[way], walls["file"], strict=True)]
        low, high = paired_ratio.interval(over)
        row[f"{way}_over_ms"] = {"median": statistics.median(over), "low": low, "high": high}
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=[BAR_MODEL])
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--db")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        database = args.db or f"{folder}/hone.db"
        models = {name: f"{folder}/{name}.onnx" for name in args.models}
        for name, model in models.items():
            result_file.run("zoo", name, "-o", model)
            if args.trials > 0:
                tune = ["tune", model, "--db", database, "--threads", str(args.threads), "--trials", str(args.trials)]
                result_file.run(*tune, "--full-budget", "--micro-kernels", "never")
        with served(database, pathlib.Path(folder)) as ways:
            for name, model in models.items():
                rows.append(measured(name, model, ways, args, folder))
                print(rows[-1])
    missed = [row["model"] for row in rows if row["model"] == BAR_MODEL and row["tls_over_ms"]["median"] > BAR_MS]
    if args.write:
        figures = {"bar_ms": BAR_MS, "missed": missed, "threads": args.threads, "rows": rows}
        print(result_file.write("compile_server", [], figures).relative_to(result_file.ROOT))
    print("missed: " + ", ".join(missed) if missed else "every bar is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
