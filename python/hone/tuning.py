"""hone.tune: the program `hone tune` at work, so that there is one way in which jobs run, and end."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time as clock
from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat, TextIO

import numpy as np

from hone import program
from hone.arguments import integer, path_of, text_of, threads_of
from hone.bindings import Dims, Shapes, dim_flags, shape_flags
from hone.compiler import Constants, Model, constant_items, cut_names, loaded
from hone.errors import Error, in_python
from hone.tune_report import TuneProgress, TuneReport, progress_of, report_of

OnProgress = Callable[[TuneProgress], object]
Progress = bool | OnProgress

_ENDED_EARLY = 8  # exit codes of docs/cli.md
_LOG_INTERVAL_S = 10.0
DEFAULT_SEARCH = "xgboost"
MAX_SEED = 2**64 - 1
_MAX_TIME_S = 10**9


class _ProgressLine:
    """On a terminal one line that is drawn over; elsewhere a line now and then, and what the program says."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._width = 0
        self._last_s = 0.0

    def __call__(self, progress: TuneProgress) -> None:
        if progress.message:
            self.clear()
            print(progress.message, file=self._stream, flush=True)
        elif self._is_terminal:
            text = str(progress)[: shutil.get_terminal_size().columns - 1]
            print(f"\r{text:<{self._width}}", end="", file=self._stream, flush=True)
            self._width = len(text)
        elif progress.elapsed_s - self._last_s >= _LOG_INTERVAL_S:
            self._last_s = progress.elapsed_s
            print(progress, file=self._stream, flush=True)

    def clear(self) -> None:
        if self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=self._stream, flush=True)
        self._width = 0


class _Listener:
    """Takes the program's lines; tells `on_progress`."""

    def __init__(self, on_progress: OnProgress, on_start: Callable[[], None]) -> None:
        """`on_start` is called before the first event, when the program has read all files that it is given."""
        self._on_progress = on_progress
        self._on_start = on_start
        self._has_started = False
        self._start_s = clock.monotonic()
        self._last = TuneProgress("start")
        self.result: dict[str, Any] | None = None

    def on_output(self, line: str) -> None:
        if not self._has_started:
            self._has_started = True
            self._on_start()
        event = json.loads(line)
        kind = event.pop("event")
        if kind == "result":
            self.result = event
        else:
            self._last = progress_of(event, self._elapsed_s())
            self._on_progress(self._last)

    def on_message(self, line: str) -> None:
        self._on_progress(dataclasses.replace(self._last, message=in_python(line), elapsed_s=self._elapsed_s()))

    def _elapsed_s(self) -> float:
        return clock.monotonic() - self._start_s


def _write_constants(constants: Constants | None, folder: pathlib.Path) -> list[str]:
    texts = []
    for number, (name, value) in enumerate(constant_items(constants)):
        path = folder / f"constant{number}.npy"
        np.save(path, np.asarray(value))
        texts.append(f"{text_of(name, 'the name of a constant')}={path}")
    return texts


def model_arguments(
    model: Model,
    shapes: Shapes | None,
    dims: Dims | None,
    constants: Constants | None,
    cut: Sequence[str],
    folder: pathlib.Path,
) -> list[str]:
    """The model and what is decided of its inputs. One that is no file becomes files of its graphs' texts."""
    if isinstance(model, (str, os.PathLike)):
        path_of(model, "a model")
        constant = _write_constants(constants, folder)
        flags = flags_of(shape=shape_flags(shapes), dim=dim_flags(dims), constant=constant, cut=cut_names(cut))
        return [*flags, "--", os.path.abspath(model)]
    arguments = ["--"]
    for number, graph in enumerate(loaded(model, shapes, dims, constants, cut)):
        path = folder / (f"model{number}.relay" if number else "model.relay")
        path.write_text(graph.text(), encoding="utf-8")
        arguments.append(str(path))
    return arguments


