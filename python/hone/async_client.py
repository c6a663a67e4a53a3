"""hone.Client for programs of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import types
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import TYPE_CHECKING

from hone import submission
from hone.arguments import integer
from hone.bindings import Dims, Shapes
from hone.client import PAUSE_S, TRIES
from hone.compiler import Constants, Model
from hone.job import Job, JobEvent, JobState, WatchedJob, job_of
from hone.log_filter import JobNumber, LogFilter
from hone.record import Record, RecordDetail, record_detail_of, record_of
from hone.server_address import read_server_address, server_text
from hone.service_channel import CALL_LIMIT_S, check_installed, error_of_call, find_trust, open_async_channel
from hone.service_errors import JobFailed, ServerError, Unavailable
from hone.service_requests import ServiceRequests
from hone.tuning import DEFAULT_SEARCH

if TYPE_CHECKING:
    import grpc.aio
    from typing_extensions import Unpack


class AsyncClient:
    """What hone.Client is, with methods to be awaited and iterators for `async for`. Of one event loop."""

    def __init__(self, server: str | None = None) -> None:
        check_installed()
        self._server = server_text(server)
        self._address = read_server_address(self._server)
        self._requests = ServiceRequests()
        self._channel: grpc.aio.Channel | None = None
        self._dials = asyncio.Lock()

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()
        self._channel = None

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<hone.AsyncClient of {self._address}>"

    async def submit(
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
        """As hone.Client.submit; the compiler works in a process of its own."""
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
        failures = 0
        while True:
            try:
                number = await asyncio.to_thread(submission.submit, arguments, given, self._server)
                return await self.job(number)
            except ServerError as error:
                failures += 1
                await self._give_up_or_wait(error, failures)

    async def job(self, job: JobNumber) -> Job:
        """How it stands."""
        answer = await self._call("GetJob", self._requests.get(job))
        return job_of(answer.job, self._requests.state_names)

    async def jobs(
        self, *, states: JobState | Sequence[JobState] = (), submitter: str | None = None, page_size: int = 50
    ) -> AsyncIterator[Job]:
        """As hone.Client.jobs."""
        request = self._requests.list_jobs(states, submitter, page_size)
        while True:
            page = await self._call("ListJobs", request)
            for info in page.jobs:
                yield job_of(info, self._requests.state_names)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    async def watch(self, job: JobNumber, *, after_seq: int = 0) -> AsyncGenerator[JobEvent, None]:
        """As hone.Client.watch."""
        first = await self._call("GetJob", self._requests.get(job))
        watched = WatchedJob(first.job, self._requests.state_names)
        request = self._requests.watch(job, integer(after_seq, "a number of an event", 0))
        failures = 0
        while True:
            stream = (await self._stub("WatchJob")).WatchJob(request)
            try:
                async for event in stream:
                    failures = 0
                    request.after_seq = event.seq
                    yield watched.event_of(event)
                return
            except self._requests.rpc_error as error:
                failures += 1
                if error.code().name == "CANCELLED":  # as in hone.Client.watch
                    await self._call("GetJob", self._requests.get(job))
                found = await asyncio.to_thread(error_of_call, error, self._address)
                await self._give_up_or_wait(found, failures)
            finally:
                stream.cancel()

    async def result(self, job: JobNumber) -> Job:
        """As hone.Client.result."""
        async with contextlib.aclosing(self.watch(job)) as events:
            async for _ in events:
                pass
        ended = await self.job(job)
        if ended.state != "done":
            raise JobFailed.of(ended.id, ended.state, ended.message)
        return ended

    async def cancel(self, job: JobNumber) -> Job:
        answer = await self._call("CancelJob", self._requests.cancel(job))
        return job_of(answer.job, self._requests.state_names)

    async def pause(self, job: JobNumber) -> Job:
        answer = await self._call("PauseJob", self._requests.pause(job))
        return job_of(answer.job, self._requests.state_names)

    async def resume(self, job: JobNumber) -> Job:
        answer = await self._call("ResumeJob", self._requests.resume(job))
        return job_of(answer.job, self._requests.state_names)

    async def log(
        self, *, oldest_first: bool = False, page_size: int = 200, **words: Unpack[LogFilter]
    ) -> AsyncIterator[Record]:
        """As hone.Client.log."""
        request = self._requests.list_records(words, oldest_first, page_size)
        while True:
            page = await self._call("ListRecords", request)
            for record in page.records:
                yield record_of(record)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return

    async def record(self, record: int) -> RecordDetail:
        """As hone.Client.record."""
        return record_detail_of(await self._call("GetRecord", self._requests.get_record(record)))

    async def _stub(self, method: str) -> grpc.aio.Channel:
        async with self._dials:
            if self._channel is None:
                trust = await asyncio.to_thread(find_trust, self._address)
                self._channel = open_async_channel(self._address, trust)
        return self._requests.stub(method, self._channel)

    async def _call(self, method: str, request: object) -> types.SimpleNamespace:
        call = getattr(await self._stub(method), method)
        try:
            answer: types.SimpleNamespace = await call(request, timeout=CALL_LIMIT_S)
        except self._requests.rpc_error as error:
            raise await asyncio.to_thread(error_of_call, error, self._address) from None
        return answer

    @staticmethod
    async def _give_up_or_wait(error: ServerError, failures: int) -> None:
        if failures >= TRIES or not isinstance(error, Unavailable):
            raise error from None
        await asyncio.sleep(PAUSE_S)
