#!/usr/bin/env python3
"""What scripts/bundle packs, on a machine with a C library that is older than the one that it was built with, and on this one.

Skipped where this is not root, or debootstrap or patchelf is missing, or the packages of the older system cannot be had.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
OLDER = "bullseye"  # its C library is 2.31
MOST_BYTES = 64 << 20
LIMIT_S = 1200
TUNES = """
set -e
hone zoo mlp -o mlp.onnx
hone tune mlp.onnx --trials 4 --threads 1 --json >tuned.json
hone compile mlp.onnx --threads 1 -o model.so
hone bench model.so
"""


def run(*command: str | pathlib.Path, **more: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False, **more)  # type: ignore[call-overload]
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class BundleTest(unittest.TestCase):
    folder: pathlib.Path
    older: pathlib.Path
    name: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(holder := tempfile.TemporaryDirectory())
        cls.folder = pathlib.Path(holder.name)
        # Candidates are another user, who opens libraries of the bundle.
        cls.folder.chmod(0o755)
        cls.older = cls.folder / "older"
        if subprocess.run(["debootstrap", "--variant=minbase", OLDER, cls.older], capture_output=True, check=False).returncode != 0:
            print(f"skipped: debootstrap cannot have {OLDER}")
            sys.exit(SKIPPED)
        run(SOURCE / "scripts/bundle", cls.folder / "bundle.tar.xz")
        run("tar", "-C", cls.older / "opt", "-xf", cls.folder / "bundle.tar.xz")
        (cls.name,) = os.listdir(cls.older / "opt")

    def in_older(self, script: str) -> str:
        """The script, as a shell of the older system runs it."""
        inside = f"cd; export HOME=/root PATH=/opt/{self.name}/bin:$PATH; {script}"
        mounts = f"mount --bind /dev {self.older}/dev; mount --rbind /sys {self.older}/sys; mount -t proc proc {self.older}/proc"
        outside = f'{mounts}; exec chroot {self.older} /bin/sh -c "$0"'
        return run("unshare", "--mount", "--pid", "--fork", "sh", "-c", outside, inside)

    def test_it_is_small(self) -> None:
        self.assertLessEqual((self.folder / "bundle.tar.xz").stat().st_size, MOST_BYTES)

    def test_an_older_system_tunes_with_it(self) -> None:
        self.in_older(TUNES)
        tuned = json.loads((self.older / "root/tuned.json").read_text())
        self.assertTrue(tuned["tasks"])

    def test_an_older_system_is_a_worker_with_it(self) -> None:
        described = json.loads(self.in_older("hone-measure --describe"))
        self.assertEqual(described["sandbox"], "strict", described)
        self.assertRegex(described["target"], r"^llvm -mtriple=x86_64")

    def test_its_runtime_comes_with_headers(self) -> None:
        root = self.older / "opt" / self.name
        self.assertTrue((root / "lib/libhone_runtime.so").exists())
        self.assertTrue((root / "include/hone/runtime/c_api.h").exists())

    def test_it_measures_on_gpus(self) -> None:
        root = self.older / "opt" / self.name
        runs = f"import sys; sys.path.insert(0, '{root}/python'); import hone; print(hone.version(), hone.Module.__name__)"
        self.assertRegex(run(sys.executable, "-c", runs), r"^\d+\.\d+.* Module")
        self.assertIn("bench_gpu.py", run(sys.executable, root / "bench/gpu/bench_gpu.py", "--help"))
        self.assertEqual(set(json.loads((root / "share/source.json").read_text())), {"commit", "code"})

    def test_this_system_runs_it_with_its_own_c_library_by_a_link(self) -> None:
        link = self.folder / "hone"
        link.symlink_to(self.older / "opt" / self.name / "bin/hone")
        environment = {**os.environ, "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(self.folder / "loaded")}
        self.assertRegex(run(link, "--version", env=environment), r"^hone \d")
        loaded = "".join(path.read_text(errors="replace") for path in self.folder.glob("loaded.*"))
        self.assertIn("/libLLVM", loaded)
        self.assertNotIn(f"calling init: {self.older}/opt/{self.name}/lib/c/", loaded)


if __name__ == "__main__":
    for program in ("debootstrap", "patchelf", "unshare"):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            sys.exit(SKIPPED)
    if os.geteuid() != 0:
        print("skipped: debootstrap and chroot take root")
        sys.exit(SKIPPED)
    unittest.main()
