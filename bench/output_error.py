"""How far off results are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def error_of(found: Any, expected: Any | None) -> float:
    """The largest difference as a part of the reference's largest value; infinity for another size, or where it is no number.

    Of an output without a reference only that is known.
    """
    if not np.isfinite(found).all():
        return math.inf
    if expected is None:
        return 0.0
    if found.size != expected.size:
        return math.inf
    if found.size == 0:
        return 0.0
    difference = np.abs(found.reshape(-1).astype("f8") - expected.reshape(-1)).max()
    return float(difference / (np.abs(expected).max() + 1e-30))


def largest_error(outputs: Sequence[Any], references: Sequence[Any | None]) -> float:
    """The largest error of a module's outputs; infinity if the first output has no reference."""
    if not outputs or references[0] is None:
        return math.inf
    return max(error_of(found, expected) for found, expected in zip(outputs, references, strict=True))
