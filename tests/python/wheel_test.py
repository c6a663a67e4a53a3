"""The wheel in a fresh environment, with numpy and nothing else of Hone in reach.

Usage: wheel_test.py PACKAGE_FOLDER
Skipped where there is no venv, or pip reaches no packages.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()

USE = """
import pathlib, subprocess, sys
import numpy as np
import hone

assert pathlib.Path(hone.__file__).is_relative_to(sys.prefix), hone.__file__
model = pathlib.Path("mlp.onnx")
report = hone.tune(model, database="hone.db", trials=2, threads=1, progress=False)
assert report.trials > 0 and report.model.name == "mlp.onnx"
graph = hone.Graph.load(model.read_bytes())
value = np.ones(graph.inputs[0].shape, np.float32)
(tuned,) = hone.build(graph, threads=1, database="hone.db").run({graph.inputs[0].name: value})
(strict,) = hone.build(graph, threads=1, numerics="strict").run({graph.inputs[0].name: value})
np.testing.assert_allclose(tuned, strict, rtol=1e-4, atol=1e-5)
print(hone.__version__)
"""


class WheelTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bin = self.folder / "venv" / "bin"
        made = subprocess.run([sys.executable, "-m", "venv", self.folder / "venv"], capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest(f"python3 -m venv does not work here: {made.stdout}{made.stderr}")
        reached = self.run_in_venv("pip", "download", "--quiet", "--no-deps", "--dest", "down", "numpy", "hatchling")
        if reached.returncode != 0:
            self.skipTest(f"pip reaches no packages: {reached.stderr}")

    def run_in_venv(self, program: str, *arguments: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
        environment = {
            name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        }
        environment["PATH"] = f"{self.bin}:/usr/bin:/bin"
        command = [str(self.bin / program), *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def succeed(self, program: str, *arguments: str | pathlib.Path) -> str:
        finished = self.run_in_venv(program, *arguments)
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        return finished.stdout

    def test_the_wheel_works_where_it_is_installed(self) -> None:
        self.succeed("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "wheel", SOURCE)
        (wheel,) = (self.folder / "wheel").iterdir()
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        self.assertRegex(wheel.name, rf"^hone-[\d.]+-py3-none-{platform}\.whl$")
        self.succeed("pip", "install", "--quiet", "--find-links", "down", wheel)
        self.assertEqual(len(self.succeed("pip", "list", "--format=freeze", "--exclude", "setuptools").split()), 3)

        version = self.succeed("hone", "--version").removeprefix("hone ")
        self.succeed("hone", "zoo", "mlp", "-o", "mlp.onnx")
        self.assertEqual(self.succeed("python", "-c", USE), version)
        self.assertEqual(self.succeed("python", "-m", "hone", "--version"), f"hone {version}")
        for program in ("honed", "hone-measure"):
            self.succeed(program, "--help")
        bad = self.run_in_venv("hone", "no-such-verb")
        self.assertEqual((bad.returncode, "there is no verb 'no-such-verb'" in bad.stderr), (2, True))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(77 if result.skipped else 0 if result.wasSuccessful() else 1)
