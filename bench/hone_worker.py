"""Hone as one more peer: a process that speaks the protocol of the peers' worker.py.

    hone_worker.py THREADS      reads JSON commands on stdin, answers on stdout; HONE_BUILD is the build folder

    prep     {"module": SO, "data": NPZ, "alone": false}   opens, runs once, compares with the reference; with
             "device": NAME there, and an "err_limit" comes back in the answer
    time     {"min_ms": 60}                                one sample: the mean seconds of n back-to-back calls
    profile  {"min_ms": 60}                                seconds of each kernel where it stands in the model, and of a run without kernels
    drop

With "alone" a sample is the operator's own kernels, each in a loop in the layouts they have in the module: the copies in
front and behind, which bring inputs and outputs to those layouts, are left out; copies between kernels are not.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(os.environ["HONE_BUILD"]) / "python"))
import hone
from bfloat16 import numbers_of
from output_error import largest_error
from own_calls import is_copy, own_calls
from resident_memory import growth_bytes

WARM_S = 0.1
PROFILE_RUNS = (3, 200)
EXECUTOR_RUNS = 200
LEAST_S = 0.01  # of the loop that says how long a call takes


class Timed:
    """A module with its inputs set."""

    def __init__(self, command: dict[str, Any], threads: int) -> None:
        self.data = dict(np.load(command["data"]))
        self.peak_bytes = growth_bytes(lambda: self._open(command["module"], threads, command.get("device")))
        self.alone = own_calls([call.workload for call in self.module.calls]) if command["alone"] else []
        self.estimate = self._estimate()

    def _open(self, module: str, threads: int, device: str | None) -> None:
        """And runs it once."""
        self.module = hone.Module(module, threads=threads, device=device)
        for info in self.module.inputs:
            self.module.set_input(info.name, np.ascontiguousarray(self.data[info.name]))
        self.module.run()

    def run(self, count: int) -> float:
        """Seconds of so many calls."""
        if not self.alone:
            return self.module.time(count)
        return sum(self.module.time_call(call, count) for call in self.alone)

    def error(self) -> float:
        """The largest of the outputs'; their references are ref, ref1, ref2 and so on."""
        outputs = [numbers_of(self.module.get_output(number)) for number in range(len(self.module.outputs))]
        references = [self.data.get(f"ref{number or ''}") for number in range(len(outputs))]
        return largest_error(outputs, references)

    def _estimate(self) -> float:
        started = time.perf_counter()
        while time.perf_counter() - started < WARM_S:
            self.run(1)
        count, seconds = 1, self.run(1)
        while seconds < LEAST_S and count < 1 << 20:
            count *= 2
            seconds = self.run(count)
        return seconds / count

    def sample(self, min_ms: float) -> float:
        count = max(1, int(min_ms / 1e3 / self.estimate + 0.5))
        self.run(max(1, count // 5))  # wakes the threads and fills the caches again
        self.estimate = self.run(count) / count
        return self.estimate

    def executor_seconds(self) -> float:
        """Seconds that the executor takes in one run, for launches and barriers without kernels."""
        return self.module.time_executor(EXECUTOR_RUNS) / EXECUTOR_RUNS

    def profile(self, min_ms: float) -> list[float]:
        """Seconds of each kernel, the median of as many runs as fill the time, within limits."""
        runs = int(min_ms / 1e3 / self.estimate)
        return self.module.profile(min(max(runs, PROFILE_RUNS[0]), PROFILE_RUNS[1]))


class Worker:
    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.timed: Timed | None = None

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        if command["cmd"] == "prep":
            self.timed = None
            started = time.time()
            self.timed = Timed(command, self.threads)
            prepared = time.time() - started
            calls = [{"name": call.name, "copy": is_copy(call.workload)} for call in self.timed.module.calls]
            reply: dict[str, Any] = {"prep": prepared, "err": self.timed.error(), "est": self.timed.estimate, "note": "", "calls": calls}
            if "err_limit" in command:
                reply["err_limit"] = command["err_limit"]
            return reply if self.timed.peak_bytes is None else {**reply, "peak_bytes": self.timed.peak_bytes}
        if command["cmd"] == "drop":
            self.timed = None
            return {}
        assert self.timed is not None
        if command["cmd"] == "profile":
            return {"calls": self.timed.profile(command["min_ms"]), "executor_s": self.timed.executor_seconds()}
        return {"s": self.timed.sample(command["min_ms"])}


def main() -> None:
    threads = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the protocol's alone
    cores = os.cpu_count() or 1
    if threads < cores:  # as every peer
        os.sched_setaffinity(0, set(range(cores - threads, cores)))
    worker = Worker(threads)
    print(json.dumps({"ok": True}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = {"ok": True, **worker.answer(json.loads(line))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
