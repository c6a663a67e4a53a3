"""Jobs of a daemon, what happens to them, and what was measured: as the daemon tells it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, cast, get_args

from hone.errors import Error

if TYPE_CHECKING:
    from hone.v1 import log_pb2, tuning_pb2

JobState = Literal["queued", "running", "paused", "done", "failed", "cancelled"]

_PREFIX = "JOB_STATE_"
_ENDED = ("done", "failed", "cancelled")


@dataclasses.dataclass(frozen=True)
class JobTask:
    """A kernel of a job in a layout: what was spent on it, and its default config against its best."""

    name: str
    workload_digest: str
    signature: str
    tier: str
    """The tier of its best config: "tuned", "tuning", or empty if nothing is measured."""
    ended: str
    """Why its search ended: "budget", "nothing to win", "space used up"; empty: it goes on, or ended otherwise."""
    waiting: str
    """For what it waits; empty: for nothing."""
    trials: int
    """Spent by this job."""
    failures: int
    total_trials: int
    """Spent by all jobs."""
    budget: int
    """What `total_trials` comes to at most."""
    weight: float
    """Calls of it in the job's models."""
    default_us: float
    best_us: float

    @property
    def ratio(self) -> float:
        """How much faster than by default; 0 where nothing is measured."""
        return self.default_us / self.best_us if self.best_us > 0 else 0.0


@dataclasses.dataclass(frozen=True, repr=False)
class Job:
    """A job as it stood when the daemon told it. print() shows its kernels as a table."""

    id: int
    state: JobState
    message: str
    client_id: str
    submitter: str
    owner: str
    """The daemon that runs it."""
    is_private: bool
    model: str
    target: str
    search: str
    seed: int
    priority: int
    limit_s: float
    """The limit of its running time; 0: none."""
    tasks: tuple[JobTask, ...]

    @property
    def has_ended(self) -> bool:
        return self.state in _ENDED

    @property
    def trials(self) -> int:
        """Spent by this job."""
        return sum(task.trials for task in self.tasks)

    @property
    def failures(self) -> int:
        return sum(task.failures for task in self.tasks)

    @property
    def done(self) -> int:
        """How many trials of the budget are spent, by whichever job."""
        return sum(min(task.total_trials, task.budget) for task in self.tasks)

    @property
    def budget(self) -> int:
        return sum(task.budget for task in self.tasks)

    @property
    def default_us(self) -> float:
        """All calls of the kernels that are measured, by default."""
        return sum(task.weight * task.default_us for task in self.tasks if task.best_us > 0)

    @property
    def best_us(self) -> float:
        """The same with the best configs so far."""
        return sum(task.weight * task.best_us for task in self.tasks if task.default_us > 0)

    @property
    def waiting(self) -> str:
        """What the first task that waits waits for; empty: none does."""
        return next((task.waiting for task in self.tasks if task.waiting), "")

    def __repr__(self) -> str:
        return f"<hone.Job {self.id}: {self.model}: {self.state}, {self.done}/{self.budget} trials>"

    def __str__(self) -> str:
        lines = [f"{'kernel':<44} {'trials':>6} {'failed':>6} {'default us':>11} {'best us':>11} {'ratio':>7}  tier"]
        lines += [
            f"{task.name:<44} {task.trials:>6} {task.failures:>6} {task.default_us:>11.4g} {task.best_us:>11.4g} "
            f"{task.ratio:>6.2f}x  {task.tier}"
            for task in self.tasks
        ]
        return "\n".join([repr(self), *lines])


@dataclasses.dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job, numbered from 1 within it."""

    seq: int
    kind: str
    """"state", "trial_settled", "final", "waiting"."""
    payload: str
    """JSON."""
    job: Job
    """As it stands with this event."""


def state_name(number: int, names: dict[int, str]) -> JobState:
    return cast(JobState, names.get(number, "").removeprefix(_PREFIX).lower())


def state_words(states: object) -> list[str]:
    """The names of the protocol of these states; a single one may stand alone."""
    several = [states] if isinstance(states, str) else list(cast("list[object]", states))
    for state in several:
        if state not in get_args(JobState):
            raise Error(f"expected states of {', '.join(get_args(JobState))}, found {state!r}")
    return [f"{_PREFIX}{str(state).upper()}" for state in several]


def task_of(task: tuning_pb2.TaskProgress) -> JobTask:
    return JobTask(
        name=task.name,
        workload_digest=task.workload_digest,
        signature=task.signature,
        tier=task.tier,
        ended=task.ended,
        waiting=task.waiting,
        trials=task.trials,
        failures=task.failures,
        total_trials=task.total_trials,
        budget=task.budget,
        weight=task.weight,
        default_us=task.default_ns * 1e-3,
        best_us=task.best_ns * 1e-3,
    )


def job_of(info: tuning_pb2.JobInfo, names: dict[int, str], tasks: tuple[JobTask, ...] | None = None) -> Job:
    """`names`: of the states, by number. `tasks`: instead of those that came with it."""
    return Job(
        id=info.id,
        state=state_name(info.state, names),
        message=info.message,
        client_id=info.client_id,
        submitter=info.submitter,
        owner=info.owner,
        is_private=info.is_private,
        model=info.spec.model,
        target=info.spec.target,
        search=info.spec.search,
        seed=info.spec.seed,
        priority=info.spec.priority,
        limit_s=info.spec.limit_ns * 1e-9,
        tasks=tuple(task_of(task) for task in info.tasks) if tasks is None else tasks,
    )


class WatchedJob:
    """A job to which events come, each with the tasks that changed."""

    def __init__(self, info: tuning_pb2.JobInfo, names: dict[int, str]) -> None:
        self._names = names
        self._tasks = {(task.workload_digest, task.signature): task_of(task) for task in info.tasks}

    def event_of(self, event: tuning_pb2.WatchJobResponse) -> JobEvent:
        for task in event.job.tasks:
            self._tasks[task.workload_digest, task.signature] = task_of(task)
        job = job_of(event.job, self._names, tuple(self._tasks.values()))
        return JobEvent(event.seq, event.kind, event.payload, job)
