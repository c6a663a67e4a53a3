"""Tunes items and compiles them, with what was measured and without."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any, NamedTuple

import result_file


class Spent(NamedTuple):
    """On tuning an item, by all runs that used this database."""

    trials: int
    seconds: float


class Ledger:
    """Trials and seconds beside a database: a run that finds it tuned spends none, and its rows still say what it took."""

    def __init__(self, database: pathlib.Path) -> None:
        self._path = database.with_name(database.name + ".spent.json")
        self._spent: dict[str, list[float]] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def add(self, key: str, trials: int, seconds: float) -> Spent:
        known = self._spent.get(key, [0, 0.0])
        # A run that spends no trial only looks up what is there.
        total = [known[0] + trials, known[1] + (seconds if trials else 0.0)]
        self._spent[key] = total
        self._path.write_text(json.dumps(self._spent, indent=1) + "\n")
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
            environment = {**os.environ, "HONE_BUILD": str(result_file.BUILD)}
            subprocess.run([str(self._python), str(script), str(model), str(out)], check=True, env=environment)
        return out

    def tune(self, model: pathlib.Path, threads: int, numerics: str, trials: int) -> Spent:
        """`trials` a task; with 0, what the database has."""
        key = f"{model.name} {threads} {numerics}"
        if trials <= 0:
            return self._ledger.of(key)
        document = result_file.hone(
            *("tune", str(model), "--db", str(self._database), "--trials", str(trials)),
            *("--threads", str(threads), *_numerics(numerics)),
        )
        return self._ledger.add(key, sum(task["trials"] for task in document["tasks"]), document["wall_s"])

    def compile(self, model: pathlib.Path, threads: int, numerics: str, tuned: bool) -> tuple[pathlib.Path, dict[str, Any]]:
        """The module, and what `hone compile` said of it."""
        out = self._folder / f"{model.stem}-{'tuned' if tuned else 'default'}.so"
        known = ["--db", str(self._database)] if tuned and self._database.exists() else []
        report = result_file.hone(
            "compile", str(model), "-o", str(out), "--threads", str(threads), *known, *_numerics(numerics)
        )
        return out, report


def _numerics(numerics: str) -> list[str]:
    return [] if numerics == "default" else ["--numerics", numerics]
