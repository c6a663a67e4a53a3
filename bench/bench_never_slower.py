#!/usr/bin/env python3
"""Models as `hone tune` leaves them beside the same models without it, on one and on two threads.

    bench/bench_never_slower.py [--models TEXT,...] [--threads 1,2] [--trials 64] [--processes 6]
        [--db FILE] [--tune-only]

Each model of the zoo is tuned as a user would tune it, compiled with what that kept and with defaults, and the two are
timed in turns by `hone bench --compare`, after all tuning is done, in --processes processes: where the buffers lie is
drawn by each process anew, and is worth a percent. A process's ratio is the median over its rounds of the default's time
to the tuned one's; a model's is the median over its processes. Its interval is from the least to the greatest of them,
which with six processes holds the true median with 97 %. Below 1 the tuned model is slower. `same` says that both modules
have the same config of every kernel: their ratio is the noise of this comparison. Another model is `slower` where the
whole interval is below 1, or the median below 0.995. `tune_seconds` is what tuning took, its second run with the same
--db almost nothing. With --models nothing is written to bench/results.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import tempfile
import time
from typing import Any

import result_file

MODELS = (
    "squeezenet",
    "mobilenet",
    "mobilenet_v2",
    "resnet18",
    "resnet50",
    "resnet_3d",
    "inception_v3",
    "densenet121",
    "dcgan",
    "dqn",
    "mlp",
    "lstm",
)
LEAST_MEDIAN = 0.995


def model_file(name: str, folder: pathlib.Path) -> str:
    path = folder / f"{name}.onnx"
    if not path.exists():
        result_file.run("zoo", name, "-o", str(path))
    return str(path)


def tune(name: str, threads: int, folder: pathlib.Path, args: argparse.Namespace) -> float:
    """Seconds that it took."""
    started = time.monotonic()
    model = model_file(name, folder)
    result_file.hone("tune", model, "--db", args.db, "--threads", str(threads), "--trials", str(args.trials))
    return time.monotonic() - started


def compare(name: str, threads: int, folder: pathlib.Path, args: argparse.Namespace) -> dict[str, Any]:
    model = model_file(name, folder)
    modules, kernels = {}, {}
    for kind, options in (("tuned", ["--db", args.db]), ("default", [])):
        modules[kind] = str(folder / f"{name}_{kind}_{threads}.so")
        document = result_file.hone("compile", model, "-o", modules[kind], "--threads", str(threads), *options)
        parts = ("workload", "signature", "config")
        kernels[kind] = [[kernel[part] for part in parts] for kernel in document["kernels"]]
    command = ("bench", modules["tuned"], "--compare", modules["default"], "--threads", str(threads))
    processes = [result_file.hone(*command) for _ in range(args.processes)]
    ratios = [figures["ratio"] for figures in processes]
    ratio, low, high = statistics.median(ratios), min(ratios), max(ratios)
    same = kernels["tuned"] == kernels["default"]
    return {
        "model": name,
        "threads": threads,
        "processes": args.processes,
        "default_us": statistics.median(figures["compare"]["median_us"] for figures in processes),
        "tuned_us": statistics.median(figures["median_us"] for figures in processes),
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "same": same,
        "slower": not same and (high < 1 or ratio < LEAST_MEDIAN),
    }


def text_of(row: dict[str, Any]) -> str:
    interval = f"{row['ratio']:.3f} ({row['ratio_low']:.3f} to {row['ratio_high']:.3f})"
    mark = "  SLOWER" if row["slower"] else "  same kernels" if row["same"] else ""
    times = f"default {row['default_us']:10.1f} us  tuned {row['tuned_us']:10.1f} us"
    return f"{row['model']:<14} {row['threads']} thread(s)  {times}  {interval}{mark}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="", help="names, between commas")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--processes", type=int, default=6, help="that time each pair")
    parser.add_argument("--db", help="kept for the next run; else one that is removed at the end")
    parser.add_argument("--tune-only", action="store_true")
    args = parser.parse_args()
    names = args.models.split(",") if args.models else MODELS
    counts = [int(count) for count in args.threads.split(",")]
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        args.db = args.db or str(folder / "hone.db")
        seconds = {(name, count): tune(name, count, folder, args) for name in names for count in counts}
        rows = []
        for name, count in seconds if not args.tune_only else ():
            rows.append({**compare(name, count, folder, args), "tune_seconds": round(seconds[name, count], 1)})
            print(text_of(rows[-1]), flush=True)
    if rows and not args.models:
        figures = {"trials": args.trials, "rows": rows}
        path = result_file.write("never_slower", [result_file.machine_peak(count) for count in counts], figures)
        print(f"{sum(row['slower'] for row in rows)} of {len(rows)} slower; {path.name}")


if __name__ == "__main__":
    main()
