"""A farm whose workers measure on the processor, on a device of OpenCL and, where there is one, on an emulated AArch64
machine, tunes one model for all of them at once; the compiled models run from its records.

Usage: device_farm_test.py BUILD_FOLDER SOURCE_FOLDER
Skipped where this machine has no device of OpenCL (PoCL is one). Without an emulator or a build of the preset aarch64,
which scripts/test makes, the farm has two workers.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
BIN = BUILD / "bin"
ARM = SOURCE / "build/aarch64/bin/hone-measure"
SYSROOT = SOURCE / "build/aarch64-sysroot"
EMULATOR = "qemu-aarch64-static"
TRIALS = 64  # enough for every kernel to be tuned
PATIENCE_S = 120


def devices_behind_drivers() -> list[dict[str, str]]:
    told = subprocess.run([BIN / "hone-measure", "--describe"], capture_output=True, check=True, text=True)
    return json.loads(told.stdout)["devices"]


def emulated_worker() -> list[str | pathlib.Path]:
    """The command of an emulated worker; empty where there is none."""
    if shutil.which(EMULATOR) is None or not ARM.exists():
        print(f"without an emulated worker: no {EMULATOR}, or nothing built for AArch64 (docs/aarch64.md)")
        return []
    return [EMULATOR, "-L", SYSROOT, ARM, "--sandbox", "limits", "--threads", "1"]


class DeviceFarmTest(unittest.TestCase):
    folder: pathlib.Path
    environment: dict[str, str]
    workers: dict[str, dict[str, Any]]
    tuned: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(holder := tempfile.TemporaryDirectory())
        cls.folder = pathlib.Path(holder.name)
        (cls.folder / "run").mkdir(mode=0o700)
        cls.environment = {key: value for key, value in os.environ.items() if key != "HONE_SERVER"}
        cls.environment |= {"HOME": holder.name, "XDG_RUNTIME_DIR": str(cls.folder / "run"), "XDG_DATA_HOME": holder.name}
        cls.address = f"unix:{cls.folder}/run/farm"
        image = np.random.default_rng(7).standard_normal((1, 1, 28, 28), dtype=np.float32)
        np.save(cls.folder / "image.npy", image)
        cls.start([BIN / "honed", "--db", "farm.db", "--socket", cls.folder / "run/farm"])
        commands: dict[str, list[str | pathlib.Path]] = {
            "here": [BIN / "hone-measure", "--threads", "1"],
            "device": [BIN / "hone-measure", "--device", "opencl:0"],
        }
        if emulated := emulated_worker():
            commands["arm"] = emulated
        for name, command in commands.items():
            cls.start([*command, "--server", cls.address, "--name", name])
        cls.workers = {name: cls.device_of(name) for name in commands}
        cls.hone("zoo", "mlp", "-o", "mlp.onnx")
        targets = [word for worker in cls.workers.values() for word in ("--target", worker["target"])]
        cls.tuned = cls.document("tune", "mlp.onnx", "--server", cls.address, "--trials", str(TRIALS), *targets)

    @classmethod
    def start(cls, command: list[str | pathlib.Path]) -> None:
        log = (cls.folder / "log").open("ab")
        process = subprocess.Popen(command, cwd=cls.folder, env=cls.environment, stdout=log, stderr=log)
        cls.addClassCleanup(log.close)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.kill)

    @classmethod
    def hone(cls, *words: str | pathlib.Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([BIN / "hone", *words], cwd=cls.folder, env=cls.environment, capture_output=True, text=True)
        log = (cls.folder / "log").read_text(encoding="utf-8", errors="replace")
        assert not check or done.returncode == 0, f"hone {words}: {done.stdout}{done.stderr}\n{log}"
        return done

    @classmethod
    def document(cls, *words: str | pathlib.Path) -> Any:
        return json.loads(cls.hone(*words, "--json").stdout)

    @classmethod
    def device_of(cls, worker: str) -> dict[str, Any]:
        """The worker's only device, once it has joined."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            shown = cls.hone("worker", "show", worker, "--server", cls.address, "--json", check=False)
            if shown.returncode == 0:
                (device,) = json.loads(shown.stdout)["worker"]["devices"]
                return device
            time.sleep(0.2)
        raise AssertionError((cls.folder / "log").read_text(encoding="utf-8", errors="replace"))

    def target(self, worker: str) -> str:
        return self.workers[worker]["target"]

    def compiled(self, worker: str) -> tuple[pathlib.Path, dict[str, Any]]:
        path = self.folder / f"{worker}.so"
        words = ("compile", "mlp.onnx", "--server", self.address, "--target", self.target(worker), "-o", path)
        return path, self.document(*words, "--require-tuned")

    def output_of(self, worker: str) -> Any:
        path, _ = self.compiled(worker)
        self.hone("run", path, "--input", f"data={self.folder}/image.npy", "--output-dir", worker)
        (output,) = (self.folder / worker).glob("*.npy")
        return np.load(output).reshape(-1)

    def test_the_device_says_what_it_is(self) -> None:
        device = self.workers["device"]
        self.assertRegex(device["target"], r"^opencl -device=\S+ -max-threads=\d+ -local=\d+ -compute-units=\d+$")
        self.assertEqual((device["id"], device["kind"], device["sandbox"]), ("opencl:0", "opencl", "contained"))
        self.assertRegex(device["host_target"], r"^llvm -mtriple=")
        self.assertNotEqual(device["fingerprint"], self.workers["here"]["fingerprint"])

    def test_every_kernel_is_tuned_for_every_target(self) -> None:
        records = self.document("log", "list", "--server", self.address, "--limit", "0")["records"]
        for worker in self.workers:
            own = [record for record in records if record["target"] == self.target(worker)]
            self.assertGreater(len(own), 0)
            self.assertEqual({record["outcome"] for record in own}, {"ok"}, own)
            self.assertEqual({record["worker"] for record in own}, {worker})
            best = self.document("log", "best", "--server", self.address, "--target", self.target(worker))["best"]
            _, report = self.compiled(worker)
            self.assertEqual({kernel["tier"] for kernel in report["kernels"]}, {"tuned"})
            explained = self.document("explain", "mlp.onnx", "--server", self.address, "--target", self.target(worker))
            self.assertLessEqual({kernel["workload"] for kernel in explained["kernels"]}, {record["workload"] for record in best})

    def searched(self, model: str) -> dict[str, tuple[int, list[str]]]:
        """By workload: how many configs its space on the device has, and those that a search measured."""
        plan = self.document("tune", model, "--server", self.address, "--target", self.target("device"), "--plan")
        records = self.document("log", "list", "--server", self.address, "--limit", "0")["records"]
        of_device = [r for r in records if r["target"] == self.target("device") and r["purpose"] == "search"]
        return {
            task["workload"]: (task["space"], [r["config"] for r in of_device if r["workload"] == task["workload"]])
            for task in plan["tasks"]
        }

    def test_a_search_measures_each_config_once(self) -> None:
        explained = self.document("explain", "mlp.onnx", "--server", self.address, "--target", self.target("device"))
        self.assertEqual({kernel["template"] for kernel in explained["kernels"]}, {"grid"})
        for workload, (space, configs) in self.searched("mlp.onnx").items():
            self.assertEqual(len(configs), len(set(configs)), workload)
            self.assertTrue(1 <= len(configs) <= min(space, TRIALS), (workload, space, configs))

    def test_a_space_of_one_config_is_measured_once_and_chosen(self) -> None:
        (self.folder / "relu.relay").write_text("def @main(%data: Tensor[(5, 7), float32]) { nn.relu(%data) }\n")
        self.hone("tune", "relu.relay", "--server", self.address, "--target", self.target("device"))
        ((space, configs),) = self.searched("relu.relay").values()
        self.assertEqual((space, len(configs)), (1, 1))
        words = ("compile", "relu.relay", "--server", self.address, "--target", self.target("device"), "-o", "relu.so")
        self.document(*words, "--require-tuned")

    def test_the_models_compute_the_same(self) -> None:
        here = self.output_of("here")
        self.assertEqual(here.size, 10)
        np.testing.assert_allclose(self.output_of("device"), here, rtol=1e-4, atol=1e-6)

    def test_the_emulated_model_computes_the_same(self) -> None:
        compiler = shutil.which("aarch64-linux-gnu-gcc")
        if "arm" not in self.workers or compiler is None:
            self.skipTest("no emulated worker, or no compiler for AArch64")
        path, _ = self.compiled("arm")
        library = SOURCE / "build/aarch64/lib"
        program = self.folder / "run_model"
        subprocess.run(
            [compiler, f"--sysroot={SYSROOT}", f"-I{SOURCE}", SOURCE / "tests/runtime/run_model.c",
             f"-L{library}", "-lhone_runtime", f"-Wl,-rpath,{library}", "-o", program],
            check=True,
        )  # fmt: skip
        (self.folder / "image").write_bytes(np.load(self.folder / "image.npy").tobytes())
        subprocess.run([EMULATOR, "-L", SYSROOT, program, path, "image", "arm.out"], cwd=self.folder, check=True)
        arm = np.frombuffer((self.folder / "arm.out").read_bytes(), np.float32)
        np.testing.assert_allclose(arm, self.output_of("here"), rtol=1e-4, atol=1e-6)

    def test_a_job_for_the_device_is_shown(self) -> None:
        jobs = self.document("job", "list", "--all", "--server", self.address)["jobs"]
        (job,) = (job for job in jobs if job["target"] == self.target("device"))
        shown = self.hone("job", "show", str(job["job"]), "--server", self.address).stdout
        self.assertTrue(re.search(r"opencl -device=", shown), shown)
        self.assertEqual(job["state"], "done")

    def test_a_record_of_the_device_is_measured_again(self) -> None:
        records = self.document("log", "list", "--server", self.address, "--limit", "0")["records"]
        record = next(record for record in records if record["target"] == self.target("device"))
        shown = self.document("log", "show", str(record["id"]), "--server", self.address, "--rebuild", "--rerun")
        self.assertTrue(shown["record"]["rebuilt"]["same"], shown)
        self.assertEqual(shown["record"]["rerun"]["outcome"], "ok", shown)
        self.assertTrue(shown["record"]["rerun"]["same_device"], shown)


if __name__ == "__main__":
    if not devices_behind_drivers():
        print("skipped: this machine has no device of OpenCL; pocl-opencl-icd is one")
        sys.exit(77)
    unittest.main()
