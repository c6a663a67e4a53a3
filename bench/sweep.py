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
import subprocess
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
import round_growth
from peer_rounds import DEFAULT, DIRECT, OWN, TUNED
from row_figures import compared, hone_figures, model_figures, shortest_us
from tuned_modules import Modules, Spent

EMPTY_CALL = "overhead_relu_16"
EMPTY_ROUNDS = 5
STRICT = "strict"  # numerics without Winograd
TIMED_WHOLE = "whole calls of the module in a loop, inputs and outputs row-major"
TIMED_ALONE = (
    "the operator's own kernels, each call in a loop of its own in this process (hone_time_call), in the layouts it "
    "has in a module whose ends are free; copies in front and behind, to and from row-major, left out"
)


# By name: the module, and what `hone compile` said of it.
Compiled = dict[str, tuple[pathlib.Path, dict[str, Any]]]


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
    parser.add_argument("--max-rounds", type=int, help="while intervals are wide (default: four times --rounds)")
    parser.add_argument("--trials", type=int, default=64, help="a task; 0: only what --db has")
    parser.add_argument("--numerics", choices=["strict", "default", "fast"], default="default")
    parser.add_argument("--db", help="kept and used again; default: a new one")
    parser.add_argument("--append", action="store_true", help="keeps the rows of other items, threads and views")
    parser.add_argument("--out", help="folder of the results (default: bench/results/CPU, the one of this machine)")
    args = parser.parse_args()
    if args.max_rounds is None:
        args.max_rounds = round_growth.MOST_TIMES * args.rounds
    if args.max_rounds < args.rounds:
        parser.error(f"expected --max-rounds of at least --rounds, {args.rounds}, found {args.max_rounds}")
    return args


