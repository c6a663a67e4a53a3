"""hone.Client and hone.AsyncClient on a real honed, over its Unix socket and over TLS.

Usage: client_test.py PACKAGE_FOLDER
Skipped where grpcio or protobuf is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from unittest import mock

try:
    import google.protobuf  # noqa: F401
    import grpc
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing.name} is not installed")
    sys.exit(77)

PACKAGE = str(pathlib.Path(sys.argv.pop(1)).resolve())
sys.path.insert(0, PACKAGE)

import hone  # noqa: E402
from hone import program  # noqa: E402
from hone.server_address import ServerAddress, read_server_address  # noqa: E402

TRIALS = {"trials": 2, "full_budget": True}
DIGEST = "a" * 64


def eventually(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline_s:
            raise AssertionError("it does not come to hold within a minute")
        time.sleep(0.05)


class Daemon:
    """A honed on a database of its own, and its workers."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self._children: list[subprocess.Popen[bytes]] = []
        self._honed: subprocess.Popen[bytes] | None = None
        self._port = 0
        self.socket = f"unix:{folder}/run/honed.sock"

    def start(self, network: bool = False) -> None:
        arguments = ["--db", self.folder / "hone.db", "--socket", self.folder / "run" / "honed.sock"]
        if network:
            arguments += ["--listen", f"localhost:{self._port}", "--tls", self.folder / "tls"]
        self._honed = self._spawn("honed", *arguments, stdout=subprocess.PIPE)
        assert self._honed.stdout is not None
        ready = self._honed.stdout.readline().decode()
        assert ready.startswith("ready"), ready
        if network:
            self._port = int(ready.rsplit(":", 1)[1])

    def init(self) -> None:
        tls = ["--tls", self.folder / "tls", "--db", self.folder / "hone.db", "--address", "localhost:1"]
        made = subprocess.run([program.find("honed"), "init", *tls], check=True, capture_output=True, text=True)
        self._join = made.stdout.splitlines()[0]

    def admin(self) -> str:
        return self._at_port(self._join)

    def grant(self, name: str, role: str) -> str:
        command = ["auth", "add", name, "--role", role, "--server", self.socket, "--json"]
        return self._at_port(json.loads(self.hone(*command))["secret"])

    def work(self) -> None:
        self._spawn("hone-measure", "--server", self.socket, "--threads", "1")

    def kill(self) -> None:
        assert self._honed is not None
        self._honed.kill()
        self._honed.wait()

    def hone(self, *arguments: str) -> str:
        command = [program.find("hone"), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=self.folder).stdout

    def stop(self) -> None:
        for child in reversed(self._children):
            child.terminate()
            child.wait()
            if child.stdout is not None:
                child.stdout.close()

    def _at_port(self, join: str) -> str:
        place, _, rest = join.partition("?")
        return f"{place.rsplit(':', 1)[0]}:{self._port}?{rest}"

    def _spawn(self, name: str, *arguments: object, stdout: int | None = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        command = [program.find(name), *map(str, arguments)]
        child = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)
        self._children.append(child)
        return child


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Neither the user's own database nor a farm of theirs counts.
        here = mock.patch.dict(os.environ, {"XDG_DATA_HOME": folder.name, "XDG_RUNTIME_DIR": folder.name})
        here.start()
        self.addCleanup(here.stop)
        os.environ.pop("HONE_SERVER", None)
        (self.folder / "run").mkdir(mode=0o700)
        self.daemon = Daemon(self.folder)
        self.addCleanup(self.daemon.stop)
        self.daemon.hone("zoo", "mlp", "-o", "mlp.onnx")
        self.model = self.folder / "mlp.onnx"

    @contextlib.contextmanager
    def client(self, server: str | None = None) -> Iterator[hone.Client]:
        with hone.Client(server or self.daemon.socket) as client:
            yield client

    def serve(self, network: bool = False) -> None:
        if network:
            self.daemon.init()
        self.daemon.start(network)
        self.daemon.work()
        eventually(lambda: len(json.loads(self.daemon.hone(*self.list_workers))["workers"]) == 1)

    @property
    def list_workers(self) -> list[str]:
        return ["worker", "list", "--server", self.daemon.socket, "--json"]

    def test_submits_watches_and_reads_the_log_over_a_unix_socket(self) -> None:
        self.serve()
        with self.client() as client:
            submitted = client.submit(self.model, client_id="mine", **TRIALS)
            self.assertEqual(client.submit(self.model, client_id="mine", **TRIALS).id, submitted.id)
            with self.assertRaisesRegex(hone.Error, 'the client id "mine" is that of job 1'):
                client.submit(self.model, client_id="mine", trials=3)
            events = list(client.watch(submitted))
            self.assertEqual([event.seq for event in events], list(range(1, len(events) + 1)))
            self.assertLessEqual({"state", "trial_settled", "final"}, {event.kind for event in events})
            self.assertEqual(events[-1].job.state, "done")
            self.assertEqual(next(event.seq for event in client.watch(submitted.id, after_seq=3)), 4)

            job = client.result(submitted)
            self.assertEqual((job.model, job.state, job.client_id), ("mlp.onnx", "done", "mine"))
            self.assertEqual(job.done, job.budget)
            self.assertTrue(all(task.trials == 2 and task.best_us > 0 for task in job.tasks))
            self.assertEqual(job.tasks, events[-1].job.tasks)
            self.assertRegex(repr(job), r"^<hone.Job 1: mlp.onnx: done, \d+/\d+ trials>$")

            records = list(client.log(job=job, page_size=2))
            searched = [record for record in records if record.purpose == "search"]
            self.assertEqual(len(searched), job.trials)
            self.assertEqual({record.job for record in records}, {job.id})
            self.assertEqual(list(client.log(workload="no such")), [])
            self.look_at_the_log(client, records)
            self.assertEqual([each.id for each in client.jobs(states="done", page_size=1)], [job.id])
            self.assertEqual(list(client.jobs(submitter="nobody")), [])

    def look_at_the_log(self, client: hone.Client, records: list[hone.Record]) -> None:
        def ids(**words: object) -> list[int]:
            return [record.id for record in client.log(**words)]

        every = [record.id for record in records]
        self.assertEqual(ids(oldest_first=True, page_size=3), every[::-1])
        self.assertEqual(ids(op="nn.dense"), [each.id for each in records if "nn.dense(" in each.workload])
        self.assertEqual(ids(op="dense"), [])
        self.assertEqual(ids(shape=(128, 784)), ids(shape="128x784"))
        self.assertGreater(len(ids(shape=(128, 784))), 0)
        self.assertEqual(ids(target="llvm"), every)
        self.assertEqual(ids(device=records[0].device[:8]), every)
        self.assertEqual(ids(purpose="search"), [each.id for each in records if each.purpose == "search"])
        self.assertEqual(ids(outcome="failed"), [each.id for each in records if each.outcome != "ok"])
        hour = datetime.timedelta(hours=1)
        self.assertEqual(ids(since=datetime.datetime.now() - hour), every)
        self.assertEqual(ids(before=datetime.datetime.now().astimezone() - hour), [])
        for wrong in ({"shape": "large"}, {"outcome": "bad"}, {"purpose": "bad"}, {"op": "a(b)"}):
            with self.assertRaises(hone.InvalidArgument):
                ids(**wrong)
        for wrong in ({"shape": [-1]}, {"since": "yesterday"}, {"op": ""}, {"job": 0}):
            with self.assertRaises(hone.Error):
                ids(**wrong)
        with self.assertRaises(TypeError):
            ids(color="red")
        detail = client.record(records[0].id)
        self.assertEqual(detail.record, records[0])
        self.assertGreater(len(detail.samples_us), 0)
        with self.assertRaises(hone.NotFound):
            client.record(10**9)

    def test_cancels_pauses_and_resumes(self) -> None:
        self.daemon.start()  # without a worker it waits
        target = json.loads(self.daemon.hone("explain", "mlp.onnx", "--threads", "1", "--json"))["target"]
        with self.client() as client:
            with self.assertRaisesRegex(hone.Error, "a class of devices"):
                client.submit(self.model, target=target, device_class="fast", **TRIALS)
            with self.assertRaisesRegex(hone.Error, "expected .*server"):
                hone.tune(self.model, device_class="kind=cpu", progress=False, **TRIALS)
            job = client.submit(self.model, target=target, sandbox="strict", device_class="kind=cpu", time=3600, **TRIALS)
            shown = json.loads(self.daemon.hone("job", "show", str(job.id), "--server", self.daemon.socket, "--json"))
            self.assertEqual((shown["sandbox"], shown["device_class"], shown["limit_s"]), ("strict", "kind=cpu", 3600))
            self.assertEqual(client.pause(job).state, "paused")
            self.assertEqual([each.state for each in client.jobs()], ["paused"])
            self.assertIn(client.resume(job).state, ("queued", "running"))
            eventually(lambda: "no connected device" in client.job(job).waiting)
            self.assertEqual(client.cancel(job).state, "cancelled")
            self.assertEqual(client.cancel(job).state, "cancelled")
            with self.assertRaisesRegex(hone.JobFailed, f"job {job.id} is cancelled"):
                client.result(job)
            with self.assertRaises(hone.FailedPrecondition) as ended:
                client.resume(job)
            self.assertEqual(ended.exception.code, 7)
            with self.assertRaises(hone.NotFound) as unknown:
                client.job(99)
            self.assertEqual(unknown.exception.code, 3)
            with self.assertRaisesRegex(hone.Error, "expected a job's number from 1, or a hone.Job, found 0"):
                client.job(0)

    def test_watches_on_when_the_daemon_is_started_again(self) -> None:
        self.serve(network=True)
        for server in (self.daemon.socket, self.daemon.grant("ann", "submit")):
            with self.subTest(server.split("?")[0]), self.client(server) as client:
                # More of them: what was measured before is not measured again.
                job = client.submit(self.model, trials=4 if server == self.daemon.socket else 8, full_budget=True)
                seen = []
                for event in client.watch(job):
                    seen.append(event.seq)
                    if len(seen) == 4:
                        self.daemon.kill()
                        self.daemon.start(network=True)
                self.assertEqual(seen, list(range(1, len(seen) + 1)), "nothing is missed, or told twice")
                self.assertEqual(client.job(job).state, "done")

    def test_a_watch_whose_token_is_revoked_says_so(self) -> None:
        self.serve(network=True)
        rita = self.daemon.grant("rita", "read")
        with self.client(self.daemon.socket) as owner, self.client(rita) as client:
            job = owner.submit(self.model, trials=100_000, full_budget=True)
            events = client.watch(job)
            next(events)
            self.daemon.hone("auth", "revoke", "rita", "--server", self.daemon.socket)
            with self.assertRaisesRegex(hone.Unauthenticated, "was revoked"):
                for _ in events:
                    pass

            async def watch(server: str) -> None:
                async with hone.AsyncClient(server) as other:
                    events = other.watch(job)
                    await anext(events)
                    self.daemon.hone("auth", "revoke", "carl", "--server", self.daemon.socket)
                    async for _ in events:
                        pass

            with self.assertRaisesRegex(hone.Unauthenticated, "was revoked"):
                asyncio.run(watch(self.daemon.grant("carl", "read")))
            owner.cancel(job)

    def test_over_tls_the_pin_and_the_token_count(self) -> None:
        self.serve(network=True)
        ann, rita = self.daemon.grant("ann", "submit"), self.daemon.grant("rita", "read")
        join = self.folder / "ann.join"
        join.write_text(ann + "\n")
        with self.assertRaisesRegex(hone.Error, "chmod 600 it"):
            hone.Client(f"@{join}")
        join.chmod(0o600)
        with self.client(f"@{join}") as client:
            job = client.result(client.submit(self.model, **TRIALS))
            self.assertEqual((job.state, job.submitter), ("done", "ann"))
        with self.client(ann.replace("localhost", "127.0.0.1")) as client:
            self.assertEqual(client.job(job).state, "done", "the pin says who it is, by whatever name it is dialled")
        with self.client(rita) as client:
            self.assertEqual(client.job(job).state, "done")
            with self.assertRaisesRegex(hone.PermissionDenied, "role read") as refused:
                client.cancel(job)
            self.assertEqual(refused.exception.code, 6)
            with self.assertRaises(hone.PermissionDenied):
                client.submit(self.model, **TRIALS)

            self.daemon.hone("auth", "revoke", "rita", "--server", self.daemon.socket)

            def is_refused() -> bool:
                try:
                    client.job(job)
                except hone.Unauthenticated:
                    return True
                return False

            eventually(is_refused)
        place, _, _ = ann.partition("?")
        digest = ann.partition("certificate=")[2][:64]
        wrong = f"{place}?certificate={digest}&token=hone_wrong"
        for what, server in (("token", wrong), ("certificate", ann.replace(digest, DIGEST))):
            with self.subTest(what), self.client(server) as client:
                with self.assertRaises(hone.Unauthenticated) as unknown:
                    client.job(job)
                self.assertNotIn("hone_", str(unknown.exception), "no secret is told")
                with self.assertRaises(hone.Unauthenticated):
                    client.submit(self.model, **TRIALS)
                with self.assertRaises(hone.Unauthenticated):
                    next(client.watch(job))

    def test_no_token_is_sent_to_a_server_with_another_certificate(self) -> None:
        self.serve(network=True)
        address = read_server_address(self.daemon.grant("ann", "read"))
        other = f"hone://{address}?certificate={DIGEST}&token={address.token}"
        with mock.patch.object(grpc, "secure_channel") as opened, self.client(other) as client:
            with self.assertRaisesRegex(hone.Unauthenticated, "not the one of the join string"):
                client.job(1)
            opened.assert_not_called()

    def test_a_server_that_is_not_there_is_unavailable(self) -> None:
        for server in (f"unix:{self.folder}/none", f"hone://localhost:1?certificate={DIGEST}&token=secret"):
            with self.subTest(server), self.client(server) as client:
                with self.assertRaisesRegex(hone.Unavailable, "is honed running there") as away:
                    client.job(1)
                self.assertEqual(away.exception.code, 5)
                self.assertNotIn("secret", str(away.exception) + repr(client))

    def test_addresses_are_those_of_the_command_line(self) -> None:
        join = f"hone://[::1]:7070?certificate={DIGEST}&token=t-1"
        self.assertEqual(
            read_server_address(join), ServerAddress(host="[::1]", port=7070, certificate=DIGEST, token="t-1")
        )
        self.assertEqual(read_server_address("/run/x"), ServerAddress(socket="/run/x"))
        self.assertEqual(str(read_server_address("unix:x")), "unix:x")
        for bad in (
            "localhost:7070",
            "nothing",
            f"hone://host?certificate={DIGEST}",
            f"hone://host:0?certificate={DIGEST}",
            f"hone://ho st:1?certificate={DIGEST}",
            f"hone://::1:1?certificate={DIGEST}",
            "hone://host:1?certificate=abc",
            "hone://host:1?token=t",
            f"hone://host:1?certificate={DIGEST}&token=a b",
            f"hone://host:1?certificate={DIGEST}&colour=red",
            f"@{self.folder}/none",
        ):
            with self.subTest(bad), self.assertRaises(hone.Error) as refused:
                hone.Client(bad)
            self.assertEqual(refused.exception.code, 3)
            self.assertEqual(subprocess.run(
                [program.find("hone"), "job", "list", "--server", bad], capture_output=True
            ).returncode, 3)
        with mock.patch.dict(os.environ, {"HONE_SERVER": "unix:/none"}):
            self.assertEqual(repr(hone.Client()), "<hone.Client of unix:/none>")
        with mock.patch.dict(os.environ):
            os.environ.pop("HONE_SERVER", None)
            os.environ["HONE_SERVER"] = "garbage"
            with self.assertRaisesRegex(hone.Error, "^HONE_SERVER: expected"):
                hone.Client()
            os.environ.pop("HONE_SERVER", None)
            with self.assertRaisesRegex(hone.Error, "found none, nor one in HONE_SERVER"):
                hone.Client()
        with self.assertRaisesRegex(hone.Error, "expected states of queued, .*found 'over'"):
            next(hone.Client("unix:/none").jobs(states="over"))  # type: ignore[arg-type]

    def test_what_is_missing_is_said_in_a_sentence(self) -> None:
        script = "import sys; sys.modules['grpc'] = None; import hone\ntry: hone.Client('unix:/x')\nexcept hone.Error as e: print(e)"
        environment = {**os.environ, "PYTHONPATH": PACKAGE}
        run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertEqual(
            run.stdout,
            "expected the packages grpcio and protobuf for hone.Client, found that grpc is missing; "
            "pip install 'hone[client]'\n",
            run.stderr,
        )

    def test_async_the_same(self) -> None:
        self.serve(network=True)
        server = self.daemon.grant("ann", "submit")
        target = json.loads(self.daemon.hone(*self.list_workers))["workers"][0]["devices"][0]["target"]

        async def use() -> None:
            async with hone.AsyncClient(server) as client:
                job, other = await asyncio.gather(
                    client.submit(self.model, target=target, **TRIALS),
                    client.submit(self.model, target=target, seed=1, client_id="other", **TRIALS),
                )
                again = await client.submit(self.model, target=target, seed=1, client_id="other", **TRIALS)
                self.assertEqual(again.id, other.id)
                with self.assertRaisesRegex(hone.Error, f'the client id "other" is that of job {other.id}'):
                    await client.submit(self.model, target=target, seed=2, client_id="other", **TRIALS)
                seen = []
                async for event in client.watch(job):
                    seen.append(event.seq)
                    if len(seen) == 3:
                        self.daemon.kill()
                        self.daemon.start(network=True)
                self.assertEqual(seen, list(range(1, len(seen) + 1)))
                done = await client.result(other)
                self.assertEqual((done.state, done.submitter), ("done", "ann"))
                records = [record async for record in client.log(page_size=3)]
                self.assertLessEqual({record.job for record in records}, {job.id, other.id}, "they share what is measured")
                self.assertGreater(len(records), 0)
                ids = [each.id async for each in client.jobs(page_size=1)]
                self.assertEqual(sorted(ids), sorted([job.id, other.id]))
                with self.assertRaises(hone.NotFound):
                    await client.job(99)
            async with hone.AsyncClient(server.partition("&token=")[0] + "&token=hone_wrong") as stranger:
                with self.assertRaises(hone.Unauthenticated):
                    await stranger.job(job)
            async with hone.AsyncClient(self.daemon.socket) as client:
                self.assertEqual((await client.job(job)).state, "done")

        asyncio.run(use())


if __name__ == "__main__":
    unittest.main()
