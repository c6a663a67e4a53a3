#!/usr/bin/env python3
"""What the executor adds to its kernels: a start per run, and so much for each kernel.

    bench/bench_executor.py [--threads 1 2] [--rounds 11]

Chains of kernels with next to no work (softmax of two elements, which nothing is fused with), of several lengths, timed in
turns. The line through their times: what it has at no kernel is the start of a run, its slope a kernel's share, the kernel's
own few nanoseconds included. Bars: 2 us, and 0.3 us a kernel.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import tempfile

import result_file

LENGTHS = (1, 10, 100, 1000)


def chain(length: int) -> str:
    calls = [f"%{i} = nn.softmax(%{i - 1 if i else 'x'});" for i in range(length)]
    return "\n".join(["def @main(%x: Tensor[(1, 2), float32]) {", *calls, f"%{length - 1}", "}", ""])


def compiled(length: int, threads: int, folder: str) -> str:
    model = pathlib.Path(folder) / f"chain{length}.relay"
    model.write_text(chain(length), encoding="utf-8")
    module = str(model.with_suffix(f".{threads}.so"))
    report = result_file.hone("compile", str(model), "-o", module, "--threads", str(threads))
    kernels = sum(kernel["calls"] for kernel in report["kernels"])
    if kernels != length:
        raise SystemExit(f"expected a chain of {length} kernels, found {kernels}")
    return module


def line_through(times_us: dict[int, float]) -> tuple[float, float]:
    """Start and slope, in microseconds: the slope between the ends, where noise weighs least."""
    first, last = min(times_us), max(times_us)
    slope = (times_us[last] - times_us[first]) / (last - first)
    return times_us[first] - slope * first, slope


def measure(threads: int, rounds: int, folder: str) -> dict[str, object]:
    modules = {length: compiled(length, threads, folder) for length in LENGTHS}
    turns: list[dict[int, float]] = []
    for _ in range(rounds):
        turns.append({length: result_file.hone("bench", module)["median_us"] for length, module in modules.items()})
    lines = [line_through(turn) for turn in turns]
    return {
        "run_us": {str(length): statistics.median(turn[length] for turn in turns) for length in LENGTHS},
        "start_us": statistics.median(start for start, _ in lines),
        "start_us_most": max(start for start, _ in lines),
        "kernel_us": statistics.median(slope for _, slope in lines),
        "kernel_us_most": max(slope for _, slope in lines),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()

    peaks = [result_file.machine_peak(1)]
    with tempfile.TemporaryDirectory() as work:
        figures = {str(threads): measure(threads, args.rounds, work) for threads in args.threads}
    peaks.append(result_file.machine_peak(1))
    path = result_file.write("executor", peaks, {"rounds": args.rounds, "threads": figures})
    for threads, figure in figures.items():
        print(f"{threads} threads: {figure['start_us']:.2f} us a run and {1e3 * float(figure['kernel_us']):.0f} ns a kernel")
    print(path.relative_to(result_file.ROOT))


if __name__ == "__main__":
    main()
