"""A process that answers JSON commands, a line each: Hone's worker, or a peer's."""

from __future__ import annotations

import json
import os
import pathlib
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

import peer_rounds

START_LIMIT_S = 300


class ProcessPeer(peer_rounds.Peer):
    """One that takes part in the rounds; its process starts when it is first asked, and again after it has ended."""

    def __init__(self, name: str, command: Sequence[str | pathlib.Path], environment: Mapping[str, str], log: IO[str]) -> None:
        self.name = name
        self._command = [str(part) for part in command]
        self._environment = dict(environment)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def is_alive(self) -> bool:
        return self._process is not None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def ask(self, limit_s: float, **command: Any) -> dict[str, Any]:
        """Its answer; {"error": why} where there is none in time, and the process has been ended then."""
        if self._process is None:
            started = self._start()
            if "ok" not in started:
                self.stop()
                return started
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write((json.dumps(command) + "\n").encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._ended("its process ended")
        return self._answer(limit_s)

    def _start(self) -> dict[str, Any]:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **self._environment},
        )
        return self._answer(START_LIMIT_S)

    def _ended(self, why: str) -> dict[str, Any]:
        self.stop()
        return {"error": why}

    def _answer(self, limit_s: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        answers = self._process.stdout.fileno()
        end, line = time.monotonic() + limit_s, b""
        while not line.endswith(b"\n"):
            left = end - time.monotonic()
            if left <= 0 or not select.select([answers], [], [], left)[0]:
                return self._ended(f"no answer in {limit_s:.0f} s")
            read = os.read(answers, 1 << 16)
            if not read:
                return self._ended("its process ended")
            line += read
        answer: dict[str, Any] = json.loads(line)
        return answer
