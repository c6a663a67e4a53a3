"""What the machine could do with a kernel's work, by what was measured of it in the same run."""

from __future__ import annotations

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
    }
