"""The classes of kernels that are judged apart, and what a ratio to the best peer counts as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import result_rows
import row_peers
from paired_ratio import geometric_mean

DIRECT = "compute-bound direct"
WINOGRAD = "Winograd-eligible"
DEPTHWISE = "depthwise"
SPECIAL = "softmax, pooling, sparse"
MEMORY = "memory-bound"
SMALL = "under 5 µs"
ORDER = [DIRECT, WINOGRAD, DEPTHWISE, SPECIAL, MEMORY, SMALL]

SMALL_US = 5.0  # what a peer's call costs weighs more than its kernel
FLOPS_A_BYTE = 4.0  # about where this decade's cores turn from bandwidth to arithmetic, out of the last-level cache
TIE = 1.0
FAILED = "failed"  # no figure of tuned Hone, or a wrong result; counts as a loss
LOSS = 0.93


def _is_winograd_eligible(work: Mapping[str, Any]) -> bool:
    """3x3 of stride 1, three-dimensional, and the stems of few channels."""
    if work["op"] == "conv3d":
        return True
    taps = tuple(work["shapes"]["w"][2:])
    return taps == (7, 7) or (taps == (3, 3) and bool(work.get("stride", 1) == 1))


def class_of(work: Mapping[str, Any]) -> str:
    """The class of a workload as the peers' list describes it, whatever its time."""
    op = work["op"]
    if op in ("conv2d", "conv3d"):
        if work.get("groups", 1) == work["shapes"]["x"][1] > 1:
            return DEPTHWISE
        if work.get("groups", 1) == 1 and _is_winograd_eligible(work):
            return WINOGRAD
    if op in ("softmax", "max_pool", "gap", "spmm"):
        return SPECIAL
    return MEMORY if work["flops"] < FLOPS_A_BYTE * work["bytes"] else DIRECT


LEAST_EXTENT = 128  # of a product of matrices
FEWEST_CHANNELS = 16  # of a convolution: stems have shapes of their own


def is_compute_bound(work: Mapping[str, Any]) -> bool:
    """Whether the FMA peak is the measure of a workload's direct sums: for 1x1 and 3x3 convolutions and products of large matrices."""
    shapes = work["shapes"]
    if work["op"] == "conv2d":
        square = tuple(shapes["w"][2:]) in ((1, 1), (3, 3))
        return square and work.get("groups", 1) == 1 and bool(shapes["x"][1] >= FEWEST_CHANNELS)
    return work["op"] == "dense" and min(*shapes["x"], *shapes["y"]) >= LEAST_EXTENT


def timed_class(work: Mapping[str, Any], shortest_us: float) -> str:
    """The same, but for kernels that Hone or a peer is through with at once."""
    return SMALL if shortest_us < SMALL_US else class_of(work)


def verdict(ratio: float, low: float, high: float) -> str:
    """The verdict on the ratio of the best peer's time to Hone's. A win or a tie: the interval reaches 1. A loss: it ends below 0.93."""
    if high < LOSS:
        return "loss"
    if high < TIE:
        return "behind"
    return "win" if low > TIE else "tie"


def summary(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry a view, thread count, numerics and class: geometric means, and how many of which verdict.

    Rows in which Hone failed are in `kernels`, in `loss` and in `failed`; they have no ratio, so the means are of the others.
    """
    newest = result_rows.newest_code(rows) if rows else ""
    groups: dict[tuple[str, str, int, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if "verdict" in row:
            key = (row["view"], row["numerics"], row["threads"], row["class"])
            groups.setdefault(key, []).append(row)
    return [
        {"view": view, "numerics": numerics, "threads": threads, "class": name, **_figures(groups[view, numerics, threads, name], newest)}
        for view, numerics, threads, name in sorted(groups, key=lambda key: (*key[:3], _rank(key[3])))
    ]


def _rank(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _figures(rows: Sequence[Mapping[str, Any]], newest: str) -> dict[str, Any]:
    figures: dict[str, Any] = {"kernels": len(rows)}
    ratios = [ratio for row in rows if (ratio := best_ratio(row)) is not None]
    if ratios:
        figures["ratio"] = geometric_mean(ratios)
    gains = [row["default_to_tuned"]["ratio"] for row in rows if "default_to_tuned" in row]
    if gains:
        figures["default_to_tuned"] = geometric_mean(gains)
    for name in ("win", "tie", "behind", "loss"):
        figures[name] = sum(row["verdict"] == name for row in rows)
    figures["failed"] = sum(row["verdict"] == FAILED for row in rows)
    figures["loss"] += figures["failed"]
    figures["fewer_peers"] = sum(row_peers.asked_fewer(row) for row in rows)
    figures["other_code"] = sum(row["origin"]["code"] != newest for row in rows)
    return figures


def best_ratio(row: Mapping[str, Any]) -> float | None:
    """The ratio of the best peer's time to that of tuned Hone; None if either has no figure."""
    ratio = row["peers"].get(row.get("best_peer"), {}).get("ratio")
    return None if ratio is None else float(ratio)
