"""The compiler: ctypes over its C API of texts (python/native/compiler_api.h)."""

from __future__ import annotations

import ctypes
import functools
import inspect
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, cast

import numpy as np
import numpy.typing as npt

from hone import child
from hone.arguments import elements_of, items_of, optional_text, path_of, text_of, threads_of
from hone.bindings import Dims, Shapes, dim_flags, shape_flags, specialisations
from hone.dtypes import dtype_of, native
from hone.errors import Error, in_python
from hone.model_file import ModelFile, model_bytes
from hone.module import Module, TensorInfo, elided


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("size", ctypes.c_size_t)]


class _Constant(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("rank", ctypes.c_uint32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
        ("size_bytes", ctypes.c_uint64),
    ]


class _Bindings(ctypes.Structure):
    _fields_ = [
        ("shapes", ctypes.POINTER(ctypes.c_char_p)),
        ("shape_count", ctypes.c_size_t),
        ("dims", ctypes.POINTER(ctypes.c_char_p)),
        ("dim_count", ctypes.c_size_t),
        ("constants", ctypes.POINTER(_Constant)),
        ("constant_count", ctypes.c_size_t),
        ("cuts", ctypes.POINTER(ctypes.c_char_p)),
        ("cut_count", ctypes.c_size_t),
    ]


Constants = Mapping[str, npt.ArrayLike]

_TextPointer = ctypes.POINTER(_Text)


@functools.cache
def _library() -> ctypes.CDLL:
    """Loaded when it is needed: to run modules takes no compiler."""
    library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libhone_compiler.so"))
    graph, text = ctypes.c_void_p, ctypes.c_char_p
    out_graph, out_text = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_TextPointer)
    code, size = ctypes.c_int, ctypes.c_size_t
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "hone_compiler_error": (text, []),
        "hone_graph_parse": (code, [text, size, out_graph]),
        "hone_graph_load": (code, [text, ctypes.POINTER(_Bindings), out_graph]),
        "hone_graph_load_bytes": (code, [text, size, ctypes.POINTER(_Bindings), out_graph]),
        "hone_graph_free": (None, [graph]),
        "hone_graph_bind": (code, [graph, ctypes.POINTER(_Constant), out_graph]),
        "hone_graph_numerics": (code, [graph, text, out_graph]),
        "hone_graph_pass": (code, [graph, text, text, out_graph]),
        "hone_graph_signature": (code, [graph, out_text]),
        "hone_graph_text": (code, [graph, code, out_text]),
        "hone_graph_draw": (code, [graph, text, out_text]),
        "hone_graph_code": (code, [graph, text, text, out_text]),
        "hone_graph_build": (code, [out_graph, size, text, code, text, code, text, out_text]),
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
        raise Error(in_python(_library().hone_compiler_error().decode(errors="replace")), code)


def _bytes(function: Any, *arguments: Any) -> bytes:
    text = _TextPointer()
    _check(function(*arguments, ctypes.byref(text)))
    try:
        return ctypes.string_at(text.contents.data, text.contents.size)
    finally:
        _library().hone_text_free(text)


def _constant(name: str, value: npt.ArrayLike) -> _Constant:
    array = native(np.asarray(value))
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    encoded = text_of(name, "the name of a constant").encode()
    constant = _Constant(encoded, array.dtype.name.encode(), array.ndim, shape, array.ctypes.data, array.nbytes)
    constant.owner = array  # ctypes keeps the other fields alive
    return constant


def constant_items(constants: Constants | None) -> list[tuple[str, npt.ArrayLike]]:
    return items_of(constants, "constants as {name: array}")


def cut_names(cut: object) -> list[str]:
    names = elements_of(cut)
    if names is None:
        raise Error(f'expected cut as a list of names of values, as in ["logits"], found {cut!r}')
    return [text_of(name, "the name of a value in cut") for name in names]


