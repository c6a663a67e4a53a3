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


_OTHERS = "server|trials|time|search|seed|threads|target|numerics|micro-kernels|full-budget|require-tuned"
# A name as the programs quote it for a shell: bare, or 'a name', in which an apostrophe is '\''.
_QUOTED = r"'[^']*'(?:\\''[^']*')*"
_NAME = rf"({_QUOTED}|[^\s=']+?)"
_DIM = re.compile(rf"--dim {_NAME}=(\d+)")
_CUT = re.compile(rf"--cut ({_QUOTED}|[^\s;,']+?(?=:?(?:[\s;,]|$)))")
_SHAPE = re.compile(rf"--shape {_NAME}=([\d,?]+|\.\.\.)")


def _literal(word: str) -> str:
    name = word[1:-1].replace(r"'\''", "'") if word.startswith("'") else word
    return json.dumps(name, ensure_ascii=False)


def _dims(flags: str) -> str:
    pairs = (f"{_literal(word)}: {extent}" for word, extent in _DIM.findall(flags))
    return f"dims={{{', '.join(pairs)}}}"


def _cut(flags: str) -> str:
    return f"cut=[{', '.join(_literal(word) for word in _CUT.findall(flags))}]"


def _shapes(flags: str) -> str:
    pairs = []
    for word, extents in _SHAPE.findall(flags):
        numbers = extents.split(",")
        shape = f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(numbers)})"
        pairs.append(f"{_literal(word)}: {shape}")
    return f"shapes={{{', '.join(pairs)}}}"


def in_python(sentence: str) -> str:
    """A sentence with flags of the command line, with the arguments of this package in their place."""
    sentence = re.sub(rf"{_DIM.pattern}(?: {_DIM.pattern})*", lambda flags: _dims(flags[0]), sentence)
    sentence = re.sub(rf"{_SHAPE.pattern}(?: {_SHAPE.pattern})*", lambda flags: _shapes(flags[0]), sentence)
    sentence = re.sub(rf"{_CUT.pattern}(?: {_CUT.pattern})*", lambda flags: _cut(flags[0]), sentence)
    sentence = sentence.replace("--constant NAME=FILE", 'constants={"NAME": array}')
    sentence = re.sub(r"--(shape|dim|constant)\b", lambda flag: f"{flag[1]}s", sentence)
    sentence = re.sub(r"--db\b", "database", sentence)
    sentence = re.sub(rf"--({_OTHERS})\b", lambda flag: flag[1].replace("-", "_"), sentence)
    return sentence.removesuffix("; see hone --help")
