"""Element types: numpy's, and bfloat16 of ml_dtypes, where that package is installed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hone.errors import Error

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ELEMENT_TYPES = (*_FLOATS, *_INTEGERS, "bool")


def dtype_name(dtype: object) -> str:
    """Hone's name of an element type, which may be given as numpy has it: as np.float32, or a dtype."""
    if isinstance(dtype, str) and dtype in ELEMENT_TYPES:
        return dtype
    try:
        name = "" if dtype is None else np.dtype(dtype).name  # type: ignore[call-overload]
    except TypeError:
        name = ""
    if name not in ELEMENT_TYPES:
        raise Error(f"expected an element type of {', '.join(ELEMENT_TYPES)}, found {dtype!r}")
    return str(name)


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
