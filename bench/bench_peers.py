#!/usr/bin/env python3
"""Whole models or single operators, tuned, interleaved with other runtimes on the same machine.

    bench/bench_peers.py models|kernels --peers ort,openvino [--only resnet18,...] [--threads 1,2] [--rounds 11]
                         [--trials 64] [--db FILE]

HONE_PEERS names the folder with the peers' drivers (peerlib.py and worker.py; its setup has been run). Tunes every item
at each thread count (a database that holds it already costs no trial), compiles it with every kernel tuned, prepares all
peers, then takes one sample a peer in each round, in rotating order. A ratio is the median over the rounds of peer
time / Hone time of the same round, with its bootstrap 95 % interval. Peers that fail are listed with what they said.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time
from typing import Any

import result_file

SAMPLE_MS = 100
PREPARE_LIMIT_S = 590
PAUSE_S = 0.01  # the previous peer's threads stop spinning


def interval(ratios: list[float], seed: int = 1) -> tuple[float, float]:
    """The bootstrap 95 % interval of the median."""
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


class Items:
    """What is measured: names, the file of each, and what a peer's driver is asked to prepare."""

    def __init__(self, kind: str, peerlib: Any) -> None:
        self.kind = kind
        self.folder = pathlib.Path(peerlib.WORK) / f"{kind}s"
        self._asked: dict[str, Any] = {}
        if kind == "kernel":
            listed = json.loads((pathlib.Path(peerlib.HERE) / "kernels.json").read_text())
            self._asked = {item["id"]: item for item in listed if self.file(item["id"]).exists()}
        else:
            self._asked = {path.stem: path.stem for path in sorted(self.folder.glob("*.onnx"))}

    def file(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}.onnx"

    def names(self, only: list[str]) -> list[str]:
        return [name for name in self._asked if not only or any(part in name for part in only)]

    def asked(self, name: str) -> Any:
        return self._asked[name]


def measure(workers: list[Any], kind: str, asked: Any, rounds: int) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Microseconds by peer and round, and what peers that have none said."""
    estimates: dict[str, Any] = {}
    failures: dict[str, str] = {}
    for worker in workers:
        reply = worker.ask(PREPARE_LIMIT_S, cmd="prep", kind=kind, w=asked)
        if "ok" in reply:
            estimates[worker.peer] = reply
        else:
            failures[worker.peer] = str(reply.get("error", reply.get("skip", "no reason given")))
    live = [worker for worker in workers if worker.peer in estimates]
    times: dict[str, list[float]] = {worker.peer: [] for worker in live}
    for turn in range(rounds):
        for index in range(len(live)):
            worker = live[(index + turn) % len(live)]
            time.sleep(PAUSE_S)
            reply = worker.ask(120, cmd="time", min_ms=SAMPLE_MS)
            if "s" in reply:
                times[worker.peer].append(reply["s"] * 1e6)
            else:
                failures[worker.peer] = str(reply.get("error", "no time given"))
    for worker in live:
        if worker.p:
            worker.ask(30, cmd="drop")
    return {peer: samples for peer, samples in times.items() if len(samples) == rounds}, failures


def row(name: str, threads: int, times: dict[str, list[float]], failures: dict[str, str]) -> dict[str, Any]:
    """One item's figures: Hone and every peer, ratios paired by round."""
    figures: dict[str, Any] = {"item": name, "threads": threads, "failures": failures, "peers": {}}
    own = times.pop("hone", None)
    if own is None:
        return figures
    figures["hone_us"] = statistics.median(own)
    for peer, samples in times.items():
        ratios = [theirs / ours for theirs, ours in zip(samples, own, strict=True)]
        low, high = interval(ratios)
        figures["peers"][peer] = {
            "median_us": statistics.median(samples),
            "ratio": statistics.median(ratios),
            "ratio_low": low,
            "ratio_high": high,
        }
    if figures["peers"]:
        figures["best_peer"] = min(figures["peers"], key=lambda peer: figures["peers"][peer]["median_us"])
    return figures


def show(figures: dict[str, Any]) -> None:
    if "hone_us" not in figures:
        print(f"{figures['item']:<32} no figure: {figures['failures'].get('hone', '')[:200]}")
        return
    cells = [
        f"{peer} {own['median_us']:.1f} us, x{own['ratio']:.3f} [{own['ratio_low']:.3f}, {own['ratio_high']:.3f}]"
        for peer, own in figures["peers"].items()
    ]
    print(f"{figures['item']:<32} {figures['threads']} thr  hone {figures['hone_us']:.1f} us; {'; '.join(cells)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["models", "kernels"])
    parser.add_argument("--peers", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--db")
    args = parser.parse_args()
    folder = os.environ.get("HONE_PEERS", "")
    if not (pathlib.Path(folder) / "peerlib.py").is_file():
        print(f"bench_peers: expected HONE_PEERS to name the folder with peerlib.py, found '{folder}'", file=sys.stderr)
        return 2
    sys.path.insert(0, folder)
    peerlib = importlib.import_module("peerlib")

    kind = args.kind.removesuffix("s")
    items = Items(kind, peerlib)
    names = items.names([part for part in args.only.split(",") if part])
    rows: list[dict[str, Any]] = []
    peaks: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as work:
        database = str(pathlib.Path(args.db or pathlib.Path(work) / "hone.db").resolve())
        os.environ["HONE_BUILD"] = str(result_file.BUILD)
        os.environ["HONE_DB"] = database
        # The driver keeps compiled modules by database path: they may be of an earlier state of it.
        shutil.rmtree(pathlib.Path(peerlib.WORK) / "hone", ignore_errors=True)
        for threads in map(int, args.threads.split(",")):
            spent: dict[str, dict[str, Any]] = {}
            for name in names:
                tuned = result_file.hone(
                    "tune", str(items.file(name)), "--db", database, "--trials", str(args.trials), "--threads", str(threads)
                )
                spent[name] = {"trials": sum(task["trials"] for task in tuned["tasks"]), "tune_wall_s": tuned["wall_s"]}
            with open(pathlib.Path(work) / "workers.log", "w", encoding="utf-8") as log:
                workers = [peerlib.Worker(peer, threads, log) for peer in ["hone", *args.peers.split(",")]]
                try:
                    for name in names:
                        peaks.append(result_file.machine_peak(threads))
                        times, failures = measure(workers, kind, items.asked(name), args.rounds)
                        rows.append({**row(name, threads, times, failures), **spent[name]})
                        show(rows[-1])
                finally:
                    for worker in workers:
                        worker.stop()
    figures = {"rounds": args.rounds, "trials_a_task": args.trials, "rows": rows}
    path = result_file.write(args.kind, peaks, figures)
    print(path.relative_to(result_file.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
