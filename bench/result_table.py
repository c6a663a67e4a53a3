"""Markdown of what a sweep measured: every row, losing ones too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import kernel_classes
import result_rows
import row_failures
import row_peers
from row_figures import LARGEST_ERROR, is_wrong

Row = Mapping[str, Any]
VIEWS = {
    "nchw": "one-operator models, row-major in and out",
    "own": "kernels alone, each in layouts of its own choice",
}
# Those of GPUs, by the numbers that others compute in; Hone's own products of float32 are in float32 in both of the first.
GPU_VIEWS = {
    "fp32": "float32, the others with TF32 off",
    "tf32": "float32, the others with TF32 on",
    "bf16": "bfloat16",
}
TARGETS = {
    ("nchw", kernel_classes.DIRECT): 1.03,
    ("own", kernel_classes.DIRECT): 0.98,
    **{
        (view, name): target
        for view in VIEWS
        for name, target in (
            (kernel_classes.WINOGRAD, 2.3),
            (kernel_classes.DEPTHWISE, 2.0),
            (kernel_classes.SPECIAL, 1.8),
        )
    },
}
NOTES = [
    "† Other code (compiler, runtime, tuner, worker) than that of the newest row.",
    "§ Fewer peers were asked than the view's default set, or it is not known which.",
    "‡ A kernel of the tuned module is less than tuned (`tiers` in the JSON file).",
]
BANDWIDTH_CLASSES = (kernel_classes.MEMORY, kernel_classes.SPECIAL, kernel_classes.DEPTHWISE)


def ratio_text(figures: Mapping[str, float]) -> str:
    if "ratio" not in figures:
        return "-"
    return f"{figures['ratio']:.2f} ({figures['ratio_low']:.2f} to {figures['ratio_high']:.2f})"


def line(row: Row) -> str:
    """One row for a terminal."""
    head = f"{row['item']:<32} {row['threads']} thr"
    cells = [f"hone {us(row['hone'].get('tuned'))} us"]
    if "default" in row["hone"]:
        cells.append(f"default {row['hone']['default']['median_us']:.1f} us")
    cells += [f"{name} {us(own)} us x{ratio_text(own)}" for name, own in row["peers"].items()]
    cells += [f"{name}: {text[:80]}" for name, text in row["failures"].items()]
    return f"{head}  {row.get('verdict', '')} {'; '.join(cells)}"


def document(name: str, content: Mapping[str, Any]) -> str:
    """The whole file of `kernels` or `models`."""
    rows: Sequence[Row] = content["rows"]
    lines = [*head(name, content), ""]
    name = name.removeprefix("gpu_")
    if name == "kernels":
        lines += ["## By class", "", *summary_table(content["summary"]), ""]
    for view, numerics, threads in sections(rows):
        own = [row for row in rows if section(row) == (view, numerics, threads)]
        lines += [f"## {title(name, view, numerics, threads)}", ""]
        lines += [f"Best peer: the {row_peers.best_of(own)}.", ""]
        lines += model_tables(own, rows) if name == "models" else kernel_tables(own, rows)
    return "\n".join(lines + origins(rows)) + "\n"


def head(name: str, content: Mapping[str, Any]) -> list[str]:
    method = "[docs/benchmarks.md](../../../docs/benchmarks.md) has the method and says what each column means."
    if "device" in content:
        what = "Single operators" if name == "gpu_kernels" else "Whole models"
        device = f"{content['device']}, {content['driver']}, in a machine with {content['cpu']}, {content['cores']} cores"
        command = name.removeprefix("gpu_")
        differs = "[docs/gpu.md](../../../docs/gpu.md#measuring-on-a-gpu) says what is different on GPUs."
        return [f"# {what} on a GPU", "", f"{device}. Written by bench/gpu/bench_gpu.py {command}; {method} {differs}"]
    what = "Single operators" if name == "kernels" else "Whole models, batch 1"
    written = f"Written by bench/bench_{name}.py; {method} Chart: [{name}.svg]({name}.svg)."
    return [f"# {what}, float32", "", f"{content['cpu']}, {content['cores']} cores. {written}"]


def section(row: Row) -> tuple[str, str, int]:
    return row["view"], row["numerics"], row["threads"]


def sections(rows: Sequence[Row]) -> list[tuple[str, str, int]]:
    return sorted({section(row) for row in rows})


def title(name: str, view: str, numerics: str, threads: int) -> str:
    if view in GPU_VIEWS:
        return GPU_VIEWS[view]
    what = VIEWS[view] if name == "kernels" else "row-major in and out"
    strict = "" if numerics == "default" else f", {numerics} numerics"
    return f"{threads} thread{'' if threads == 1 else 's'}, {what}{strict}"


def summary_table(summary: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| view | threads | class | kernels | best peer ÷ tuned | goal | default ÷ tuned | win | tie | behind | loss | of fewer peers § | of other code † |",
        "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for entry in summary:
        # Without Winograd other goals hold, as shares of the peak.
        goal = TARGETS.get((entry["view"], entry["class"])) if entry["numerics"] != "strict" else None
        view = entry["view"] if entry["numerics"] == "default" else f"{entry['view']}, {entry['numerics']}"
        gain = number(entry.get("default_to_tuned"))
        lines.append(
            f"| {view} | {entry['threads']} | {entry['class']} | {entry['kernels']} | {number(entry.get('ratio'))} "
            f"| {number(goal)} | {gain} | "
            + " | ".join(str(entry[verdict]) for verdict in ("win", "tie", "behind"))
            + f" | {losses(entry)} | {entry['fewer_peers']} | {entry['other_code']} |"
        )
    return lines


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def losses(entry: Mapping[str, Any]) -> str:
    return f"{entry['loss']}, {entry['failed']} of them failed" if entry["failed"] else str(entry["loss"])


def kernel_tables(rows: Sequence[Row], every: Sequence[Row]) -> list[str]:
    """The tables of one section: each class in turn, and apart from them the kernels that take almost no time."""
    lines = [empty_calls(rows), ""]
    large = [row for name in kernel_classes.ORDER for row in rows if row["class"] == name != kernel_classes.SMALL]
    small = [row for row in rows if row["class"] == kernel_classes.SMALL]
    lines += [*kernel_table(large, every), *direct_table([row for row in large if "over_direct" in row])]
    if small:
        lines += ["Kernels that Hone or a peer is through with in less than 5 µs: what a call costs weighs more than the kernel.", ""]
        lines += kernel_table(small, every)
    return lines


def peer_names(rows: Sequence[Row]) -> list[str]:
    """Those that were asked, figures or not."""
    return sorted({peer for row in rows for peer in row_peers.asked(row) if peer not in row.get("skipped", {})})


def empty_calls(rows: Sequence[Row]) -> str:
    """A sentence with the time of an empty call, for each name from the newest row that has it."""
    calls: dict[str, float] = {}
    for row in sorted(rows, key=lambda row: int(row["origin"]["order"])):
        known = {"hone": row["hone"].get("tuned", {}), **row["peers"]}
        calls |= {name: own["empty_call_us"] for name, own in known.items() if own.get("empty_call_us") is not None}
    cells = [f"{name} {us:.3g}" for name, us in sorted(calls.items())]
    return f"A call that computes next to nothing (relu of 16 elements) takes, µs: {', '.join(cells) or 'not measured'}."


def table(header: Sequence[str], cells: Sequence[Sequence[str]], texts: int = 1) -> list[str]:
    rule = ["---"] * texts + ["--:"] * (len(header) - texts)
    return [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in [header, rule, *cells]] + [""]


def kernel_table(rows: Sequence[Row], every: Sequence[Row]) -> list[str]:
    peers = peer_names(rows)
    header = ["kernel, µs", "class", "default", "tuned", "rate", "% of", *peers, "best peer ÷ tuned", "", *error_head(rows), "trials", "tuning, s"]
    cells = [
        [
            f"{row['item']}{marks(row, every)}",
            row["class"],
            *hone_cells(row),
            *rate(row),
            *(cell(row, peer, row["peers"].get(peer)) for peer in peers),
            *judged(row),
            *error_cells(row),
            str(row["trials"]),
            f"{row['tune_s']:.0f}",
        ]
        for row in rows
    ]
    return [*table(header, cells, texts=2), *row_failures.listed(rows)] if rows else []


def error_head(rows: Sequence[Row]) -> list[str]:
    """On GPUs peers differ in how they round."""
    return ["error, best peer's"] if any(row["view"] in GPU_VIEWS for row in rows) else []


def error_cells(row: Row) -> list[str]:
    """The largest, as parts of the outputs' largest value."""
    if row["view"] not in GPU_VIEWS:
        return []
    both = [row["hone"].get("tuned"), row["peers"].get(row.get("best_peer"))]
    return [", ".join(f"{float(own['error']):.0e}" if own else "-" for own in both)]


