"""How a client submits a job: by the program `hone`, which has the compiler that finds a model's kernels."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Sequence

from hone import program
from hone.arguments import integer, text_of, threads_of
from hone.bindings import Dims, Shapes
from hone.compiler import Constants, Model
from hone.errors import Error
from hone.service_errors import error_of_program
from hone.tuning import MAX_SEED, flags_of, model_arguments, time_flag


@dataclasses.dataclass(frozen=True)
class ModelArguments:
    """A model, and what is decided of its inputs."""

    model: Model
    shapes: Shapes | None
    dims: Dims | None
    constants: Constants | None
    cut: Sequence[str]


def arguments_of(
    *,
    target: str | None,
    threads: int,
    trials: int,
    full_budget: bool,
    time: float | str | None,
    search: str,
    seed: int,
    priority: int,
    sandbox: str | None,
    device_class: str | None,
    numerics: str | None,
    client_id: str,
) -> list[str]:
    flags = flags_of(
        target=None if target is None else text_of(target, "target"),
        threads=threads_of(threads) or None,
        trials=integer(trials, "trials as a whole number"),
        time=time_flag(time),
        search=text_of(search, "search"),
        seed=integer(seed, f"a seed from 0 to {MAX_SEED}", 0, MAX_SEED),
        priority=integer(priority, "a priority as a whole number"),
        sandbox=None if sandbox is None else text_of(sandbox, "sandbox"),
        device_class=None if device_class is None else text_of(device_class, "device_class"),
        numerics=None if numerics is None else text_of(numerics, "numerics"),
        client_id=text_of(client_id, "client_id"),
    )
    return [*flags, *(["--full-budget"] if full_budget else [])]


def submit(flags: Sequence[str], given: ModelArguments, server: str) -> int:
    """The job's number. The server's address, which may be a secret, is not on the command line."""
    output: list[str] = []
    with tempfile.TemporaryDirectory(prefix="hone-") as name:
        model = model_arguments(
            given.model, given.shapes, given.dims, given.constants, given.cut, pathlib.Path(name)
        )
        arguments = ["job", "submit", "--json", *flags, *model]
        failure = program.run(arguments, output.append, lambda line: None, {"HONE_SERVER": server})
    if failure:
        raise error_of_program(failure.error()) from None
    try:
        return int(json.loads("\n".join(output))["job"])
    except (ValueError, KeyError, TypeError):
        raise Error("expected a job's number of hone job submit, found none; is the program of another version?") from None
