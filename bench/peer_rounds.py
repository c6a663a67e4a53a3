"""Peers and Hone in turns: a process each, one sample a round, in rotating order."""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

import result_file

TUNED, DEFAULT, DIRECT = OWN = "hone tuned", "hone default", "hone direct"  # direct: tuned with strict numerics
PREPARE_LIMIT_S = 590
SAMPLE_LIMIT_S = 240
PAUSE_S = 0.01  # the previous one's threads stop spinning
SLOW_S = 60.0  # one whose samples would take longer gets the first rounds only
SLOW_ROUNDS = 3
FRESH_ROUNDS = 4  # after so many a process starts again: where its memory lies was worth a third of a time
QUICK_S = 1.5  # if that takes no longer

# A peer in another mode: whose worker it is, and what its environment has besides.
MODES: dict[str, tuple[str, dict[str, str]]] = {
    "tf-no-onednn": ("tf", {"TF_ENABLE_ONEDNN_OPTS": "0"}),
}


def load_driver() -> Any:
    """The peers' peerlib, from the folder that HONE_PEERS names."""
    folder = os.environ.get("HONE_PEERS", "")
    if not (pathlib.Path(folder) / "peerlib.py").is_file():
        raise SystemExit(f"expected HONE_PEERS to name the folder with peerlib.py, found '{folder}'")
    sys.path.insert(0, folder)
    return importlib.import_module("peerlib")


@contextlib.contextmanager
def _environment_with(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Peer:
    """Another system, driven by its worker.py; started when first asked."""

    start_s = 0.0  # what its process takes before it prepares an item; 0: not known yet
    prepare_s = 0.0  # what the item took
    processes = 1  # one after the other that the item was measured in

    def __init__(self, name: str, threads: int, driver: Any, log: IO[str]) -> None:
        self.name = name
        worker, self._environment = MODES.get(name, (name, {}))
        self._worker = driver.Worker(worker, threads, log)

    def ask(self, limit_s: float, **command: Any) -> dict[str, Any]:
        with _environment_with(self._environment):  # its process starts when it is first asked
            reply: dict[str, Any] = self._worker.ask(limit_s, **command)
        return reply

    def is_alive(self) -> bool:
        return self._worker.p is not None

    def stop(self) -> None:
        self._worker.stop()


class Hone(Peer):
    """Hone's modules of one name, driven in the same way."""

    def __init__(self, name: str, threads: int, driver: Any, log: IO[str]) -> None:
        super().__init__(name, threads, driver, log)
        self._python = pathlib.Path(driver.VENV) / "bin" / "python"
        self._threads = threads
        self._log = log

    def ask(self, limit_s: float, **command: Any) -> dict[str, Any]:
        if not self.is_alive():
            script = pathlib.Path(__file__).parent / "hone_worker.py"
            self._worker.p = subprocess.Popen(
                [str(self._python), str(script), str(self._threads)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={**os.environ, "HONE_BUILD": str(result_file.BUILD)},
            )
            started: dict[str, Any] = self._worker.read(180)
            if "error" in started:
                return started
        return super().ask(limit_s, **command)


class Measured(NamedTuple):
    """What was measured of one item: microseconds by name and round, what each said of itself, and why others have no figures."""

    times: dict[str, list[float]]
    replies: dict[str, dict[str, Any]]
    failures: dict[str, str]
    skipped: dict[str, str]  # what a peer does not do
    call_us: list[list[float] | None]  # of the tuned module's calls, one list a round; where asked for, None where that failed
    executor_us: list[float]  # of the tuned module's runs without kernels, one a round that was profiled
    rounds: int = 0


# How many rounds to add to those that were measured in so many seconds.
Further = Callable[[Measured, float], int]


def no_further(measured: Measured, seconds: float) -> int:
    return 0


def prepare(peers: Sequence[Peer], commands: Mapping[str, dict[str, Any]]) -> Measured:
    """Peers that are in `commands` by name, each with its command; a peer that fails is out."""
    measured = Measured({}, {}, {}, {}, [], [])
    for peer in peers:
        if peer.name not in commands:
            continue
        started = time.monotonic()
        reply = peer.ask(PREPARE_LIMIT_S, cmd="prep", **commands[peer.name])
        peer.prepare_s, peer.processes = time.monotonic() - started, 1
        if "ok" in reply:
            measured.replies[peer.name] = reply
            measured.times[peer.name] = []
        elif "skip" in reply:
            measured.skipped[peer.name] = str(reply["skip"])
        else:
            measured.failures[peer.name] = str(reply.get("error", "no reason given"))
    return measured


def _start_again(peer: Peer, command: dict[str, Any], measured: Measured) -> None:
    """In a new process, unless that takes long."""
    if peer.start_s + peer.prepare_s > QUICK_S:
        return
    started = time.monotonic()
    peer.stop()
    reply = peer.ask(PREPARE_LIMIT_S, cmd="prep", **command)
    peer.start_s = max(time.monotonic() - started - peer.prepare_s, 0.0)
    peer.processes += 1
    if "ok" not in reply:
        measured.failures[peer.name] = str(reply.get("error", "no reason given"))
        del measured.times[peer.name]


def _sample(peer: Peer, sample_ms: float, measured: Measured) -> None:
    time.sleep(PAUSE_S)
    reply = peer.ask(SAMPLE_LIMIT_S, cmd="time", min_ms=sample_ms)
    if "s" in reply:
        measured.times[peer.name].append(reply["s"] * 1e6)
    else:
        measured.failures[peer.name] = str(reply.get("error", "no time given"))
        del measured.times[peer.name]


def _has_samples_enough(name: str, turn: int, rounds: int, measured: Measured) -> bool:
    """Whether it is so slow that it takes part in the first rounds only."""
    return turn >= SLOW_ROUNDS and bool(measured.replies[name]["est"] * rounds > SLOW_S)


def _profile(peer: Peer, sample_ms: float, measured: Measured) -> None:
    reply = peer.ask(SAMPLE_LIMIT_S, cmd="profile", min_ms=sample_ms)
    measured.call_us.append([seconds * 1e6 for seconds in reply["calls"]] if "calls" in reply else None)
    if "executor_s" in reply:
        measured.executor_us.append(reply["executor_s"] * 1e6)
    if "calls" not in reply:
        measured.failures["profile"] = str(reply.get("error", "no times given"))


def measure(
    peers: Sequence[Peer],
    commands: Mapping[str, dict[str, Any]],
    rounds: int,
    sample_ms: float,
    profiled: str = "",
    further: Further = no_further,
) -> Measured:
    """All peers prepared, then the rounds; the one named `profiled` also tells its kernels' times in each.

    Whenever the rounds are through, `further` may add some.
    """
    measured = prepare(peers, commands)
    live = [peer for peer in peers if peer.name in measured.times]
    started = time.monotonic()
    wanted = rounds
    while measured.rounds < wanted:
        turn = measured.rounds
        for index in range(len(live)):
            peer = live[(index + turn) % len(live)]
            if peer.name not in measured.times or _has_samples_enough(peer.name, turn, rounds, measured):
                continue
            if turn > 0 and turn % FRESH_ROUNDS == 0:
                _start_again(peer, commands[peer.name], measured)
            if peer.name in measured.times:
                _sample(peer, sample_ms, measured)
            if peer.name == profiled and peer.name in measured.times:
                _profile(peer, sample_ms, measured)
        measured = measured._replace(rounds=turn + 1)
        if measured.rounds == wanted:
            wanted += further(measured, time.monotonic() - started)
    for peer in live:
        if peer.is_alive():
            peer.ask(30, cmd="drop")
    return measured
