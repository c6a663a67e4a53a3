"""Which peers a row was measured beside: "the best peer" is the best of those only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NO_PEERS = ("hone tuned", "hone default", "tuning", "profile", "row")  # other keys of a row's failures


def asked(row: Mapping[str, Any]) -> list[str]:
    """By name. Rows that do not say: those that left a trace."""
    if "peers_asked" in row:
        return list(row["peers_asked"])
    return sorted({*row["peers"], *row.get("skipped", {}), *row["failures"]} - set(NO_PEERS))


def asked_fewer(row: Mapping[str, Any]) -> bool:
    """Than the default set of its view; or not known."""
    return "peers_left_out" not in row or bool(row["peers_left_out"])


def best_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """In words, with how many rows each set holds for where there are several."""
    counts: dict[str, int] = {}
    for row in rows:
        names = ", ".join(sorted(asked(row))) or "none"
        counts[names] = counts.get(names, 0) + 1
    if len(counts) <= 1:
        return f"best of {next(iter(counts), 'none')}"
    return "best of " + "; ".join(f"{names} ({count} row{'' if count == 1 else 's'})" for names, count in counts.items())
