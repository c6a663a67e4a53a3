#!/usr/bin/env python3
"""ResNet-18's 3x3 convolutions, tuned: GFLOP/s of each and its share of the FMA peak measured in the same run.

    bench/bench_conv3x3.py [--trials 200] [--threads 1] [--rounds 11] [--db FILE] [--numerics strict]

Tunes the whole model (a database that holds it already costs no trial), compiles it with every kernel tuned, then
in each round measures the peak and profiles the model's kernels where they stand in it. Strict numerics leave Winograd
out, whose FLOPs are not those that count here.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import re
import statistics
import tempfile
from typing import Any

import result_file
from executed_flops import data_fraction, executed_fraction, work_of


def is_3x3(workload: str) -> bool:
    return "nn.conv2d" in workload and re.search(r"const p\d+: Tensor\[\(\d+, \d+, 3, 3\)", workload) is not None


def shares_of_peak(kernel: dict[str, Any], share: float) -> dict[str, float]:
    """That of what is executed and of what falls on data, from the share that counts every tap; none of Winograd."""
    work, config = work_of(kernel["workload"]), json.loads(kernel["config"])
    parts = {"executed": executed_fraction(work, config), "data": data_fraction(work, config)}
    return {f"{name}_share_of_peak": share * part for name, part in parts.items() if part is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--db")
    parser.add_argument("--numerics", choices=["strict", "default"], default="strict")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as work:
        model = str(pathlib.Path(work) / "resnet18.onnx")
        module = str(pathlib.Path(work) / "resnet18.so")
        database = args.db or str(pathlib.Path(work) / "hone.db")
        threads = ["--threads", str(args.threads)]
        numerics = ["--numerics", args.numerics]
        result_file.run("zoo", "resnet18", "-o", model)
        tuned = result_file.hone("tune", model, "--db", database, "--trials", str(args.trials), *threads, *numerics)
        result_file.hone("compile", model, "-o", module, "--db", database, "--require-tuned", *threads, *numerics)

        peaks = []
        # Of each kernel, by name: microseconds and the peak of the same round; several a round where it is called often.
        times: dict[str, list[tuple[float, float]]] = {}
        kernels: dict[str, dict[str, Any]] = {}
        model_us = []
        for _ in range(args.rounds):
            peaks.append(result_file.machine_peak(args.threads))
            profile = result_file.hone("bench", module, "--profile", *threads)
            model_us.append(profile["median_us"])
            for kernel in profile["kernels"]:
                if is_3x3(kernel["workload"]):
                    kernels[kernel["name"]] = kernel
                    times.setdefault(kernel["name"], []).append((kernel["median_us"], peaks[-1]["fma_gflops"]))

    rows = []
    for name, samples in times.items():
        gflop = kernels[name]["flops"] * 1e-3  # over microseconds: GFLOP/s
        shares = [gflop / us / peak for us, peak in samples]
        median_us = statistics.median(us for us, _ in samples)
        rows.append(
            {
                "kernel": name,
                "workload": kernels[name]["workload"],
                "median_us": median_us,
                "gflops": gflop / median_us,
                "share_of_peak": statistics.median(shares),
                **shares_of_peak(kernels[name], statistics.median(shares)),
                "share_min": min(shares),
                "share_max": max(shares),
            }
        )
    figures = {
        "threads": args.threads,
        "rounds": args.rounds,
        "trials_a_task": args.trials,
        "numerics": args.numerics,
        "tune_wall_s": tuned["wall_s"],
        "model_median_us": statistics.median(model_us),
        "kernels": rows,
    }
    path = result_file.write("conv3x3", peaks, figures)
    for row in rows:
        print(
            f"{row['kernel']:<44} {row['median_us']:9.1f} us {row['gflops']:7.1f} GFLOP/s nominal, "
            f"{row.get('executed_share_of_peak', math.nan):6.1%} of peak executed"
        )
    print(path.relative_to(result_file.ROOT))


if __name__ == "__main__":
    main()