def direct_table(rows: Sequence[Row]) -> list[str]:
    """What algorithms with fewer multiplications gain."""
    header = ["kernel, µs", "tuned", "Hone's direct", "best peer", "best direct ÷ tuned", "largest error"]
    cells = [
        [
            row["item"],
            us(row["hone"].get("tuned")),
            us(row["hone"].get("direct")),
            us(row["peers"].get(row.get("best_peer"))),
            ratio_text(row["over_direct"]),
            f"{float(row['hone']['tuned']['error']):.1e}",
        ]
        for row in rows
    ]
    return ["Over direct sums (Hone's tuned with strict numerics, and the best peer's):", "", *table(header, cells)] if rows else []


def is_about_bytes(row: Row) -> bool:
    """Whether GB/s say more of it than GFLOP/s."""
    if row["class"] == kernel_classes.SMALL:
        return bool(row["flops"] < kernel_classes.FLOPS_A_BYTE * row["bytes"])
    return row["class"] in BANDWIDTH_CLASSES


def rate(row: Row) -> list[str]:
    """GFLOP/s and the share of the FMA peak, or GB/s and that of the bandwidth."""
    tuned = row["hone"].get("tuned")
    if not tuned or "gflops" not in tuned:
        return ["-", "-"]
    if "share_of_peak" not in tuned:
        return [f"{tuned['gbs']:.0f} GB/s" if is_about_bytes(row) else f"{tuned['gflops']:.0f} GFLOP/s", "-"]
    if is_about_bytes(row):
        if "share_of_bandwidth" not in tuned:
            return [f"{tuned['gbs']:.0f} GB/s", "-"]
        loop = tuned["bandwidth"].removesuffix("_gbs").replace("_", " ")
        share = f"{100 * tuned['share_of_bandwidth']:.0f} {loop}"
        if tuned.get("share_of_bound", 0) > tuned["share_of_bandwidth"]:
            share += f", {100 * tuned['share_of_bound']:.0f} operations"
        return [f"{tuned['gbs']:.0f} GB/s", share]
    share = f"{100 * tuned['share_of_peak']:.0f} peak"
    for name, text in (("executed", "executed"), ("data", "on data")):
        part = tuned.get(f"{name}_share_of_peak", tuned["share_of_peak"])
        if part < tuned["share_of_peak"]:
            share += f", {100 * part:.0f} {text}"
    return [f"{tuned['gflops']:.0f} GFLOP/s", share]


