"""What goes wrong at a daemon, in its own sentences."""

from __future__ import annotations

from hone.errors import Error


class ServerError(Error):
    """A daemon refused a call, or could not be reached. `code` is what `hone` exits with for it (docs/cli.md)."""


class Unavailable(ServerError):
    """No daemon could be reached there; the same later may do."""


class Unauthenticated(ServerError):
    """The token is none, has ended or was revoked; or the server's certificate is not the one of the join string."""


class PermissionDenied(ServerError):
    """The role of the token, or the owner of the job, does not allow it."""


class NotFound(ServerError):
    """No such job."""


class InvalidArgument(ServerError):
    """The daemon cannot take what was asked as it is."""


class AlreadyExists(ServerError):
    """The name is taken: a client_id of another request."""


class FailedPrecondition(ServerError):
    """It does not go with how things stand: a job that has ended, a private daemon."""


class ResourceExhausted(ServerError):
    """A quota is used up, or the daemon has too much to read: the same later may do."""


class JobFailed(ServerError):
    """The job ended without having been done: it failed, or somebody cancelled it."""

    @classmethod
    def of(cls, job: int, state: str, message: str) -> JobFailed:
        return cls(f"job {job} is {state}: {message}" if message else f"job {job} is {state}", 1)


_KINDS: dict[str, tuple[type[ServerError], int]] = {
    "UNAVAILABLE": (Unavailable, 5),
    "DEADLINE_EXCEEDED": (Unavailable, 5),
    "UNAUTHENTICATED": (Unauthenticated, 6),
    "PERMISSION_DENIED": (PermissionDenied, 6),
    "NOT_FOUND": (NotFound, 3),
    "INVALID_ARGUMENT": (InvalidArgument, 3),
    "ALREADY_EXISTS": (AlreadyExists, 3),
    "FAILED_PRECONDITION": (FailedPrecondition, 7),
    "RESOURCE_EXHAUSTED": (ResourceExhausted, 7),
}
_OF_EXIT_CODES: dict[int, type[ServerError]] = {5: Unavailable, 6: PermissionDenied, 7: FailedPrecondition}


def error_of(code: str, details: str, server: str) -> ServerError:
    """The error for a call that ended with this code of gRPC."""
    kind, exit_code = _KINDS.get(code, (ServerError, 1))
    if kind is Unavailable:
        details = f"expected a tuning server at {server}, could not reach one: is honed running there? ({details})"
    return kind(details, exit_code)


def error_of_program(error: Error) -> Error:
    """The error for a run of the program `hone`, whose exit code says how the daemon answered it."""
    kind = _OF_EXIT_CODES.get(error.code or 0)
    return error if kind is None else kind(str(error), error.code)
