"""Which measurements of the tuning log are meant."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from hone.arguments import MAX_INT64, integer, text_of
from hone.errors import Error
from hone.job import Job

if TYPE_CHECKING:
    from hone.v1 import log_pb2

JobNumber = int | Job


class LogFilter(TypedDict, total=False):
    """Everything holds that is said; None says nothing."""

    op: str | None
    """An operator of the workload, "nn.conv2d"."""
    shape: str | Sequence[int] | None
    """That of one of its operands, (1, 64, 56, 56) or "1x64x56x56"."""
    workload: str | None
    """A part of its text."""
    target: str | None
    """Its text, or a part of that."""
    device: str | None
    """How the machine's fingerprint begins."""
    job: JobNumber | None
    purpose: str | None
    """"search", "confirm", "calibrate", "rerun"."""
    outcome: str | None
    """"ok", "wrong_output", ..., or "failed": any that is not ok."""
    since: datetime.datetime | None
    """Measured then or later; without a zone it is local time, here and below."""
    before: datetime.datetime | None
    retracted: bool
    """Also those that count for nothing."""


_TEXTS = ("op", "workload", "target", "device", "purpose", "outcome")


def job_number(job: JobNumber) -> int:
    return job.id if isinstance(job, Job) else integer(job, "a job's number from 1, or a hone.Job", 1, MAX_INT64)


def _shape_of(shape: str | Sequence[int]) -> str:
    if isinstance(shape, str):
        return text_of(shape, "shape")
    return "x".join(str(integer(extent, "a shape's extents from 0", 0)) for extent in shape)


def _time_ns(time: object, name: str) -> int:
    if not isinstance(time, datetime.datetime):
        raise Error(f"expected {name} as a datetime, found {time!r}")
    return round(time.timestamp() * 1_000_000) * 1000


def fill(message: log_pb2.LogFilter, words: LogFilter) -> None:
    for unknown in words.keys() - LogFilter.__annotations__.keys():
        raise TypeError(f"expected {', '.join(LogFilter.__annotations__)}, found {unknown!r}")
    for name in _TEXTS:
        text = words.get(name)
        if text is not None:
            setattr(message, name, text_of(text, name))
    shape = words.get("shape")
    if shape is not None:
        message.shape = _shape_of(shape)
    job = words.get("job")
    if job is not None:
        message.job = job_number(job)
    since, before = words.get("since"), words.get("before")
    if since is not None:
        message.since_wall_ns = _time_ns(since, "since")
    if before is not None:
        message.before_wall_ns = _time_ns(before, "before")
    message.with_retracted = bool(words.get("retracted", False))
