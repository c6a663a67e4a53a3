#!/usr/bin/env python3
"""Direct compute-bound kernels on half and on all of this machine's vectors, as shares of the peak of each.

    HONE_PEERS=FOLDER bench/bench_isa.py [--threads 1,2] [--trials 64] [--rounds 11] [--only conv1x1,dense] [--db FILE] [--dry]

Convolutions of 1x1 and 3x3 and products of matrices from 128x128x128 up, out of the peers' list, with strict numerics (no
Winograd), once for the target `llvm -mcpu=x86-64-v3` (ymm, 16 registers) and once for this machine. Timed as in the view `own` of
bench_kernels.py: the operator's own kernel in its own layouts. In each round every module gives a sample and both FMA loops are
run; a share is the median over the rounds of executed FLOPs (executed_flops.py) over the peak of the same round. `--trials 0`
compiles what --db has, without --db the defaults alone. Writes bench/results/CPU/isa.json, row
by row.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

import kernel_classes
import peer_rounds
import result_file
import sweep
from executed_flops import executed_fraction
from row_figures import operator_of
from tuned_modules import NATIVE, Modules

SAMPLE_MS = 60


class Isa(NamedTuple):
    """One of the targets, and the FMA loop that it is judged by."""

    name: str
    target: str
    vectors: str


ISAS = [Isa("ymm", "llvm -mcpu=x86-64-v3", "ymm"), Isa("host", NATIVE, "best")]
DEFAULT, TUNED = "default", "tuned"


class FmaLoop(peer_rounds.Peer):
    """The peak in turn with the kernels: a sample is what a GFLOP takes."""

    def __init__(self, isa: Isa, threads: int) -> None:
        self.name = f"peak {isa.name}"
        self._vectors = isa.vectors
        self._threads = threads

    def ask(self, limit_s: float, **command: Any) -> dict[str, Any]:
        if command["cmd"] == "time":
            return {"s": 1 / result_file.fma_peak(self._threads, self._vectors)}
        return {"ok": True, "est": 0.0, "err": None}

    def is_alive(self) -> bool:
        return False

    def stop(self) -> None:
        pass


def figures(work: Mapping[str, Any], kernel: Mapping[str, Any], us: Sequence[float], peak: Sequence[float]) -> dict[str, Any]:
    """`peak` is the seconds of a GFLOP in the same rounds, times a million."""
    found = {
        "median_us": statistics.median(us),
        "gflops": work["flops"] / statistics.median(us) * 1e-3,
        **{name: kernel[name] for name in ("signature", "tier", "config")},
    }
    executed = executed_fraction(work, json.loads(kernel["config"]))
    if executed is None:
        return found
    # The shares are those of the rounds that both have: what is slow or fails is timed in the first ones only.
    shares = [work["flops"] * executed * 1e-9 * loop / own for own, loop in zip(us, peak, strict=False)]
    return found | {
        "executed_share_of_peak": statistics.median(shares),
        "share_min": min(shares),
        "share_max": max(shares),
    }


class Bench:
    def __init__(self, args: argparse.Namespace, driver: Any, folder: pathlib.Path) -> None:
        self.args, self.driver = args, driver
        database = pathlib.Path(args.db).resolve() if args.db else folder / "hone.db"
        self.modules = Modules(folder, database, driver)
        self.forms = [TUNED, DEFAULT] if args.trials > 0 or args.db else [DEFAULT]
        self.log_path = folder / "workers.log"

    def rows(self, threads: int) -> Iterator[dict[str, Any]]:
        items = [item for item in sweep.kernel_items(self.driver) if item.work and kernel_classes.is_compute_bound(item.work)]
        with open(self.log_path, "w", encoding="utf-8") as log:
            peers = self._peers(threads, log)
            try:
                for item in sweep.selected(items, self.args.only):
                    yield self.row_or_failure(item, threads, peers)
            finally:
                for peer in peers:
                    peer.stop()

    def _peers(self, threads: int, log: IO[str]) -> list[peer_rounds.Peer]:
        peers: list[peer_rounds.Peer] = []
        for isa in ISAS:
            peers += [peer_rounds.Hone(f"hone {form} {isa.name}", threads, self.driver, log) for form in self.forms]
            peers.append(FmaLoop(isa, threads))
        return peers

    def row_or_failure(self, item: sweep.Item, threads: int, peers: Sequence[peer_rounds.Peer]) -> dict[str, Any]:
        """Whatever goes wrong in one row is the row's: the others are measured."""
        try:
            return self._row(item, threads, peers)
        except Exception as error:
            for peer in peers:  # one may still have an answer to give that is not of the next question
                peer.stop()
            return {"item": item.name, "threads": threads, "failures": {"row": result_file.said(error)}}

    def _row(self, item: sweep.Item, threads: int, peers: Sequence[peer_rounds.Peer]) -> dict[str, Any]:
        model = self.modules.with_free_ends(item.file)
        row: dict[str, Any] = {"item": item.name, "threads": threads}
        commands: dict[str, dict[str, Any]] = {}
        kernels: dict[tuple[str, str], dict[str, Any]] = {}
        for isa in ISAS:
            spent, failure = self.modules.tune(model, threads, "strict", self.args.trials, isa.target)
            row[isa.name] = {"trials": spent.trials, **({"failure": failure} if failure else {})}
            commands[f"peak {isa.name}"] = {}
            for form in self.forms:
                module, report = self.modules.compile(model, threads, "strict", form == TUNED, isa.target)
                kernels[isa.name, form] = operator_of(report)
                data = str(item.file.with_suffix(".npz"))
                commands[f"hone {form} {isa.name}"] = {"module": str(module), "data": data, "alone": True}
        measured = peer_rounds.measure(peers, commands, self.args.rounds, SAMPLE_MS)
        if measured.failures:
            row["failures"] = measured.failures
        for isa in ISAS:
            peak = measured.times[f"peak {isa.name}"]
            row[isa.name]["peak_gflops"] = 1e6 / statistics.median(peak)
            for form in self.forms:
                times = measured.times.get(f"hone {form} {isa.name}")
                if times:
                    row[isa.name][form] = figures(item.work or {}, kernels[isa.name, form], times, peak)
                    row[isa.name][form]["error"] = measured.replies[f"hone {form} {isa.name}"]["err"]
        return row


def line(row: Mapping[str, Any]) -> str:
    parts = [f"{row['item']:<22} {row['threads']} threads"]
    for isa in ISAS:
        for form in (DEFAULT, TUNED):
            own = row.get(isa.name, {}).get(form)
            if own:
                share = own.get("executed_share_of_peak")
                parts.append(f"{isa.name} {form} {own['median_us']:9.1f} us" + (f" {share:6.1%}" if share else ""))
    parts += [f"{name}: {said}" for name, said in row.get("failures", {}).items()]
    return "  ".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1", help="such as 1,2")
    parser.add_argument("--trials", type=int, default=64, help="a task and target; 0: only what --db has")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="", help="parts of items' names")
    parser.add_argument("--db", help="kept and used again; default: a new one")
    parser.add_argument("--dry", action="store_true", help="prints the rows only")
    args = parser.parse_args()
    driver = peer_rounds.load_driver()
    rows, peaks = [], []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, driver, pathlib.Path(folder))
        for threads in map(int, args.threads.split(",")):
            peaks.append(result_file.machine_peak(threads))
            for row in bench.rows(threads):
                rows.append(row)
                if not args.dry:
                    document = {"rounds": args.rounds, "trials_a_task": args.trials, "numerics": "strict", "rows": rows}
                    result_file.write("isa", peaks, document)
                print(line(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
