"""How much faster one is than another, from samples that were taken in the same rounds."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from typing import NamedTuple

RESAMPLES = 2000


class Ratio(NamedTuple):
    """The median of theirs / ours over the rounds, and its bootstrap 95 % interval: above 1, ours is faster."""

    median: float
    low: float
    high: float


def interval(ratios: Sequence[float], seed: int = 1) -> tuple[float, float]:
    """The bootstrap 95 % interval of the median."""
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[RESAMPLES // 40], medians[RESAMPLES - RESAMPLES // 40 - 1]


def paired(theirs: Sequence[float], ours: Sequence[float]) -> Ratio:
    """The ratio over the rounds that both have, since a very slow peer is timed in the first few only."""
    ratios = [their / our for their, our in zip(theirs, ours, strict=False)]
    low, high = interval(ratios)
    return Ratio(statistics.median(ratios), low, high)


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))
