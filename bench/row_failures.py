"""What failed in rows, for people: peers, Hone's modules, tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LONGEST = 160


def first_line(text: str) -> str:
    """The first line of what a failed peer said, cut to a length, and safe in a Markdown code span."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = (lines or ["no reason given"])[0].replace("`", "'")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def listed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line a failure."""
    lines = [
        f"- {row['item']}, {name}: `{first_line(text)}`" for row in rows for name, text in row["failures"].items()
    ]
    return ["Failures:", "", *lines, ""] if lines else []
