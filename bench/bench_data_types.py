#!/usr/bin/env python3
"""Convolutions and dense layers of 8-bit integers, bfloat16 and float16 beside the same in float32, tuned, timed in turn.

    bench/bench_data_types.py [--trials 64] [--threads 1] [--rounds 11] [--db FILE] [--forms NAME ...] [--cases TEXT]

Each case is a chain of equal layers, so that what brings the input into the kernels' layouts and the output out of
them hardly counts: bytes with a bias and requantisation behind the sums, floats with a bias and a relu; float32 once
as it is, and once with sums of the products as defined only (`--numerics strict`: no Winograd). A round times the
modules one after the other, each after a run that is not timed; ratios, of a float32 form's time to a narrow type's,
are medians over the rounds. Where every layer of a narrow type multiplies in tile registers, its rate (every tap counted) is
also told as a share of the peak of such products, measured after the case. `--trials 0` times what --db has, without --db the defaults. `--cases` keeps those with
TEXT in their name; with it, or with some of the forms only, nothing is written to bench/results.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import json
import math
import os
import pathlib
import random
import statistics
import struct
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import result_file
from own_calls import is_copy

LAYERS = 8


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    data: tuple[int, ...]  # (1, channels, height, width), or (rows, units)
    taps: int = 1

    def weight(self) -> tuple[int, ...]:
        channels = self.data[1]
        return (channels, channels, self.taps, self.taps) if len(self.data) == 4 else (channels, channels)

    def operations(self) -> float:
        """How many multiplications and additions a layer takes, including those on padding."""
        return 2.0 * math.prod(self.data) * math.prod(self.weight()[1:])

    def product(self, data: str, weight: str) -> str:
        if len(self.data) == 2:
            return f"nn.dense({data}, {weight})"
        pad = self.taps // 2
        return f"nn.conv2d({data}, {weight}, padding=[{pad}, {pad}, {pad}, {pad}])"


@dataclasses.dataclass(frozen=True)
class Form:
    name: str
    data: str  # the types of the tensors
    weight: str
    bias: str
    numerics: str = "default"
    tile_peak: str = ""  # what machine_peak calls that of its products in tile registers

    @property
    def is_narrow(self) -> bool:
        return self.data != "float32"


FORMS = [
    Form("int8", "uint8", "int8", "int32", tile_peak="tile_int8_gops"),
    Form("bfloat16", "bfloat16", "bfloat16", "bfloat16", tile_peak="tile_bf16_gflops"),
    Form("float16", "float16", "float16", "float16"),
    Form("float32", "float32", "float32", "float32"),
    Form("float32_direct", "float32", "float32", "float32", "strict"),
]

CASES = [
    Case("conv 3x3, 64 channels, 56x56", (1, 64, 56, 56), 3),
    Case("conv 3x3, 256 channels, 14x14", (1, 256, 14, 14), 3),
    Case("conv 3x3, 512 channels, 7x7", (1, 512, 7, 7), 3),
    Case("conv 1x1, 256 channels, 28x28", (1, 256, 28, 28)),
    Case("conv 1x1, 512 channels, 14x14", (1, 512, 14, 14)),
    Case("dense 128x768x768", (128, 768)),
    Case("dense 512x512x512", (512, 512)),
    Case("dense 1x1024x1024", (1, 1024)),
]


def constant(shape: Sequence[int], dtype: str, seed: int) -> str:
    """A seeded tensor in the text form of graphs."""
    count = 1
    for extent in shape:
        count *= extent
    draw = random.Random(seed)
    if dtype == "int8":
        raw = bytes(draw.randrange(256) for _ in range(count))
    elif dtype == "int32":
        raw = b"".join(struct.pack("<i", draw.randrange(-999, 999)) for _ in range(count))
    else:
        form = "<e" if dtype == "float16" else "<f"
        floats = [struct.pack(form, draw.uniform(-0.05, 0.05)) for _ in range(count)]
        raw = b"".join(number[2:] if dtype == "bfloat16" else number for number in floats)
    extents = "".join(f"{extent}, " for extent in shape).rstrip(" ")
    return f'Tensor[({extents.rstrip(",")}), {dtype}] "{base64.b64encode(raw).decode()}"'


def model(case: Case, form: Form) -> str:
    """A chain of the case's layers as a .relay text."""
    shape = ", ".join(str(extent) for extent in case.data)
    lines = [f"def @main(%x: Tensor[({shape}), {form.data}]) {{"]
    constants = []
    value = "%x"
    for layer in range(LAYERS):
        constants.append(constant(case.weight(), form.weight, 2 * layer))
        constants.append(constant(case.data[1:2], form.bias, 2 * layer + 1))
        at = 3 * layer
        weight, bias = (f"meta[Constant][{len(constants) - 2}]", f"meta[Constant][{len(constants) - 1}]")
        lines.append(f"  %{at} = {case.product(value, weight)};")
        lines.append(f"  %{at + 1} = nn.bias_add(%{at}, {bias});")
        is_bytes = form.data == "uint8"
        finish = f"qnn.requantize(%{at + 1}, 0.0021f32, 3u8)" if is_bytes else f"nn.relu(%{at + 1})"
        lines.append(f"  %{at + 2} = {finish};" if layer + 1 < LAYERS else f"  {finish}")
        value = f"%{at + 2}"
    lines.append("}")
    lines += [f"meta[Constant][{i}] = {text};" for i, text in enumerate(constants)]
    return "\n".join(lines) + "\n"