def _texts(texts: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


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
        if not isinstance(text, str):
            raise Error(f"expected graph text, found a value of type {type(text).__name__}; Graph.load takes models")
        encoded = text.encode()
        _check(_library().hone_graph_parse(encoded, len(encoded), ctypes.byref(self._graph)))

    @classmethod
    def _own(cls, graph: ctypes.c_void_p) -> Graph:
        new = cls.__new__(cls)
        new._graph = graph
        return new

    @classmethod
    def load(
        cls,
        model: ModelFile,
        shapes: Shapes | None = None,
        dims: Dims | None = None,
        constants: Constants | None = None,
        cut: Sequence[str] = (),
    ) -> Graph:
        """A model: the path of an .onnx, .pb (ONNX or a frozen TensorFlow GraphDef) or .relay file, the bytes of one of
        the first two, or an object that serialises to them, as onnx.ModelProto does. `dims` binds symbolic extents of an
        ONNX model by name wherever they stand, `shapes` whole shapes of inputs; `constants` makes constants of inputs,
        which those that decide a shape must be. `cut` has the names of values that are the outputs instead of the
        model's own; what they are not computed from is left out."""
        shape_texts, dim_texts, cuts = _texts(shape_flags(shapes)), _texts(dim_flags(dims)), _texts(cut_names(cut))
        values = [_constant(name, value) for name, value in constant_items(constants)]
        bindings = _Bindings(
            shape_texts,
            len(shape_texts),
            dim_texts,
            len(dim_texts),
            (_Constant * len(values))(*values),
            len(values),
            cuts,
            len(cuts),
        )
        graph = ctypes.c_void_p()
        content = model_bytes(model)
        if content is None:
            path = path_of(model, "a model")
            _check(_library().hone_graph_load(path, ctypes.byref(bindings), ctypes.byref(graph)))
        else:
            out = ctypes.byref(graph)
            _check(_library().hone_graph_load_bytes(content, len(content), ctypes.byref(bindings), out))
        return cls._own(graph)

    def __del__(self) -> None:
        if getattr(self, "_graph", None):
            _library().hone_graph_free(self._graph)

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    def __repr__(self) -> str:
        try:
            inputs, outputs = self.inputs, self.outputs
        except Error as error:
            return f"<hone.Graph: {error}>"
        return f"<hone.Graph ({_described(inputs)}) -> ({_described(outputs)})>"

    @property
    def inputs(self) -> list[TensorInfo]:
        """The parameters of main."""
        return self._signature("inputs")

    @property
    def outputs(self) -> list[TensorInfo]:
        return self._signature("outputs")

    def _signature(self, part: str) -> list[TensorInfo]:
        document = json.loads(_bytes(_library().hone_graph_signature, self._graph))
        return [TensorInfo(each["name"], tuple(each["shape"]), dtype_of(each["dtype"])) for each in document[part]]

    def __str__(self) -> str:
        return self.text(constants=False)

    def text(self, constants: bool = True) -> str:
        """With constants it parses back to an equal graph; without, it is for people."""
        return _bytes(_library().hone_graph_text, self._graph, int(constants)).decode()

    def bind(self, constants: Constants) -> Graph:
        """Parameters of main become constants."""
        graph = self
        for name, value in constant_items(constants):
            constant = _constant(name, value)
            bound = ctypes.c_void_p()
            _check(_library().hone_graph_bind(graph._graph, ctypes.byref(constant), ctypes.byref(bound)))
            graph = self._own(bound)
        return graph

    def with_numerics(self, numerics: str) -> Graph:
        """How all its kernels may round, whatever its functions said: "strict", "default" or "fast"."""
        result = ctypes.c_void_p()
        _check(_library().hone_graph_numerics(self._graph, text_of(numerics, "numerics (strict, default or fast)").encode(), ctypes.byref(result)))
        return self._own(result)

    def run_pass(self, name: str, target: str | None = None) -> Graph:
        """One pass (pass_names(), or "InferTypes")."""
        result = ctypes.c_void_p()
        encoded = text_of(name, "the name of a pass").encode()
        _check(_library().hone_graph_pass(self._graph, encoded, optional_text(target, "target"), ctypes.byref(result)))
        return self._own(result)

    def draw(self, path: str | os.PathLike[str] | None = None, format: str | None = None) -> bytes:
        """A picture: "tree", "dot", "svg", "pdf" or "png"; the ending of `path`, where one is given, says which."""
        if format is None:
            format = pathlib.Path(path).suffix.removeprefix(".") if path is not None else "tree"
        picture = _bytes(_library().hone_graph_draw, self._graph, text_of(format, "the format of a picture (tree, dot, svg, pdf or png)").encode())
        if path is not None:
            pathlib.Path(path).write_bytes(picture)
        return picture

    def code(self, form: str = "llvm", target: str | None = None) -> str:
        """The kernels this becomes: "nests", "llvm" or "assembly"."""
        encoded = text_of(form, "the form of code (nests, llvm or assembly)").encode()
        with child.held:  # LLVM's lock, which children take
            return _bytes(_library().hone_graph_code, self._graph, optional_text(target, "target"), encoded).decode()

    def compile(
        self,
        path: str | os.PathLike[str],
        target: str | None = None,
        threads: int = 0,
        database: str | os.PathLike[str] | None = None,
        require_tuned: bool = False,
    ) -> CompileReport:
        """Writes a module to `path` and returns the report of `hone compile --json`."""
        return _compile([self], path, target, threads, database, require_tuned)


Model = Graph | Sequence[Graph] | ModelFile


class CompileReport(dict[str, Any]):
    """The document of `hone compile --json` (docs/cli.md)."""

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {tier}" for tier, count in self["counts"].items() if count)
        return f"<hone.CompileReport: {len(self['kernels'])} kernels ({counts}) for {self['target']}>"


def _described(infos: Sequence[TensorInfo]) -> str:
    return elided([f"{info.name}: {info.dtype}{list(info.shape)}" for info in infos])


def _graphs_in(models: Sequence[object]) -> list[Graph]:
    graphs = [each for each in models if isinstance(each, Graph)]
    if len(graphs) < len(models) or not graphs:
        others = [type(each).__name__ for each in models if not isinstance(each, Graph)]
        found = f"a list with a value of type {others[0]}; load each by Graph.load" if others else "an empty list"
        raise Error(f"expected a model, or a list of one hone.Graph for each specialisation, found {found}")
    return graphs


def loaded(
    model: Model, shapes: Shapes | None, dims: Dims | None, constants: Constants | None, cut: Sequence[str]
) -> list[Graph]:
    """One graph for each specialisation."""
    if not isinstance(model, Graph | list | tuple):
        file = cast(ModelFile, model)
        return [Graph.load(file, *each, constants, cut) for each in specialisations(shapes, dims)]
    graphs = _graphs_in([model] if isinstance(model, Graph) else model)
    if shapes or dims or cut_names(cut):
        raise Error("expected shapes, dims and cut with a model that is not loaded yet, found a hone.Graph; give them to Graph.load")
    return [graph.bind(constants or {}) for graph in graphs]


def _compile(
    graphs: Sequence[Graph],
    path: str | os.PathLike[str],
    target: str | None,
    threads: int,
    database: str | os.PathLike[str] | None,
    require_tuned: bool,
) -> CompileReport:
    output = path_of(path, "the module to write")
    arguments = (
        (ctypes.c_void_p * len(graphs))(*(graph._graph for graph in graphs)),
        len(graphs),
        optional_text(target, "target"),
        threads_of(threads),
        None if database is None else path_of(database, "database"),
        int(require_tuned),
        output,
    )
    report = child.call(lambda: _bytes(_library().hone_graph_build, *arguments), pathlib.Path(os.fsdecode(output)))
    return CompileReport(json.loads(report))


def compile(
    model: Model,
    path: str | os.PathLike[str],
    target: str | None = None,
    constants: Constants | None = None,
    threads: int = 0,
    database: str | os.PathLike[str] | None = None,
    require_tuned: bool = False,
    numerics: str | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    cut: Sequence[str] = (),
) -> CompileReport:
    """Writes a module to `path`, as `hone compile` does. `model`, `shapes`, `dims`, `cut`: as Graph.load has them, or a
    Graph; lists of shapes and of extents, or several graphs, make several specialisations. Inputs become constants that
    `constants` names; `numerics`: as Graph.with_numerics has it, without, as the model says."""
    graphs = loaded(model, shapes, dims, constants, cut)
    if numerics is not None:
        graphs = [graph.with_numerics(numerics) for graph in graphs]
    return _compile(graphs, path, target, threads, database, require_tuned)


_Options = ParamSpec("_Options")


def _opened(
    compile: Callable[Concatenate[Model, str | os.PathLike[str], _Options], CompileReport],
) -> Callable[Concatenate[Model, _Options], Module]:
    """A function that takes what `compile` takes, but for the path."""
    whole = inspect.signature(compile)

    def build(model: Model, *args: _Options.args, **kwargs: _Options.kwargs) -> Module:
        """Compiles and opens a model: `compile`, and a Module of what it wrote."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.so"
            given = whole.bind(model, path, *args, **kwargs).arguments
            compile(model, path, *args, **kwargs)
            return Module(path, given.get("threads", 0))  # holds the file open: the folder may go

    parameters = [each for each in whole.parameters.values() if each.name != "path"]
    build.__signature__ = whole.replace(parameters=parameters, return_annotation="Module")  # type: ignore[attr-defined]
    build.__qualname__ = "build"
    return build  # type: ignore[return-value]  # `model` may be named, which Concatenate cannot say


build = _opened(compile)
