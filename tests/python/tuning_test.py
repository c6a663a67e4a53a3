"""hone.tune on real processes: what it reports, and that nothing is left of it, however it ends.

Usage: tuning_test.py PACKAGE_FOLDER
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

PACKAGE = str(pathlib.Path(sys.argv.pop(1)).resolve())
sys.path.insert(0, PACKAGE)

import hone  # noqa: E402
from hone import program  # noqa: E402

ENDLESS = {"trials": 100000, "full_budget": True, "threads": 1}


def processes_naming(text: str) -> list[str]:
    """The command lines of live processes that hold `text`, this one aside."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue
        if text in line and path.parent.name != str(os.getpid()):
            found.append(line)
    return found


class TuningTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "mlp.onnx"
        self.database = self.folder / "hone.db"
        subprocess.run([program.find("hone"), "zoo", "mlp", "-o", self.model], check=True)

    def expect_nothing_left(self) -> None:
        deadline_s = time.monotonic() + 60
        while processes_naming(str(self.database)) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        self.assertEqual(processes_naming(str(self.database)), [])
        command = [program.find("hone"), "job", "list", "--db", self.database, "--json"]
        self.assertEqual(json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["jobs"], [])

    def test_reports_what_was_won_and_builds_take_it(self) -> None:
        seen: list[hone.TuneProgress] = []
        report = hone.tune(self.model, database=self.database, trials=2, threads=1, progress=seen.append)
        self.assertEqual(report.trials, sum(task.trials for task in report.tasks))
        self.assertGreater(report.trials, 0)
        self.assertEqual(report.ended_early, "")
        (model,) = report.models
        self.assertIs(report.model, model)
        self.assertEqual(model.name, "mlp.onnx")
        self.assertLessEqual(model.ratio_low, model.ratio)
        self.assertLessEqual(model.ratio, model.ratio_high)
        self.assertTrue(all(kernel.kept in ("tuned", "default") for kernel in model.kernels))
        self.assertTrue(all(task.default_us > 0 and task.best_us > 0 for task in report.tasks))
        self.assertRegex(repr(report), r"^<hone.TuneReport: mlp.onnx: .*; \d+ trials in \d+ s>$")
        self.assertIn("mlp.onnx: ", str(report))
        said = [progress.message for progress in seen if progress.message]
        self.assertTrue(any(message.endswith("tier `tuning`, which require_tuned refuses") for message in said), said)
        self.assertIn("search", {progress.phase for progress in seen})
        self.assertEqual(seen[-1].phase, "model")
        self.assertLessEqual(max(progress.trials for progress in seen), report.trials)

        again = hone.tune(self.model, database=self.database, trials=2, threads=1, progress=False)
        self.assertEqual(again.trials, 0)
        for same in (self.model.read_bytes(), hone.Graph.load(self.model)):
            self.assertEqual(hone.tune(same, database=self.database, trials=2, threads=1, progress=False).trials, 0)

        tuned = self.folder / "tuned.so"
        hone.compile(self.model, tuned, threads=1, database=self.database)
        value = {"data": np.random.default_rng(0).standard_normal((1, 1, 28, 28)).astype(np.float32)}
        (result,) = hone.Module(tuned).run(value)
        (strict,) = hone.build(self.model, threads=1, numerics="strict").run(value)
        np.testing.assert_allclose(result, strict, rtol=1e-4, atol=1e-5)

    def test_takes_a_part_of_a_model(self) -> None:
        for model in (self.model, self.model.read_bytes()):
            report = hone.tune(model, cut=["relu"], database=self.database, trials=1, threads=1, progress=False)
            self.assertEqual(len(report.model.kernels), 1)

    def test_a_limit_of_time_is_no_error(self) -> None:
        report = hone.tune(self.model, database=self.database, time=0.5, progress=False, **ENDLESS)
        self.assertRegex(report.ended_early, "the time limit ended the job after .*; what was settled stays")
        self.assertIn(report.ended_early, str(report))

    def test_ctrl_c_ends_it_and_leaves_nothing(self) -> None:
        with self.assertRaisesRegex(KeyboardInterrupt, "interrupted; what was settled stays"):
            hone.tune(
                self.model,
                database=self.database,
                progress=lambda progress: progress.trials and os.kill(os.getpid(), signal.SIGINT),
                **ENDLESS,
            )
        self.expect_nothing_left()

    def test_what_its_callback_raises_ends_it(self) -> None:
        class Enough(Exception):
            pass

        def stop(progress: hone.TuneProgress) -> None:
            if progress.phase == "search":
                raise Enough

        with self.assertRaises(Enough):
            hone.tune(self.model, database=self.database, progress=stop, **ENDLESS)
        self.expect_nothing_left()

    def test_nothing_outlives_a_python_that_is_killed(self) -> None:
        script = f"""
import hone
hone.tune({str(self.model)!r}, database={str(self.database)!r}, progress=lambda p: print(p.phase, flush=True), **{ENDLESS})
"""
        environment = {**os.environ, "PYTHONPATH": PACKAGE}
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as child:
            assert child.stdout is not None
            while child.stdout.readline() not in (b"search\n", b""):
                pass
            child.kill()
        self.expect_nothing_left()

    def test_no_model_stays_in_a_folder_where_python_is_killed(self) -> None:
        script = f"""
import hone
graph = hone.Graph.load({str(self.model)!r})
hone.tune(graph, database={str(self.database)!r}, progress=lambda p: print(p.phase, flush=True), **{ENDLESS})
"""
        scratch = self.folder / "scratch"
        scratch.mkdir()
        environment = {**os.environ, "PYTHONPATH": PACKAGE, "TMPDIR": str(scratch)}
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as child:
            assert child.stdout is not None
            while child.stdout.readline() not in (b"search\n", b""):
                pass
            child.kill()
        # The processes that Python left make and remove folders until they have seen that it is gone.
        self.expect_nothing_left()
        left = [name for _, _, names in os.walk(scratch) for name in names]
        self.assertEqual([name for name in left if name.endswith(".relay")], [])

    def test_needs_no_stderr(self) -> None:
        for change in ("sys.stderr = None", "sys.stderr.close()"):
            script = f"""
import hone, sys
{change}
report = hone.tune({str(self.model)!r}, database={str(self.database)!r}, trials=1, threads=1)
print(report.model.name)
"""
            environment = {**os.environ, "PYTHONPATH": PACKAGE}
            run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (0, "mlp.onnx\n"), run.stderr)

    def test_events_end_with_the_document_of_json(self) -> None:
        command = [program.find("hone"), "tune", self.model, "--db", self.database, "--trials", "2", "--threads", "1"]
        run = subprocess.run([*command, "--events"], check=True, capture_output=True, text=True)
        events = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual([event["event"] for event in events[-2:]], ["phase", "result"])
        self.assertEqual({event["event"] for event in events[:-2]}, {"progress"})
        document = json.loads(subprocess.run([*command, "--json"], check=True, capture_output=True).stdout)
        self.assertEqual(set(events[-1]) - {"event"}, set(document))

    def test_errors_are_the_program_s_own_sentences(self) -> None:
        def refused(code: int | None, sentence: str, **arguments: object) -> None:
            given = {"model": self.model, "database": self.database, "progress": False, **arguments}
            with self.assertRaisesRegex(hone.Error, sentence) as caught:
                hone.tune(**given)  # type: ignore[arg-type]
            self.assertEqual(caught.exception.code, code)

        refused(3, "expected a model file at .*nowhere.onnx, found none; check the path$", model="nowhere.onnx")
        refused(2, "^trials: expected a whole number from 1 to 1000000000, found '0'$", trials=0)
        refused(2, "^expected a duration such as 90s, 10m or 2h for time, found 'soon'$", time="soon")
        for what, arguments in (
            ("database as a path that is not empty", {"database": ""}),
            ("server as a text that is not empty", {"database": None, "server": ""}),
            ("target as a text that is not empty", {"target": ""}),
            ("search as a text that is not empty", {"search": ""}),
            ("micro_kernels as a text that is not empty", {"micro_kernels": ""}),
            ("time as a text that is not empty", {"time": ""}),
            ("a path that is not empty", {"model": ""}),
            ("a database or a server, found both", {"server": "unix:/none"}),
            ("time as seconds above 0, .*found nan", {"time": float("nan")}),
            ("time as seconds above 0, .*found -1", {"time": -1}),
            ("a seed from 0 to .*found -1", {"seed": -1}),
            ("trials as a whole number, found 1.5", {"trials": 1.5}),
            ("progress as True, False or a function .*found 1", {"progress": 1}),
            ("progress as True, False or a function .*found 'x'", {"progress": "x"}),
            ("threads, or 0, which chooses, found None", {"threads": None}),
        ):
            with self.subTest(what):
                refused(None, what, **arguments)
        refused(5, "expected a tuning server at unix:/none", database=None, server="unix:/none")
        with self.assertRaisesRegex(hone.Error, "expected the program no-such at .* or on PATH, found none"):
            program.find("no-such")


if __name__ == "__main__":
    unittest.main()
