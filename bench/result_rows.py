"""Rows of several slices of one sweep, in one file."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

Key = tuple[str, int, str, str]


def key(row: Mapping[str, Any]) -> Key:
    return row["item"], row["threads"], row["view"], row["numerics"]


def read(path: pathlib.Path) -> list[dict[str, Any]]:
    """The rows of a file that was written before; none where there is no file."""
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def refuse_other_machine(path: pathlib.Path, cpu: str, cores: int | None) -> None:
    """Rows of two machines in one file would be compared with each other."""
    if not path.exists():
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    if (found["cpu"], found["cores"]) != (cpu, cores):
        raise SystemExit(
            f"expected rows of this machine ({cpu}, {cores} cores) in {path} for --append, found those of {found['cpu']}, "
            f"{found['cores']} cores: leave out --append, or name another folder with --out"
        )


def merged(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A new row takes the place of the old one of its key; others keep theirs, and new ones follow."""
    rows = {key(row): row for row in old}
    for row in new:
        rows[key(row)] = row
    return list(rows.values())


def rounded(value: Any) -> Any:
    """Floats to five digits, which is more than any measurement here has; JSON has no NaN and no infinity: a string."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {name: rounded(own) for name, own in value.items()}
    return [rounded(own) for own in value] if isinstance(value, list) else value


def text(content: Mapping[str, Any]) -> str:
    """JSON with a line for each row, so that a slice changes its own lines only."""
    fields = [f" {json.dumps(name)}: {json.dumps(rounded(value), allow_nan=False)}" for name, value in content.items() if name != "rows"]
    rows = ",\n".join("  " + json.dumps(rounded(row), allow_nan=False) for row in content["rows"])
    return "{\n" + ",\n".join([*fields, f' "rows": [\n{rows}\n ]']) + "\n}\n"


def newest_code(rows: Sequence[Mapping[str, Any]]) -> str:
    """That of the last row measured."""
    last = max(rows, key=lambda row: row["origin"]["order"])
    return str(last["origin"]["code"])


def next_order(rows: Sequence[Mapping[str, Any]]) -> int:
    """Rows are numbered in the order they were measured in."""
    return max((row["origin"]["order"] for row in rows), default=0) + 1
