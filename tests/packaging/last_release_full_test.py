#!/usr/bin/env python3
"""The programs of the last release beside those of today's build; last_release_full_test.py BIN, with HONE_LAST_RELEASE=BIN of the last release.

A farm is not updated at one moment: its daemon, its workers and its clients each have a release of their own for a while.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator

TODAY = (pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path()).resolve()
LAST = pathlib.Path(os.environ.get("HONE_LAST_RELEASE", "")).resolve()
SKIPPED = 77
TRIALS = 3
LIMIT_S = 300


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Farm:
    """A folder with a database, a daemon, a worker and a client, each of a release of its own."""

    def __init__(self, folder: str) -> None:
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": folder, "HOME": folder}
        self.address = f"127.0.0.1:{free_port()}"
        self.running: list[subprocess.Popen[str]] = []

    def run(self, program: pathlib.Path, *arguments: str) -> str:
        done = subprocess.run([program, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{program} {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def start(self, program: pathlib.Path, *arguments: str) -> subprocess.Popen[str]:
        child = subprocess.Popen([program, *arguments], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        self.running.append(child)
        return child

    def stop(self, child: subprocess.Popen[str]) -> None:
        self.running.remove(child)
        child.terminate()
        if child.wait(LIMIT_S) != 0:
            raise AssertionError(f"{child.args} ended with {child.returncode}")

    def init(self, release: pathlib.Path) -> None:
        self.run(release / "honed", "init", "--address", self.address, "--db", "hone.db", "--tls", "tls", "--output", "admin.join")

    def serve(self, release: pathlib.Path) -> subprocess.Popen[str]:
        daemon = self.start(release / "honed", "--db", "hone.db", "--socket", "socket", "--listen", self.address, "--tls", "tls")
        assert daemon.stdout is not None
        line = daemon.stdout.readline()
        if not line.startswith("ready"):
            raise AssertionError(f"expected that honed serves, found {line!r}")
        return daemon

    def measure(self, release: pathlib.Path) -> subprocess.Popen[str]:
        return self.start(release / "hone-measure", "--join", "@admin.join", "--name", "bench", "--threads", "1")

    def hone(self, release: pathlib.Path, *arguments: str) -> dict:
        return json.loads(self.run(release / "hone", *arguments, "--server", "@admin.join", "--json"))

    def end(self) -> None:
        for child in self.running:
            child.kill()
            child.wait()


@contextlib.contextmanager
def farm() -> Iterator[Farm]:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        one = Farm(folder)
        try:
            yield one
        finally:
            one.end()


class LastReleaseTest(unittest.TestCase):
    def work(self, one: Farm, client: pathlib.Path, seed: int) -> None:
        """Everything that a client of a farm does, spending exactly its budget."""
        target = "native -threads=1"
        one.run(client / "hone", "zoo", "mlp", "-o", "mlp.onnx")
        submitted = one.hone(client, "job", "submit", "mlp.onnx", "--target", target, "--trials", str(TRIALS), "--full-budget", "--seed", str(seed))
        job = str(submitted["job"])
        one.run(client / "hone", "job", "watch", job, "--server", "@admin.join")
        shown = one.hone(client, "job", "show", job)
        self.assertEqual(shown["state"], "done")
        self.assertEqual(shown["done"], shown["budget"])
        self.assertEqual({task["best_us"] > 0 for task in shown["tasks"]}, {True})
        compiled = one.hone(client, "compile", "mlp.onnx", "-o", "mlp.so", "--target", target)
        self.assertNotIn("default", compiled["counts"])
        workers = one.hone(client, "worker", "list")["workers"]
        self.assertEqual([worker["worker"] for worker in workers], ["bench"])
        other = str(one.hone(client, "job", "submit", "mlp.onnx", "--target", "llvm -mcpu=x86-64 -threads=1", "--trials", "2", "--device-class", "kind=cuda")["job"])
        for verb, state in (("pause", "paused"), ("resume", ("queued", "running")), ("cancel", "cancelled")):
            found = one.hone(client, "job", verb, other)["state"]
            self.assertIn(found, (state,) if isinstance(state, str) else state)
        self.assertIn(other, [str(each["job"]) for each in one.hone(client, "job", "list", "--all")["jobs"]])

    def test_todays_daemon_serves_a_worker_and_a_client_of_the_last_release(self) -> None:
        with farm() as one:
            one.init(TODAY)
            one.serve(TODAY)
            one.measure(LAST)
            self.work(one, LAST, 1)

    def test_the_last_releases_daemon_serves_a_worker_and_a_client_of_today(self) -> None:
        with farm() as one:
            one.init(LAST)
            one.serve(LAST)
            one.measure(TODAY)
            self.work(one, TODAY, 1)

    def test_a_farm_is_updated_while_it_runs_the_daemon_first(self) -> None:
        with farm() as one:
            one.init(LAST)
            daemon = one.serve(LAST)
            one.measure(LAST)
            self.work(one, LAST, 1)
            records = len(json.loads(one.run(LAST / "hone", "log", "list", "--db", "hone.db", "--limit", "0", "--json"))["records"])
            one.stop(daemon)
            one.serve(TODAY)  # it migrates the database; the worker comes back by itself
            self.work(one, LAST, 2)
            self.work(one, TODAY, 2)
            after = json.loads(one.run(TODAY / "hone", "log", "list", "--db", "hone.db", "--limit", "0", "--json"))["records"]
            self.assertEqual(len(after), records, "what the last release spent is not spent again")
            self.assertEqual(json.loads(one.run(TODAY / "hone", "db", "check", "--db", "hone.db", "--json"))["faults"], [])


if __name__ == "__main__":
    if not os.environ.get("HONE_LAST_RELEASE"):
        print("skipped: expected HONE_LAST_RELEASE with the folder of the last release's programs")
        sys.exit(SKIPPED)
    unittest.main()
