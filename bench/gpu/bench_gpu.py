#!/usr/bin/env python3
"""Single operators and whole models on a GPU, default and tuned, in turns with PyTorch on the same GPU.

    bench/gpu/bench_gpu.py kernels|models [--trials 64] [--rounds 11] [--only conv3x3,gemm] [--peers graph,inductor]
                                          [--device cuda:0] [--db FILE] [--append] [--tiny]

Runs from a build's tree or from a bundle; needs numpy, and torch with CUDA for the peers (eager, in CUDA graphs, Inductor; TF32
off and on; bfloat16). Writes bench/results/DEVICE/gpu_{kernels,models}.json and .md; docs/gpu.md says how it measures.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
try:
    import gpu_kernels
except ModuleNotFoundError as error:
    sys.exit(f"bench_gpu.py: expected a Python with numpy, found none ({error}); install it: {sys.executable} -m pip install numpy")
import gpu_peak
import kernel_classes
import peer_rounds
import result_file
import result_rows
import result_table
import round_growth
from peer_rounds import DEFAULT, TUNED, Measured
from row_figures import compared, shortest_us
from tuned_modules import Modules, Spent
from worker_process import ProcessPeer

MODES = ["eager", "graph", "graph-cl", "inductor"]
TF32 = "-tf32"
VIEWS = {"float32": ["fp32", "tf32"], "bfloat16": ["bf16"]}
SAMPLE_MS = {"kernels": 20.0, "models": 60.0}
MODELS = ["resnet18", "resnet50", "mobilenet_v2", "inception_v3", "bert_base"]
TINY_MODELS = ["tiny_images", "tiny_text"]
# Limits are parts of the largest value; whole models add up the roundings of their layers.
MODEL_ERROR_LIMIT = {"float32": 1e-3, "bfloat16": 1e-1}
TF32_MODEL_ERROR_LIMIT = 2e-2
EXPORT_LIMIT_S = 600
# Where processes of others' Python find what they share with this one.
MODULES = {"PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])}
TIMED = "whole calls of the module, launches one behind the other in CUDA graphs, operands where the last call left them"


class Item(NamedTuple):
    """Something to measure; its file is made when its turn comes."""

    name: str
    dtype: str
    asked: dict[str, Any]  # what a peer is asked to prepare
    work: dict[str, Any] | None  # of a kernel


def kernel_items(is_tiny: bool) -> list[Item]:
    return [Item(work["id"], work["dtype"], work, work) for work in gpu_kernels.listed(is_tiny)]


def model_items(is_tiny: bool) -> list[Item]:
    items = []
    for dtype, short in gpu_kernels.SHORT.items():
        for name in TINY_MODELS if is_tiny else MODELS:
            for batch in [1] if is_tiny else [1, 8]:
                items.append(Item(f"{name}_b{batch}_{short}", dtype, {"model": name, "dtype": dtype, "batch": batch}, None))
    return items


class Device(NamedTuple):
    """What is measured on."""

    name: str  # such as cuda:0
    model: str
    driver: str
    target: str

    @property
    def folder(self) -> str:
        """Of its results, such as "h100": the words up to the first with a digit."""
        words = [word for word in re.split(r"[^a-z0-9]+", self.model.lower()) if word not in ("", "nvidia", "geforce", "tesla")]
        with_digit = next((i for i, word in enumerate(words) if re.search(r"\d", word)), 1)
        return "-".join(words[: with_digit + 1])


def find_device(name: str) -> Device:
    command = [str(result_file.BUILD / "bin" / "hone-measure"), "--describe"]
    described = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for found in described["devices"]:
        if found["device"] == name:
            model, _, driver = found["driver"].partition(", ")
            return Device(name, model, driver, found["target"])
    names = ", ".join(found["device"] for found in described["devices"]) or "none"
    raise SystemExit(f"expected the device {name}, found {names}; hone doctor says what is missing")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kernels", "models"])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="", help="parts of items' names")
    parser.add_argument("--peers", default=",".join(MODES), help="modes of torch, or none at all: --peers ''")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--max-rounds", type=int, help="while intervals are wide (default: four times --rounds)")
    parser.add_argument("--sample-ms", type=float, help="default: 20 of kernels, 60 of models")
    parser.add_argument("--trials", type=int, default=0, help="a task; 0: what --db has, or defaults")
    parser.add_argument("--db", help="kept and used again; default: a new one")
    parser.add_argument("--append", action="store_true", help="keeps the rows of other items")
    parser.add_argument("--tiny", action="store_true", help="a few small items, which show that everything works")
    parser.add_argument("--out", help="folder of the results (default: bench/results/DEVICE)")
    parser.add_argument("--peer-folder", default=str(HERE), help="has torch_worker.py and torch_models.py")
    args = parser.parse_args()
    args.max_rounds = args.max_rounds or round_growth.MOST_TIMES * args.rounds
    args.peers = [name for name in args.peers.split(",") if name]
    if unknown := [name for name in args.peers if name not in MODES]:
        parser.error(f"expected peers of {', '.join(MODES)}, found {', '.join(unknown)}")
    return args


def of_view(measured: Measured, view: str) -> Measured:
    """Hone, and the peers that compute in a view's numbers."""
    hone = (TUNED, DEFAULT)

    def kept(entries: Mapping[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in entries.items() if name in hone or name.endswith(TF32) == (view == "tf32")}

    return measured._replace(times=kept(measured.times), failures=kept(measured.failures), skipped=kept(measured.skipped))


class Sweep:
    """One run of the command."""

    def __init__(self, args: argparse.Namespace, device: Device, folder: pathlib.Path, log: Any) -> None:
        self.args, self.device, self.folder = args, device, folder
        database = pathlib.Path(args.db).resolve() if args.db else folder / "hone.db"
        self.database = database
        self.modules = Modules(folder, database, types.SimpleNamespace(VENV=sys.prefix))
        name = f"gpu_{args.what}.json"
        self.out = (pathlib.Path(args.out) if args.out else result_file.RESULTS / device.folder) / name
        self.source = result_file.source()
        self.rows = self.kept_rows() if args.append else []
        self.peak = gpu_peak.measured(device.name)
        hone = [sys.executable, str(HERE.parent / "hone_worker.py"), "1"]
        torch = [sys.executable, str(pathlib.Path(args.peer_folder) / "torch_worker.py")]
        self.hone = [ProcessPeer(name, hone, {"HONE_BUILD": str(result_file.BUILD)}, log) for name in (TUNED, DEFAULT)]
        names = [mode + suffix for suffix in ("", TF32) for mode in args.peers]
        self.peers = [ProcessPeer(name, [*torch, name], MODULES, log) for name in names]

    def kept_rows(self) -> list[dict[str, Any]]:
        """Rows of two devices in one file would be compared with each other."""
        if self.out.exists():
            found = json.loads(self.out.read_text(encoding="utf-8"))["device"]
            if found != self.device.model:
                raise SystemExit(f"expected rows of {self.device.model} in {self.out} for --append, found those of {found}; leave it out")
        return result_rows.read(self.out)

    def run(self) -> int:
        """How many items gave no figure of Hone's."""
        items = kernel_items(self.args.tiny) if self.args.what == "kernels" else model_items(self.args.tiny)
        parts = [part for part in self.args.only.split(",") if part]
        items = [item for item in items if not parts or any(part in item.name for part in parts)]
        if not items:
            raise SystemExit(f"expected items with a name like {self.args.only}, found none")
        failed = 0
        try:
            for item in items:
                rows = self.rows_or_failure(item)
                failed += not rows[0]["hone"]
                self.rows = result_rows.merged(self.rows, rows)
                self.write()
                for row in rows:
                    print(f"{row['view']} {result_table.line(row)}", flush=True)
        finally:
            self.stop()
        return failed

    def stop(self) -> None:
        for peer in [*self.hone, *self.peers]:
            peer.stop()

    def rows_or_failure(self, item: Item) -> list[dict[str, Any]]:
        """Whatever goes wrong with one item is in its rows: the sweep goes on."""
        spent = Spent(0, 0.0)
        try:
            file = self.make(item)
            spent, failure = self.modules.tune(file, 1, "default", self.args.trials, self.device.target)
            return self.measured_rows(item, file, spent, {"tuning": failure} if failure else {})
        except Exception as error:
            self.stop()  # one may still have an answer to give that is not of the next question
            failed: dict[str, Any] = {"hone": {}, "peers": {}, "verdict": kernel_classes.FAILED, "skipped": {}}
            failed |= {"failures": {"row": result_file.said(error)}}
            if item.work:
                failed["class"] = kernel_classes.class_of(item.work)
            return [self.row_head(item, view) | failed | self.row_end(spent) for view in VIEWS[item.dtype]]

    def make(self, item: Item) -> pathlib.Path:
        """The item's ONNX file, and beside it the .npz with its inputs and references."""
        if item.work:
            return gpu_kernels.write(item.work, self.folder)
        path = self.folder / f"{item.name}.onnx"
        script = str(pathlib.Path(self.args.peer_folder) / "torch_models.py")
        command = [sys.executable, script, item.asked["model"], item.dtype, str(item.asked["batch"]), str(path)]
        environment = {**os.environ, **MODULES}
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=EXPORT_LIMIT_S)
        return path

    def compile(self, file: pathlib.Path) -> tuple[dict[str, tuple[pathlib.Path, dict[str, Any]]], dict[str, str]]:
        """Hone's modules by name with what `hone compile` said of them, and why one is not there."""
        compiled, failures = {}, {}
        for name in (TUNED, DEFAULT):
            try:
                compiled[name] = self.modules.compile(file, 1, "default", name == TUNED, self.device.target)
            except (subprocess.CalledProcessError, OSError, ValueError) as error:
                failures[name] = result_file.said(error)
        return compiled, failures

    def measured_rows(self, item: Item, file: pathlib.Path, spent: Spent, failures: dict[str, str]) -> list[dict[str, Any]]:
        load = os.getloadavg()[0]
        compiled, not_compiled = self.compile(file)
        views = VIEWS[item.dtype]
        peers = [*self.hone, *(peer for peer in self.peers if "tf32" in views or not peer.name.endswith(TF32))]
        growth = round_growth.Growth(self.args.rounds, self.args.max_rounds)

        def further(so_far: Measured, seconds: float) -> int:
            return max(growth.further(of_view(so_far, view), seconds) for view in views)

        sample_ms = self.args.sample_ms or SAMPLE_MS[self.args.what]
        commands = self.commands(item, file, compiled, peers)
        measured = peer_rounds.measure(peers, commands, self.args.rounds, sample_ms, further=further)
        rows = []
        for view in views:
            own = of_view(measured, view)
            row = self.row_head(item, view)
            row["hone"] = {
                name.removeprefix("hone "): self.hone_figures(own, name, report, item.work)
                for name, (_, report) in compiled.items()
                if own.times.get(name)
            }
            row |= compared(own, {})
            row |= {"failures": failures | not_compiled | own.failures, "skipped": own.skipped, "rounds": own.rounds}
            row["processes"] = {peer.name: peer.processes for peer in peers if peer.name in own.times}
            if item.work:
                row["class"] = kernel_classes.timed_class(item.work, shortest_us(row))
            rows.append(row | self.row_end(spent, load))
        return rows

    def commands(
        self, item: Item, file: pathlib.Path, compiled: Mapping[str, Any], peers: Sequence[ProcessPeer]
    ) -> dict[str, dict[str, Any]]:
        data, is_kernel = str(file.with_suffix(".npz")), bool(item.work)
        limits = gpu_kernels.ERROR_LIMIT if is_kernel else MODEL_ERROR_LIMIT
        tf32 = gpu_kernels.TF32_ERROR_LIMIT if is_kernel else TF32_MODEL_ERROR_LIMIT
        asked = {"kind": "kernel" if is_kernel else "model", "w": item.asked, "data": data}
        commands = {}
        for peer in peers:
            limit = tf32 if peer.name.endswith(TF32) else limits[item.dtype]
            if peer.name in compiled:
                module = str(compiled[peer.name][0])
                commands[peer.name] = {"module": module, "data": data, "alone": False, "device": self.device.name, "err_limit": limit}
            elif peer not in self.hone:
                commands[peer.name] = {**asked, "err_limit": limit}
        return commands

    def hone_figures(self, measured: Measured, name: str, report: Mapping[str, Any], work: Mapping[str, Any] | None) -> dict[str, Any]:
        times, reply = measured.times[name], measured.replies[name]
        median_us = statistics.median(times)
        figures = {"median_us": median_us, "least_us": min(times), "tiers": report["counts"], "error": reply["err"]}
        figures |= {"error_limit": reply["err_limit"], "launched_kernels": len(reply["calls"])}
        if work is None:
            return figures
        figures |= {"gflops": work["flops"] / median_us * 1e-3, "gbs": work["bytes"] / median_us * 1e-3}
        if "fma_gflops" in self.peak and work["dtype"] == "float32":
            figures["share_of_peak"] = figures["gflops"] / self.peak["fma_gflops"]
        return figures

    def row_head(self, item: Item, view: str) -> dict[str, Any]:
        """What is known before anything is measured."""
        suffix = TF32 if view == "tf32" else ""
        row: dict[str, Any] = {"item": item.name, "threads": 1, "view": view, "numerics": "default"}
        if item.work:
            row |= {"flops": item.work["flops"], "bytes": item.work["bytes"]}
        asked = {"peers_asked": [mode + suffix for mode in self.args.peers]}
        return row | asked | {"peers_left_out": [mode + suffix for mode in MODES if mode not in self.args.peers], "timed": TIMED}

    def row_end(self, spent: Spent, load: float = 0.0) -> dict[str, Any]:
        origin = {
            "order": result_rows.next_order(self.rows),
            **self.source,
            "command": "gpu/" + shlex.join(pathlib.Path(arg).name for arg in sys.argv),
            "cpu": result_file.cpu_name(),
            "device": self.device.model,
            "target": self.device.target,
            "rounds": self.args.rounds,
            "max_rounds": self.args.max_rounds,
            "trials_a_task": self.args.trials,
            "load": load,
            "load_after": os.getloadavg()[0],
            "peak": dict(self.peak),
        }
        return {"trials": spent.trials, "tune_s": spent.seconds, "origin": origin}

    def write(self) -> None:
        machine = {"cpu": result_file.cpu_name(), "cores": os.cpu_count()}
        document: dict[str, Any] = {"schema": 2, "device": self.device.model, "driver": self.device.driver, **machine}
        if self.args.what == "kernels":
            document["summary"] = kernel_classes.summary(self.rows)
        document["rows"] = self.rows
        self.out.parent.mkdir(parents=True, exist_ok=True)
        result_file.write_whole(self.out, result_rows.text(document))
        result_file.write_whole(self.out.with_suffix(".md"), result_table.document(f"gpu_{self.args.what}", document))


def main() -> int:
    args = options()
    device = find_device(args.device)
    with tempfile.TemporaryDirectory() as folder, open(pathlib.Path(folder) / "workers.log", "w", encoding="utf-8") as log:
        sweep = Sweep(args, device, pathlib.Path(folder), log)
        failed = sweep.run()
    print(sweep.out)
    if failed:
        print(f"{failed} items without a figure of Hone's; the reasons are in the file", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
