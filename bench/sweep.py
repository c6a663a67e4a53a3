"""What bench_kernels.py and bench_models.py share: tunes, compiles, measures in turns with the peers, writes results.

One row an item, thread count, view and numerics. docs/benchmarks.md says what its fields mean and how it was taken.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shlex
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import kernel_classes
import peer_rounds
import result_chart
import result_file
import result_rows
import result_table
from machine_bound import rates
from paired_ratio import paired
from tuned_modules import Modules, Spent

TUNED, DEFAULT = "hone tuned", "hone default"
LARGEST_ERROR = 1e-3  # of the largest value: a peer that is further off is no best peer
EMPTY_CALL = "overhead_relu_16"
EMPTY_ROUNDS = 5
TIMED_WHOLE = "whole calls of the module in a loop, inputs and outputs row-major"
TIMED_ALONE = (
    "the operator's own kernels, each call in a loop of its own in this process (hone_time_call), in the layouts it "
    "has in a module whose ends are free; copies to and from row-major left out"
)


class Item(NamedTuple):
    """Something to measure."""

    name: str
    file: pathlib.Path
    asked: Any  # what a peer's driver is asked to prepare
    work: dict[str, Any] | None  # of a kernel, as the peers' list has it


class Kind(NamedTuple):
    """What the two commands differ in."""

    name: str  # of the result file: "kernels" or "models"
    views: dict[str, str]  # the peers of each, where --peers does not say
    sample_ms: float
    items: Callable[[Any], list[Item]]


def options(kind: Kind, text: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of items' names")
    parser.add_argument("--view", choices=list(kind.views), default=next(iter(kind.views)))
    parser.add_argument("--peers", help="default: those that are timed as the view is")
    parser.add_argument("--threads", default="1", help="such as 1,2")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--trials", type=int, default=64, help="a task; 0: only what --db has")
    parser.add_argument("--numerics", choices=["strict", "default", "fast"], default="default")
    parser.add_argument("--db", help="kept and used again; default: a new one")
    parser.add_argument("--append", action="store_true", help="keeps the rows of other items, threads and views")
    parser.add_argument("--out", help="folder of the results (default: bench/results)")
    return parser.parse_args()


class Sweep:
    """One run of a command."""

    def __init__(self, kind: Kind, args: argparse.Namespace, driver: Any, folder: pathlib.Path) -> None:
        self.kind, self.args, self.driver = kind, args, driver
        database = pathlib.Path(args.db).resolve() if args.db else folder / "hone.db"
        self.modules = Modules(folder, database, driver)
        self.out = pathlib.Path(args.out or result_file.RESULTS) / f"{kind.name}.json"
        # Without --append only what this run measures is kept.
        self.rows = result_rows.read(self.out) if args.append else []
        self.log_path = folder / "workers.log"
        self.empty: dict[str, float] = {}

    @property
    def is_alone(self) -> bool:
        return bool(self.args.view == "own")

    def run(self) -> None:
        items = self.kind.items(self.driver)
        parts = [part for part in self.args.only.split(",") if part]
        chosen = [item for item in items if not parts or any(part in item.name for part in parts)]
        if not chosen:
            raise SystemExit(f"expected items with a name like {self.args.only}, found none")
        for threads in map(int, self.args.threads.split(",")):
            spent = {item.name: self.tune(item, threads) for item in chosen if item.name != EMPTY_CALL}
            with open(self.log_path, "w", encoding="utf-8") as log:
                self.measure(chosen, threads, spent, self.peers(threads, log))

    def peers(self, threads: int, log: Any) -> list[peer_rounds.Peer]:
        names = self.args.peers if self.args.peers is not None else self.kind.views[self.args.view]
        own = [peer_rounds.Hone(kind, threads, self.driver, log) for kind in ("tuned", "default")]
        return [*own, *(peer_rounds.Peer(name, threads, self.driver, log) for name in names.split(",") if name)]

    def model(self, item: Item) -> pathlib.Path:
        return self.modules.with_free_ends(item.file) if self.is_alone else item.file

    def tune(self, item: Item, threads: int) -> Spent:
        return self.modules.tune(self.model(item), threads, self.args.numerics, self.args.trials)

    def measure(
        self, items: Sequence[Item], threads: int, spent: Mapping[str, Spent], peers: Sequence[peer_rounds.Peer]
    ) -> None:
        try:
            self.measure_empty_calls(threads, peers)
            for item in items:
                if item.name == EMPTY_CALL:
                    continue
                row = self.row(item, threads, spent[item.name], peers)
                self.rows = result_rows.merged(self.rows, [row])
                self.write()
                print(result_table.line(row), flush=True)
        finally:
            for peer in peers:
                peer.stop()

    def measure_empty_calls(self, threads: int, peers: Sequence[peer_rounds.Peer]) -> None:
        """What a call costs each that does next to nothing: of a peer, much of what it takes for a small kernel."""
        self.empty = {}
        item = next((item for item in self.driver_kernels() if item.name == EMPTY_CALL), None)
        if item is None:
            return
        commands = {peer.name: {"kind": "kernel", "w": item.asked} for peer in peers}
        commands |= self.hone_commands(item, self.compile(item, threads), alone=False)
        measured = peer_rounds.measure(peers, commands, EMPTY_ROUNDS, self.kind.sample_ms)
        self.empty = {name: statistics.median(times) for name, times in measured.times.items() if times}

    def driver_kernels(self) -> list[Item]:
        return kernel_items(self.driver)

    def compile(self, item: Item, threads: int) -> dict[str, tuple[pathlib.Path, dict[str, Any]]]:
        return {
            name: self.modules.compile(self.model(item), threads, self.args.numerics, name == TUNED)
            for name in (TUNED, DEFAULT)
        }

    def hone_commands(
        self, item: Item, compiled: Mapping[str, tuple[pathlib.Path, dict[str, Any]]], alone: bool
    ) -> dict[str, dict[str, Any]]:
        data = str(item.file.with_suffix(".npz"))
        return {
            name: {"module": str(module), "data": data, "alone": alone} for name, (module, _) in compiled.items()
        }

    def row(self, item: Item, threads: int, spent: Spent, peers: Sequence[peer_rounds.Peer]) -> dict[str, Any]:
        """All figures of one item."""
        load = os.getloadavg()[0]
        peak = result_file.machine_peak(threads)
        compiled = self.compile(item, threads)
        asked = {"kind": "kernel" if item.work else "model", "w": item.asked}
        commands: dict[str, dict[str, Any]] = {peer.name: asked for peer in peers}
        commands |= self.hone_commands(item, compiled, self.is_alone)
        profiled = "" if item.work else TUNED
        measured = peer_rounds.measure(peers, commands, self.args.rounds, self.kind.sample_ms, profiled)
        row: dict[str, Any] = {"item": item.name, "threads": threads, "view": self.args.view, "numerics": self.args.numerics}
        if item.work:
            row |= {"flops": item.work["flops"], "bytes": item.work["bytes"]}
        row["timed"] = TIMED_ALONE if self.is_alone else TIMED_WHOLE
        row["hone"] = {
            name.removeprefix("hone "): {
                **hone_figures(report, measured.times[name], item, peak, threads),
                "error": measured.replies[name]["err"],
                "empty_call_us": self.empty.get(name),
            }
            for name, (_, report) in compiled.items()
            if measured.times.get(name)
        }
        row |= compared(measured, self.empty)
        row |= {"failures": measured.failures, "trials": spent.trials, "tune_s": spent.seconds}
        if item.work:
            row["class"] = kernel_classes.timed_class(item.work, shortest_us(row))
        elif TUNED in measured.times:
            row |= model_figures(compiled[TUNED][1], measured, peak)
        row["origin"] = self.origin(peak, load)
        return row

    def origin(self, peak: Mapping[str, float], load: float) -> dict[str, Any]:
        return {
            "order": result_rows.next_order(self.rows),
            "commit": result_file.commit(),
            "command": shlex.join(pathlib.Path(arg).name for arg in sys.argv),
            "cpu": result_file.cpu_name(),
            "rounds": self.args.rounds,
            "trials_a_task": self.args.trials,
            "load": load,
            "peak": dict(peak),
        }

    def write(self) -> None:
        document: dict[str, Any] = {"schema": 2, "cpu": result_file.cpu_name(), "cores": os.cpu_count()}
        if self.kind.name == "kernels":
            document["summary"] = kernel_classes.summary(self.rows)
        document["rows"] = self.rows
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        self.out.with_suffix(".md").write_text(result_table.document(self.kind.name, document), encoding="utf-8")


def hone_figures(
    report: Mapping[str, Any], times: Sequence[float], item: Item, peak: Mapping[str, float], threads: int
) -> dict[str, Any]:
    """Of one of Hone's two modules."""
    median_us = statistics.median(times)
    figures: dict[str, Any] = {"median_us": median_us, "least_us": min(times), "tiers": report["counts"]}
    if item.work:
        figures |= rates(item.work, median_us, peak, threads)
        figures["kernels"] = [f"{kernel['name']} {kernel['signature']}" for kernel in report["kernels"]]
    return figures