def judged(row: Row) -> list[str]:
    """The ratio to the best peer, and what it counts as beside whom."""
    best = row.get("best_peer")
    if row.get("verdict") == kernel_classes.FAILED:
        return ["-", f"failed, {best}" if best else "failed"]
    if best is None:
        return ["no peer", ""]
    return [ratio_text(row["peers"][best]), f"{row['verdict']}, {best}"]


def hone_cells(row: Row, scale: float = 1.0) -> list[str]:
    """Defaults and tuned; a double dagger where a kernel of the tuned module is less than tuned."""
    tuned = row["hone"].get("tuned")
    default_cell, tuned_cell = (cell(row, f"hone {kind}", row["hone"].get(kind), scale) for kind in ("default", "tuned"))
    return [default_cell, tuned_cell + (" ‡" if tuned and set(tuned.get("tiers", {})) - {"tuned"} else "")]


def cell(row: Row, name: str, figures: Mapping[str, Any] | None, scale: float = 1.0) -> str:
    return "failed" if not figures and name in row["failures"] else us(figures, scale)


def us(figures: Mapping[str, Any] | None, scale: float = 1.0) -> str:
    if not figures:
        return "-"
    wrong = " (wrong)" if is_wrong(figures.get("error"), figures.get("error_limit", LARGEST_ERROR)) else ""
    return f"{figures['median_us'] / scale:.{1 if scale == 1 else 3}f}{wrong}"