class Sweep:
    """One run of a command."""

    def __init__(self, kind: Kind, args: argparse.Namespace, driver: Any, folder: pathlib.Path) -> None:
        self.kind, self.args, self.driver = kind, args, driver
        database = pathlib.Path(args.db).resolve() if args.db else folder / "hone.db"
        self.modules = Modules(folder, database, driver)
        self.out = (pathlib.Path(args.out) if args.out else result_file.of_this_machine()) / f"{kind.name}.json"
        self.source = result_file.source()  # once, before anything is tuned: what is measured is what was there then
        if args.append:
            result_rows.refuse_other_machine(self.out, result_file.cpu_name(), os.cpu_count())
        # Without --append only what this run measures is kept.
        self.rows = result_rows.read(self.out) if args.append else []
        self.log_path = folder / "workers.log"
        self.empty: dict[str, float] = {}
        self.untuned: dict[str, str] = {}  # why, by item; of the thread count in progress

    @property
    def is_alone(self) -> bool:
        return bool(self.args.view == "own")

    def run(self) -> None:
        chosen = selected(self.kind.items(self.driver), self.args.only)
        for threads in map(int, self.args.threads.split(",")):
            self.untuned = {}
            spent = {item.name: self.tune(item, threads) for item in chosen if item.name != EMPTY_CALL}
            with open(self.log_path, "w", encoding="utf-8") as log:
                self.measure(chosen, threads, spent, self.peers(threads, log))

    def peers_asked(self) -> dict[str, list[str]]:
        """Those of this run, and which of the view's default set it leaves out: fields of a row."""
        default = _names(self.kind.views[self.args.view])
        asked = default if self.args.peers is None else _names(self.args.peers)
        return {"peers_asked": asked, "peers_left_out": [name for name in default if name not in asked]}

    def peers(self, threads: int, log: Any) -> list[peer_rounds.Peer]:
        own = [peer_rounds.Hone(name, threads, self.driver, log) for name in OWN]
        return [*own, *(peer_rounds.Peer(name, threads, self.driver, log) for name in self.peers_asked()["peers_asked"])]

    def has_direct(self, item: Item) -> bool:
        """Where Winograd is judged: against the best direct sum, the peers' and Hone's own, in the same rounds."""
        if not self.is_alone or self.args.numerics != "default" or not item.work:
            return False
        return kernel_classes.class_of(item.work) == kernel_classes.WINOGRAD

    def model(self, item: Item) -> pathlib.Path:
        return self.modules.with_free_ends(item.file) if self.is_alone else item.file

    def tune(self, item: Item, threads: int) -> Spent:
        try:
            spent, failure = self.modules.tune(self.model(item), threads, self.args.numerics, self.args.trials)
            if self.has_direct(item):
                _, direct_failure = self.modules.tune(self.model(item), threads, STRICT, self.args.trials)
                failure = failure or direct_failure
        except Exception as error:  # the sweep goes on; the row shows what it has
            spent, failure = Spent(0, 0.0), result_file.said(error)
        if failure:
            self.untuned[item.name] = failure
        return spent

    def measure(
        self, items: Sequence[Item], threads: int, spent: Mapping[str, Spent], peers: Sequence[peer_rounds.Peer]
    ) -> None:
        try:
            self.measure_empty_calls(threads, peers)
            for item in items:
                if item.name == EMPTY_CALL:
                    continue
                row = self.row_or_failure(item, threads, spent[item.name], peers)
                self.rows = result_rows.merged(self.rows, [row])
                self.write()
                print(result_table.line(row), flush=True)
        finally:
            for peer in peers:
                peer.stop()

    def row_or_failure(
        self, item: Item, threads: int, spent: Spent, peers: Sequence[peer_rounds.Peer]
    ) -> dict[str, Any]:
        """Whatever goes wrong in one row is the row's: the sweep goes on."""
        try:
            return self.row(item, threads, spent, peers)
        except Exception as error:
            for peer in peers:  # one may still have an answer to give that is not of the next question
                peer.stop()
            failed: dict[str, Any] = {"hone": {}, "peers": {}, "verdict": kernel_classes.FAILED, "skipped": {}}
            failed["failures"] = self.tuning_failure(item) | {"row": result_file.said(error)}
            if item.work:
                failed["class"] = kernel_classes.class_of(item.work)
            return self.row_head(item, threads) | failed | self.row_end(spent, {}, os.getloadavg()[0])

    def measure_empty_calls(self, threads: int, peers: Sequence[peer_rounds.Peer]) -> None:
        """What a call costs each that does next to nothing: of a peer, much of what it takes for a small kernel."""
        self.empty = {}
        try:
            self.empty = self.empty_calls(threads, peers)
        except Exception as error:  # rows say that it is not known
            print(f"calls that do next to nothing are not measured: {result_file.said(error)}", file=sys.stderr)
            for peer in peers:
                peer.stop()

    def empty_calls(self, threads: int, peers: Sequence[peer_rounds.Peer]) -> dict[str, float]:
        item = next((item for item in kernel_items(self.driver) if item.name == EMPTY_CALL), None)
        if item is None:
            return {}
        compiled, _ = self.compile(item, threads)
        commands = self.commands(item, compiled, peers, alone=False)
        measured = peer_rounds.measure(peers, commands, EMPTY_ROUNDS, self.kind.sample_ms)
        return {name: statistics.median(times) for name, times in measured.times.items() if times}

    def compile(self, item: Item, threads: int) -> tuple[Compiled, dict[str, str]]:
        """Hone's modules by name, and why one is not there."""
        compiled: Compiled = {}
        failures: dict[str, str] = {}
        for name in OWN if self.has_direct(item) else (TUNED, DEFAULT):
            numerics = STRICT if name == DIRECT else self.args.numerics
            try:
                compiled[name] = self.modules.compile(self.model(item), threads, numerics, name != DEFAULT)
            except (subprocess.CalledProcessError, OSError, ValueError) as error:
                failures[name] = result_file.said(error)
        return compiled, failures

    def commands(
        self, item: Item, compiled: Compiled, peers: Sequence[peer_rounds.Peer], alone: bool
    ) -> dict[str, dict[str, Any]]:
        """What each is asked to prepare; Hone only the modules that were compiled."""
        data = str(item.file.with_suffix(".npz"))
        asked = {"kind": "kernel" if item.work else "model", "w": item.asked}
        commands: dict[str, dict[str, Any]] = {peer.name: asked for peer in peers if peer.name not in OWN}
        for name, (module, _) in compiled.items():
            commands[name] = {"module": str(module), "data": data, "alone": alone}
        return commands

    def row(self, item: Item, threads: int, spent: Spent, peers: Sequence[peer_rounds.Peer]) -> dict[str, Any]:
        """All figures of one item."""
        load = os.getloadavg()[0]
        peak = result_file.machine_peak(threads)
        compiled, failures = self.compile(item, threads)
        failures |= self.tuning_failure(item)
        commands = self.commands(item, compiled, peers, self.is_alone)
        profiled = "" if item.work else TUNED
        growth = round_growth.Growth(self.args.rounds, self.args.max_rounds)
        rounds, sample_ms = self.args.rounds, self.kind.sample_ms
        measured = peer_rounds.measure(peers, commands, rounds, sample_ms, profiled, growth.further)
        row = self.row_head(item, threads)
        row["hone"] = {
            name.removeprefix("hone "): {
                **hone_figures(report, measured.times[name], item.work, peak, threads),
                "error": measured.replies[name]["err"],
                "empty_call_us": self.empty.get(name),
            }
            for name, (_, report) in compiled.items()
            if measured.times.get(name)
        }
        row |= compared(measured, self.empty)
        row |= {"failures": {**failures, **measured.failures}, "skipped": measured.skipped, "rounds": measured.rounds}
        row["processes"] = {peer.name: peer.processes for peer in peers if peer.name in measured.times}
        if item.work:
            row["class"] = kernel_classes.timed_class(item.work, shortest_us(row))
        elif measured.times.get(TUNED):
            row |= model_figures(compiled[TUNED][1], measured, peak)
        return row | self.row_end(spent, peak, load)

    def tuning_failure(self, item: Item) -> dict[str, str]:
        return {"tuning": self.untuned[item.name]} if item.name in self.untuned else {}

    def row_head(self, item: Item, threads: int) -> dict[str, Any]:
        """What is known before anything is measured."""
        row: dict[str, Any] = {"item": item.name, "threads": threads, "view": self.args.view, "numerics": self.args.numerics}
        if item.work:
            row |= {"flops": item.work["flops"], "bytes": item.work["bytes"]}
        return row | self.peers_asked() | {"timed": TIMED_ALONE if self.is_alone else TIMED_WHOLE}

    def row_end(self, spent: Spent, peak: Mapping[str, float], load: float) -> dict[str, Any]:
        return {"trials": spent.trials, "tune_s": spent.seconds, "origin": self.origin(peak, load)}

    def origin(self, peak: Mapping[str, float], load: float) -> dict[str, Any]:
        return {
            "order": result_rows.next_order(self.rows),
            **self.source,
            "command": shlex.join(pathlib.Path(arg).name for arg in sys.argv),
            "cpu": result_file.cpu_name(),
            "rounds": self.args.rounds,  # asked for
            "max_rounds": self.args.max_rounds,
            "trials_a_task": self.args.trials,
            "load": load,
            "load_after": os.getloadavg()[0],
            "peak": dict(peak),
        }

    def write(self) -> None:
        document: dict[str, Any] = {"schema": 2, "cpu": result_file.cpu_name(), "cores": os.cpu_count()}
        if self.kind.name == "kernels":
            document["summary"] = kernel_classes.summary(self.rows)
        document["rows"] = self.rows
        self.out.parent.mkdir(parents=True, exist_ok=True)
        result_file.write_whole(self.out, result_rows.text(document))
        result_file.write_whole(self.out.with_suffix(".md"), result_table.document(self.kind.name, document))


def selected(items: Sequence[Item], only: str) -> list[Item]:
    """Those with these names, or with these parts in their names; all where none is given."""
    names = {item.name for item in items}
    parts = [part for part in only.split(",") if part]
    chosen = [
        item
        for item in items
        if not parts or any(part == item.name or (part not in names and part in item.name) for part in parts)
    ]
    if not chosen:
        raise SystemExit(f"expected items with a name like {only}, found none")
    return chosen


def _names(listed: str) -> list[str]:
    return [name for name in listed.split(",") if name]


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
