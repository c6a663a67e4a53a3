"""A client of a tuning daemon: jobs over its Unix socket, or over TLS with a join string. Needs `pip install hone[client]`."""

from __future__ import annotations

import contextlib
import time as clock
import types
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from hone import submission
from hone.arguments import integer
from hone.bindings import Dims, Shapes
from hone.compiler import Constants, Model
from hone.job import Job, JobEvent, JobState, WatchedJob, job_of
from hone.log_filter import JobNumber, LogFilter
from hone.record import Record, RecordDetail, record_detail_of, record_of
from hone.server_address import read_server_address, server_text
from hone.service_channel import CALL_LIMIT_S, check_installed, error_of_call, find_trust, open_channel
from hone.service_errors import JobFailed, ServerError, Unavailable
from hone.service_requests import ServiceRequests
from hone.tuning import DEFAULT_SEARCH

if TYPE_CHECKING:
    import grpc
    from typing_extensions import Unpack

TRIES = 20
PAUSE_S = 0.5  # between them: a daemon that is started again is there within some seconds
Answer = TypeVar("Answer")


class Client:
    """Speaks with the daemon at `server`: unix:PATH, a join string, or @FILE with one; None: the one of HONE_SERVER.

    Connects when it is first used, and may be shared by threads. Errors are hone.ServerErrors of a kind each, with the
    daemon's own sentence. What takes a job takes its number, or a Job."""

    def __init__(self, server: str | None = None) -> None:
        check_installed()
        self._server = server_text(server)
        self._address = read_server_address(self._server)
        self._requests = ServiceRequests()
        self._channel: grpc.Channel | None = None

    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<hone.Client of {self._address}>"

    def submit(
        self,
        model: Model,
        *,
        target: str | None = None,
        threads: int = 0,
        trials: int = 64,
        full_budget: bool = False,
        time: float | str | None = None,
        search: str = DEFAULT_SEARCH,
        seed: int = 0,
        priority: int = 0,
        sandbox: str | None = None,
        device_class: str | None = None,
        numerics: str | None = None,
        shapes: Shapes | None = None,
        dims: Dims | None = None,
        constants: Constants | None = None,
        cut: Sequence[str] = (),
        client_id: str | None = None,
    ) -> Job:
        """Starts a job for the kernels of a model, as `hone job submit` does, and does not wait for it. Weights stay here.

        Arguments are those of hone.tune. `target`: None: the only one that the daemon's workers have. `sandbox`
        ("limits", "contained", "strict") and `device_class` ("name=znver5", "fingerprint=3fa9c0d2") say which devices may
        measure. `client_id` names the job for who submits it: the same again, say after an error, gives the same job."""
        arguments = submission.arguments_of(
            target=target,
            threads=threads,
            trials=trials,
            full_budget=full_budget,
            time=time,
            search=search,
            seed=seed,
            priority=priority,
            sandbox=sandbox,
            device_class=device_class,
            numerics=numerics,
            client_id=client_id if client_id is not None else str(uuid.uuid4()),
        )
        given = submission.ModelArguments(model, shapes, dims, constants, cut)

        def submit() -> int:
            with self._told_apart():
                return submission.submit(arguments, given, self._server)

        return self.job(self._persist(submit))

    def job(self, job: JobNumber) -> Job:
        """How it stands."""
        info = self._call("GetJob", self._requests.get(job)).job
        return job_of(info, self._requests.state_names)

    def jobs(
        self, *, states: JobState | Sequence[JobState] = (), submitter: str | None = None, page_size: int = 50
    ) -> Iterator[Job]:
        """All that match, the newest first; the daemon is asked for a page at a time. `states`: none for any."""
        request = self._requests.list_jobs(states, submitter, page_size)
        while True:
            page = self._call("ListJobs", request)
            yield from (job_of(info, self._requests.state_names) for info in page.jobs)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    def watch(self, job: JobNumber, *, after_seq: int = 0) -> Iterator[JobEvent]:
        """Its events after the one with this number, then those that happen, until it has ended. A stream that breaks, as
        when the daemon is started again, is resumed after the last event seen."""
        watched = WatchedJob(self._call("GetJob", self._requests.get(job)).job, self._requests.state_names)
        request = self._requests.watch(job, integer(after_seq, "a number of an event", 0))
        failures = 0
        while True:
            stream = self._stub("WatchJob").WatchJob(request)
            try:
                for event in stream:
                    failures = 0
                    request.after_seq = event.seq
                    yield watched.event_of(event)
                return
            except self._requests.rpc_error as error:
                failures += 1
                # The daemon ends a stream whose caller has lost its right to it, and says why to the next call.
                if error.code().name == "CANCELLED":
                    self._call("GetJob", self._requests.get(job))
                self._give_up_or_wait(error_of_call(error, self._address), failures)
            finally:
                stream.cancel()

    def result(self, job: JobNumber) -> Job:
        """Waits until it has ended. JobFailed where it failed or was cancelled; a job whose time limit ended it is done."""
        for _ in self.watch(job):
            pass
        ended = self.job(job)
        if ended.state != "done":
            raise JobFailed.of(ended.id, ended.state, ended.message)
        return ended

    def cancel(self, job: JobNumber) -> Job:
        """What was settled stays. FailedPrecondition, here and below, where it has ended otherwise."""
        return job_of(self._call("CancelJob", self._requests.cancel(job)).job, self._requests.state_names)

    def pause(self, job: JobNumber) -> Job:
        """Puts it aside until it is resumed."""
        return job_of(self._call("PauseJob", self._requests.pause(job)).job, self._requests.state_names)

    def resume(self, job: JobNumber) -> Job:
        return job_of(self._call("ResumeJob", self._requests.resume(job)).job, self._requests.state_names)

    def log(self, *, oldest_first: bool = False, page_size: int = 200, **words: Unpack[LogFilter]) -> Iterator[Record]:
        """Measurements that match, newest first, a page at a time. `words` say which: `op`, `shape`, `workload`, `target`,
        `device`, `job`, `purpose`, `outcome`, `since`, `before` and `retracted`, as `hone log list` has them."""
        request = self._requests.list_records(words, oldest_first, page_size)
        while True:
            page = self._call("ListRecords", request)
            yield from map(record_of, page.records)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    def record(self, record: int) -> RecordDetail:
        """One measurement, by its number, with all that repeats it."""
        return record_detail_of(self._call("GetRecord", self._requests.get_record(record)))

    @contextlib.contextmanager
    def _told_apart(self) -> Iterator[None]:
        """What the program was refused, as the daemon says it to this client: it tells who is not known from who may not."""
        try:
            yield
        except ServerError:
            next(self.jobs(page_size=1), None)
            raise

    def _stub(self, method: str) -> grpc.Channel:
        if self._channel is None:
            self._channel = open_channel(self._address, find_trust(self._address))
        return self._requests.stub(method, self._channel)

    def _call(self, method: str, request: object) -> types.SimpleNamespace:
        call = getattr(self._stub(method), method)
        try:
            answer: types.SimpleNamespace = call(request, timeout=CALL_LIMIT_S)
        except self._requests.rpc_error as error:
            raise error_of_call(error, self._address) from None
        return answer

    def _persist(self, ask: Callable[[], Answer]) -> Answer:
        """What it answers, once the daemon is there. It may be asked more than once."""
        failures = 0
        while True:
            try:
                return ask()
            except Unavailable as error:
                failures += 1
                self._give_up_or_wait(error, failures)

    @staticmethod
    def _give_up_or_wait(error: ServerError, failures: int) -> None:
        if failures >= TRIES or not isinstance(error, Unavailable):
            raise error from None
        clock.sleep(PAUSE_S)
