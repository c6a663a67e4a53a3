"""A row's figures, from what one item's rounds gave and what `hone compile` said of its modules."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import kernel_classes
from executed_flops import data_fraction, executed_fraction
from machine_bound import rates
from paired_ratio import Ratio, paired
from peer_rounds import DEFAULT, DIRECT, OWN, TUNED, Measured

LARGEST_ERROR = 1e-3  # of the largest value: a peer that is further off is no best peer


def operator_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """The operator's own kernel, which does the arithmetic; the others are copies between layouts."""
    kernel: dict[str, Any] = max(report["kernels"], key=lambda kernel: float(kernel["flops"]))
    return kernel


def hone_figures(
    report: Mapping[str, Any],
    times: Sequence[float],
    work: Mapping[str, Any] | None,
    peak: Mapping[str, float],
    threads: int,
) -> dict[str, Any]:
    """The figures of one of Hone's two modules; `work` is None for a model and describes the workload of a kernel."""
    median_us = statistics.median(times)
    figures: dict[str, Any] = {"median_us": median_us, "least_us": min(times), "tiers": report["counts"]}
    if work is None:
        return figures
    figures |= rates(work, median_us, peak, threads)
    operator = operator_of(report)
    figures["kernel"] = {name: operator[name] for name in ("name", "signature", "tier", "config")}
    figures["launched_kernels"] = sum(kernel["calls"] for kernel in report["kernels"])
    config = json.loads(operator["config"])
    for name, part in (("executed", executed_fraction(work, config)), ("data", data_fraction(work, config))):
        if part is not None:
            figures[f"{name}_share_of_peak"] = part * figures["share_of_peak"]
    return figures


def right_times(measured: Measured, name: str) -> list[float] | None:
    """None where there is no figure, or none that counts: a wrong result has no speed."""
    times = measured.times.get(name)
    reply = measured.replies.get(name, {})
    return times if times and not is_wrong(reply["err"], reply.get("err_limit", LARGEST_ERROR)) else None


def compared(measured: Measured, empty: Mapping[str, float]) -> dict[str, Any]:
    """Each peer beside tuned Hone, the best of them beside both, paired by round. Peers keep their medians where Hone failed."""
    ours, default = right_times(measured, TUNED), right_times(measured, DEFAULT)
    peers = {
        name: _peer_figures(measured, name, ours, default, empty)
        for name, times in measured.times.items()
        if times and name not in OWN
    }
    figures: dict[str, Any] = {"peers": peers}
    if ours is None:
        figures["verdict"] = kernel_classes.FAILED
    elif default:
        figures["default_to_tuned"] = _ratio(paired(default, ours))
    best = best_peer(peers)
    direct = right_times(measured, DIRECT)
    if ours is not None and direct:
        figures["over_direct"] = _over_direct(measured, best, ours, direct)
    if best is None:
        return figures
    figures["best_peer"] = best
    if ours is not None:
        own = peers[best]
        figures["verdict"] = kernel_classes.verdict(own["ratio"], own["ratio_low"], own["ratio_high"])
    if default:
        figures["best_peer_to_default"] = _ratio(paired(measured.times[best], default))
    return figures


def _over_direct(
    measured: Measured, best: str | None, ours: Sequence[float], direct: Sequence[float]
) -> dict[str, Any]:
    """What Winograd gains over the best direct sum, Hone's own or the best peer's (none of which transforms)."""
    candidates = {DIRECT: direct} | ({best: measured.times[best]} if best else {})
    least = min(candidates, key=lambda name: statistics.median(candidates[name]))
    return {"direct": least, **_ratio(paired(candidates[least], ours))}


def _peer_figures(
    measured: Measured,
    name: str,
    ours: Sequence[float] | None,
    default: Sequence[float] | None,
    empty: Mapping[str, float],
) -> dict[str, Any]:
    times = measured.times[name]
    figures: dict[str, Any] = {
        "median_us": statistics.median(times),
        "samples": len(times),
        "error": measured.replies[name]["err"],
        "empty_call_us": empty.get(name),
    }
    if "err_limit" in measured.replies[name]:
        figures["error_limit"] = measured.replies[name]["err_limit"]
    if default:
        figures["to_default"] = _ratio(paired(times, default))
    return figures | (_ratio(paired(times, ours)) if ours else {})


def _ratio(ratio: Ratio) -> dict[str, float]:
    return {"ratio": ratio.median, "ratio_low": ratio.low, "ratio_high": ratio.high}


def is_wrong(error: float | str | None, limit: float = LARGEST_ERROR) -> bool:
    """NaN and infinity, also as the strings that files have, are wrong. A peer's that is not known is not: it may be the best."""
    return error is not None and not float(error) < limit


def best_peer(peers: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The least median of those that give the right result, as far as that is known."""
    # TensorFlow's models have weights of their own: their results are others.
    right = [
        name
        for name, figures in peers.items()
        if not is_wrong(figures["error"], figures.get("error_limit", LARGEST_ERROR)) or name.startswith("tf")
    ]
    return min(right, key=lambda name: float(peers[name]["median_us"])) if right else None


def shortest_us(row: Mapping[str, Any]) -> float:
    times = [figures["median_us"] for figures in [*row["hone"].values(), *row["peers"].values()]]
    return min(times, default=kernel_classes.SMALL_US)


def model_figures(report: Mapping[str, Any], measured: Measured, peak: Mapping[str, float]) -> dict[str, Any]:
    """Where a model's time goes: bound by its FLOPs, sum of its kernels, what a run takes besides; and its memory."""
    flops = sum(kernel["flops"] * kernel["calls"] for kernel in report["kernels"])
    figures: dict[str, Any] = {
        "flops": flops,
        "flop_bound_us": flops / peak["fma_gflops"] * 1e-3,
        "arena_bytes": report["arena_bytes"],
        "peak_live_bytes": report["peak_live_bytes"],
        "parameters_bytes": report["parameters_bytes"],
    }
    if "peak_bytes" in measured.replies.get(TUNED, {}):
        figures["peak_bytes"] = measured.replies[TUNED]["peak_bytes"]
    if measured.executor_us:
        figures["executor_us"] = statistics.median(measured.executor_us)
    # By round; one whose profile failed is in neither.
    pairs = zip(measured.times[TUNED], measured.call_us, strict=False)
    profiled = [(whole, call_us) for whole, call_us in pairs if call_us is not None]
    if profiled:
        figures["kernel_calls"] = len(profiled[0][1])
        figures["kernels_us"] = statistics.median(sum(call_us) for _, call_us in profiled)
        figures["beside_kernels_us"] = statistics.median(whole - sum(call_us) for whole, call_us in profiled)
    return figures
