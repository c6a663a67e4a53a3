"""What tuning says while it goes on, and what it has won: what `hone tune --events` prints (docs/cli.md)."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class TuneProgress:
    """How a tune stands. `phase` is "start", "micro-kernels" (of a target that is new to the database), "search", "final"
    or "model" (timed as a whole)."""

    phase: str
    job: int = 0
    trials: int = 0
    """Spent by the job."""
    done: int = 0
    """Spent by it and by all before it."""
    budget: int = 0
    """What `done` comes to at most; searches may end before."""
    failures: int = 0
    default_us: float = 0.0
    """A run's kernels that are measured so far, by default."""
    best_us: float = 0.0
    """The same with the best configs so far."""
    waiting: str = ""
    """What the job waits for, where it does."""
    message: str = ""
    """A line of the program for people, where it has just said one."""
    elapsed_s: float = 0.0

    @property
    def ratio(self) -> float:
        """How much faster than by default the kernels are so far; 0 where nothing is measured."""
        return self.default_us / self.best_us if self.best_us > 0 else 0.0

    def __str__(self) -> str:
        time = f"{int(self.elapsed_s) // 60}:{int(self.elapsed_s) % 60:02}"
        if self.waiting:
            return f"{time} {self.phase}: waiting: {self.waiting}"
        if self.budget == 0:
            return f"{time} {self.phase}"
        best = f", kernels {self.ratio:.2f}x of default so far" if self.ratio > 0 else ""
        failed = f", {self.failures} failed" if self.failures else ""
        return f"{time} {self.phase}: {self.done}/{self.budget} trials{best}{failed}"


@dataclasses.dataclass(frozen=True)
class TunedTask:
    """A kernel in a layout, timed alone: its default config against its best."""

    name: str
    workload: str
    signature: str
    tier: str
    ended: str
    trials: int
    failures: int
    default_us: float
    best_us: float


@dataclasses.dataclass(frozen=True)
class TunedKernel:
    """A kernel of a model where it stands in it, all its calls of a run: `kept` says which of its configs compiles take,
    "tuned" or "default". A ratio above 1 means that the tuned one is faster; `ratio_low` and `ratio_high` are its interval
    of 95 %. Where there was nothing to be compared, times are 0 and ratios 1."""

    name: str
    workload_digest: str
    signature: str
    calls: int
    kept: str
    default_us: float
    tuned_us: float
    ratio: float
    ratio_low: float
    ratio_high: float


@dataclasses.dataclass(frozen=True)
class TunedModel:
    """A specialisation of the model as a whole: without tuning against what is kept. `gain`: whether that is faster."""

    name: str
    skeleton: str
    default_us: float
    tuned_us: float
    ratio: float
    ratio_low: float
    ratio_high: float
    gain: bool
    rounds: int
    kernels: list[TunedKernel] = dataclasses.field(repr=False)

    def __str__(self) -> str:
        if not self.gain:
            return f"{self.name}: no gain: the default configs are kept"
        return (
            f"{self.name}: {_time(self.default_us)} by default, {_time(self.tuned_us)} tuned: "
            f"{_ratio(self)} as fast, the median of {self.rounds} paired rounds"
        )


@dataclasses.dataclass(frozen=True, repr=False)
class TuneReport:
    """What a tune has won. print() shows it as a table."""

    target: str
    job: int
    tasks: list[TunedTask]
    """The kernels, in all layouts that were tried."""
    models: list[TunedModel]
    """One a specialisation; empty where a server tuned, which does not time models."""
    wall_s: float
    ended_early: str
    """The sentence that says so where the time limit ended it before its budget; else empty."""
    document: dict[str, Any]
    """All that `hone tune --json` prints."""

    @property
    def trials(self) -> int:
        """Spent by this call."""
        return sum(task.trials for task in self.tasks)

    @property
    def model(self) -> TunedModel:
        """The first specialisation's."""
        if not self.models:
            raise AttributeError("expected a model that was timed as a whole, found none; a tune at a server times none")
        return self.models[0]

    def __repr__(self) -> str:
        won = "; ".join(str(model) for model in self.models) or f"{len(self.tasks)} kernels"
        return f"<hone.TuneReport: {won}; {self.trials} trials in {self.wall_s:.0f} s>"

    def __str__(self) -> str:
        lines = []
        for model in self.models:
            if any(kernel.default_us > 0 for kernel in model.kernels):
                lines.append(_row("kernel, where it stands", "calls", "default", "tuned", "ratio", "kept"))
                lines.extend(
                    _row(
                        kernel.name,
                        str(kernel.calls),
                        _time(kernel.default_us),
                        _time(kernel.tuned_us),
                        _ratio(kernel) if kernel.default_us > 0 else "no gain",
                        kernel.kept,
                    )
                    for kernel in model.kernels
                )
            lines.append(str(model))
        if not self.models:
            lines.append(_row("kernel", "trials", "default", "best", "ratio", "tier"))
            for task in self.tasks:
                ratio = f"{task.default_us / task.best_us:.2f}x" if task.best_us > 0 else "-"
                row = (str(task.trials), _time(task.default_us), _time(task.best_us), ratio, task.tier)
                lines.append(_row(task.name, *row))
        early = f"; {self.ended_early}" if self.ended_early else ""
        return "\n".join([*lines, f"{self.trials} trials in {self.wall_s:.0f} s{early}"])


def _row(name: str, count: str, default: str, tuned: str, ratio: str, end: str) -> str:
    return f"{name:<44} {count:>6} {default:>11} {tuned:>11} {ratio:>24}  {end}"


def _ratio(figures: TunedKernel | TunedModel) -> str:
    return f"{figures.ratio:.3f}x ({figures.ratio_low:.3f} to {figures.ratio_high:.3f})"


def _time(us: float) -> str:
    if us <= 0:
        return "-"
    return f"{us:.4g} us" if us < 1e3 else f"{us * 1e-3:.4g} ms"


def _take(kind: type[Any], fields: dict[str, Any], **others: Any) -> Any:
    """Fields are only ever added to the document: those that are not known here are left out."""
    known = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in {**fields, **others}.items() if name in known})


def report_of(document: dict[str, Any], ended_early: str) -> TuneReport:
    models = [
        _take(TunedModel, model, kernels=[_take(TunedKernel, kernel) for kernel in model["kernels"]])
        for model in document["models"]
    ]
    return TuneReport(
        target=document["target"],
        job=document["job"],
        tasks=[_take(TunedTask, task) for task in document["tasks"]],
        models=models,
        wall_s=document["wall_s"],
        ended_early=ended_early,
        document=document,
    )


def progress_of(event: dict[str, Any], elapsed_s: float) -> TuneProgress:
    progress: TuneProgress = _take(TuneProgress, event, elapsed_s=elapsed_s)
    return progress