def model_tables(rows: Sequence[Row], every: Sequence[Row]) -> list[str]:
    peers = peer_names(rows)
    header = ["model, ms", "default", "tuned", *peers, "best peer ÷ tuned", "", *error_head(rows), "trials", "tuning, s"]
    cells = [
        [
            f"{row['item']}{marks(row, every)}",
            *hone_cells(row, 1e3),
            *(cell(row, peer, row["peers"].get(peer), 1e3) for peer in peers),
            *judged(row),
            *error_cells(row),
            str(row["trials"]),
            f"{row['tune_s']:.0f}",
        ]
        for row in rows
    ]
    inside = [row for row in rows if "flop_bound_us" in row]
    return [*table(header, cells), *row_failures.listed(rows), *(inside_table(inside) if inside else [])]


def inside_table(rows: Sequence[Row]) -> list[str]:
    """Where tuned models' time goes."""
    header = ["tuned model", "GFLOP", "FLOP bound, ms", "sum of kernels, ms", "whole less kernels, µs", "kernels", "executor, µs", "arena, MiB", "parameters, MiB", "peak memory, MiB"]
    cells = [
        [
            row["item"],
            f"{row['flops'] * 1e-9:.3g}",
            f"{row['flop_bound_us'] / 1e3:.3f}",
            f"{row['kernels_us'] / 1e3:.3f}" if "kernels_us" in row else "-",
            f"{row['beside_kernels_us']:.1f}" if "beside_kernels_us" in row else "-",
            str(row.get("kernel_calls", "-")),
            f"{row['executor_us']:.1f}" if "executor_us" in row else "-",
            f"{row['arena_bytes'] / 2**20:.1f}",
            f"{row['parameters_bytes'] / 2**20:.1f}",
            f"{row['peak_bytes'] / 2**20:.1f}" if "peak_bytes" in row else "-",
        ]
        for row in rows
    ]
    return table(header, cells)


def marks(row: Row, every: Sequence[Row]) -> str:
    """The marks of a row that differs from the others; NOTES explain them."""
    found = "†" if row["origin"]["code"] != result_rows.newest_code(every) else ""
    found += "§" if row_peers.asked_fewer(row) else ""
    return f" {found}" if found else ""


def origins(rows: Sequence[Row]) -> list[str]:
    return ["## Where the rows are from", "", *(f"- {note}" for note in NOTES), "", *origin_lines(rows)] if rows else []


def origin_lines(rows: Sequence[Row]) -> list[str]:
    """One line a command that rows are from."""
    lines = []
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        own = row["origin"]
        commit = short(own["commit"]) + (" of the benchmarks, the build's is not known" if own.get("build_is_elsewhere") else "")
        groups.setdefault((commit, own["command"]), []).append(row)
    for (commit, command), members in groups.items():
        count = f"{len(members)} row{'' if len(members) == 1 else 's'}"
        lines.append(f"- {count}: commit {commit}, `bench/{command}`, {rounds(members)}; {machine(members)}.")
    return lines


def marked(rows: Sequence[Row]) -> tuple[int, int]:
    """How many are of fewer peers, and of other code."""
    found = [marks(row, rows) for row in rows]
    return sum("§" in text for text in found), sum("†" in text for text in found)


def short(commit: str) -> str:
    return commit[:12] + ("+changes" if commit.endswith("+changes") else "")


def rounds(rows: Sequence[Row]) -> str:
    """How many were measured. A row that does not say so has those that were asked for."""
    return f"{span([row.get('rounds', row['origin']['rounds']) for row in rows])} rounds"


def machine(rows: Sequence[Row]) -> str:
    """What the machine could do when they were measured."""
    peaks = [row["origin"]["peak"] for row in rows if row["origin"]["peak"]]
    measured = "no peak measured"
    if peaks:
        fma, copy = ([peak[name] for peak in peaks] for name in ("fma_gflops", "copy_gbs"))
        measured = f"FMA peak {span(fma)} GFLOP/s, copy {span(copy, 1)} GB/s"
    return f"{measured}, load {span([row['origin']['load'] for row in rows], 1)}"


def span(values: Sequence[float], digits: int = 0) -> str:
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"
