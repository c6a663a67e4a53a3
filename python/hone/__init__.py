"""Hone: build, compile, tune and run models from Python."""

from hone.compiler import CompileReport, Graph, build, operator_names, pass_names
from hone.compiler import compile as compile
from hone.errors import Error
from hone.graph import Expr, Function, GlobalVar, If, Tuple, const, module, op, var
from hone.module import CallInfo, Module, TensorInfo, version
from hone.tune_report import TunedKernel, TunedModel, TunedTask, TuneProgress, TuneReport
from hone.tuning import tune

__version__ = version()

# Not compile: `from hone import *` would hide Python's own.
__all__ = [
    "CallInfo",
    "CompileReport",
    "Error",
    "Expr",
    "Function",
    "GlobalVar",
    "Graph",
    "If",
    "Module",
    "TensorInfo",
    "TuneProgress",
    "TuneReport",
    "TunedKernel",
    "TunedModel",
    "TunedTask",
    "Tuple",
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
