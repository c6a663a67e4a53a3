#!/usr/bin/env python3
"""What compiling costs: passes, whole compiles in time and memory, and pictures.

    bench/bench_compile_time.py [--models resnet50 bert ...] [--untuned vgg16 ...] [--trials 64] [--threads 2]
                                [--rounds 7] [--db FILE]

Every round is a new process. Passes (ResNet-152, synthetic models of growing size): the sum over all of them, type
inference included, reading the model not. Whole compiles are timed from outside, on the first two cores, with every
kernel of --models tuned; a database that holds them already costs no trial, and --trials 0 compiles with whatever
configs there are. Those of --untuned have the default configs: for their memory. Pictures: ResNet-152 as imported and
after the last pass, in each format, reading and writing included. Bars: ResNet-152's passes in 200 ms and its pictures
in 10 s, ResNet-50 in 10 s, BERT in 20 s and twice the bytes of its parameters; time a node that does not grow with the
model.
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
FORMATS = ("text", "tree", "dot", "svg", "pdf", "png")
DRAWN_AFTER = ("import", "AlterOpLayout")  # the model, and its kernels


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


def time_drawings(model: str, rounds: int, folder: str) -> dict[str, dict[str, float]]:
    """The median seconds of each format, by the pass before."""
    seconds: dict[str, dict[str, float]] = {}
    for after in DRAWN_AFTER:
        seconds[after] = {}
        for form in FORMATS:
            walls = []
            for _ in range(rounds):
                start = time.monotonic()
                picture = str(pathlib.Path(folder) / f"picture.{form}")
                result_file.run("show", model, "--after", after, "--format", form, "-o", picture)
                walls.append(time.monotonic() - start)
            seconds[after][form] = statistics.median(walls)
    return seconds


def compile_once(command: list[str]) -> tuple[float, int, dict[str, Any]]:
    """Seconds, the peak of its resident bytes, and its report."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, result_file.environment() as variables:
        child = subprocess.Popen(command, stdout=out, env=variables)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        if child.returncode != 0:
            raise subprocess.CalledProcessError(child.returncode, command)
        out.seek(0)
        report: dict[str, Any] = json.load(out)
    return seconds, usage.ru_maxrss * 1024, report


def known_configs(model: str, args: argparse.Namespace, folder: str) -> list[str]:
    """Tunes the model and says so to `hone compile`."""
    database = args.db or str(pathlib.Path(folder) / "hone.db")
    if not args.trials:
        return ["--db", database] if args.db else []
    threads = ["--threads", str(args.threads)]
    result_file.hone("tune", model, "--db", database, "--trials", str(args.trials), "--full-budget", *threads)
    return ["--db", database, "--require-tuned"]


def time_compile(model: str, known: list[str], args: argparse.Namespace, folder: str) -> dict[str, Any]:
    threads = ["--threads", str(args.threads)]
    module = str(pathlib.Path(folder) / "model.so")
    command = [str(result_file.BUILD / "bin" / "hone"), "compile", model, "-o", module, *threads, *known, "--json"]
    runs = [compile_once(command) for _ in range(args.rounds)]
    walls = [seconds for seconds, _, _ in runs]
    report = runs[0][2]
    resident = max(resident for _, resident, _ in runs)
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
        "peak_resident_bytes": resident,
        "peak_resident_of_parameters": resident / max(report["parameters_bytes"], 1),
        "arena_bytes": report["arena_bytes"],
        "peak_live_bytes": report["peak_live_bytes"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=["resnet50", "bert"])
    parser.add_argument("--untuned", nargs="*", default=["vgg16"])
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--db")
    args = parser.parse_args()

    peaks = [result_file.machine_peak(args.threads)]
    with tempfile.TemporaryDirectory() as work:
        models = {name: exported(name, work) for name in [*args.models, *args.untuned]}
        drawn = exported("resnet152", work)
        resnet152 = time_passes(drawn, args.rounds)
        synthetic = {str(n): time_passes(exported(f"synthetic_{n}", work), args.rounds) for n in SYNTHETIC}
        for figures in synthetic.values():
            figures["us_a_node"] = 1e3 * figures["median_ms"] / figures["nodes"]
        drawings = time_drawings(drawn, args.rounds, work)
        # Tuning has all cores; what is timed has two.
        known = {name: known_configs(models[name], args, work) for name in args.models}
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:2]))
        compiled = {name: time_compile(path, known.get(name, []), args, work) for name, path in models.items()}
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
            "draw_resnet152_s": drawings,
        },
    )
    print(f"passes over resnet152: {resnet152['median_ms']:.1f} ms")
    for name, figures in synthetic.items():
        print(f"passes over synthetic_{name}: {figures['median_ms']:.1f} ms, {figures['us_a_node']:.1f} us a node")
    for name, figures in compiled.items():
        memory = figures["peak_resident_of_parameters"]
        print(f"compile {name}: {figures['median_s']:.2f} s, {memory:.2f} times its parameters in memory, {figures['tiers']}")
    for after, formats in drawings.items():
        print(f"resnet152 drawn after {after}: " + ", ".join(f"{form} {s:.2f} s" for form, s in formats.items()))
    print(path.relative_to(result_file.ROOT))


if __name__ == "__main__":
    main()
