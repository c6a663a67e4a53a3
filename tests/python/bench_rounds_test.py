"""How many rounds are measured, and what is kept of them, without any peer: bench_rounds_test.py SOURCE_FOLDER"""

from __future__ import annotations

import os
import pathlib
import sys
import unittest
import unittest.mock
from typing import Any

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "bench"))

import peer_rounds
import round_growth


class FakePeer(peer_rounds.Peer):
    """Takes a millisecond a call; the replies to "profile" are given."""

    def __init__(self, name: str, profiles: list[dict[str, Any]]) -> None:
        self.name = name
        self.profiles = profiles
        self.est = 1e-3

    def ask(self, limit_s: float, **command: Any) -> dict[str, Any]:
        if command["cmd"] == "profile":
            return self.profiles.pop(0)
        return {"ok": True, "err": 0.0, "est": self.est, "s": 1e-3}

    def is_alive(self) -> bool:
        return True

    def stop(self) -> None:
        pass


class FakeWorker:
    """The worker of one driver call, which says as what its process would have been started."""

    def __init__(self, name: str, threads: int, log: Any) -> None:
        self.name = name

    def ask(self, limit_s: float, **command: Any) -> dict[str, Any]:
        return {"worker": self.name, "onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS")}


class FakeDriver:
    Worker = FakeWorker


class ModesTest(unittest.TestCase):
    def test_a_mode_is_a_worker_with_variables_of_its_own(self) -> None:
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("TF_ENABLE_ONEDNN_OPTS", None)
            replies = [peer_rounds.Peer(name, 1, FakeDriver, sys.stderr).ask(1.0) for name in ("tf-no-onednn", "tf")]
        self.assertEqual(replies, [{"worker": "tf", "onednn": "0"}, {"worker": "tf", "onednn": None}])


class RoundsTest(unittest.TestCase):
    def test_a_profile_that_fails_leaves_its_round_empty(self) -> None:
        peer = FakePeer("hone tuned", [{"calls": [1e-6], "executor_s": 2e-6}, {"error": "no answer"}, {"calls": [3e-6], "executor_s": 4e-6}])
        measured = peer_rounds.measure([peer], {"hone tuned": {}}, 3, 1.0, profiled="hone tuned")
        self.assertEqual([call_us and round(call_us[0]) for call_us in measured.call_us], [1, None, 3])
        self.assertEqual([round(us) for us in measured.executor_us], [2, 4])
        self.assertEqual(measured.failures, {"profile": "no answer"})

    def test_rounds_are_added_until_there_are_enough(self) -> None:
        asked: list[int] = []

        def further(measured: peer_rounds.Measured, seconds: float) -> int:
            asked.append(measured.rounds)
            return 2 if measured.rounds < 5 else 0

        measured = peer_rounds.measure([FakePeer("ort", [])], {"ort": {}}, 3, 1.0, further=further)
        self.assertEqual((asked, measured.rounds, len(measured.times["ort"])), ([3, 5], 5, 5))

    def test_a_slow_one_has_no_samples_of_rounds_that_are_added(self) -> None:
        peer = FakePeer("ort", [])
        peer.est = peer_rounds.SLOW_S
        measured = peer_rounds.measure([peer], {"ort": {}}, 4, 1.0, further=lambda measured, _: 8 - measured.rounds)
        self.assertEqual((measured.rounds, len(measured.times["ort"])), (8, peer_rounds.SLOW_ROUNDS))

    def test_quick_ones_start_again_every_few_rounds(self) -> None:
        rounds = 3 * peer_rounds.FRESH_ROUNDS
        quick, slow = FakePeer("ort", []), FakePeer("inductor", [])
        slow.start_s = peer_rounds.QUICK_S + 1
        measured = peer_rounds.measure([quick, slow], {"ort": {}, "inductor": {}}, rounds, 1.0)
        self.assertEqual((quick.processes, slow.processes), (3, 1))
        self.assertEqual([len(times) for times in measured.times.values()], [rounds, rounds])


class RoundGrowthTest(unittest.TestCase):
    NARROW = (1.0, 1.01, 1.02)
    WIDE = (0.8, 1.0, 1.3)

    def measured(self, ratios: tuple[float, ...], rounds: int = 12, **others: list[float]) -> peer_rounds.Measured:
        """The ratios in turn, in so many rounds."""
        times = {"hone tuned": [10.0] * rounds, "ort": [10.0 * ratios[turn % len(ratios)] for turn in range(rounds)]} | others
        return peer_rounds.Measured(times, {name: {"err": 0.0} for name in times}, {}, {}, [], [], rounds)

    def test_a_wide_interval_gets_as_many_rounds_again_up_to_the_most(self) -> None:
        growth = round_growth.Growth(12, 30)
        self.assertEqual(growth.further(self.measured(self.NARROW), 1.0), 0)
        self.assertEqual([growth.further(self.measured(self.WIDE, n), 1.0) for n in (12, 24, 30)], [12, 6, 0])
        self.assertEqual(round_growth.Growth(12, 12).further(self.measured(self.WIDE), 1.0), 0)

    def test_the_width_decides_and_not_who_is_faster(self) -> None:
        growth = round_growth.Growth(12, 48)
        for ratios in (self.NARROW, self.WIDE):
            for scale in (0.5, 1.0, 2.0):
                scaled = tuple(scale * ratio for ratio in ratios)
                self.assertEqual(growth.further(self.measured(scaled), 1.0), 12 if ratios is self.WIDE else 0)

    def test_only_the_best_peer_decides(self) -> None:
        slower = [90.0, 150.0] * 6
        self.assertFalse(round_growth.is_wide(self.measured(self.NARROW, inductor=slower)))

    def test_rows_that_take_long_do_not_grow(self) -> None:
        growth = round_growth.Growth(12, 48)
        self.assertEqual(growth.further(self.measured(self.WIDE), round_growth.LONGEST_S), 12)
        self.assertEqual(growth.further(self.measured(self.WIDE), round_growth.LONGEST_S + 1), 0)

    def test_rows_that_more_rounds_would_not_change_do_not_grow(self) -> None:
        first_rounds_only = self.measured(self.WIDE, ort=[8.0, 10.0, 13.0])
        no_peer = peer_rounds.Measured({"hone tuned": [1.0, 2.0]}, {"hone tuned": {"err": 0.0}}, {}, {}, [], [], 2)
        hone_failed = peer_rounds.Measured({"ort": [1.0, 2.0]}, {"ort": {"err": 0.0}}, {}, {}, [], [], 2)
        self.assertEqual([round_growth.is_wide(m) for m in (first_rounds_only, no_peer, hone_failed)], [False] * 3)


if __name__ == "__main__":
    unittest.main()