def flags_of(**values: object) -> list[str]:
    """`--trials=64` for trials=64; nothing for None; a list is repeated."""
    flags: list[str] = []
    for name, value in values.items():
        several = value if isinstance(value, list) else [value] if value is not None else []
        flags.extend(f"--{name.replace('_', '-')}={each}" for each in several)
    return flags


def time_flag(time: float | str | None) -> str | None:
    if time is None or isinstance(time, str):
        return None if time is None else text_of(time, "time")
    if isinstance(time, bool) or not isinstance(time, SupportsFloat) or not 0 < float(time) <= _MAX_TIME_S:
        raise Error(f'expected time as seconds above 0, at most {_MAX_TIME_S}, or as in "10m", found {time!r}')
    return f"{float(time)}s"


def _progress_line(progress: Progress) -> _ProgressLine | None:
    """None: where nobody reads, nothing is written."""
    if not isinstance(progress, bool) and not callable(progress):
        raise Error(f"expected progress as True, False or a function of a hone.TuneProgress, found {progress!r}")
    stream = sys.stderr
    if progress is not True or stream is None or stream.closed:
        return None
    return _ProgressLine(stream)


def tune(
    model: Model,
    *,
    database: str | os.PathLike[str] | None = None,
    server: str | None = None,
    threads: int = 0,
    target: str | None = None,
    trials: int = 64,
    full_budget: bool = False,
    time: float | str | None = None,
    search: str = DEFAULT_SEARCH,
    seed: int = 0,
    sandbox: str | None = None,
    device_class: str | None = None,
    micro_kernels: str = "auto",
    numerics: str | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    constants: Constants | None = None,
    cut: Sequence[str] = (),
    progress: Progress = True,
) -> TuneReport:
    """Searches configs for all kernels of a model, as `hone tune` does (docs/cli.md); `build` and `compile` with the
    same database take what was won.

    `model`, `shapes`, `dims`, `constants`, `cut`: as Graph.load has them, or a Graph. `time`: a limit in seconds, or "10m".
    `sandbox`, `device_class`: which devices of a `server` measure, as `--sandbox` and `--device-class` say it.
    `progress`: a function that is called with a TuneProgress several times a second; True: a line on stderr; False:
    nothing. Ctrl-C ends it as it ends `hone tune`: what was settled stays, and no job does, but at a `server`, where a
    second Ctrl-C within two seconds is needed to cancel it."""
    if database is not None and server is not None:
        raise Error("expected a database or a server, found both; the server has its own database")
    flags = flags_of(
        db=None if database is None else os.fsdecode(path_of(database, "database")),
        server=None if server is None else text_of(server, "server"),
        threads=threads_of(threads) or None,
        target=None if target is None else text_of(target, "target"),
        trials=integer(trials, "trials as a whole number"),
        time=time_flag(time),
        search=text_of(search, "search"),
        seed=integer(seed, f"a seed from 0 to {MAX_SEED}", 0, MAX_SEED),
        sandbox=None if sandbox is None else text_of(sandbox, "sandbox"),
        device_class=None if device_class is None else text_of(device_class, "device_class"),
        micro_kernels=text_of(micro_kernels, "micro_kernels"),
        numerics=None if numerics is None else text_of(numerics, "numerics"),
    )
    line = _progress_line(progress)
    on_progress: OnProgress = line or (progress if callable(progress) else lambda now: None)
    files = tempfile.TemporaryDirectory(prefix="hone-")
    with files as name:
        folder = pathlib.Path(name)
        arguments = ["tune", "--events", *flags, *(["--full-budget"] if full_budget else [])]
        arguments += model_arguments(model, shapes, dims, constants, cut, folder)
        listener = _Listener(on_progress, files.cleanup)  # so early, that none stay where this process is killed
        try:
            failure = program.run(arguments, listener.on_output, listener.on_message)
        finally:
            if line:
                line.clear()
    if failure and (failure.code != _ENDED_EARLY or listener.result is None):
        raise failure.error()
    if listener.result is None:
        raise Error("expected a report of hone tune, found none; is the program of another version than this package?")
    return report_of(listener.result, failure.sentence if failure else "")
