"""Hone: build, compile, tune and run models from Python."""

from hone.async_client import AsyncClient
from hone.client import Client
from hone.compiler import CompileReport, Graph, build, operator_names, pass_names
from hone.compiler import compile as compile
from hone.errors import Error
from hone.graph import Expr, Function, GlobalVar, If, Tuple, const, module, op, var
from hone.job import Job, JobEvent, JobState, JobTask
from hone.log_filter import LogFilter
from hone.module import CallInfo, Module, TensorInfo, version
from hone.record import Record, RecordDetail
from hone.service_errors import (
    AlreadyExists,
    FailedPrecondition,
    InvalidArgument,
    JobFailed,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    ServerError,
    Unauthenticated,
    Unavailable,
)
from hone.tune_report import TunedKernel, TunedModel, TunedTask, TuneProgress, TuneReport
from hone.tuning import tune

__version__ = version()

# Not compile: `from hone import *` would hide Python's own.
__all__ = [
    "AlreadyExists",
    "AsyncClient",
    "CallInfo",
    "Client",
    "CompileReport",
    "Error",
    "Expr",
    "FailedPrecondition",
    "Function",
    "GlobalVar",
    "Graph",
    "If",
    "InvalidArgument",
    "Job",
    "JobEvent",
    "JobFailed",
    "JobState",
    "JobTask",
    "LogFilter",
    "Module",
    "NotFound",
    "PermissionDenied",
    "Record",
    "RecordDetail",
    "ResourceExhausted",
    "ServerError",
    "TensorInfo",
    "TuneProgress",
    "TuneReport",
    "TunedKernel",
    "TunedModel",
    "TunedTask",
    "Tuple",
    "Unauthenticated",
    "Unavailable",
    "__version__",
    "build",
    "const",
    "module",
    "op",
    "operator_names",
    "pass_names",
    "tune",
    "var",
]
