"""Measurements of the tuning log."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hone.v1 import log_pb2


@dataclasses.dataclass(frozen=True)
class Record:
    """One measurement, for good and for bad (docs/measuring.md)."""

    id: int
    workload: str
    target: str
    signature: str
    config: str
    purpose: str
    """"search", "confirm", "calibrate", "rerun"."""
    outcome: str
    message: str
    median_us: float
    calibrator_us: float
    error_ratio: float
    nest_digest: str
    artifact_digest: str
    toolchain: str
    device: str
    """The fingerprint of the machine."""
    regime: str
    job: int
    worker: str
    wall_time_ns: int
    """Since 1970."""
    retracted: str
    """Why it counts for nothing; empty: it counts."""


@dataclasses.dataclass(frozen=True)
class RecordDetail:
    """What repeats a measurement: the task and config to build, and what it was measured against."""

    record: Record
    workload_digest: str
    anchor_digest: str
    config_digest: str
    trial: int
    round: int
    attempt: int
    samples_us: tuple[float, ...]
    """Microseconds a run; of an old record of a search the least alone."""
    anchor_us: float
    """The task's default config in the same session; 0: not measured."""
    constant_bytes: int
    """The bytes of the constants of the job's model, which decide the regime; 0: unknown, or the record has no job."""
    final: int
    """That this is the confirm trial of; 0: none."""


def record_of(record: log_pb2.RecordInfo) -> Record:
    return Record(
        id=record.id,
        workload=record.workload,
        target=record.target,
        signature=record.signature,
        config=record.config,
        purpose=record.purpose,
        outcome=record.outcome,
        message=record.message,
        median_us=record.median_ns * 1e-3,
        calibrator_us=record.calibrator_ns * 1e-3,
        error_ratio=record.error_ratio,
        nest_digest=record.nest_digest,
        artifact_digest=record.artifact_digest,
        toolchain=record.toolchain,
        device=record.device,
        regime=record.regime,
        job=record.job,
        worker=record.worker,
        wall_time_ns=record.wall_time_ns,
        retracted=record.retracted,
    )


def record_detail_of(answer: log_pb2.GetRecordResponse) -> RecordDetail:
    return RecordDetail(
        record=record_of(answer.record),
        workload_digest=answer.workload_digest,
        anchor_digest=answer.anchor_digest,
        config_digest=answer.config_digest,
        trial=answer.trial,
        round=answer.round,
        attempt=answer.attempt,
        samples_us=tuple(sample_ns * 1e-3 for sample_ns in answer.samples_ns),
        anchor_us=answer.anchor_ns * 1e-3,
        constant_bytes=answer.constant_bytes,
        final=answer.final,
    )
