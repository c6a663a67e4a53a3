"""The part of a direct convolution's nominal FLOPs that its code executes, and the part that multiplies data.

Executed is what the code multiplies: border tiles leave out taps that fall on padding; a copy with zeros around the data is
multiplied whole, so its zeros count as executed; with padding by slices of the depth only the slices outside are left out.
On data are the taps that fall on no padding, whatever the code does with the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def inside_fraction(
    sizes: Sequence[int], taps: Sequence[int], stride: int, pads: Sequence[int], clipped: Sequence[int] | None = None
) -> float:
    """The taps that fall on data along the axes `clipped` (default: all), of all taps of all results; `pads` of either side."""
    fraction = 1.0
    for axis, (size, kernel, pad) in enumerate(zip(sizes, taps, pads, strict=True)):
        if clipped is not None and axis not in clipped:
            continue
        results = (size + 2 * pad - kernel) // stride + 1
        at = [o * stride + k - pad for o in range(results) for k in range(kernel)]
        fraction *= sum(0 <= tap < size for tap in at) / len(at)
    return fraction


def _is_convolution(work: Mapping[str, Any]) -> bool:
    return work["op"] in ("conv2d", "conv3d")


def _is_direct(config: Mapping[str, Any]) -> bool:
    return config.get("strategy", "direct") in ("direct", "pixels", "rows")


def _inside(work: Mapping[str, Any], clipped: Sequence[int] | None) -> float:
    shapes = work["shapes"]
    return inside_fraction(shapes["x"][2:], shapes["w"][2:], work["stride"], work["pad"], clipped)


def executed_fraction(work: Mapping[str, Any], config: Mapping[str, Any]) -> float | None:
    """The fraction of a workload's operations, as the peers' list counts them, that is executed; None if the algorithm is no direct sum."""
    if not _is_direct(config):
        return None
    if not _is_convolution(work) or config.get("strategy") == "rows":  # whose borders are masked
        return 1.0
    axes: dict[str, Sequence[int] | None] = {"border": None, "slices": [0]}  # of the depth, the first axis
    return _inside(work, axes.get(config.get("pad", ""), []))


def data_fraction(work: Mapping[str, Any], config: Mapping[str, Any]) -> float | None:
    """The same of the taps on data."""
    if not _is_direct(config):
        return None
    return _inside(work, None) if _is_convolution(work) else 1.0
