#!/usr/bin/env python3
"""Draws bench/results/CPU/NAME.svg: best peer / Hone of each row, with its interval.

    bench/result_chart.py bench/results/znver5/kernels.json

Needs matplotlib (Debian: python3-matplotlib). The same rows give the same file.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import kernel_classes
import result_table

PYTHONS = [sys.executable, "/usr/bin/python3"]
COLOURS = {"win": "#1b7f4d", "tie": "#4a6fa5", "behind": "#c98a1b", "loss": "#b3261e"}
ROW_INCHES = 0.19


def draw(results: pathlib.Path) -> str:
    """With the first Python here that has matplotlib; says what became of it. No chart of other rows stays behind."""
    results.with_suffix(".svg").unlink(missing_ok=True)
    for python in dict.fromkeys(PYTHONS):
        if subprocess.run([python, "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            subprocess.run([python, __file__, str(results)], check=False)
            chart = results.with_suffix(".svg")
            return str(chart) if chart.exists() else f"no chart: no rows that can be drawn, or {pathlib.Path(__file__).name} failed"
    return f"no chart: install python3-matplotlib, then run {pathlib.Path(__file__).name} {results}"


def label(row: Mapping[str, Any]) -> str:
    return f"{row['item']}  vs {row['best_peer']}"


def panel(axes: Any, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """One section: the largest ratio on top; those in which Hone failed have none, and are named."""
    failed = [row["item"] for row in rows if kernel_classes.best_ratio(row) is None]
    ordered = sorted((row for row in rows if row["item"] not in failed), key=lambda row: float(row["peers"][row["best_peer"]]["ratio"]))
    best = [row["peers"][row["best_peer"]] for row in ordered]
    at = list(range(len(ordered)))
    colours = [COLOURS[row["verdict"]] for row in ordered]
    # One collection a kind of mark: a mark of its own for each row makes the file three times as large.
    axes.hlines(at, [own["ratio_low"] for own in best], [own["ratio_high"] for own in best], colors=colours, linewidth=1.2)
    axes.scatter([own["ratio"] for own in best], at, c=colours, s=12, zorder=3)
    defaults = [(row["best_peer_to_default"]["ratio"], y) for row, y in zip(ordered, at, strict=True) if "best_peer_to_default" in row]
    axes.scatter([x for x, _ in defaults], [y for _, y in defaults], marker="|", c="#777777", s=30, linewidth=0.8)
    axes.axvline(1.0, color="#444444", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(importlib.import_module("matplotlib.ticker").FormatStrFormatter("%g"))
    axes.set_yticks(at, [label(row) for row in ordered], fontsize=7)
    axes.set_ylim(-0.7, len(ordered) - 0.3)
    axes.tick_params(axis="x", labelsize=7)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", linewidth=0.3)
    axes.set_title(f"{title}; failed: {', '.join(failed)}" if failed else title, fontsize=9, loc="left", wrap=True)


def draw_here(results: pathlib.Path) -> None:
    """Needs matplotlib in this Python."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    # Text as text and ids from a fixed salt: small, and the same for the same rows.
    matplotlib.rcParams.update({"svg.hashsalt": "hone", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]})
    plots = importlib.import_module("matplotlib.pyplot")
    content = json.loads(results.read_text(encoding="utf-8"))
    rows = [row for row in content["rows"] if "verdict" in row]
    panels = [
        (result_table.title(results.stem, *key), [row for row in rows if result_table.section(row) == key])
        for key in result_table.sections(rows)
    ]
    if not panels:
        return
    heights = [len(own) + 3 for _, own in panels]
    figure, grid = plots.subplots(
        len(panels), 1, figsize=(8, 0.5 + ROW_INCHES * sum(heights)), height_ratios=heights, squeeze=False
    )
    for axes, (title, own) in zip(grid[:, 0], panels, strict=True):
        panel(axes, title, own)
    grid[-1, 0].set_xlabel("best peer's time ÷ Hone's, tuned (bar: 95 % interval; tick: the same of Hone's defaults)", fontsize=8)
    figure.tight_layout()
    figure.savefig(results.with_suffix(".svg"), metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    draw_here(pathlib.Path(sys.argv[1]))
