"""What goes wrong, in the compiler's, the runtime's and the programs' own sentences."""

from __future__ import annotations

import json
import re


class Error(ValueError):
    """What was expected, what was found, and what to do, in a sentence. `code` is the exit code that `hone` ends with
    for it (docs/cli.md), where it or the compiler said it."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


_OTHERS = "trials|time|search|seed|threads|target|numerics|micro-kernels|full-budget|require-tuned"
_NAME = r"(?:'([^']*)'|([^\s=]+?))"
_DIM = re.compile(rf"--dim {_NAME}=(\d+)")
_CUT = re.compile(r"--cut (?:'([^']*)'|([^\s;,]+?)(?=:?(?:[\s;,]|$)))")
_SHAPE = re.compile(rf"--shape {_NAME}=([\d,?]+|\.\.\.)")


def _dims(flags: str) -> str:
    pairs = (f"{json.dumps(quoted or plain)}: {extent}" for quoted, plain, extent in _DIM.findall(flags))
    return f"dims={{{', '.join(pairs)}}}"


def _cut(flags: str) -> str:
    return f"cut=[{', '.join(json.dumps(quoted or plain) for quoted, plain in _CUT.findall(flags))}]"


def _shapes(flags: str) -> str:
    pairs = []
    for quoted, plain, extents in _SHAPE.findall(flags):
        numbers = extents.split(",")
        shape = f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(numbers)})"
        pairs.append(f"{json.dumps(quoted or plain)}: {shape}")
    return f"shapes={{{', '.join(pairs)}}}"


def in_python(sentence: str) -> str:
    """A sentence with flags of the command line, with the arguments of this package in their place."""
    sentence = re.sub(rf"{_DIM.pattern}(?: {_DIM.pattern})*", lambda flags: _dims(flags[0]), sentence)
    sentence = re.sub(rf"{_SHAPE.pattern}(?: {_SHAPE.pattern})*", lambda flags: _shapes(flags[0]), sentence)
    sentence = re.sub(rf"{_CUT.pattern}(?: {_CUT.pattern})*", lambda flags: _cut(flags[0]), sentence)
    sentence = sentence.replace("--constant NAME=FILE", 'constants={"NAME": array}')
    sentence = re.sub(r"--(shape|dim|constant)\b", lambda flag: f"{flag[1]}s", sentence)
    sentence = re.sub(rf"--({_OTHERS})\b", lambda flag: flag[1].replace("-", "_"), sentence)
    return sentence.removesuffix("; see hone --help")
