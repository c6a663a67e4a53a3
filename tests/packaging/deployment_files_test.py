#!/usr/bin/env python3
"""Containerfiles, manifests and units, as far as one can judge them without running them."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
CONTAINERFILES = sorted((ROOT / "docker").glob("Containerfile.*"))
EMULATED = "Containerfile.worker-aarch64"  # the only one with a build of its own
UNITS = sorted((ROOT / "packaging/systemd").glob("*.service"))
MANIFESTS = sorted((ROOT / "packaging/kubernetes").glob("*.yaml"))


def stages(path: pathlib.Path) -> list[str]:
    return ["FROM " + stage for stage in path.read_text().split("\nFROM ")[1:]]


class DeploymentFilesTest(unittest.TestCase):
    def test_one_build_serves_all_images(self) -> None:
        native = [path for path in CONTAINERFILES if path.name != EMULATED]
        self.assertEqual(len(native), 3)
        self.assertEqual(len(CONTAINERFILES), 4)
        first = {stages(path)[0].strip() for path in native}
        self.assertEqual(len(first), 1, "the first stages of the Containerfiles differ, and each is built for itself")

    def test_no_image_runs_as_root(self) -> None:
        for path in CONTAINERFILES:
            users = re.findall(r"^USER (\S+)", stages(path)[-1], re.MULTILINE)
            self.assertEqual(users, ["hone"], path.name)

    def test_units_are_sound(self) -> None:
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed")
        for path in UNITS:
            with tempfile.TemporaryDirectory() as folder:
                unit = pathlib.Path(folder) / path.name
                unit.write_text(re.sub(r"/usr/bin/hone[a-z-]*", "/bin/true", path.read_text()))
                done = subprocess.run(
                    ["systemd-analyze", "verify", "--man=no", str(unit)], text=True, stderr=subprocess.PIPE, check=False
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""), path.name)

    def test_manifests_are_kubernetes_own(self) -> None:
        if importlib.util.find_spec("kubernetes_validate") is None:
            self.skipTest("kubernetes-validate is not installed (docs/install.md)")
        import kubernetes_validate
        import yaml

        for path in MANIFESTS:
            for document in yaml.safe_load_all(path.read_text()):
                kubernetes_validate.validate(document, "1.29", strict=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
