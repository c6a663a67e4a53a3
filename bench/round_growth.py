"""How many rounds a row has: more than were asked for while the interval of its best peer's ratio is wide."""

from __future__ import annotations

from typing import NamedTuple

from peer_rounds import TUNED, Measured
from row_figures import compared

WIDE = 1.06  # upper end of the interval over its lower end: 3 % to either side
MOST_TIMES = 4  # as many rounds as were asked for, where --max-rounds does not say
LONGEST_S = 40.0  # a row whose rounds have taken longer gets no more: most of it is a slow peer


def is_wide(measured: Measured) -> bool:
    """Whether the interval that the row would have now is wide, wherever it lies, and further rounds would add to it."""
    figures = compared(measured, {})
    best = figures["peers"].get(figures.get("best_peer"), {})
    if "ratio" not in best:
        return False
    has_all = min(best["samples"], len(measured.times[TUNED])) == measured.rounds  # not the first rounds only
    return bool(has_all and best["ratio_high"] / best["ratio_low"] > WIDE)


class Growth(NamedTuple):
    """Adds as many rounds as were asked for, again and again up to `most` in all."""

    asked: int
    most: int

    def further(self, measured: Measured, seconds: float) -> int:
        """How many rounds to add, after those measured in so many seconds. All of them count, the first ones too."""
        if seconds > LONGEST_S or not is_wide(measured):
            return 0
        return min(self.asked, self.most - measured.rounds)