def compared(measured: peer_rounds.Measured, empty: Mapping[str, float]) -> dict[str, Any]:
    """Each peer beside tuned Hone, the best of them beside both, paired by round."""
    figures: dict[str, Any] = {"peers": {}}
    ours = measured.times.get(TUNED)
    if not ours:
        return figures
    for name, times in measured.times.items():
        if name in (TUNED, DEFAULT) or not times:
            continue
        ratio = paired(times, ours)
        figures["peers"][name] = {
            "median_us": statistics.median(times),
            "samples": len(times),
            "error": measured.replies[name]["err"],
            "empty_call_us": empty.get(name),
            **_ratio(ratio),
        }
    if DEFAULT in measured.times:
        figures["default_to_tuned"] = _ratio(paired(measured.times[DEFAULT], ours))
    best = best_peer(figures["peers"])
    if best:
        own = figures["peers"][best]
        figures["best_peer"] = best
        figures["verdict"] = kernel_classes.verdict(own["ratio"], own["ratio_low"], own["ratio_high"])
        if DEFAULT in measured.times:
            figures["best_peer_to_default"] = _ratio(paired(measured.times[best], measured.times[DEFAULT]))
    return figures


def _ratio(ratio: Any) -> dict[str, float]:
    return {"ratio": ratio.median, "ratio_low": ratio.low, "ratio_high": ratio.high}


