"""The programs of Hone: where they are, and one at work."""

from __future__ import annotations

import os
import pathlib
import re
import selectors
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

from hone.errors import Error, in_python

_LOG_LINES = 20
_IS_INFO = re.compile(r"\[[^]]*\] \[(hone|honed|hone-measure)\] \[(info|debug)\] ")


def find(name: str) -> str:
    """The path of `hone` or `honed` or another of them: that of this package, else on PATH."""
    own = pathlib.Path(__file__).parent / "bin" / name
    if own.exists():
        return str(own)
    found = shutil.which(name)
    if found is None:
        raise Error(f"expected the program {name} at {own} or on PATH, found none; install Hone's wheel, or build {name}")
    return found


class Failure:
    """How a program ended that did not end well: its sentence, what it said before, and its exit code."""

    def __init__(self, code: int, log: Sequence[str]) -> None:
        sentences = [line.removeprefix("hone: ") for line in log if line.startswith("hone: ")]
        before = [line for line in log if not line.startswith("hone: ")]
        self.code = code
        self.sentence = sentences[-1] if sentences else _how_ended(code)
        if not sentences or "message is above" in self.sentence:
            self.sentence = "\n".join([self.sentence, *before])

    def error(self) -> Error:
        return Error(in_python(self.sentence), self.code)


def _how_ended(code: int) -> str:
    if code >= 0:
        return f"hone ended with exit code {code}"
    try:
        return f"hone was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"hone was ended by signal {-code}"


def run(
    arguments: Sequence[str],
    on_output: Callable[[str], None],
    on_message: Callable[[str], None],
    variables: Mapping[str, str] | None = None,
) -> Failure | None:
    """Runs `hone` with these arguments; each line of its stdout and stderr goes to the functions as it comes. Ctrl-C,
    and whatever else ends the functions, interrupts it as Ctrl-C in a terminal does, and its own end is waited for: no
    job is left behind that it would not leave there. `variables` are added to its environment."""
    program = find("hone")
    process = subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(variables or {})},
        # Ctrl-C reaches this process alone, which passes it on once.
        start_new_session=True,
    )
    log: list[str] = []

    def keep(line: str) -> None:
        log.append(line)
        del log[:-_LOG_LINES]

    def take_message(line: str) -> None:
        keep(line)
        if not line.startswith("hone: ") and not _IS_INFO.match(line):
            on_message(line)

    with process:
        try:
            _read(process, on_output, take_message)
            code = process.wait()
        except BaseException as error:
            _interrupt(process, keep)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(Failure(process.returncode, log).sentence) from None
            raise
    return Failure(code, log) if code != 0 else None


def _read(process: subprocess.Popen[bytes], on_output: Callable[[str], None], on_message: Callable[[str], None]) -> None:
    """Until both are closed, line by line."""
    assert process.stdout is not None and process.stderr is not None
    with selectors.DefaultSelector() as selector:
        for stream, function in ((process.stdout, on_output), (process.stderr, on_message)):
            selector.register(stream, selectors.EVENT_READ, (function, bytearray()))
        while selector.get_map():
            for key, _ in selector.select():
                function, pending = key.data
                block = os.read(key.fd, 1 << 16)
                if not block:
                    selector.unregister(key.fileobj)
                pending += block if block else b"\n" if pending else b""
                *lines, rest = pending.split(b"\n")
                pending[:] = rest
                for line in lines:
                    function(line.decode(errors="replace"))


def _interrupt(process: subprocess.Popen[bytes], keep: Callable[[str], None]) -> None:
    """Each further Ctrl-C is passed on; the third kills."""
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
        process.send_signal(number)
        try:
            _read(process, lambda line: None, keep)
            process.wait()
            return
        except KeyboardInterrupt:
            continue
    process.wait()
