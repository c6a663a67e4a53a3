"""What the machine could do with a kernel's work, by what was measured of it in the same run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

READS_MOSTLY = 0.9  # of the bytes: then a loop that only reads is the measure
L3_OVER_L2 = 16  # what is larger than so many second-level caches a thread comes from main memory


def bandwidth_name(work: Mapping[str, Any], threads: int, l2_bytes: float) -> str:
    """The measured loop that moves bytes of about the same place and mix as the kernel."""
    written = 4.0
    for extent in work["shapes"]["y"]:
        written *= extent
    reads = written < (1 - READS_MOSTLY) * work["bytes"]
    if work["bytes"] <= threads * l2_bytes:
        return "l2_read_gbs" if reads else "l2_copy_gbs"
    if work["bytes"] <= threads * l2_bytes * L3_OVER_L2:
        return "l3_read_gbs" if reads else "l3_copy_gbs"
    return "read_gbs" if reads else "triad_gbs"


# Vector operations (arithmetic alone, no loads and stores) of the best algorithm known here, by element read. An exponential is nine:
# two that reduce the argument, one that rounds, five of the polynomial, one that scales; a softmax also takes the maximum,
# the sum and a product.
OPERATIONS = {"softmax": 12.0, "layer_norm": 4.0, "gap": 1.0, "relu": 1.0}
FLOPS_A_CYCLE_A_LANE = 4  # of the FMA peak: two pipes, two FLOPs
OPERATIONS_A_CYCLE = 2  # vector operations that are issued


def filtered_part(work: Mapping[str, Any]) -> float:
    """The part of a depthwise convolution's multiplications that is left if rows are filtered two results at once. Additions are not
    counted, since some cores have units of their own for them."""
    shapes = work["shapes"]
    depthwise = work["op"] == "conv2d" and work.get("groups", 1) == shapes["x"][1] > 1
    if not depthwise or work["stride"] != 1 or shapes["w"][3] != 3:
        return 1.0
    return 4 / 6


def vector_operations(work: Mapping[str, Any]) -> float:
    """Times lanes: of elements."""
    if work["op"] in OPERATIONS:
        return OPERATIONS[work["op"]] * math.prod(work["shapes"]["x"])
    if work["op"] == "max_pool":  # rows and columns apart; the maximum of a row serves those windows that share it
        taps = work["k"] - 1
        return float(math.prod(work["shapes"]["y"]) * taps * (1 + work["stride"]))
    return work["flops"] / 2 * filtered_part(work)  # multiplications with additions


def least_us(work: Mapping[str, Any], peak: Mapping[str, float], bandwidth_gbs: float) -> float:
    """The time that the bytes take, or the arithmetic, whichever is longer."""
    operations_a_us = peak["fma_gflops"] * 1e3 / FLOPS_A_CYCLE_A_LANE * OPERATIONS_A_CYCLE
    return max(work["bytes"] / bandwidth_gbs * 1e-3, vector_operations(work) / operations_a_us)


def rates(work: Mapping[str, Any], median_us: float, peak: Mapping[str, float], threads: int) -> dict[str, Any]:
    """GFLOP/s and GB/s of one call, and their shares of the peak and of the bandwidth."""
    gflops, gbs = work["flops"] / median_us * 1e-3, work["bytes"] / median_us * 1e-3
    name = bandwidth_name(work, threads, peak["l2_bytes"])
    return {
        "gflops": gflops,
        "gbs": gbs,
        "share_of_peak": gflops / peak["fma_gflops"],
        "bandwidth": name,
        "share_of_bandwidth": gbs / peak[name],
        "share_of_bound": least_us(work, peak, peak[name]) / median_us,
    }
