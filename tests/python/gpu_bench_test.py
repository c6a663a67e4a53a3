"""The benchmark of GPUs on devices that stand in for them, beside peers that do, and what it needs besides.

Usage: gpu_bench_test.py BUILD_FOLDER SOURCE_FOLDER
On the driver that stands in for NVIDIA's and, where this machine has one, on a device of OpenCL (PoCL is one).
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path[:0] = [str(SOURCE / "bench/gpu"), str(SOURCE / "bench")]

import bench_gpu  # noqa: E402
import bfloat16  # noqa: E402
import gpu_kernels  # noqa: E402

PEERS = SOURCE / "tests/python/gpu_bench_peers"
LIMIT_S = 600


class GpuBenchTest(unittest.TestCase):
    folder: pathlib.Path
    environment: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(holder := tempfile.TemporaryDirectory())
        cls.folder = pathlib.Path(holder.name)
        libraries = os.pathsep.join([str(BUILD / "tests/cuda_driver"), os.environ.get("LD_LIBRARY_PATH", "")])
        cls.environment = {**os.environ, "HONE_BUILD": str(BUILD), "LD_LIBRARY_PATH": libraries, "XDG_DATA_HOME": holder.name}

    def bench(self, what: str, device: str, *more: str, code: int = 0) -> str:
        command = [sys.executable, str(SOURCE / "bench/gpu/bench_gpu.py"), what, "--device", device, "--tiny", "--out", str(self.folder / device)]
        command += ["--rounds", "2", "--max-rounds", "2", "--sample-ms", "1", "--peer-folder", str(PEERS), *more]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def rows(self, what: str, device: str) -> dict[tuple[str, str], dict[str, Any]]:
        content = json.loads((self.folder / device / f"gpu_{what}.json").read_text())
        return {(row["item"], row["view"]): row for row in content["rows"]}

    def test_kernels_on_a_device_of_cuda(self) -> None:
        self.bench("kernels", "cuda:0")
        rows = self.rows("kernels", "cuda:0")
        self.assertEqual(len(rows), 5 * 2 + 3, "float32 beside both numbers of the peers")
        for (item, view), row in rows.items():
            for figures in row["hone"].values():
                self.assertLess(figures["error"], 1e-2 if view == "bf16" else 1e-5, item)
            self.assertGreater(row["origin"]["peak"]["fma_gflops"], 0)
            self.assertIn("commit", row["origin"])
        failed = rows["attention_1_16_16_fp32", "fp32"]
        self.assertEqual(failed["failures"], {"graph": "no memory for it"})
        self.assertEqual(set(failed["peers"]), {"eager", "inductor"})
        tf32 = rows["conv3x3_8_16_6_s1_b1_fp32", "tf32"]
        self.assertEqual(set(tf32["peers"]), {"eager-tf32", "graph-tf32", "graph-cl-tf32", "inductor-tf32"})
        self.assertIn("ratio_low", tf32["peers"][tf32["best_peer"]])
        page = (self.folder / "cuda:0" / "gpu_kernels.md").read_text()
        self.assertIn("## float32, the others with TF32 on", page)
        self.assertIn("- attention_1_16_16_fp32, graph: `no memory for it`", page)

    def test_models_that_cannot_be_made_are_rows_with_the_reason(self) -> None:
        out = self.bench("models", "cuda:0", "--trials", "1", "--peers", "eager", code=1)
        self.assertIn("2 items without a figure of Hone's", out)
        rows = self.rows("models", "cuda:0")
        self.assertIn("expected torch 2, found an older one", rows["tiny_text_b1_fp32", "fp32"]["failures"]["row"])
        made = rows["tiny_images_b1_bf16", "bf16"]
        self.assertEqual(made["hone"]["tuned"]["error"], 0)
        self.assertEqual(made["peers_left_out"], ["graph", "graph-cl", "inductor"])
        self.assertGreaterEqual(made["trials"], 1)

    def test_another_kind_of_device(self) -> None:
        described = subprocess.run([BUILD / "bin/hone-measure", "--describe"], capture_output=True, check=True, text=True)
        if not any(device["device"] == "opencl:0" for device in json.loads(described.stdout)["devices"]):
            self.skipTest("no device of OpenCL")
        self.bench("kernels", "opencl:0", "--only", "add,softmax", "--peers", "")
        self.bench("kernels", "opencl:0", "--only", "gemm", "--peers", "", "--append")
        self.assertEqual({item.split("_")[0] for item, _ in self.rows("kernels", "opencl:0")}, {"add", "softmax", "gemm"})

    def test_a_device_that_is_not_there_is_named(self) -> None:
        self.assertIn("expected the device cuda:7, found cuda:0", self.bench("kernels", "cuda:7", code=1))


    def test_models_of_the_zoo_are_compared_with_those_on_this_processor(self) -> None:
        command = [sys.executable, str(SOURCE / "bench/gpu/check_zoo.py"), "mlp", "nothing"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"mlp +ok +\S+\nnothing +failed")
        self.assertIn("1 right on Test Device; not so: nothing", done.stdout)


class ListsTest(unittest.TestCase):
    def test_names_are_of_one_kernel_each(self) -> None:
        works = gpu_kernels.listed(is_tiny=False)
        self.assertEqual(len({work["id"] for work in works}), len(works))
        convolutions = [work for work in works if work["op"] == "conv2d" and work["groups"] == 1]
        self.assertEqual(len(convolutions), 4 * 23, "of ResNet-50, the stem among them, at two batches in two types")

    def test_bits_round_to_nearest_even(self) -> None:
        numbers = np.array([1.0, -2.5, 1 + 2**-8, 1 + 3 * 2**-8], np.float32)
        np.testing.assert_array_equal(bfloat16.numbers_of(bfloat16.bits(numbers)), [1.0, -2.5, 1.0, 1 + 2**-6])

    def test_folders_are_named_after_devices(self) -> None:
        names = ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 4090", "Test Device"]
        folders = [bench_gpu.Device("cuda:0", name, "", "").folder for name in names]
        self.assertEqual(folders, ["h100", "a100", "rtx-4090", "test-device"])


if __name__ == "__main__":
    unittest.main()
