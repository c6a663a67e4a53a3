#!/usr/bin/env python3
"""Trials a second on ResNet-18's 3x3 64@56 convolution, and where their time goes.

    bench/bench_trial_rate.py [--trials 300] [--model FILE]

One builder, one worker, T=1, both output checks, at least ten clean chunks of 1 ms a trial: from config to settled
record. The default model is that convolution alone (its layout conversions are tasks with small spaces).
"""

from __future__ import annotations

import argparse
import base64
import pathlib
import tempfile

import result_file


def convolution() -> str:
    """Graph text. The search sees shapes only: the weights are zeros."""
    weights = base64.b64encode(bytes(64 * 64 * 3 * 3 * 4)).decode()
    return f"""def @main(%x: Tensor[(1, 64, 56, 56), float32]) {{
  nn.relu(nn.conv2d(%x, meta[Constant][0], padding=[1, 1, 1, 1]))
}}
meta[Constant][0] = Tensor[(64, 64, 3, 3), float32] "{weights}";
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--model")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as work:
        model = args.model or str(pathlib.Path(work) / "conv3x3.relay")
        if not args.model:
            pathlib.Path(model).write_text(convolution())
        peaks = [result_file.machine_peak(1)]
        database = str(pathlib.Path(work) / "hone.db")
        budget = ("--trials", str(args.trials), "--full-budget")
        tuned = result_file.hone("tune", model, "--db", database, "--threads", "1", *budget)
        peaks.append(result_file.machine_peak(1))

    trials = sum(task["trials"] for task in tuned["tasks"])
    seconds = tuned["phase_seconds"]
    total = sum(seconds.values())
    figures = {
        "trials": trials,
        "failures": sum(task["failures"] for task in tuned["tasks"]),
        "wall_s": tuned["wall_s"],
        "trials_per_s": trials / tuned["wall_s"],
        "phase_seconds": seconds,
        "phase_share": {phase: value / total for phase, value in seconds.items()},
    }
    path = result_file.write("trial_rate", peaks, figures)
    print(f"{trials} trials in {tuned['wall_s']:.1f} s: {figures['trials_per_s']:.1f} trials/s")
    for phase, value in sorted(seconds.items(), key=lambda item: -item[1]):
        print(f"  {phase:<14} {value:7.2f} s  {value / total:6.1%}")
    print(path.relative_to(result_file.ROOT))


if __name__ == "__main__":
    main()
