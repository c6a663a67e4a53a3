"""What callers give, checked before C takes it, which cuts numbers off, and texts at their first zero byte."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from typing import Any

from hone.errors import Error

_MAX_THREADS = 1024
MAX_INT32 = 2**31 - 1
MAX_INT64 = 2**63 - 1


def integer(value: object, expected: str, low: int | None = None, high: int | None = None) -> int:
    """`expected` names it, and its range where it has one."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise Error(f"expected {expected}, found {value!r}") from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise Error(f"expected {expected}, found {value!r}")
    return number


def threads_of(value: object) -> int:
    return integer(value, f"from 1 to {_MAX_THREADS} threads, or 0, which chooses", 0, _MAX_THREADS)


def runs_of(value: object, high: int = MAX_INT64) -> int:
    return integer(value, f"from 1 to {high} runs", 1, high)


def text_of(value: object, what: str) -> str:
    """A text that says something. An empty one would be taken for none, or for the flag behind it."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise Error(f"expected {what} as a text that is not empty, without a zero byte, found {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Error(f"expected {what} as a text that UTF-8 holds, found {value!r}") from None
    return value


def optional_text(value: object, what: str) -> bytes | None:
    """Encoded; None stays so, which stands for the default."""
    return None if value is None else text_of(value, what).encode()


def path_of(value: object, what: str) -> bytes:
    """As the system has it."""
    try:
        encoded = os.fsencode(value)  # type: ignore[arg-type]
    except TypeError:
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise Error(f"expected {what} as a path that is not empty, without a zero byte, found {value!r}")
    return encoded


def elements_of(value: object) -> list[object] | None:
    """None: it is no list of anything, as texts are none and numpy's scalars."""
    if isinstance(value, str | bytes):
        return None
    try:
        return list(value)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        return None


def items_of(value: object, expected: str) -> list[tuple[Any, Any]]:
    """Those of a mapping; of None, none. `expected` is as in "inputs as {name: array}"."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise Error(f"expected {expected}, found a value of type {type(value).__name__}")
    return list(value.items())
