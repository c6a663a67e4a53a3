#!/usr/bin/env python3
"""What a candidate costs, from its config to LLVM IR and on to its artifact.

    HONE_PEERS=FOLDER bench/bench_candidate_times.py [--only conv3x3,dense] [--count 24] [--threads 1]

For each kernel of the peers' list, in the layouts that `hone explain` gives it, --count random configs of its space, over all
strategies: one process builds them one after the other (candidate_cost), as a builder does, with a cache of launches.

- to IR: config -> loop nest (Template::Schedule) -> LLVM IR as code generation hands it to LLVM's passes. The IR of launches in
  the cache is not made again.
- to artifact: that, LLVM's passes, machine code, link: the bytes of the shared object. Features and the nest's digest are no
  part of either.

Medians of milliseconds over configs: by kernel and strategy, by strategy, and of all. Bars: 1 ms to IR, 10 ms to the artifact.
Nothing else may run on the machine. Writes bench/results/CPU/candidate_times.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import peer_rounds
import result_file
import sweep
from own_calls import is_copy

PHASES = ("lower_ms", "emit_ms", "optimise_ms", "machine_code_ms", "link_ms")
BARS = {"ir_ms": 1.0, "total_ms": 10.0}


def costs(kernel: dict[str, Any], count: int, threads: int) -> list[dict[str, Any]]:
    """The costs of each config that builds."""
    command = [str(result_file.BUILD / "bin" / "candidate_cost"), kernel["workload"], "--signature", kernel["signature"]]
    command += ["--count", str(count), "--threads", str(threads), "--each"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    each: list[dict[str, Any]] = json.loads(told)["each"]
    return [{**cost, "strategy": cost["strategy"] or kernel["template"]} for cost in each]


def medians(configs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    figures = {name: statistics.median(config[name] for config in configs) for name in (*BARS, *PHASES)}
    return {"configs": len(configs), **figures}


def by_strategy(configs: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    names = sorted({config["strategy"] for config in configs})
    return {name: medians([config for config in configs if config["strategy"] == name]) for name in names}


def line(name: str, figures: dict[str, Any]) -> str:
    return f"{name:<44} {figures['configs']:5} configs, {figures['ir_ms']:6.2f} ms to IR, {figures['total_ms']:6.2f} ms to the artifact"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of items' names")
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    driver = peer_rounds.load_driver()
    peaks = [result_file.machine_peak(1)]
    rows: list[dict[str, Any]] = []
    every: list[dict[str, Any]] = []
    for item in sweep.selected(sweep.kernel_items(driver), args.only):
        report = result_file.hone("explain", str(item.file), "--threads", str(args.threads))
        for kernel in report["kernels"]:
            if is_copy(kernel["workload"]):
                continue
            configs = costs(kernel, args.count, args.threads)
            every += configs
            for strategy, figures in by_strategy(configs).items():
                identity = {"item": item.name, "template": kernel["template"], "signature": kernel["signature"]}
                rows.append({**identity, "strategy": strategy, **figures})
                print(line(f"{item.name} {strategy}", figures), flush=True)
    peaks.append(result_file.machine_peak(1))
    strategies = by_strategy(every)
    overall = medians(every)
    for strategy, figures in strategies.items():
        print(line(strategy, figures))
    print(line("all", overall))
    document = {"count": args.count, "threads": args.threads, "bars": BARS, "all": overall, "strategies": strategies, "rows": rows}
    print(result_file.write("candidate_times", peaks, document).relative_to(result_file.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
