"""bfloat16 in numpy's arrays, which have no such type: its bits, as uint16."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def bits(numbers: Array) -> Array:
    """Rounded to nearest even."""
    raw = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    rounded: Array = ((raw + 0x7FFF + (raw >> 16 & 1)) >> 16).astype(np.uint16)
    return rounded


def numbers_of(stored: Array) -> Array:
    """Numbers, where uint16 stands for bfloat16."""
    if stored.dtype != np.uint16:
        return stored
    return (stored.astype(np.uint32) << 16).view(np.float32)
