#!/usr/bin/env python3
"""Hot loops of direct kernels for AArch64, by a model of a core: how much of the FMA units' rate they take.

    HONE_PEERS=FOLDER bench/bench_hot_loops.py [--cpu neoverse-n1] [--only conv1x1,dense]

For each kernel that bench_isa.py measures, the default config for the target `llvm -mtriple=aarch64-linux-gnu -mcpu=CPU`, in
layouts of its own and row-major, with strict numerics and, where that is Winograd, with the default's: its assembly
(candidate_cost), the innermost loop with the most multiply-adds, and the cycles of an iteration by llvm-mca-19. The bound is two multiply-adds of 128 bits a cycle. Nothing is run: no machine is measured. Writes
bench/results/hot_loops.json.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import kernel_classes
import peer_rounds
import result_file
import sweep
from hot_loop import cycles, hot_loop
from own_calls import is_copy
from tuned_modules import Modules

TRIPLE = "aarch64-linux-gnu"
FMAS_A_CYCLE = 2


def assembly(kernel: dict[str, Any], target: str) -> str:
    command = [str(result_file.BUILD / "bin" / "candidate_cost"), kernel["workload"], "--target", target]
    command += ["--signature", kernel["signature"], "--config", kernel["config"], "--asm"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def row_of(name: str, model: pathlib.Path, cpu: str, numerics: str) -> dict[str, Any]:
    target = f"llvm -mtriple={TRIPLE} -mcpu={cpu}"
    report = result_file.hone("explain", str(model), "--target", target, "--threads", "1", "--numerics", numerics)
    (kernel,) = [kernel for kernel in report["kernels"] if not is_copy(kernel["workload"])]
    loop = hot_loop(assembly(kernel, target))
    taken = cycles(loop, TRIPLE, cpu)
    return {
        "item": name,
        "numerics": numerics,
        "fmas": loop.fmas,
        "instructions": len(loop.lines),
        "stack_accesses": loop.stack_accesses,
        "cycles": taken,
        "share_of_fma_bound": loop.fmas / FMAS_A_CYCLE / taken,
        "signature": kernel["signature"],
        "config": kernel["config"],
    }


def line(row: dict[str, Any]) -> str:
    return (
        f"{row['item']:<28} {row['signature']:<24} {row['numerics']:<8} {row['fmas']:3} fmla of {row['instructions']:3} instructions, "
        f"{row['stack_accesses']:2} on the stack, {row['cycles']:6.2f} cycles, {row['share_of_fma_bound']:6.1%} of the bound"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", default="neoverse-n1")
    parser.add_argument("--only", default="", help="parts of items' names")
    args = parser.parse_args()
    driver = peer_rounds.load_driver()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        modules = Modules(pathlib.Path(folder), pathlib.Path(folder) / "none.db", driver)
        items = [item for item in sweep.kernel_items(driver) if item.work and kernel_classes.is_compute_bound(item.work)]
        for item in sweep.selected(items, args.only):
            winograd = item.work and kernel_classes.class_of(item.work) == kernel_classes.WINOGRAD
            for model in (modules.with_free_ends(item.file), item.file):
                for numerics in ("strict", "default") if winograd else ("strict",):
                    row = row_of(item.name, model, args.cpu, numerics)
                    if row not in rows:  # with ends that are not free the layouts may be the same
                        rows.append(row)
                        print(line(row), flush=True)
    path = result_file.write("hot_loops", [], {"cpu_model": args.cpu, "rows": rows}, result_file.RESULTS)
    print(path.relative_to(result_file.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