SAMPLE_S = 0.05


def sample(modules: Sequence[Any]) -> list[float]:
    """Microseconds a layer of each module."""
    taken = []
    for module in modules:
        repeats = max(1, int(SAMPLE_S / module.time(1)))
        taken.append(module.time(repeats) / repeats / LAYERS * 1e6)
    return taken


def row_of(case: Case, forms: Sequence[Form], times: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Medians of microseconds a layer in the order of `forms`, and ratios of float32's times to the narrow types'."""
    row: dict[str, Any] = {"case": case.name}
    for form, layer_us in zip(forms, zip(*times, strict=True), strict=True):
        row[f"{form.name}_layer_us"] = statistics.median(layer_us)
    for n, narrow in enumerate(forms):
        for w, wide in enumerate(forms):
            if not narrow.is_narrow or wide.is_narrow:
                continue
            ratios = [taken[w] / taken[n] for taken in times]
            row[f"{wide.name}_by_{narrow.name}"] = statistics.median(ratios)
            row[f"{wide.name}_by_{narrow.name}_min"] = min(ratios)
            row[f"{wide.name}_by_{narrow.name}_max"] = max(ratios)
    return row


def is_in_tiles(report: Mapping[str, Any]) -> bool:
    """Whether every layer multiplies in tile registers, by the report of `hone compile`."""
    layers = [kernel for kernel in report["kernels"] if not is_copy(kernel["workload"])]
    return all(json.loads(kernel["config"]).get("strategy") == "tiles" for kernel in layers)


def shares_of_tile_peak(case: Case, tiled: Sequence[Form], row: Mapping[str, Any], peak: Mapping[str, float]) -> dict[str, float]:
    """The shares of the tile peak that the forms with layers in tile registers reach."""
    return {
        f"{form.name}_share_of_tile_peak": case.operations() / row[f"{form.name}_layer_us"] * 1e-3 / peak[form.tile_peak]
        for form in tiled
        if form.tile_peak in peak
    }


def text_of(row: dict[str, Any], forms: Sequence[Form]) -> str:
    text = f"{row['case']:<32}"
    for form in forms:
        text += f"  {form.name} {row[f'{form.name}_layer_us']:8.1f} us"
        share = row.get(f"{form.name}_share_of_tile_peak")
        text += f", {share:.0%} of the tiles' peak" if share else ""
        narrow = [] if form.is_narrow else [other.name for other in forms if other.is_narrow]
        ratios = [f"{row[f'{form.name}_by_{name}']:.2f}x {name}" for name in narrow]
        text += f" ({', '.join(ratios)})" if ratios else ""
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--db")
    parser.add_argument("--forms", nargs="+", choices=[form.name for form in FORMS])
    parser.add_argument("--cases", default="")
    args = parser.parse_args()
    forms = [form for form in FORMS if not args.forms or form.name in args.forms]
    cases = [case for case in CASES if args.cases in case.name]
    if args.db and args.trials <= 0 and not pathlib.Path(args.db).exists():
        parser.error(f"expected the database {args.db} for --trials 0, found no such file")
    sys.path.insert(0, str(result_file.BUILD / "python"))
    try:
        import hone
    except ModuleNotFoundError as error:
        wanted = f"hone built in {result_file.BUILD} and a Python with numpy (Debian's /usr/bin/python3)"
        parser.error(f"expected {wanted}, found no module {error.name} for {sys.executable}")

    threads = ["--threads", str(args.threads)]
    rows = []
    peaks = []
    with tempfile.TemporaryDirectory() as work:
        # `hone` without --db looks for the user's own database: defaults must not come from there.
        os.environ["XDG_DATA_HOME"] = work
        database = args.db or str(pathlib.Path(work) / "hone.db")
        for case in cases:
            modules = []
            tiled = []
            for form in forms:
                path = pathlib.Path(work) / f"{form.name}.relay"
                path.write_text(model(case, form))
                options = ["--numerics", form.numerics, *threads]
                if args.trials > 0:
                    budget = ("--trials", str(args.trials), "--full-budget")
                    result_file.hone("tune", str(path), "--db", database, *budget, *options)
                if pathlib.Path(database).exists():
                    options += ["--db", database]
                output = str(path.with_suffix(".so"))
                if is_in_tiles(result_file.hone("compile", str(path), "-o", output, *options)):
                    tiled.append(form)
                modules.append(hone.Module(output, threads=args.threads))
            times = [sample(modules) for _ in range(args.rounds)]
            peaks.append(result_file.machine_peak(args.threads))
            row = row_of(case, forms, times)
            rows.append(row | shares_of_tile_peak(case, tiled, row, peaks[-1]))
            if len(cases) == len(CASES) and len(forms) == len(FORMS):
                figures = {
                    "threads": args.threads,
                    "rounds": args.rounds,
                    "trials_a_task": args.trials,
                    "layers": LAYERS,
                    "cases": rows,
                }
                result_file.write("data_types", peaks, figures)
            print(text_of(rows[-1], forms), flush=True)


if __name__ == "__main__":
    main()
