"""Tunes items and compiles them, with what was measured and without."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import result_file


NATIVE = "native"  # the target that is this machine


class Spent(NamedTuple):
    """On tuning an item, by all runs with this ledger. What items share counts for the first that had it."""

    trials: int
    seconds: float


class Ledger:
    """Trials and seconds beside a database: a run that finds it tuned spends none, and its rows still say what it took."""

    def __init__(self, database: pathlib.Path) -> None:
        self._path = database.with_name(database.name + ".spent.json")
        self._spent: dict[str, list[float]] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def add(self, key: str, trials: int, seconds: float, is_whole: bool = True) -> Spent:
        """A whole run that spends no trial only looks up what is there; one that failed may have spent more than is known."""
        known = self._spent.get(key, [0, 0.0])
        total = [known[0] + trials, known[1] + (seconds if trials or not is_whole else 0.0)]
        self._spent[key] = total
        result_file.write_whole(self._path, json.dumps(self._spent, indent=1) + "\n")
        return Spent(int(total[0]), total[1])

    def of(self, key: str) -> Spent:
        known = self._spent.get(key, [0, 0.0])
        return Spent(int(known[0]), known[1])


class Modules:
    """Compiled modules of items in a folder of their own, and the database they are tuned in."""

    def __init__(self, folder: pathlib.Path, database: pathlib.Path, driver: Any) -> None:
        self._folder = folder
        self._database = database
        self._python = pathlib.Path(driver.VENV) / "bin" / "python"
        self._ledger = Ledger(database)
        # `hone` without --db looks for the user's own database: defaults must not come from there.
        os.environ["XDG_DATA_HOME"] = str(folder)

    def with_free_ends(self, model: pathlib.Path) -> pathlib.Path:
        """The model for the view of kernels in their own layouts."""
        out = self._folder / f"{model.stem}.relay"
        if not out.exists():
            script = pathlib.Path(__file__).parent / "free_ends.py"
            part = out.with_suffix(".part")  # of a run that fails nothing is taken for a model
            environment = {**os.environ, "HONE_BUILD": str(result_file.BUILD)}
            subprocess.run([str(self._python), str(script), str(model), str(part)], check=True, env=environment)
            part.replace(out)
        return out

    def tune(
        self, model: pathlib.Path, threads: int, numerics: str, trials: int, target: str = NATIVE
    ) -> tuple[Spent, str]:
        """`trials` a task; with 0, what the database has. Also says what failed; what was spent before that counts."""
        key = f"{model.name} {threads} {numerics}" + (f" {target}" if target != NATIVE else "")
        if trials <= 0:
            return self._ledger.of(key), ""
        started = time.monotonic()
        try:
            document = self._tune(model, threads, numerics, trials, target)
            return self._ledger.add(key, trials_in(document), document["wall_s"]), ""
        except (subprocess.CalledProcessError, OSError, ValueError, KeyError) as error:
            spent = trials_before(getattr(error, "output", None))
            known = "" if spent is not None else "; its trials are not known and not counted"
            total = self._ledger.add(key, spent or 0, time.monotonic() - started, is_whole=False)
            return total, result_file.said(error) + known

    def _tune(self, model: pathlib.Path, threads: int, numerics: str, trials: int, target: str) -> dict[str, Any]:
        document = result_file.hone(
            *("tune", str(model), "--db", str(self._database), "--trials", str(trials), "--full-budget"),
            *("--target", target, *_threads(target, threads), *_numerics(numerics)),
        )
        return document

    def compile(
        self, model: pathlib.Path, threads: int, numerics: str, tuned: bool, target: str = NATIVE
    ) -> tuple[pathlib.Path, dict[str, Any]]:
        """The module, and what `hone compile` said of it."""
        kind = ("tuned" if tuned else "default") + ("" if target == NATIVE else "-" + target.split("=")[-1])
        out = self._folder / f"{model.stem}-{kind}-{numerics}.so"
        known = ["--db", str(self._database)] if tuned and self._database.exists() else []
        report = result_file.hone(
            *("compile", str(model), "-o", str(out), "--target", target),
            *(*_threads(target, threads), *known, *_numerics(numerics)),
        )
        return out, report


def trials_in(document: Mapping[str, Any]) -> int:
    return sum(task["trials"] for task in document["tasks"])


def trials_before(output: str | None) -> int | None:
    """The trials of a run that failed: a job that ended badly still prints its document. None if there is no document."""
    try:
        return trials_in(json.loads(output or ""))
    except (ValueError, KeyError, TypeError):
        return None


def _threads(target: str, threads: int) -> list[str]:
    """Targets behind drivers have none."""
    return ["--threads", str(threads)] if target.split()[0] in (NATIVE, "llvm") else []


def _numerics(numerics: str) -> list[str]:
    return [] if numerics == "default" else ["--numerics", numerics]
