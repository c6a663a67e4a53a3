"""Runs the commands of docs/aarch64.md: a farm of a real and an emulated worker that tunes a model for both.

Usage: aarch64_farm_test.py BUILD_FOLDER SOURCE_FOLDER
Skipped where there is no emulator or no build of the preset aarch64.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import signal
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
HEADING = "## A worker without a board\n"

# What this test asks in the same shell, once the commands of the page are through.
MORE = """
hone worker list --json >workers.json
hone log list --limit 0 --db farm.db --json >records.json
hone log list --limit 0 --db farm.db >records.txt
hone log best --db farm.db --json >best.json
$emulator ./run_model arm.so image arm.out
hone run here.so --input data=image.npy --output-dir here
cp output zeros
real=${arm/ -emulated=yes/}
hone compile mlp.onnx --db farm.db --target "$real" -o real.so --json >real.json
hone compile mlp.onnx --db farm.db --target "$arm" -o again.so --json >arm.json
"""


def missing() -> str:
    for program in ("qemu-aarch64-static", "aarch64-linux-gnu-gcc"):
        if shutil.which(program) is None:
            return f"{program} is not installed; scripts/install-deps brings it"
    if not (SOURCE / "build/aarch64/bin/hone-measure").exists():
        return "nothing is built for AArch64; docs/aarch64.md says how"
    return ""


class FarmTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(holder := tempfile.TemporaryDirectory())
        top = pathlib.Path(holder.name)
        (top / "run").mkdir(mode=0o700)
        image = np.random.default_rng(7).standard_normal((1, 1, 28, 28), dtype=np.float32)
        environment = {key: value for key, value in os.environ.items() if key != "HONE_SERVER"}
        environment |= {"HOME": holder.name, "TMPDIR": holder.name, "XDG_RUNTIME_DIR": str(top / "run"), "XDG_DATA_HOME": holder.name}
        page = (SOURCE / "docs" / "aarch64.md").read_text(encoding="utf-8").split(HEADING)[1]
        commands = "\n".join(re.findall(r"^    (.*)$", page, flags=re.MULTILINE))
        commands = commands.replace("$tree/build/release", str(BUILD))
        copies = f'cp "{top}/image" "{top}/image.npy" .\n'
        (top / "image").write_bytes(image.tobytes())
        np.save(top / "image.npy", image)
        # In a session of its own, so that what runs in the background is found and ended.
        shell = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", commands + "\n" + copies + MORE],
            cwd=SOURCE, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=(top / "told").open("wb"), stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            code = shell.wait(timeout=1800)
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
        told = (top / "told").read_text(encoding="utf-8", errors="replace")
        assert code == 0, told
        (cls.folder,) = (path.parent for path in top.glob("*/farm.db"))

    def document(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    def devices(self) -> tuple[dict[str, Any], dict[str, Any]]:
        devices = {worker["worker"]: worker["devices"][0] for worker in self.document("workers.json")["workers"]}
        return devices["here"], devices["arm"]

    def test_the_worker_says_what_it_is_and_that_it_is_emulated(self) -> None:
        here, arm = self.devices()
        self.assertTrue(arm["emulated"])
        self.assertFalse(here["emulated"])
        self.assertRegex(arm["target"], r"^llvm -mtriple=aarch64-linux-gnu .* -emulated=yes -threads=1$")
        for feature in ("neon", "dotprod", "fullfp16", "bf16", "i8mm", "sve"):
            self.assertRegex(arm["target"], rf"[=,]\+{feature}[, ]")
        self.assertNotIn("-emulated", here["target"])
        self.assertEqual(arm["sandbox"], "limits")
        self.assertNotEqual(arm["fingerprint"], here["fingerprint"])

    def test_both_compute_the_same(self) -> None:
        arm = np.frombuffer((self.folder / "arm.out").read_bytes(), np.float32)
        (path,) = (self.folder / "here").glob("*.npy")
        here = np.load(path).reshape(-1)
        self.assertEqual(arm.size, 10)
        np.testing.assert_allclose(arm, here, rtol=1e-4, atol=1e-6)
        zeros = np.frombuffer((self.folder / "zeros").read_bytes(), np.float32)
        self.assertFalse(np.allclose(arm, zeros), "the input matters")

    def test_every_trial_is_measured_and_marked_where_it_is_emulated(self) -> None:
        here, arm = self.devices()
        records = self.document("records.json")["records"]
        for device in (here, arm):
            own = [record for record in records if record["target"] == device["target"] and record["purpose"] == "search"]
            self.assertGreater(len(own), 0)
            self.assertEqual({record["outcome"] for record in own}, {"ok"}, own)
            self.assertEqual({record["emulated"] for record in own}, {device["emulated"]})
        text = (self.folder / "records.txt").read_text(encoding="utf-8")
        self.assertEqual(text.count("(emulated)"), sum(record["emulated"] for record in records))

    def test_what_won_on_an_emulator_decides_nothing_for_a_real_device(self) -> None:
        here, arm = self.devices()
        best = self.document("best.json")["best"]
        self.assertEqual({row["target"] for row in best}, {here["target"], arm["target"]})
        tiers = {kernel["tier"] for kernel in self.document("arm.json")["kernels"]}
        self.assertLessEqual(tiers, {"tuned", "tuning"})
        real = self.document("real.json")
        self.assertNotIn("-emulated", real["target"])
        self.assertEqual({kernel["tier"] for kernel in real["kernels"]}, {"default"})


if __name__ == "__main__":
    if reason := missing():
        print("skipped:", reason)
        sys.exit(77)
    unittest.main()
