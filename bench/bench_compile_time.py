#!/usr/bin/env python3
"""Seconds to compile: passes over ResNet-152 and over synthetic models of growing size, and tuned models in whole.

    bench/bench_compile_time.py [--models resnet50 ...] [--trials 64] [--threads 2] [--rounds 7] [--db FILE]

Every round is a new process. Passes: the sum over all of them, type inference included, reading the model not. Whole
compiles are timed from outside, on the first two cores, with every kernel tuned; a database that holds the models
already costs no trial, and --trials 0 compiles with whatever configs there are. Bars: ResNet-152's passes in 200 ms,
ResNet-50 in 10 s, BERT in 20 s and twice the bytes of its parameters; time a node that does not grow with the model.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from typing import Any

import result_file

SYNTHETIC = (100, 1_000, 10_000)


def exported(name: str, folder: str) -> str:
    model = str(pathlib.Path(folder) / f"{name}.onnx")
    result_file.run("zoo", name, "-o", model)
    return model


def time_passes(model: str, rounds: int) -> dict[str, Any]:
    """The median round: milliseconds in all and of each pass."""
    runs = [result_file.hone("show", model, "--time-passes") for _ in range(rounds)]
    totals = [run["total_ms"] for run in runs]
    median = min(runs, key=lambda run: abs(run["total_ms"] - statistics.median(totals)))
    return {
        "median_ms": statistics.median(totals),
        "min_ms": min(totals),
        "max_ms": max(totals),
        "nodes": median["passes"][0]["nodes"],
        "passes_ms": {step["name"]: step["ms"] for step in median["passes"]},
    }


def compile_once(command: list[str]) -> tuple[float, int, dict[str, Any]]:
    """Seconds, the peak of its resident bytes, and its report."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        if child.returncode != 0:
            raise subprocess.CalledProcessError(child.returncode, command)
        out.seek(0)
        report: dict[str, Any] = json.load(out)
    return seconds, usage.ru_maxrss * 1024, report


def time_compile(model: str, args: argparse.Namespace, folder: str) -> dict[str, Any]:
    database = args.db or str(pathlib.Path(folder) / "hone.db")
    threads = ["--threads", str(args.threads)]
    known = ["--db", database] if args.trials or args.db else []
    if args.trials:
        result_file.hone("tune", model, "--db", database, "--trials", str(args.trials), *threads)
        known.append("--require-tuned")
    module = str(pathlib.Path(folder) / "model.so")
    command = [str(result_file.BUILD / "bin" / "hone"), "compile", model, "-o", module, *threads, *known, "--json"]
    runs = [compile_once(command) for _ in range(args.rounds)]
    walls = [seconds for seconds, _, _ in runs]
    report = runs[0][2]
    return {
        "median_s": statistics.median(walls),
        "min_s": min(walls),
        "max_s": max(walls),
        "phase_seconds": {
            phase: statistics.median(run["seconds"][phase] for _, _, run in runs) for phase in report["seconds"]
        },
        "kernels": len(report["kernels"]),
        "tiers": report["counts"],
        "parameters_bytes": report["parameters_bytes"],
        "peak_resident_bytes": max(resident for _, resident, _ in runs),
        "arena_bytes": report["arena_bytes"],
        "peak_live_bytes": report["peak_live_bytes"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=["resnet50"])
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--db")
    args = parser.parse_args()

    peaks = [result_file.machine_peak(args.threads)]
    with tempfile.TemporaryDirectory() as work:
        compiles = {name: exported(name, work) for name in args.models}
        resnet152 = time_passes(exported("resnet152", work), args.rounds)
        synthetic = {str(n): time_passes(exported(f"synthetic_{n}", work), args.rounds) for n in SYNTHETIC}
        for figures in synthetic.values():
            figures["us_a_node"] = 1e3 * figures["median_ms"] / figures["nodes"]
        # Tuning has all cores; what is timed has two.
        if args.trials:
            for model in compiles.values():
                time_compile(model, argparse.Namespace(**{**vars(args), "rounds": 1}), work)
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:2]))
        compiled = {name: time_compile(model, args, work) for name, model in compiles.items()}
    peaks.append(result_file.machine_peak(args.threads))

    per_node = [figures["us_a_node"] for figures in synthetic.values()]
    path = result_file.write(
        "compile_time",
        peaks,
        {
            "rounds": args.rounds,
            "threads": args.threads,
            "trials_a_task": args.trials,
            "passes": {"resnet152": resnet152, "synthetic": synthetic},
            "us_a_node_growth": per_node[-1] / per_node[1],
            "compile": compiled,
        },
    )
    print(f"passes over resnet152: {resnet152['median_ms']:.1f} ms")
    for name, figures in synthetic.items():
        print(f"passes over synthetic_{name}: {figures['median_ms']:.1f} ms, {figures['us_a_node']:.1f} us a node")
    for name, figures in compiled.items():
        memory = figures["peak_resident_bytes"] / max(figures["parameters_bytes"], 1)
        print(f"compile {name}: {figures['median_s']:.2f} s, {memory:.2f} times its parameters in memory, {figures['tiers']}")
    print(path.relative_to(result_file.ROOT))


if __name__ == "__main__":
    main()
