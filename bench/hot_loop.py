"""The hot loop of a kernel's assembly, and how far from the FMA units' rate a model of a core says that it runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

FMA = re.compile(r"\s(fmla|vfn?madd\w+ps)\s")
STACK = re.compile(r"\[sp\b|\(%rsp\)")
ITERATIONS = 200  # of a run of the model; the difference to twice as many leaves out how it starts


class HotLoop(NamedTuple):
    """The innermost loop with the most multiply-adds; instructions as the assembler takes them."""

    lines: list[str]
    fmas: int

    @property
    def stack_accesses(self) -> int:
        return sum(bool(STACK.search(line)) for line in self.lines)


def hot_loop(assembly: str) -> HotLoop:
    """From a label to a branch back to it with no other label between."""
    lines = [line.split("#")[0] if "%" in line else line for line in assembly.splitlines()]
    best = HotLoop([], 0)
    body: list[str] = []
    label = ""
    for line in lines:
        if line.startswith("."):
            label, body = line.split(":")[0], []
            continue
        if not label or line.strip().startswith((".", "//")) or not line.strip():
            continue
        body.append(line)
        if re.search(rf"\s{re.escape(label)}\s*$", line):
            fmas = sum(bool(FMA.search(own)) for own in body)
            best = max(best, HotLoop(list(body), fmas), key=lambda loop: loop.fmas)
    if not best.fmas:
        raise ValueError("expected a loop with multiply-adds, found none")
    return best


def cycles(loop: HotLoop, triple: str, cpu: str) -> float:
    """The cycles of one iteration, by llvm-mca-19's model of the CPU."""
    return (_cycles(loop.lines, triple, cpu, 2 * ITERATIONS) - _cycles(loop.lines, triple, cpu, ITERATIONS)) / ITERATIONS


def _cycles(lines: Sequence[str], triple: str, cpu: str, iterations: int) -> int:
    command = ["llvm-mca-19", f"-mtriple={triple}", f"-mcpu={cpu}", f"-iterations={iterations}"]
    told = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True).stdout
    found = re.search(r"Total Cycles:\s+(\d+)", told)
    if found is None:
        raise ValueError(f"expected total cycles from llvm-mca-19, found {told[:200]}")
    return int(found.group(1))
