"""The compiler: ctypes over its C API of texts (python/native/compiler_api.h)."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hone.module import Module


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("size", ctypes.c_size_t)]


_TextPointer = ctypes.POINTER(_Text)


@functools.cache
def _library() -> ctypes.CDLL:
    """Loaded when it is needed: to run modules takes no compiler."""
    library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libhone_compiler.so"))
    graph, text = ctypes.c_void_p, ctypes.c_char_p
    out_graph, out_text = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_TextPointer)
    code = ctypes.c_int
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "hone_compiler_error": (text, []),
        "hone_graph_parse": (code, [text, ctypes.c_size_t, out_graph]),
        "hone_graph_load": (code, [text, ctypes.POINTER(text), ctypes.c_size_t, out_graph]),
        "hone_graph_free": (None, [graph]),
        "hone_graph_bind": (code, [graph, text, text, ctypes.c_void_p, ctypes.c_size_t, out_graph]),
        "hone_graph_numerics": (code, [graph, text, out_graph]),
        "hone_graph_pass": (code, [graph, text, text, out_graph]),
        "hone_graph_text": (code, [graph, code, out_text]),
        "hone_graph_draw": (code, [graph, text, out_text]),
        "hone_graph_code": (code, [graph, text, text, out_text]),
        "hone_graph_build": (code, [graph, text, code, text, code, text, out_text]),
        "hone_pass_names": (code, [out_text]),
        "hone_operator_names": (code, [out_text]),
        "hone_text_free": (None, [_TextPointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _check(code: int) -> None:
    if code:
        raise ValueError(_library().hone_compiler_error().decode())


def _bytes(function: Any, *arguments: Any) -> bytes:
    text = _TextPointer()
    _check(function(*arguments, ctypes.byref(text)))
    try:
        return ctypes.string_at(text.contents.data, text.contents.size)
    finally:
        _library().hone_text_free(text)


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def tensor_type(shape: Sequence[int], dtype: str) -> str:
    """The type as graph text has it; a scalar is its element type."""
    return f"Tensor[({', '.join(map(str, shape))}), {dtype}]" if shape else dtype


def pass_names() -> list[str]:
    """The passes in the order of the pipeline."""
    return _bytes(_library().hone_pass_names).decode().split("\n")


def operator_names() -> list[str]:
    return _bytes(_library().hone_operator_names).decode().split("\n")


class Graph:
    """A module of graph IR. Immutable: passes and bindings give new ones. str() is its text."""

    def __init__(self, text: str) -> None:
        """Parses graph text (docs/graph-text.md)."""
        self._graph = ctypes.c_void_p()
        encoded = text.encode()
        _check(_library().hone_graph_parse(encoded, len(encoded), ctypes.byref(self._graph)))

    @classmethod
    def _own(cls, graph: ctypes.c_void_p) -> Graph:
        new = cls.__new__(cls)
        new._graph = graph
        return new

    @classmethod
    def load(cls, path: str | os.PathLike[str], shapes: Mapping[str, Sequence[int]] | None = None) -> Graph:
        """A model file, .onnx or .relay; `shapes` binds symbolic inputs."""
        texts = [f"{name}={','.join(map(str, shape))}".encode() for name, shape in (shapes or {}).items()]
        graph = ctypes.c_void_p()
        array = (ctypes.c_char_p * len(texts))(*texts)
        _check(_library().hone_graph_load(os.fsencode(path), array, len(texts), ctypes.byref(graph)))
        return cls._own(graph)

    def __del__(self) -> None:
        if getattr(self, "_graph", None):
            _library().hone_graph_free(self._graph)

    def __str__(self) -> str:
        return self.text(constants=False)

    def text(self, constants: bool = True) -> str:
        """With constants it parses back to an equal graph; without, it is for people."""
        return _bytes(_library().hone_graph_text, self._graph, int(constants)).decode()

    def bind(self, params: Mapping[str, npt.ArrayLike]) -> Graph:
        """Parameters of main become constants."""
        graph = self
        for name, value in params.items():
            array = np.ascontiguousarray(value)
            type_text = tensor_type(np.shape(value), array.dtype.name).encode()
            bound = ctypes.c_void_p()
            _check(
                _library().hone_graph_bind(
                    graph._graph, name.encode(), type_text, array.ctypes.data, array.nbytes, ctypes.byref(bound)
                )
            )
            graph = self._own(bound)
        return graph

    def with_numerics(self, numerics: str) -> Graph:
        """How all its kernels may round, whatever its functions said: "strict", "default" or "fast"."""
        result = ctypes.c_void_p()
        _check(_library().hone_graph_numerics(self._graph, numerics.encode(), ctypes.byref(result)))
        return self._own(result)

    def run_pass(self, name: str, target: str | None = None) -> Graph:
        """One pass (pass_names(), or "InferTypes")."""
        result = ctypes.c_void_p()
        _check(_library().hone_graph_pass(self._graph, name.encode(), _encode(target), ctypes.byref(result)))
        return self._own(result)

    def draw(self, path: str | os.PathLike[str] | None = None, format: str | None = None) -> bytes:
        """A picture: "tree", "dot", "svg", "pdf" or "png"; the ending of `path`, where one is given, says which."""
        if format is None:
            format = pathlib.Path(path).suffix.removeprefix(".") if path is not None else "tree"
        picture = _bytes(_library().hone_graph_draw, self._graph, format.encode())
        if path is not None:
            pathlib.Path(path).write_bytes(picture)
        return picture

    def code(self, form: str = "llvm", target: str | None = None) -> str:
        """The kernels this becomes: "nests", "llvm" or "assembly"."""
        return _bytes(_library().hone_graph_code, self._graph, _encode(target), form.encode()).decode()

    def compile(
        self,
        path: str | os.PathLike[str],
        target: str | None = None,
        threads: int = 0,
        database: str | os.PathLike[str] | None = None,
        require_tuned: bool = False,
    ) -> dict[str, Any]:
        """Writes a module to `path` and returns the report of `hone compile --json`."""
        report = _bytes(
            _library().hone_graph_build,
            self._graph,
            _encode(target),
            threads,
            None if database is None else os.fsencode(database),
            int(require_tuned),
            os.fsencode(path),
        )
        document: dict[str, Any] = json.loads(report)
        return document


def build(
    graph: Graph,
    target: str | None = None,
    params: Mapping[str, npt.ArrayLike] | None = None,
    threads: int = 0,
    database: str | os.PathLike[str] | None = None,
    require_tuned: bool = False,
    numerics: str | None = None,
) -> Module:
    """Compiles and opens a model; `params` are bound as constants first. `numerics`: as Graph.with_numerics has them;
    without, as the graph says."""
    if numerics is not None:
        graph = graph.with_numerics(numerics)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.so"
        graph.bind(params or {}).compile(path, target, threads, database, require_tuned)
        return Module(path, threads)  # holds the file open: the folder may go
