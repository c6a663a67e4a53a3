"""The part of a convolution's nominal FLOPs that its code executes: border tiles leave out taps that fall on padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def inside_fraction(sizes: Sequence[int], taps: Sequence[int], stride: int, pads: Sequence[int]) -> float:
    """The taps that fall on data, of all taps of all results; `pads` of either side."""
    fraction = 1.0
    for size, kernel, pad in zip(sizes, taps, pads, strict=True):
        results = (size + 2 * pad - kernel) // stride + 1
        at = [o * stride + k - pad for o in range(results) for k in range(kernel)]
        fraction *= sum(0 <= tap < size for tap in at) / len(at)
    return fraction


def executed_fraction(work: Mapping[str, Any], config: Mapping[str, Any]) -> float | None:
    """Of a workload as the peers' list has it; None where the algorithm is no direct sum."""
    if config.get("strategy", "direct") != "direct":
        return None
    if config.get("pad") != "border" or work["op"] not in ("conv2d", "conv3d"):
        return 1.0
    shapes = work["shapes"]
    return inside_fraction(shapes["x"][2:], shapes["w"][2:], work["stride"], work["pad"])
