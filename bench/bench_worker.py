#!/usr/bin/env python3
"""How steadily hone-measure times, and what hostile kernels do to the next one's time.

    bench/bench_worker.py hostile [--measurements 3]
    bench/bench_worker.py repeat [--measurements 30]

- hostile: a fixed kernel is timed before and after each kernel that does what none of ours should; each ends as a failure of
  its own kind, within a second after its time. The bar: after to before within 5 %. Writes bench/results/CPU/hostile.json.
- repeat: kernels that compute, that go through the second-level cache and that go through the memory, in turns, one thread
  each. Times are divided by the calibrator's beside them. The bars: p90/p10 of 30 measurements at most 1.03, 1.03 and 1.08.
  Writes bench/results/CPU/repeatability.json.

A hone-measure of its own runs them. Nothing else may run on the machine; either takes less than two minutes. Needs a build with
-DHONE_BUILD_BENCH=ON and -DHONE_BUILD_TESTS=ON (whose sample kernels it compiles with cc). Exit code 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

import result_file

RATIO_BAR = 0.05  # after to before
OVERTIME_BAR_S = 1.0
SPREAD_BARS = {"compute": 1.03, "l2": 1.03, "dram": 1.08}


def measured(kind: str, measurements: int) -> dict[str, Any]:
    command = [str(result_file.BUILD / "bin" / "worker_timing"), kind, "--measurements", str(measurements)]
    document: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return document


def missed_by_hostile(row: dict[str, Any]) -> bool:
    is_late = row["outcome"] == "RUN_TIMEOUT" and row["took_s"] > row["limit_s"] + OVERTIME_BAR_S
    return row["outcome"] == "OK" or is_late or abs(row["ratio"] - 1) > RATIO_BAR


def missed_by_repeat(row: dict[str, Any]) -> bool:
    return bool(row["p90_to_p10"] > SPREAD_BARS[row["name"]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("hostile", "repeat"))
    parser.add_argument("--measurements", type=int, default=0, help="of each kernel")
    args = parser.parse_args()
    is_hostile = args.kind == "hostile"
    figures = measured(args.kind, args.measurements or (3 if is_hostile else 30))
    missed = [row["name"] for row in figures["rows"] if (missed_by_hostile if is_hostile else missed_by_repeat)(row)]
    bars: dict[str, Any] = {"ratio": RATIO_BAR, "overtime_s": OVERTIME_BAR_S} if is_hostile else {"p90_to_p10": SPREAD_BARS}
    name = "hostile" if is_hostile else "repeatability"
    print(result_file.write(name, [], {"bars": bars, "missed": missed, **figures}).relative_to(result_file.ROOT))
    print("missed: " + ", ".join(missed) if missed else "every bar is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
