#!/usr/bin/env python3
"""Trials a second on ResNet-18's 3x3 64@56 convolution, and where their time goes.

    bench/bench_trial_rate.py [--trials 200] [--model FILE.onnx]

One builder, one worker, T=1, both output checks, at least ten clean chunks of 1 ms a trial: from config to settled
record. The model should hold one kernel of interest; by default ResNet-18 is tuned whole.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import result_file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--model")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as work:
        model = args.model or str(pathlib.Path(work) / "resnet18.onnx")
        if not args.model:
            result_file.run("zoo", "resnet18", "-o", model)
        peaks = [result_file.machine_peak(1)]
        database = str(pathlib.Path(work) / "hone.db")
        tuned = result_file.hone("tune", model, "--db", database, "--threads", "1", "--trials", str(args.trials))
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
