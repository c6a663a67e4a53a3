"""What this process's resident memory grows by, as Linux counts it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

PROCESS = pathlib.Path("/proc/self")


def growth_bytes(work: Callable[[], None]) -> int | None:
    """At most, while `work` runs; None where this kernel or a sandbox does not say. It runs in any case."""
    before = _resident_bytes_at_most_from_now()
    work()
    most = _resident_bytes("VmHWM")
    return None if before is None or most is None else most - before


def _resident_bytes(field: str) -> int | None:
    """VmRSS or VmHWM, the most of it."""
    try:
        lines = (PROCESS / "status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)


def _resident_bytes_at_most_from_now() -> int | None:
    """Begins VmHWM anew; what there is now."""
    try:
        (PROCESS / "clear_refs").write_text("5")
    except OSError:
        return None
    return _resident_bytes("VmRSS")
