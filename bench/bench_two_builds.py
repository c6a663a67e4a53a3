#!/usr/bin/env python3
"""What a change of the compiler costs: two builds side by side.

    bench/bench_two_builds.py BEFORE AFTER [--rounds 15] [--count 24] [--before-commit HASH]

BEFORE and AFTER are folders with bin/candidate_cost, bin/hone and bin/hone-builder. Each round runs one after the other, in
turns of who is first, each as new processes: --count random configs of several kernels from config to artifact, the compile of
ResNet-50 with its default configs, and a chain of kernels with next to no work, the executor's own share (compiled by each
side). Printed and written are medians of the paired ratios after / before with their 95 % intervals: above 1, AFTER is
dearer. Bar: 1.03. Nothing else may run on the machine. Writes bench/results/CPU/two_builds.json.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

import bench_executor
import paired_ratio
import result_file
import workload_text

BAR = 1.03
CHAIN = 300  # kernels
WORKLOADS = {
    "conv2d": "fn (p0: Tensor[(1, 64, 56, 56), float32], p1: Tensor[(64, 64, 3, 3), float32])"
    " { nn.conv2d(p0, p1, padding=[1, 1, 1, 1]) }",
    "dense": "fn (p0: Tensor[(128, 768), float32], p1: Tensor[(768, 768), float32]) { nn.dense(p0, p1) }",
    "max_pool2d": "fn (p0: Tensor[(1, 64, 112, 112), float32])"
    " { nn.max_pool2d(p0, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]) }",
    "softmax": "fn (p0: Tensor[(128, 768), float32]) { nn.softmax(p0) }",
}


def told(command: list[str], environment: dict[str, str] | None = None) -> dict[str, Any]:
    around = {**os.environ, **(environment or {})}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=around)
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def candidate_ms(build: pathlib.Path, count: int) -> float:
    """The milliseconds of all candidates from config to artifact."""
    total = 0.0
    for workload in WORKLOADS.values():
        command = [str(build / "bin" / "candidate_cost"), workload + workload_text.END]
        command += ["--count", str(count), "--threads", "2", "--each"]
        total += sum(config["total_ms"] for config in told(command)["each"])
    return total


def compile_s(build: pathlib.Path, model: str, module: pathlib.Path) -> float:
    # Each build has a default database of its own, for an older one may not read what a newer one has
    # migrated.
    own = {"XDG_DATA_HOME": str(module.parent / build.name)}
    start = time.monotonic()
    told([str(build / "bin" / "hone"), "compile", model, "-o", str(module), "--threads", "2", "--json"], own)
    return time.monotonic() - start


def chain_us(build: pathlib.Path, module: pathlib.Path) -> float:
    median_us: float = told([str(build / "bin" / "hone"), "bench", str(module), "--json"])["median_us"]
    return median_us


def measured(sides: dict[str, pathlib.Path], rounds: int, count: int, folder: pathlib.Path) -> dict[str, dict[str, list[float]]]:
    model = str(folder / "resnet50.onnx")
    subprocess.run([str(sides["after"] / "bin" / "hone"), "zoo", "resnet50", "-o", model], check=True, stdout=subprocess.DEVNULL)
    chain = folder / "chain.relay"
    chain.write_text(bench_executor.chain(CHAIN), encoding="utf-8")
    for name, build in sides.items():
        compile_s(build, str(chain), folder / f"chain.{name}.so")
    samples: dict[str, dict[str, list[float]]] = {}
    for turn in range(rounds):
        for name in sorted(sides, reverse=turn % 2 == 0):
            build = sides[name]
            figures = {
                "candidate_ms": candidate_ms(build, count),
                "compile_resnet50_s": compile_s(build, model, folder / "resnet50.so"),
                "chain_us": chain_us(build, folder / f"chain.{name}.so"),
            }
            for figure, value in figures.items():
                samples.setdefault(figure, {}).setdefault(name, []).append(value)
    return samples


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--before-commit", default=result_file.UNKNOWN, help="of BEFORE, for the result's file")
    args = parser.parse_args()
    peaks = [result_file.machine_peak(1)]
    with tempfile.TemporaryDirectory() as work:
        samples = measured({"before": args.before, "after": args.after}, args.rounds, args.count, pathlib.Path(work))
    peaks.append(result_file.machine_peak(1))
    ratios = {figure: paired_ratio.paired(sides["after"], sides["before"]) for figure, sides in samples.items()}
    document = {"before_commit": args.before_commit, "rounds": args.rounds, "count": args.count, "bar": BAR, "samples": samples}
    document["ratios"] = {figure: ratio._asdict() for figure, ratio in ratios.items()}
    path = result_file.write("two_builds", peaks, document)
    for figure, ratio in ratios.items():
        print(f"{figure:<20} after / before {ratio.median:.3f} ({ratio.low:.3f} to {ratio.high:.3f}), bar {BAR}")
    print(path.relative_to(result_file.ROOT))
    return 0 if all(ratio.median <= BAR for ratio in ratios.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
