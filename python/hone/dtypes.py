"""Element types: numpy's, and bfloat16 of ml_dtypes, where that package is installed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


@functools.cache
def dtype_of(name: str) -> np.dtype[Any]:
    """That of arrays for Hone's element type `name`. numpy has no bfloat16: without ml_dtypes its bits are uint16."""
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(np.uint16)
    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16


def holds(dtype: np.dtype[Any], name: str) -> bool:
    """Whether arrays of `dtype` are of Hone's element type `name`; the bits of bfloat16 may be given as uint16."""
    return dtype.name == name or (name == "bfloat16" and dtype == np.uint16)


def native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same values, row-major and in this machine's byte order; ascontiguousarray makes scalars one-dimensional."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array).reshape(array.shape)
