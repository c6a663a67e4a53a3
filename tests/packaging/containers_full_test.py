#!/usr/bin/env python3
"""A farm in containers, each with an address of its own: a daemon, workers of two architectures, and clients, over TLS. It
is paused, cut off and killed while jobs run, and the jobs end with exactly what was asked for. containers_full_test.py:
builds the images first; with HONE_IMAGES=present it takes those that are there."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from typing import Any

import engine

try:
    import numpy as np
except ImportError:
    engine.skip("numpy is not installed")

ROOT = pathlib.Path(__file__).parents[2]
NETWORK = "hone-farm"
VOLUME = "hone-farm-data"
IMAGES = {
    "daemon": "localhost/hone-daemon",
    "worker": "localhost/hone-worker",
    "worker-aarch64": "localhost/hone-worker-aarch64",
    "hone": "localhost/hone",
}
TRIALS = 200
EMULATED_TRIALS = 40
CUT_OFF_S = 60
PAUSED_S = 20
CANCELLED = 8


def build_images() -> None:
    if os.environ.get("HONE_IMAGES") == "present":
        return
    engine.make_base()
    for name, image in IMAGES.items():
        file = str(ROOT / f"docker/Containerfile.{name}")
        engine.podman("build", "--format", "docker", "--network", "host", "-f", file, "-t", image, str(ROOT))


class Farm:
    """The daemon, its identity, and who may call it."""

    def __init__(self, models: pathlib.Path) -> None:
        self.models = models
        engine.podman("network", "create", NETWORK)
        engine.podman("volume", "create", VOLUME)
        init = ["init", "--address", "honed:7070"]
        self.admin = engine.podman("run", "--rm", "-v", f"{VOLUME}:/var/lib/hone", IMAGES["daemon"], *init).stdout.strip()
        self.honed = self.container(
            "honed", "daemon", ["--listen", "0.0.0.0:7070", "--advertise", "honed:7070"], ["-v", f"{VOLUME}:/var/lib/hone"]
        )
        healthy = lambda: engine.podman("exec", "honed", "honed", "health", check=False).returncode == 0  # noqa: E731
        engine.eventually(healthy, 60, "honed is healthy")
        self.work = self.grant("boards", "work")
        self.ann = self.grant("ann", "submit")
        self.rita = self.grant("rita", "read")

    @staticmethod
    def remove() -> None:
        """Whatever there is of it, also of a run that was killed."""
        for name in engine.podman("ps", "-a", "-q", "--filter", f"network={NETWORK}").stdout.split():
            engine.podman("rm", "-f", "-t", "1", name, check=False)
        engine.podman("network", "rm", "-f", NETWORK, check=False)
        engine.podman("volume", "rm", "-f", VOLUME, check=False)

    def container(self, name: str, image: str, arguments: list[str], options: list[str]) -> str:
        network = ["--name", name, "--network", NETWORK, "--network-alias", name]
        return engine.podman("run", "-d", *network, *options, IMAGES[image], *arguments).stdout.strip()

    def worker(self, name: str, image: str = "worker") -> None:
        self.container(name, image, ["--name", name, "--threads", "1"], ["-e", f"HONE_SERVER={self.work}"])

    def command(self, join: str, *arguments: str) -> list[str]:
        mount = ["-v", f"{self.models}:/models", "-w", "/models"]
        return ["podman", "run", "--rm", "--network", NETWORK, *mount, "-e", f"HONE_SERVER={join}", IMAGES["hone"], *arguments]

    def hone(self, join: str, *arguments: str) -> str:
        done = subprocess.run(self.command(join, *arguments), text=True, capture_output=True)
        assert done.returncode == 0, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def json(self, join: str, *arguments: str) -> Any:
        return json.loads(self.hone(join, *arguments, "--json"))

    def grant(self, name: str, role: str) -> str:
        return self.hone(self.admin, "auth", "add", name, "--role", role).strip()

    def workers(self) -> list[str]:
        return sorted(worker["worker"] for worker in self.json(self.rita, "worker", "list")["workers"])

    def target(self, worker: str) -> str:
        return self.json(self.rita, "worker", "show", worker)["worker"]["devices"][0]["target"]

    def job(self, number: int) -> Any:
        return self.json(self.rita, "job", "show", str(number))

    def await_trials(self, number: int, trials: int) -> None:
        engine.eventually(lambda: self.job(number)["done"] >= trials, 300, f"job {number} has {trials} trials")


class ContainersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        engine.require_podman()
        if shutil.which("aarch64-linux-gnu-gcc") is None:
            engine.skip("aarch64-linux-gnu-gcc is not installed; scripts/install-deps brings it")
        build_images()

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        models = pathlib.Path(folder.name)
        models.chmod(0o777)
        Farm.remove()
        self.addCleanup(Farm.remove)
        self.farm = Farm(models)
        self.farm.hone(self.farm.ann, "zoo", "mlp", "--batch", "16", "-o", "mlp.onnx")

    def test_the_workers_image_is_small_and_nobody_is_root(self) -> None:
        size = int(engine.podman("image", "inspect", "--format", "{{.Size}}", IMAGES["worker"]).stdout)
        self.assertLessEqual(size, 150_000_000)
        for image in IMAGES.values():
            self.assertEqual(engine.podman("run", "--rm", "--entrypoint", "id", image, "-u").stdout.strip(), "900")

    def test_a_farm_is_paused_cut_off_and_killed_and_its_jobs_end_exactly(self) -> None:
        farm = self.farm
        for name in ("worker-1", "worker-2"):
            farm.worker(name)
        farm.worker("board", "worker-aarch64")
        engine.eventually(lambda: farm.workers() == ["board", "worker-1", "worker-2"], 60, "all workers have joined")
        targets = {"here": farm.target("worker-1"), "board": farm.target("board")}
        self.assertIn("-emulated=yes", targets["board"])
        trials = {"here": TRIALS, "board": EMULATED_TRIALS}
        jobs = {name: self.submit(target, trials[name]) for name, target in targets.items()}

        for job in jobs.values():
            farm.await_trials(job, 4)
        engine.podman("pause", "worker-1")
        time.sleep(PAUSED_S)
        engine.podman("unpause", "worker-1")
        engine.podman("network", "disconnect", NETWORK, "worker-2")
        time.sleep(CUT_OFF_S)
        engine.podman("network", "connect", "--alias", "worker-2", NETWORK, "worker-2")
        for killed in ("honed", "worker-1", "board"):
            engine.podman("kill", killed)
            engine.podman("start", killed)

        for name, job in jobs.items():
            farm.hone(farm.rita, "job", "watch", str(job))
            self.assert_budget_is_met(farm.job(job), trials[name])
        self.assert_both_compute_the_same(targets)
        self.assert_nothing_twice()

    def submit(self, target: str, trials: int) -> int:
        arguments = ["mlp.onnx", "--trials", str(trials), "--full-budget", "--target", target]
        return self.farm.json(self.farm.ann, "job", "submit", *arguments)["job"]

    def assert_budget_is_met(self, job: Any, trials: int) -> None:
        self.assertEqual(job["state"], "done")
        for task in job["tasks"]:
            if task["ended"] == "space used up":
                self.assertLess(task["trials"], trials, task)
            else:
                self.assertEqual(task["trials"], trials, task)

    def assert_both_compute_the_same(self, targets: dict[str, str]) -> None:
        models = self.farm.models
        image = np.random.default_rng(7).standard_normal((16, 1, 28, 28), dtype=np.float32)
        np.save(models / "image.npy", image)
        (models / "image").write_bytes(image.tobytes())
        for name, target in targets.items():
            compiled = self.farm.json(self.farm.ann, "compile", "mlp.onnx", "--target", target, "-o", f"{name}.so")
            # Few trials of a large space leave a kernel at the tier `tuning`.
            self.assertLessEqual({kernel["tier"] for kernel in compiled["kernels"]}, {"tuned", "tuning"}, name)
        self.farm.hone(self.farm.ann, "run", "here.so", "--input", "data=image.npy", "--output-dir", "here")
        (path,) = (models / "here").glob("*.npy")
        here = np.load(path)
        board = np.frombuffer(self.run_on_board("board.so", "image"), np.float32)
        np.testing.assert_allclose(board.reshape(here.shape), here, rtol=1e-4, atol=1e-6)
        self.assertGreater(np.ptp(here, axis=0).max(), 0.01, "what is computed follows from the input")

    def run_on_board(self, module: str, input_file: str) -> bytes:
        """Runs a module by a program in C that links the image's runtime."""
        models = self.farm.models
        image = IMAGES["worker-aarch64"]
        container = engine.podman("create", image).stdout.strip()
        engine.podman("cp", f"{container}:/board/usr/lib/aarch64-linux-gnu/libhone_runtime.so", str(models))
        engine.podman("rm", container)
        program = [str(ROOT / "tests/runtime/run_model.c"), f"-L{models}", "-lhone_runtime", "-o", str(models / "run_model")]
        ignore = "-Wl,--unresolved-symbols=ignore-in-shared-libs"
        subprocess.run(["aarch64-linux-gnu-gcc", f"-I{ROOT}", *program, ignore], check=True)
        run = ["--entrypoint", "qemu-aarch64-static", "-v", f"{models}:/models", "-w", "/models", image]
        engine.podman("run", "--rm", *run, "-L", "/board", "/models/run_model", module, input_file, "output")
        return (models / "output").read_bytes()

    def assert_nothing_twice(self) -> None:
        folder = engine.podman("volume", "inspect", "--format", "{{.Mountpoint}}", VOLUME).stdout.strip()
        engine.podman("stop", "-t", "30", "honed")
        check = engine.podman("run", "--rm", "-v", f"{folder}:/data", IMAGES["hone"], "db", "check", "--db", "/data/hone.db")
        self.assertIn("is sound", check.stdout)
        listing = ["log", "list", "--limit", "0", "--db", "/data/hone.db", "--json"]
        log = engine.podman("run", "--rm", "-v", f"{folder}:/data", IMAGES["hone"], *listing).stdout
        searched = [record for record in json.loads(log)["records"] if record["purpose"] == "search"]
        tried = Counter((record["target"], record["workload"], record["config"]) for record in searched)
        self.assertEqual([configs for configs, times in tried.items() if times > 1], [])

    def test_a_job_is_watched_from_another_container_paused_resumed_and_cancelled(self) -> None:
        farm = self.farm
        farm.worker("worker-1")
        arguments = ["job", "submit", "mlp.onnx", "--trials", "100000", "--full-budget", "--threads", "1", "--target", "native"]
        job = str(farm.json(farm.ann, *arguments)["job"])
        with subprocess.Popen(farm.command(farm.rita, "job", "watch", job), stdout=subprocess.DEVNULL) as watch:
            farm.await_trials(int(job), 2)
            self.assertEqual(farm.json(farm.ann, "job", "pause", job)["state"], "paused")
            self.assertIn(farm.json(farm.ann, "job", "resume", job)["state"], ("queued", "running"))
            farm.await_trials(int(job), farm.job(int(job))["done"] + 2)
            farm.hone(farm.ann, "job", "cancel", job)
            self.assertEqual(watch.wait(60), CANCELLED)


if __name__ == "__main__":
    unittest.main(verbosity=2)
