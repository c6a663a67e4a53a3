"""Hone: build, compile and run models from Python."""

from hone.compiler import Graph, build, operator_names, pass_names
from hone.graph import Expr, Function, GlobalVar, If, Tuple, const, module, op, var
from hone.module import CallInfo, Module, TensorInfo

__all__ = [
    "CallInfo",
    "Expr",
    "Function",
    "GlobalVar",
    "Graph",
    "If",
    "Module",
    "TensorInfo",
    "Tuple",
    "build",
    "const",
    "module",
    "op",
    "operator_names",
    "pass_names",
    "var",
]
