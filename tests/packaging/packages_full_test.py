#!/usr/bin/env python3
"""The Debian packages install, run, and go again without a trace, on a bare Debian; packages_full_test.py BUILD."""

from __future__ import annotations

import pathlib
import re
import sys
import tempfile
import unittest

import engine

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path()
DOCS = pathlib.Path(__file__).parents[2] / "docs"
PACKAGES = ("hone", "hone-daemon", "hone-worker", "libhone-runtime", "python3-hone")
# What apt itself and the system's lists of users write.
CHANGES = re.compile(r"^/(proc|sys|dev|run|tmp|root)(/|$)|^/var/(cache|log|lib/(apt|dpkg|systemd|python))(/|$)|"
                     r"^/etc/(passwd|group|shadow|gshadow|subuid|subgid|ld\.so\.cache|\.pwd\.lock)-?$")
MOST_CLOSURE_BYTES = 3 << 20
C_LIBRARIES = re.compile(r"/(libc|libm|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so")


def files(machine: engine.Container) -> set[str]:
    every = machine.run("find / -xdev \\( -path /proc -o -path /sys -o -path /dev \\) -prune -o -print").stdout.splitlines()
    return {path for path in every if not CHANGES.search(path)}


def documented_commands(marker: str) -> list[list[str]]:
    """The blocks of commands that follow this comment in docs/deployment.md, up to the next heading."""
    text = (DOCS / "deployment.md").read_text().split(f"<!-- {marker} -->")[1].split("\n## ")[0]
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("    "):
            blocks[-1].append(line.strip())
        elif blocks[-1] and line.strip():
            blocks.append([])
    return [block for block in blocks if block]


class PackagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        engine.require_podman()
        engine.make_base()
        cls.folder = tempfile.TemporaryDirectory()
        engine.make_packages(BUILD, pathlib.Path(cls.folder.name))
        engine.podman("network", "rm", "-f", "hone-packages", check=False)
        engine.podman("network", "create", "hone-packages")

    @classmethod
    def tearDownClass(cls) -> None:
        engine.podman("network", "rm", "-f", "hone-packages", check=False)
        cls.folder.cleanup()

    def machine(self, name: str) -> engine.Container:
        options = ["--network", "hone-packages", "--network-alias", name, "--hostname", name]
        return engine.Container(engine.BASE, ["sleep", "infinity"], [*options, "-v", f"{self.folder.name}:/packages:ro"])

    def install(self, machine: engine.Container, *packages: str) -> None:
        paths = " ".join(f"/packages/{package}_*.deb" for package in packages)
        machine.run("apt-get update -qq")
        machine.run(f"DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends {paths}")

    def test_they_install_run_and_go_without_a_trace(self) -> None:
        with self.machine("bare") as machine:
            # adduser is of the base system everywhere but in minimal images.
            self.install_adduser(machine)
            before = files(machine)
            self.install(machine, *PACKAGES)
            for program in ("hone", "honed", "hone-measure"):
                self.assertIn("0.1.0", machine.run(f"{program} --version").stdout)
            machine.run("hone zoo mlp -o m.onnx && hone compile m.onnx -o m.so --threads 1")
            ran = machine.run(
                "python3 -c 'import hone, numpy; m = hone.Module(\"m.so\"); "
                "print(m.run({t.name: numpy.zeros(t.shape, t.dtype) for t in m.inputs})[0].shape)'"
            )
            self.assertEqual(ran.stdout.strip(), "(1, 10)")
            machine.run("apt-get purge -y -qq " + " ".join(PACKAGES))
            machine.run("apt-get autoremove -y -qq --purge")
            self.assertEqual(sorted(files(machine) - before), [])
            self.assertEqual(sorted(before - files(machine)), [])

    def install_adduser(self, machine: engine.Container) -> None:
        machine.run("apt-get update -qq && apt-get install -y -qq --no-install-recommends adduser")

    def test_the_runtime_needs_little_beside_the_c_libraries(self) -> None:
        with self.machine("runtime") as machine:
            self.install(machine, "libhone-runtime")
            paths = machine.run("ldd /usr/lib/*/libhone_runtime.so | grep -o '/[^ ]*' | xargs -n1 readlink -f").stdout.split()
            others = [path for path in paths if not C_LIBRARIES.search(path)]
            sizes = machine.run("stat -Lc %s /usr/lib/*/libhone_runtime.so " + " ".join(others)).stdout.split()
            self.assertLessEqual(sum(map(int, sizes)), MOST_CLOSURE_BYTES, others)

    def test_a_second_machine_joins_by_the_documented_commands(self) -> None:
        on_daemon, on_worker = documented_commands("commands of tests/packaging/packages_full_test.py")
        self.assertLessEqual(len(on_daemon) + len(on_worker), 5)
        with self.machine("farm.example.org") as farm, self.machine("board") as board:
            self.install(farm, "hone", "hone-daemon")
            self.install(board, "hone-worker")
            for command in on_daemon:
                in_background = command.endswith("&")
                farm.run(f"nohup {command[:-1]} >honed.log 2>&1 &" if in_background else command)
                if in_background:
                    engine.eventually(lambda: farm.run("honed health", check=False).returncode == 0, 60, "honed serves")
            with tempfile.TemporaryDirectory() as folder:
                join = pathlib.Path(folder) / "board-7.join"
                farm.copy_out("/tmp/board-7.join", join)
                board.copy_in(join, "/tmp/board-7.join")
            for command in on_worker:
                board.run(f"nohup {command} >worker.log 2>&1 &")
            engine.eventually(
                lambda: "grant:board-7" in farm.run("hone worker list --json", check=False).stdout, 60, "the worker has joined"
            )


if __name__ == "__main__":
    unittest.main(verbosity=2)
