"""What clients ask a daemon, in messages of the protocol (proto/hone/v1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hone.arguments import MAX_INT64, integer, text_of
from hone.job import JobState, state_words
from hone.log_filter import JobNumber, LogFilter, fill, job_number

if TYPE_CHECKING:
    import grpc

    from hone.v1 import log_pb2, tuning_pb2

_MAX_PAGE = 1000


def _page_size(value: int) -> int:
    return integer(value, f"a page_size from 1 to {_MAX_PAGE}", 1, _MAX_PAGE)


class ServiceRequests:
    """Loads gRPC and the messages: only clients need them."""

    def __init__(self) -> None:
        import grpc

        from hone.v1 import log_pb2, log_pb2_grpc, tuning_pb2, tuning_pb2_grpc

        self.rpc_error: type[grpc.RpcError] = grpc.RpcError
        self.state_names: dict[int, str] = {number: name for name, number in tuning_pb2.JobState.items()}
        self._tuning, self._log = tuning_pb2, log_pb2
        self._stubs = dict.fromkeys(("ListRecords", "GetRecord"), log_pb2_grpc.LogServiceStub)
        self._other_stub = tuning_pb2_grpc.TuningServiceStub

    def stub(self, method: str, channel: grpc.Channel) -> grpc.Channel:
        """The stub of the service that has the method."""
        return self._stubs.get(method, self._other_stub)(channel)

    def get(self, job: JobNumber) -> tuning_pb2.GetJobRequest:
        return self._tuning.GetJobRequest(id=job_number(job))

    def cancel(self, job: JobNumber) -> tuning_pb2.CancelJobRequest:
        return self._tuning.CancelJobRequest(id=job_number(job))

    def pause(self, job: JobNumber) -> tuning_pb2.PauseJobRequest:
        return self._tuning.PauseJobRequest(id=job_number(job))

    def resume(self, job: JobNumber) -> tuning_pb2.ResumeJobRequest:
        return self._tuning.ResumeJobRequest(id=job_number(job))

    def watch(self, job: JobNumber, after_seq: int) -> tuning_pb2.WatchJobRequest:
        return self._tuning.WatchJobRequest(id=job_number(job), after_seq=after_seq, changes_only=True)

    def list_jobs(
        self, states: JobState | Sequence[JobState], submitter: str | None, page_size: int
    ) -> tuning_pb2.ListJobsRequest:
        return self._tuning.ListJobsRequest(
            page_size=_page_size(page_size),
            states=[self._tuning.JobState.Value(word) for word in state_words(states)],
            submitter="" if submitter is None else text_of(submitter, "submitter"),
            newest_first=True,
        )

    def list_records(self, words: LogFilter, oldest_first: bool, page_size: int) -> log_pb2.ListRecordsRequest:
        request = self._log.ListRecordsRequest(page_size=_page_size(page_size), oldest_first=bool(oldest_first))
        fill(request.filter, words)
        return request

    def get_record(self, record: int) -> log_pb2.GetRecordRequest:
        return self._log.GetRecordRequest(record=integer(record, "a record's number from 1", 1, MAX_INT64))
