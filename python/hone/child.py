"""A call in a process of its own: Ctrl-C ends it at once, wherever it is in C."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent import futures
from typing import NoReturn

from hone.errors import Error

_PR_SET_PDEATHSIG = 1

held = threading.Lock()
"""Nothing that a thread holds with it is missing in the child of another."""


def call(function: Callable[[], bytes], output: pathlib.Path) -> bytes:
    """What `function` returns, or the hone.Error that it raises. It runs in a copy of this process that has one thread
    only, writes the file `output`, and is killed where this thread is interrupted."""
    with tempfile.TemporaryDirectory(prefix="hone-") as scratch, futures.ThreadPoolExecutor(1) as thread:
        child = _Child(function, output, scratch)
        try:
            return thread.submit(child.run).result()
        except BaseException:
            child.kill()
            raise


class _Child:
    def __init__(self, function: Callable[[], bytes], output: pathlib.Path, scratch: str) -> None:
        self._function, self._output, self._scratch = function, output, scratch
        self._lock = threading.Lock()
        self._process = 0
        self._is_killed = False

    def run(self) -> bytes:
        """In a thread other than the main one, where Ctrl-C cannot come between the fork and the number it returns."""
        with self._lock, held:
            if self._is_killed:
                return b""
            reader, writer = os.pipe()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # that other threads are not copied
                self._process = process = os.fork()
            if process == 0:
                _serve(self._function, writer, self._scratch)
            os.close(writer)  # before another child has it, too
        with open(reader, "rb") as stream:
            answer = stream.read()
        status = 0
        with self._lock:
            with contextlib.suppress(ChildProcessError):  # where SIGCHLD is ignored
                status = os.waitpid(process, 0)[1]
            self._process = 0
        _remove_leftovers(process, self._output)
        return _result(answer, status)

    def kill(self) -> None:
        with self._lock:
            self._is_killed = True
            if self._process:
                os.kill(self._process, signal.SIGKILL)


def _serve(function: Callable[[], bytes], writer: int, scratch: str) -> NoReturn:
    """In the child, which ends here: no handler, no buffer of the parent's is gone through."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both; the parent decides
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.environ["TMPDIR"] = scratch  # what a killed link leaves goes with it
        try:
            answer = b"+" + function()
        except Error as error:
            answer = b"-" + json.dumps([str(error), error.code]).encode()
        with open(writer, "wb") as stream:
            stream.write(answer)
        os._exit(0)
    finally:
        os._exit(1)


def _remove_leftovers(child: int, output: pathlib.Path) -> None:
    """The file that a killed writer has not yet given its name (support/output_file.cc)."""
    for path in pathlib.Path(os.path.realpath(output)).parent.glob(f".hone-{child}-*.new"):
        path.unlink(missing_ok=True)


def _result(answer: bytes, status: int) -> bytes:
    if answer.startswith(b"+"):
        return answer[1:]
    if answer.startswith(b"-"):
        message, code = json.loads(answer[1:])
        raise Error(message, code)
    how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.waitstatus_to_exitcode(status)}"
    raise Error(f"expected a report of the compiler, found that its process ended with {how}")
