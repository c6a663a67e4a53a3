#!/usr/bin/env python3
"""Small models of what was slow once in real files, on default configs, beside ONNX Runtime in turns.

    bench/bench_real.py [--threads 1] [--rounds 11] [--cases TEXT] [--db FILE] [--numerics NAME]

Needs a Python with onnx, onnxruntime and numpy. bench/real/make_models.py makes the models. Both run in this process:
after a run that is not timed, each gives one sample a round, the mean of as many back-to-back runs as fill 50 ms, first
the one and then the other, in odd rounds the other way round. ONNX Runtime's inputs and outputs are bound beforehand, as
Hone's are. A ratio is the median over the rounds of ONNX Runtime's time to Hone's, with its bootstrap 95 % interval:
above 1 Hone is faster. `error` is the largest difference of Hone's outputs from ONNX Runtime's without optimisations
(which round activations to bytes in front of weights that are bytes), to the largest output; `ort_error` is that of what
is timed. With --cases, which keeps those with TEXT in their name, or with other numerics, nothing is written to bench/results.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-not-found,unused-ignore]
import result_file
from paired_ratio import geometric_mean, paired

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "real"))
import make_models
import onnx  # type: ignore[import-not-found,unused-ignore]

sys.path.insert(0, str(result_file.BUILD / "python"))
import hone

SAMPLE_S = 0.05
TOLERANCE = 2e-4

Run = Callable[[int], float]  # seconds of so many back-to-back runs


def inputs_of(session: ort.InferenceSession) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(7)
    return {value.name: generator.standard_normal(value.shape).astype(np.float32) for value in session.get_inputs()}


def hone_runs(path: str, inputs: dict[str, np.ndarray], threads: int) -> tuple[Run, list[np.ndarray]]:
    module = hone.Module(path, threads=threads)
    for name, value in inputs.items():
        module.set_input(name, value)
    module.run()
    return module.time, [module.get_output(number) for number in range(len(module.outputs))]


def session_of(path: pathlib.Path, threads: int, level: ort.GraphOptimizationLevel) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = level
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def ort_runs(session: ort.InferenceSession, inputs: dict[str, np.ndarray]) -> tuple[Run, list[np.ndarray]]:
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(value))
    results = session.run(None, inputs)
    for value, result in zip(session.get_outputs(), results, strict=True):
        binding.bind_ortvalue_output(value.name, ort.OrtValue.ortvalue_from_numpy(result))

    def run(count: int) -> float:
        started = time.perf_counter()
        for _ in range(count):
            session.run_with_iobinding(binding)
        return time.perf_counter() - started

    return run, results


def sample(run: Run) -> float:
    """Microseconds of a run."""
    repeats = max(1, int(SAMPLE_S / run(1)))
    return run(repeats) / repeats * 1e6


def error_of(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    differences = [np.abs(a - b).max() / max(np.abs(b).max(), 1e-30) for a, b in zip(found, expected, strict=True)]
    return float(max(differences))


def row_of(name: str, times: Sequence[tuple[float, float]], errors: tuple[float, float]) -> dict[str, Any]:
    ours, theirs = zip(*times, strict=True)
    ratio = paired(theirs, ours)
    return {
        "case": name,
        "hone_us": statistics.median(ours),
        "ort_us": statistics.median(theirs),
        "ratio": ratio.median,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "error": errors[0],
        "ort_error": errors[1],
        "right": errors[0] <= TOLERANCE,
    }


def measured(name: str, path: pathlib.Path, args: argparse.Namespace) -> dict[str, Any]:
    session = session_of(path, args.threads, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)
    plain = session_of(path, args.threads, ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    inputs = inputs_of(session)
    module = str(path.with_suffix(".so"))
    flags = ["--threads", str(args.threads), "--numerics", args.numerics]
    flags += ["--db", args.db] if args.db else []
    result_file.hone("compile", str(path), "-o", module, *flags)
    run_ours, found = hone_runs(module, inputs, args.threads)
    run_theirs, theirs_found = ort_runs(session, inputs)
    expected = plain.run(None, inputs)
    errors = (error_of(found, expected), error_of(theirs_found, expected))
    times = []
    for number in range(args.rounds):
        if number % 2 == 0:
            ours = sample(run_ours)
            times.append((ours, sample(run_theirs)))
        else:
            theirs = sample(run_theirs)
            times.append((sample(run_ours), theirs))
    return row_of(name, times, errors)


def text_of(row: dict[str, Any]) -> str:
    interval = f"{row['ratio']:6.2f} ({row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
    wrong = "" if row["right"] else f"  WRONG: off by {row['error']:.1e}"
    return f"{row['case']:<26} hone {row['hone_us']:10.1f} us  ort {row['ort_us']:10.1f} us  {interval}{wrong}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--cases", default="")
    parser.add_argument("--db")
    parser.add_argument("--numerics", default="default")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for name, make in make_models.MODELS.items():
            if args.cases not in name:
                continue
            path = pathlib.Path(work) / f"{name}.onnx"
            onnx.save(make(), str(path))
            rows.append(measured(name, path, args))
            print(text_of(rows[-1]), flush=True)
    if not rows:
        parser.error(f"expected --cases with a part of {', '.join(make_models.MODELS)}, found '{args.cases}'")
    print(f"geometric mean {geometric_mean([row['ratio'] for row in rows]):.2f}")
    if not args.cases and args.numerics == "default":
        figures = {"threads": args.threads, "rounds": args.rounds, "onnxruntime": ort.__version__, "cases": rows}
        result_file.write("real", [], figures)


if __name__ == "__main__":
    main()
