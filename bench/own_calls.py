"""Which of a module's calls are the operator's own."""

from __future__ import annotations

from collections.abc import Sequence


def is_copy(workload: str) -> bool:
    """Whether a kernel only changes the layout."""
    return "{ layout_transform(p0, " in workload


def own_calls(workloads: Sequence[str]) -> list[int]:
    """All but the copies in front and behind; copies between kernels are part of the operator's work."""
    kernels = [number for number, workload in enumerate(workloads) if not is_copy(workload)]
    if not kernels:
        raise ValueError(f"expected a call that is no copy between layouts, found {len(workloads)} calls and none")
    return list(range(kernels[0], kernels[-1] + 1))