def best_peer(peers: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The least median of those that give the right result, as far as that is known."""
    # TensorFlow's models have weights of their own: their results are others.
    right = [
        name
        for name, figures in peers.items()
        if figures["error"] is None or figures["error"] < LARGEST_ERROR or name.startswith("tf")
    ]
    return min(right, key=lambda name: float(peers[name]["median_us"])) if right else None


def shortest_us(row: Mapping[str, Any]) -> float:
    times = [figures["median_us"] for figures in [*row["hone"].values(), *row["peers"].values()]]
    return min(times, default=kernel_classes.SMALL_US)


def model_figures(report: Mapping[str, Any], measured: peer_rounds.Measured, peak: Mapping[str, float]) -> dict[str, Any]:
    """Where a model's time goes: bound by its FLOPs, sum of its kernels, what the executor adds; and its memory."""
    flops = sum(kernel["flops"] * kernel["calls"] for kernel in report["kernels"])
    figures: dict[str, Any] = {
        "flops": flops,
        "flop_bound_us": flops / peak["fma_gflops"] * 1e-3,
        "arena_bytes": report["arena_bytes"],
        "peak_live_bytes": report["peak_live_bytes"],
        "parameters_bytes": report["parameters_bytes"],
    }
    if measured.call_us:
        sums = [sum(call_us) for call_us in measured.call_us]
        overheads = [whole - kernels for whole, kernels in zip(measured.times[TUNED], sums, strict=False)]
        figures["kernel_calls"] = len(measured.call_us[0])
        figures["kernels_us"] = statistics.median(sums)
        figures["executor_us"] = statistics.median(overheads)
    return figures


def kernel_items(driver: Any) -> list[Item]:
    """The peers' list of one-operator models, as far as their files are there."""
    folder = pathlib.Path(driver.WORK) / "kernels"
    path = os.environ.get("PEERS_KERNELS", str(pathlib.Path(driver.HERE) / "kernels.json"))
    listed = json.loads(pathlib.Path(path).read_text())
    items = [Item(work["id"], folder / f"{work['id']}.onnx", work, work) for work in listed]
    return [item for item in items if item.file.exists()]


def main(kind: Kind, text: str) -> int:
    args = options(kind, text)
    driver = peer_rounds.load_driver()
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(kind, args, driver, pathlib.Path(folder))
        sweep.run()
        print(result_chart.draw(sweep.out))
    print(sweep.out)
    return 0
