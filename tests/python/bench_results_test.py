"""What bench/ makes of samples, without any peer: bench_results_test.py SOURCE_FOLDER"""

from __future__ import annotations

import argparse
import contextlib
import importlib.machinery
import io
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
from typing import Any

import numpy

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "bench"))

import bench_data_types
import bench_isa
import executed_flops
import free_ends
import kernel_classes
import machine_bound
import output_error
import own_calls
import paired_ratio
import peer_rounds
import resident_memory
import result_file
import result_rows
import result_table
import row_figures
import row_peers
import sweep
import tuned_modules


def conv(taps: list[int], stride: int = 1, groups: int = 1, channels: int = 64) -> dict[str, Any]:
    shapes = {"x": [1, channels, 56, 56], "w": [64, channels // groups, *taps], "y": [1, 64, 56, 56]}
    return {"op": "conv2d", "shapes": shapes, "stride": stride, "groups": groups, "flops": 231e6, "bytes": 1.7e6}


def dense(rows: int) -> dict[str, Any]:
    shapes = {"x": [rows, 512], "w": [1000, 512], "y": [rows, 1000]}
    bytes_moved = 4.0 * (rows * 512 + 512000 + rows * 1000)
    return {"op": "dense", "shapes": shapes, "flops": 2.0 * rows * 512000, "bytes": bytes_moved}


def row(item: str = "a", ratio: float = 1.5, commit: str = "old", order: int = 1, **others: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"item": item, "threads": 1, "view": "nchw", "numerics": "default"}
    peer = {"median_us": 15.0, "ratio": ratio, "ratio_low": ratio, "ratio_high": ratio, "error": 0.0, "empty_call_us": 2.0}
    made |= {"hone": {"tuned": {"median_us": 10.0, "error": 0.0}}, "peers": {"ort": peer}, "best_peer": "ort", "failures": {}}
    made |= {"peers_asked": ["ort"], "peers_left_out": []}
    made |= {"verdict": kernel_classes.verdict(ratio, ratio, ratio), "class": kernel_classes.DIRECT, "trials": 64, "tune_s": 3.0}
    peak = {"fma_gflops": 250.0, "copy_gbs": 30.0}
    origin = {"commit": commit, "code": commit, "order": order, "command": "x", "rounds": 11, "load": 0.1, "peak": peak}
    return made | {"origin": origin} | others


def failed_row(item: str, **others: Any) -> dict[str, Any]:
    """Hone's tuned module gave no result; the peer did, if it is there."""
    made = row(item, hone={}, verdict="failed", failures={"hone tuned": "broken"})
    for name in ("ratio", "ratio_low", "ratio_high"):
        del made["peers"]["ort"][name]
    made |= others
    if not made["peers"]:
        del made["best_peer"]
    return made


class PairedRatioTest(unittest.TestCase):
    def test_pairs_by_round_so_that_drift_of_the_machine_cancels(self) -> None:
        ours = [10.0, 20.0, 40.0]
        self.assertEqual(paired_ratio.paired([own * 2 for own in ours], ours), (2.0, 2.0, 2.0))

    def test_the_interval_holds_the_median_and_is_the_same_each_time(self) -> None:
        ratios = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0]
        low, high = paired_ratio.interval(ratios)
        self.assertTrue(1.0 <= low < 1.5 < high <= 2.0)
        self.assertEqual((low, high), paired_ratio.interval(ratios))

    def test_a_slow_peer_is_paired_with_the_rounds_it_has(self) -> None:
        self.assertEqual(paired_ratio.paired([30.0, 30.0], [10.0, 10.0, 99.0]).median, 3.0)

    def test_means_of_ratios_are_geometric(self) -> None:
        self.assertAlmostEqual(paired_ratio.geometric_mean([0.5, 2.0]), 1.0)


class KernelClassesTest(unittest.TestCase):
    def test_classes_follow_from_the_shapes(self) -> None:
        self.assertEqual(kernel_classes.class_of(conv([3, 3])), kernel_classes.WINOGRAD)
        self.assertEqual(kernel_classes.class_of(conv([7, 7], stride=2, channels=3)), kernel_classes.WINOGRAD)
        self.assertEqual(kernel_classes.class_of({**conv([3, 3, 3]), "op": "conv3d"}), kernel_classes.WINOGRAD)
        self.assertEqual(kernel_classes.class_of(conv([3, 3], stride=2)), kernel_classes.DIRECT)
        self.assertEqual(kernel_classes.class_of(conv([1, 7])), kernel_classes.DIRECT)
        self.assertEqual(kernel_classes.class_of(conv([3, 3], groups=64)), kernel_classes.DEPTHWISE)
        self.assertEqual(kernel_classes.class_of({**dense(1), "op": "softmax"}), kernel_classes.SPECIAL)
        self.assertEqual(kernel_classes.class_of(dense(1)), kernel_classes.MEMORY)
        self.assertEqual(kernel_classes.class_of(dense(128)), kernel_classes.DIRECT)

    def test_large_products_and_square_convolutions_are_compute_bound(self) -> None:
        judged = [conv([3, 3]), conv([1, 1]), dense(512)]
        others = [conv([7, 7]), conv([3, 3], groups=64), conv([3, 3], channels=3), dense(1)]
        self.assertEqual([kernel_classes.is_compute_bound(work) for work in judged], [True] * 3)
        self.assertEqual([kernel_classes.is_compute_bound(work) for work in others], [False] * 4)

    def test_what_is_over_at_once_is_apart(self) -> None:
        self.assertEqual(kernel_classes.timed_class(conv([3, 3]), 4.9), kernel_classes.SMALL)
        self.assertEqual(kernel_classes.timed_class(conv([3, 3]), 5.0), kernel_classes.WINOGRAD)

    def test_verdicts_go_by_the_upper_end_of_the_interval(self) -> None:
        self.assertEqual(kernel_classes.verdict(1.2, 1.1, 1.3), "win")
        self.assertEqual(kernel_classes.verdict(0.99, 0.9, 1.0), "tie")
        self.assertEqual(kernel_classes.verdict(0.95, 0.9, 0.99), "behind")
        self.assertEqual(kernel_classes.verdict(0.8, 0.7, 0.92), "loss")

    def test_the_summary_counts_rows_in_which_hone_failed_as_losses(self) -> None:
        (entry,) = kernel_classes.summary([row("a", 2.0), row("b", 0.5), failed_row("c"), failed_row("d", peers={})])
        self.assertEqual([entry[name] for name in ("kernels", "win", "loss", "failed")], [4, 1, 3, 2])
        self.assertAlmostEqual(entry["ratio"], 1.0)
        (entry,) = kernel_classes.summary([failed_row("c")])
        self.assertNotIn("ratio", entry)
        self.assertIn("| 1, 1 of them failed |", result_table.summary_table([entry])[-1])


class BestPeerTest(unittest.TestCase):
    def test_wrong_results_are_no_best_peer(self) -> None:
        peers = {"a": {"median_us": 1.0, "error": 0.5}, "b": {"median_us": 2.0, "error": 1e-6}}
        self.assertEqual(row_figures.best_peer(peers), "b")
        self.assertIsNone(row_figures.best_peer({}))

    def test_a_fast_wrong_result_has_failed(self) -> None:
        for error in (0.1, float("nan"), float("inf")):
            replies = {"hone tuned": {"err": error}, "ort": {"err": 0.0}}
            measured = peer_rounds.Measured({"hone tuned": [1.0], "ort": [9.0]}, replies, {}, {}, [], [])
            figures = row_figures.compared(measured, {})
            self.assertEqual(figures["verdict"], "failed")
            self.assertNotIn("ratio", figures["peers"]["ort"])

    def test_peers_keep_their_medians_where_hone_fails(self) -> None:
        measured = peer_rounds.Measured({"ort": [9.0, 9.0]}, {"ort": {"err": 0.0}}, {"hone tuned": "no answer"}, {}, [], [])
        figures = row_figures.compared(measured, {})
        self.assertEqual((figures["verdict"], figures["best_peer"]), ("failed", "ort"))
        self.assertEqual(figures["peers"]["ort"]["median_us"], 9.0)

    def test_rows_keep_peers_that_failed_and_compare_defaults_too(self) -> None:
        times = {"hone tuned": [10.0, 10.0], "hone default": [12.0, 12.0], "ort": [15.0, 15.0]}
        measured = peer_rounds.Measured(times, {name: {"err": 0.0} for name in times}, {"tvm-relay": "no"}, {}, [], [])
        figures = row_figures.compared(measured, {"ort": 3.0})
        self.assertEqual((figures["best_peer"], figures["verdict"]), ("ort", "win"))
        self.assertEqual(figures["peers"]["ort"]["empty_call_us"], 3.0)
        self.assertEqual(figures["default_to_tuned"]["ratio"], 1.2)
        self.assertEqual(figures["peers"]["ort"]["to_default"]["ratio"], 1.25)
        self.assertEqual(figures["best_peer_to_default"]["ratio"], 1.25)


    def test_winograd_is_compared_with_the_faster_direct_sum(self) -> None:
        for own, named, ratio in ((20.0, "onednn", 1.5), (14.0, "hone direct", 1.4)):
            times = {"hone tuned": [10.0, 10.0], "hone direct": [own, own], "onednn": [15.0, 15.0]}
            measured = peer_rounds.Measured(times, {name: {"err": 0.0} for name in times}, {}, {}, [], [])
            figures = row_figures.compared(measured, {})
            self.assertEqual((figures["over_direct"]["direct"], figures["over_direct"]["ratio"]), (named, ratio))
            self.assertEqual(list(figures["peers"]), ["onednn"])


class ModelFiguresTest(unittest.TestCase):
    def test_a_round_whose_profile_failed_does_not_shift_the_others(self) -> None:
        report = {"kernels": [], "arena_bytes": 1, "peak_live_bytes": 1, "parameters_bytes": 1}
        calls: list[list[float] | None] = [[9.0], None, [29.0]]
        measured = peer_rounds.Measured({"hone tuned": [10.0, 20.0, 30.0]}, {"hone tuned": {"peak_bytes": 7}}, {}, {}, calls, [4.0, 6.0])
        figures = row_figures.model_figures(report, measured, {"fma_gflops": 1.0})
        self.assertEqual((figures["beside_kernels_us"], figures["executor_us"], figures["peak_bytes"]), (1.0, 5.0, 7))


class RowsTest(unittest.TestCase):
    def test_a_slice_takes_the_place_of_its_own_rows_only(self) -> None:
        old = [row("a", 1.0), row("b", 1.0), row("a", 1.0, view="own")]
        rows = result_rows.merged(old, [row("a", 3.0), row("a", 4.0, threads=2)])
        ratios = [(r["item"], r["view"], r["threads"], r["peers"]["ort"]["ratio"]) for r in rows]
        expected = [("a", "nchw", 1, 3.0), ("b", "nchw", 1, 1.0), ("a", "own", 1, 1.0), ("a", "nchw", 2, 4.0)]
        self.assertEqual(ratios, expected)

    def test_a_row_is_a_line_of_the_file(self) -> None:
        content = {"schema": 2, "summary": [{"ratio": 1.0}], "rows": [row("a", 1.23456789), row("b")]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.json"
            self.assertEqual(result_rows.read(path), [])
            path.write_text(result_rows.text(content), encoding="utf-8")
            self.assertEqual(result_rows.read(path), [row("a", 1.2346), row("b")])
            self.assertEqual(sum('"item"' in line for line in path.read_text(encoding="utf-8").splitlines()), 2)

    def test_files_are_strict_json(self) -> None:
        text = result_rows.text({"rows": [row("a", peak=float("nan"), error=float("inf"))]})
        (found,) = json.loads(text, parse_constant=self.fail)["rows"]
        self.assertEqual((found["peak"], found["error"]), ("nan", "inf"))
        self.assertTrue(row_figures.is_wrong(found["error"]) and row_figures.is_wrong(found["peak"]))

    def test_rows_of_other_code_are_marked(self) -> None:
        rows = [row("a", commit="new", order=2), row("b", commit="old", order=1)]
        self.assertEqual([result_table.marks(r, rows) for r in rows], ["", " †"])
        self.assertEqual([entry["other_code"] for entry in kernel_classes.summary(rows)], [1])
        self.assertEqual(result_rows.next_order(rows), 3)
        self.assertEqual(result_rows.next_order([]), 1)


class SelectionTest(unittest.TestCase):
    def test_a_whole_name_is_that_item_only(self) -> None:
        items = [sweep.Item(name, pathlib.Path(name), name, None) for name in ("conv", "conv_relu", "dense")]

        def names(only: str) -> list[str]:
            return [item.name for item in sweep.selected(items, only)]

        self.assertEqual(names("conv"), ["conv"])
        self.assertEqual(names("con,dense"), ["conv", "conv_relu", "dense"])
        self.assertEqual(names(""), ["conv", "conv_relu", "dense"])
        with self.assertRaises(SystemExit):
            names("none")


class TableTest(unittest.TestCase):
    def document(self, rows: list[dict[str, Any]]) -> str:
        content = {"cpu": "C", "cores": 2, "rows": rows, "summary": kernel_classes.summary(rows)}
        return result_table.document("kernels", content)

    def test_losing_rows_and_empty_calls_are_shown(self) -> None:
        text = self.document([row("good"), row("bad", 0.5)])
        self.assertIn("| bad |", text)
        self.assertIn("0.50 (0.50 to 0.50) | loss, ort", text)
        self.assertIn("µs: ort 2.", text)

    def test_small_kernels_have_a_table_of_their_own(self) -> None:
        text = self.document([row("large"), row("small", **{"class": kernel_classes.SMALL})])
        self.assertLess(text.index("| large |"), text.index("less than 5 µs"))
        self.assertLess(text.index("less than 5 µs"), text.index("| small |"))

    def test_items_without_a_figure_do_not_end_a_sweep(self) -> None:
        for failed in (failed_row("none"), failed_row("none", peers={})):
            self.assertIn("broken", result_table.line(failed))
            self.assertIn("| none |", self.document([failed]))
        self.assertIn("| 15.0 | - | failed, ort |", self.document([failed_row("none")]))


    def test_failures_are_on_the_page_with_what_was_said(self) -> None:
        failures = {"tvm-relay": f"out of `memory`\nat line 1{'x' * 500}", "tuning": "y" * 500}
        text = self.document([row("a", failures=failures, peers_asked=["ort", "tvm-relay"])])
        self.assertIn("| 15.0 | failed | 1.50", text)
        self.assertIn("- a, tvm-relay: `out of 'memory'`\n", text)
        self.assertIn(f"- a, tuning: `{'y' * 160}…`\n", text)

    def test_modules_that_are_less_than_tuned_are_marked(self) -> None:
        def tuned(tiers: dict[str, int]) -> str:
            return result_table.hone_cells(row(hone={"tuned": {"median_us": 10.0, "tiers": tiers}}))[1]

        self.assertEqual([tuned({"tuned": 2}), tuned({"tuned": 1, "default": 1})], ["10.0", "10.0 ‡"])

    def test_the_page_says_of_which_peers_the_best_is(self) -> None:
        rows = [row("a"), row("b", peers_asked=["ort", "tvm-relay"]), row("c", peers_left_out=["openvino"])]
        text = self.document(rows)
        self.assertIn("Best peer: the best of ort (2 rows); ort, tvm-relay (1 row).", text)
        self.assertIn("| c § |", text)
        self.assertEqual(kernel_classes.summary(rows)[0]["fewer_peers"], 1)

    def test_the_page_says_how_many_rounds_were_measured(self) -> None:
        self.assertIn("`bench/x`, 11 to 33 rounds; ", self.document([row("a"), row("b", rounds=33)]))

    def test_rows_that_do_not_say_their_peers_count_as_of_fewer(self) -> None:
        old = row(failures={"tuning": "no", "dgl": "no"})
        del old["peers_asked"], old["peers_left_out"]
        self.assertEqual((row_peers.asked(old), row_peers.asked_fewer(old)), (["dgl", "ort"], True))


class ReadmeTest(unittest.TestCase):
    def setUp(self) -> None:
        path = str(SOURCE / "scripts" / "readme-tables")
        loader = importlib.machinery.SourceFileLoader("readme_tables", path)
        self.tables = types.ModuleType("readme_tables")
        self.tables.__file__ = path
        loader.exec_module(self.tables)
        lost = failed_row("bad", origin={**row()["origin"], "peak": {}, "code": "older", "command": "y", "order": 0})
        self.document = {"cpu": "C", "cores": 2, "rows": [row("good"), lost]}

    def test_tables_say_where_they_are_from_and_show_failed_rows(self) -> None:
        for name in ("kernels", "models"):
            text = "\n".join(self.tables.TABLES[f"{name}.json"].lines(self.document, "results/new"))
            self.assertIn("1 thread: best of ort; 11 rounds; FMA peak 250 GFLOP/s, copy 30.0 GB/s, load 0.1.", text)
            self.assertIn(f"- 2 rows (§: 0, †: 1): [{name}.md](results/new/{name}.md)", text)
        self.assertIn("| bad † | 1 | - | failed | 0.015 | failed, ort | - |", text)

    def test_shares_of_the_peaks_are_by_threads_and_kind(self) -> None:
        def shares(item: str, *figures: float) -> dict[str, Any]:
            own = [{"peak_gflops": peak, "tuned": {"executed_share_of_peak": share}} for peak, share in zip((100, 200), figures)]
            return {"item": item, "threads": 1, "ymm": own[0], "host": own[1]}

        rows = [shares("inc1x1_a", 0.9, 0.8), shares("conv1x1_b", 0.8, 0.9), shares("conv1x1_c", 1.0, 1.0), shares("dense_d", 0.5, 0.6)]
        rows.append({"item": "dense_e", "threads": 1, "ymm": {"failure": "x"}, "host": {"failure": "x"}})
        document = {"rows": rows, "rounds": 11, "trials_a_task": 64, "load": 0.1, "commit": "c", "command": "bench_isa.py"}
        text = "\n".join(self.tables.TABLES["isa.json"].lines(document, "results/new"))
        self.assertIn("| 1 | 1×1 convolutions | 3 | 100 | 80.0 | 90.0 | 200 | 80.0 | 90.0 |", text)
        self.assertIn("| 1 | products of matrices | 1 | 100 | 50.0 | 50.0 | 200 | 60.0 | 60.0 |", text)
        self.assertIn("[isa.json](results/new/isa.json). Again: `bench/bench_isa.py`.", text)

    def test_each_machine_has_a_section_and_what_tables_mean_is_said_once(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            results = pathlib.Path(name) / "results"
            for cpu, file, content in (
                ("new", "kernels.json", self.document),
                ("old", "kernels.json", self.document),
                ("old", "other.json", {"cpu": "C", "cores": 2}),
                ("", "model.json", {}),
            ):
                (results / cpu).mkdir(parents=True, exist_ok=True)
                (results / cpu / file).write_text(json.dumps(content), encoding="utf-8")
            with unittest.mock.patch.multiple(self.tables, ROOT=results.parent, RESULTS=results):
                text = self.tables.figures()
        self.assertEqual([line for line in text.splitlines() if line.startswith("#")], ["## new", "## old", "## No machine"])
        self.assertEqual((text.count("C, 2 cores."), text.count("above 1 Hone is faster")), (2, 1))
        self.assertIn("[kernels.md](new/kernels.md)", text)
        self.assertIn("More: [other.json](old/other.json).", text)
        self.assertIn("[model.json](model.json).", text)


class BoundTest(unittest.TestCase):
    def test_a_bound_is_the_longer_of_bytes_and_arithmetic(self) -> None:
        peak = {"fma_gflops": 200.0}  # 100 operations a nanosecond
        pool = {"op": "max_pool", "k": 3, "stride": 2, "shapes": {"y": [1, 10, 10, 10]}, "bytes": 1000}
        self.assertEqual(machine_bound.vector_operations(pool), 6000)
        self.assertAlmostEqual(machine_bound.least_us(pool, peak, 1.0), 1.0)  # of 1000 bytes
        self.assertAlmostEqual(machine_bound.least_us(pool, peak, 100.0), 0.06)

    def test_depthwise_rows_of_three_taps_take_four_products_for_six(self) -> None:
        shapes = {"x": [1, 8, 5, 5], "y": [1, 8, 5, 5], "w": [8, 1, 3, 3]}
        depthwise = {"op": "conv2d", "groups": 8, "stride": 1, "shapes": shapes, "flops": 3600, "bytes": 1}
        self.assertAlmostEqual(machine_bound.vector_operations(depthwise), 1200)
        self.assertAlmostEqual(machine_bound.vector_operations({**depthwise, "stride": 2}), 1800)

    def test_bandwidth_is_that_of_the_level_and_mix(self) -> None:
        l2 = 1 << 20
        self.assertEqual(machine_bound.bandwidth_name(dense(1), 1, l2), "l3_read_gbs")
        copy = {"op": "relu", "shapes": {"y": [1 << 16]}, "flops": 1.0, "bytes": 8.0 * (1 << 16)}
        self.assertEqual(machine_bound.bandwidth_name(copy, 1, l2), "l2_copy_gbs")
        large = {**copy, "shapes": {"y": [1 << 26]}, "bytes": 8.0 * (1 << 26)}
        self.assertEqual(machine_bound.bandwidth_name(large, 2, l2), "triad_gbs")


class ExecutedFlopsTest(unittest.TestCase):
    def test_sums_along_rows_multiply_what_they_mask(self) -> None:
        work = {"op": "conv2d", "shapes": {"x": [1, 8, 4, 4], "w": [3, 8, 3, 3]}, "stride": 1, "pad": [1, 1]}
        self.assertEqual(executed_flops.executed_fraction(work, {"strategy": "rows", "pad": "border"}), 1.0)

    def test_a_product_of_pixels_is_a_direct_sum(self) -> None:
        work = {"op": "conv2d", "shapes": {"x": [1, 8, 4, 4], "w": [8, 8, 1, 1]}, "stride": 1, "pad": [0, 0]}
        self.assertEqual(executed_flops.executed_fraction(work, {"strategy": "pixels"}), 1.0)
        self.assertIsNone(executed_flops.executed_fraction(work, {"strategy": "winograd"}))

    def test_a_row_of_two_targets_that_fails_is_a_row(self) -> None:
        bench = bench_isa.Bench.__new__(bench_isa.Bench)
        item = sweep.Item("conv1x1_8", pathlib.Path("m.onnx"), None, None)
        with unittest.mock.patch.object(bench, "_row", side_effect=RuntimeError("no code")):
            row = bench.row_or_failure(item, 1, [])
        self.assertEqual(row["failures"], {"row": "RuntimeError: no code"})
        self.assertIn("conv1x1_8", bench_isa.line(row))
        self.assertIn("no code", bench_isa.line(row))

    def test_rounds_that_a_kernel_does_not_have_are_left_out(self) -> None:
        kernel = {"config": "{}", "signature": "", "tier": "default"}
        found = bench_isa.figures({"op": "dense", "flops": 1e6}, kernel, [10.0, 20.0], [5.0, 5.0, 5.0])
        self.assertAlmostEqual(found["share_max"], 5e-4)

    def test_border_tiles_leave_out_taps_on_padding(self) -> None:
        self.assertAlmostEqual(executed_flops.inside_fraction([7, 7], [3, 3], 1, [1, 1]), (19 / 21) ** 2)
        work = {**conv([3, 3]), "pad": [1, 1]}
        self.assertLess(executed_flops.executed_fraction(work, {"strategy": "direct", "pad": "border"}) or 1, 1)
        self.assertEqual(executed_flops.executed_fraction(work, {"strategy": "direct", "pad": "copy"}), 1)
        for fraction in (executed_flops.executed_fraction, executed_flops.data_fraction):
            self.assertIsNone(fraction(work, {"strategy": "winograd4", "pad": "border"}))

    def test_zeros_of_a_copy_are_executed_but_no_data(self) -> None:
        work = {**conv([3, 3]), "pad": [1, 1]}
        border = executed_flops.executed_fraction(work, {"pad": "border"})
        self.assertEqual(executed_flops.data_fraction(work, {"pad": "copy"}), border)

    def test_slices_leave_out_taps_of_the_depth_only(self) -> None:
        shapes = {"x": [1, 64, 8, 28, 28], "w": [64, 64, 3, 3, 3]}
        work = {"op": "conv3d", "shapes": shapes, "stride": 1, "pad": [1, 1, 1]}
        self.assertAlmostEqual(executed_flops.executed_fraction(work, {"pad": "slices"}) or 0, 22 / 24)
        self.assertAlmostEqual(executed_flops.data_fraction(work, {"pad": "slices"}) or 0, 22 / 24 * (82 / 84) ** 2)


class DataTypesTest(unittest.TestCase):
    def test_rates_in_tiles_are_shares_of_the_tiles_peak(self) -> None:
        conv, dense = (bench_data_types.Case("a", (1, 64, 8, 8), 3), bench_data_types.Case("b", (100, 64)))
        self.assertEqual((conv.operations(), dense.operations()), (2.0 * 64 * 64 * 64 * 9, 2.0 * 100 * 64 * 64))
        int8, bfloat16 = bench_data_types.FORMS[:2]
        peak = {"fma_gflops": 1.0, "tile_int8_gops": 2 * dense.operations() * 1e-3}  # two layers a microsecond
        row = {"int8_layer_us": 1.0, "bfloat16_layer_us": 1.0}
        shares = bench_data_types.shares_of_tile_peak(dense, [int8, bfloat16], row, peak)
        self.assertEqual(shares, {"int8_share_of_tile_peak": 0.5})
        self.assertEqual(bench_data_types.shares_of_tile_peak(dense, [], row, peak), {})

    def test_a_module_is_in_tiles_where_all_layers_are(self) -> None:
        copy = {"workload": "fn (p0) { layout_transform(p0, a) }", "config": "{}"}
        tiles, direct = ({"workload": "fn (p0) { nn.dense(p0) }", "config": f'{{"strategy":"{name}"}}'} for name in ("tiles", "direct"))
        found = [bench_data_types.is_in_tiles({"kernels": kernels}) for kernels in ([copy, tiles], [tiles, direct])]
        self.assertEqual(found, [True, False])


class OutputErrorTest(unittest.TestCase):
    def test_every_output_counts(self) -> None:
        ones = numpy.ones((2, 2), "f4")
        self.assertEqual(output_error.largest_error([ones, ones], [ones, None]), 0)
        self.assertEqual(output_error.largest_error([ones, ones * 2], [ones, ones]), 1)
        self.assertEqual(output_error.largest_error([ones, ones * numpy.nan], [ones, None]), math.inf)

    def test_a_result_of_another_size_is_wrong(self) -> None:
        found = output_error.largest_error([numpy.ones(3)], [numpy.ones(4)])
        self.assertTrue(row_figures.is_wrong(found))
        self.assertTrue(row_figures.is_wrong(output_error.largest_error([numpy.ones(3)], [None])))


class LedgerTest(unittest.TestCase):
    def test_trials_are_remembered_beside_the_database(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            database = pathlib.Path(folder) / "hone.db"
            tuned_modules.Ledger(database).add("a 1", 64, 5.0)
            # The second run finds everything measured.
            self.assertEqual(tuned_modules.Ledger(database).add("a 1", 0, 0.2), (64, 5.0))
            self.assertEqual(tuned_modules.Ledger(database).of("b 1"), (0, 0.0))


    def test_what_a_failed_run_spent_is_added(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            database = pathlib.Path(folder) / "hone.db"
            tuned_modules.Ledger(database).add("m 1 default", 64, 5.0)
            modules = tuned_modules.Modules(pathlib.Path(folder), database, types.SimpleNamespace(VENV=folder))

            def failing(output: str) -> tuned_modules.Spent:
                error = subprocess.CalledProcessError(4, ["bin/hone", "tune"], output, "hone: no more workers\n")
                with unittest.mock.patch.object(result_file, "hone", side_effect=error):
                    spent, failure = modules.tune(pathlib.Path("m"), 1, "default", 64)
                self.assertIn("hone tune ended with exit code 4: hone: no more workers", failure)
                self.assertEqual("not known" in failure, not output)
                return spent

            self.assertEqual(failing('{"tasks": [{"trials": 3}, {"trials": 4}]}').trials, 71)
            self.assertEqual(failing("").trials, 71)
            self.assertGreater(tuned_modules.Ledger(database).of("m 1 default").seconds, 5.0)


class SourceTest(unittest.TestCase):
    def git(self, folder: pathlib.Path, *args: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *args], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    def test_new_and_changed_files_are_other_code(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            top = pathlib.Path(name)
            (top / "compiler").mkdir()
            (top / "compiler" / "a.cc").write_text("1")
            self.git(top, "init", "-q")
            self.git(top, "add", ".")
            self.git(top, "commit", "-qm", "a")
            codes = [result_file.source(top / "compiler")["code"]]
            for file, text in (("bench.md", "1"), ("compiler/b.cc", "1"), ("compiler/b.cc", "2"), ("compiler/a.cc", "2")):
                (top / file).write_text(text)
                codes.append(result_file.source(top / "compiler")["code"])
        self.assertEqual(codes[0], codes[1])
        self.assertEqual(len(set(codes)), 4)
        self.assertEqual([code.endswith("+changes") for code in codes], [False, False, True, True, True])

    def test_a_build_folder_in_no_tree_is_no_failure(self) -> None:
        with tempfile.TemporaryDirectory() as name, unittest.mock.patch.dict("os.environ", {"GIT_CEILING_DIRECTORIES": name}):
            self.assertTrue(result_file.source(pathlib.Path(name))["build_is_elsewhere"])
            with unittest.mock.patch.object(result_file, "ROOT", pathlib.Path(name)):
                self.assertEqual(result_file.source(pathlib.Path(name))["commit"], "unknown")

    def test_results_lie_by_the_cpu_of_the_target(self) -> None:
        target = {"target": "llvm -mtriple=x86_64-linux-gnu -mcpu=znver5 -mattr=+avx -threads=2"}
        with unittest.mock.patch.object(result_file, "hone", return_value=target):
            self.assertEqual(result_file.of_this_machine(), SOURCE / "bench" / "results" / "znver5")

    def test_no_figure_of_an_emulated_machine_is_published(self) -> None:
        target = {"target": "llvm -mtriple=aarch64-linux-gnu -mcpu=generic -mattr=+neon -emulated=yes -threads=1"}
        with unittest.mock.patch.object(result_file, "hone", return_value=target):
            self.assertRaisesRegex(SystemExit, "expected a real processor", result_file.of_this_machine)

    def test_no_verb_finds_the_database_of_the_user(self) -> None:
        with tempfile.TemporaryDirectory() as name, unittest.mock.patch.object(result_file, "BUILD", pathlib.Path(name)):
            program = pathlib.Path(name) / "bin" / "hone"
            program.parent.mkdir()
            told = '{"target": "-mcpu=a", "data": "\'$XDG_DATA_HOME\'"}'
            program.write_text(f"#!/bin/sh\necho '{told}'\ntest -d $XDG_DATA_HOME/hone && exit 1\nexit 0\n")
            program.chmod(0o755)
            (pathlib.Path(name) / "hone").mkdir()
            with unittest.mock.patch.dict("os.environ", {"XDG_DATA_HOME": name}):
                result_file.run("zoo")
                self.assertEqual(result_file.target_cpu(), "a")
                self.assertNotIn(result_file.hone("compile")["data"], ("", name))

    def test_what_a_command_told_is_kept(self) -> None:
        with tempfile.TemporaryDirectory() as name, unittest.mock.patch.object(result_file, "BUILD", pathlib.Path(name)):
            program = pathlib.Path(name) / "bin" / "hone"
            program.parent.mkdir()
            program.write_text("#!/bin/sh\necho '{}'\n[ $1 = show ] && exit 0\necho broken >&2\nexit 3\n")
            program.chmod(0o755)
            self.assertEqual(result_file.hone("show"), {})
            with contextlib.redirect_stderr(io.StringIO()) as shown, self.assertRaises(subprocess.CalledProcessError) as failed:
                result_file.hone("compile")
        self.assertEqual(shown.getvalue(), "broken\n")
        self.assertEqual(result_file.said(failed.exception), "hone compile ended with exit code 3: broken")


class SweepTest(unittest.TestCase):
    def sweep(self, folder: pathlib.Path, **others: Any) -> sweep.Sweep:
        def items(driver: Any) -> list[sweep.Item]:
            return [sweep.Item("conv", folder / "conv.onnx", None, conv([3, 3]))]

        kind = sweep.Kind("kernels", {"nchw": "ort,openvino"}, 1.0, items)
        args = {"db": None, "out": str(folder), "append": False, "view": "nchw", "peers": "ort", "numerics": "default"}
        args |= {"trials": 0, "rounds": 1, "max_rounds": 4, "threads": "1", "only": ""} | others
        driver = types.SimpleNamespace(VENV=str(folder), WORK=str(folder), HERE=str(folder))
        return sweep.Sweep(kind, argparse.Namespace(**args), driver, folder)

    def test_whatever_fails_in_a_row_is_a_failed_row(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            measured = self.sweep(pathlib.Path(name))
            item = measured.kind.items(measured.driver)[0]
            with unittest.mock.patch.object(result_file, "machine_peak", side_effect=ValueError("no JSON")):
                measured.rows = [measured.row_or_failure(item, 1, tuned_modules.Spent(7, 1.0), [])]
            measured.write()
            text = (pathlib.Path(name) / "kernels.md").read_text(encoding="utf-8")
            (found,) = result_rows.read(pathlib.Path(name) / "kernels.json")
        self.assertIn("- conv, row: `ValueError: no JSON`", text)
        self.assertEqual((found["verdict"], found["trials"], found["peers_left_out"]), ("failed", 7, ["openvino"]))
        self.assertEqual(kernel_classes.summary([found])[0]["failed"], 1)

    def test_rows_of_another_machine_are_not_added_to(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "kernels.json"
            path.write_text(result_rows.text({"cpu": "Another", "cores": 512, "rows": [row()]}), encoding="utf-8")
            with self.assertRaisesRegex(SystemExit, "found those of Another, 512 cores: leave out --append"):
                self.sweep(pathlib.Path(name), append=True)
            self.assertEqual(self.sweep(pathlib.Path(name)).rows, [])


class OwnCallsTest(unittest.TestCase):
    def test_only_copies_in_front_and_behind_are_left_out(self) -> None:
        copy, kernel = "fn (p0) { layout_transform(p0, a) }", "fn (p0) { nn.conv2d(p0, p1) }"
        self.assertEqual(own_calls.own_calls([copy, copy, kernel, copy, kernel, copy]), [2, 3, 4])
        with self.assertRaises(ValueError):
            own_calls.own_calls([copy])


class ResidentMemoryTest(unittest.TestCase):
    def growth(self, files: dict[str, str]) -> tuple[int | None, int]:
        """What a process with such files says it grows by, and how often its work ran."""
        ran: list[int] = []
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
            with unittest.mock.patch.object(resident_memory, "PROCESS", pathlib.Path(folder)):
                return resident_memory.growth_bytes(lambda: ran.append(1)), len(ran)

    def test_growth_is_the_most_less_what_there_was(self) -> None:
        status = "Name:\thone\nVmHWM:\t      14 kB\nVmRSS:\t      10 kB\n"
        self.assertEqual(self.growth({"status": status, "clear_refs": ""}), (4096, 1))

    def test_work_is_done_where_nothing_is_said(self) -> None:
        self.assertEqual(self.growth({}), (None, 1))
        self.assertEqual(self.growth({"clear_refs": ""}), (None, 1))
        self.assertEqual(self.growth({"status": "VmRSS:\t10 kB\n", "clear_refs": ""}), (None, 1))


class FreeEndsTest(unittest.TestCase):
    def test_main_gets_the_attribute_after_its_parameters(self) -> None:
        text = "def @main(%x: Tensor[(1, 2), float32]) -> Tensor[(1, 2), float32] {\n  nn.relu(%x)\n}"
        self.assertTrue(free_ends.with_free_ends(text).startswith('def @main(%x: Tensor[(1, 2), float32], ends="free") ->'))


if __name__ == "__main__":
    unittest.main()
