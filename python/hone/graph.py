"""Graphs built by hand: expressions, functions, modules.

    x = hone.var("x", (), "int64")
    f = hone.Function([x], x + 1)
    print(hone.module(f))
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex, Union

import numpy as np
import numpy.typing as npt

from hone.arguments import MAX_INT64, elements_of, integer, items_of, text_of
from hone.compiler import Graph, operator_names, tensor_type
from hone.dtypes import ELEMENT_TYPES, dtype_name, dtype_of, holds, native
from hone.errors import Error
from hone.module import elided

Operand = Union["Expr", bool, int, float, npt.NDArray[Any]]

_SUFFIXES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
}


def _numpy_dtype(given: npt.DTypeLike) -> np.dtype[Any]:
    name = dtype_name(given)
    dtype = dtype_of(name)
    if not holds(dtype, name) or (name == "bfloat16" and dtype == np.uint16):
        raise Error(f"expected numpy to know {name}, found that it does not; install ml_dtypes")
    return dtype


def _converted(given: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Floats round; what else would become another value is refused."""
    with np.errstate(all="ignore"):
        array = given.astype(dtype)
        if dtype.kind in "iu" and given.dtype.kind not in "biu":
            numbers = given.astype(np.float64)  # which takes the next number for the largest of 64 bits
            is_lost = (array != numbers) | (numbers >= float(np.iinfo(dtype).max) + 1)
        elif dtype.kind in "biu":
            is_lost = array != given
        else:
            is_lost = np.isfinite(given) & ~np.isfinite(array)
    if np.any(is_lost):
        lost = given[is_lost].flat[0]
        raise Error(f"expected values that {dtype.name} holds, found {lost}; cast the other operand, or round them before")
    return array


class Expr:
    """A value. Used twice, it is computed once."""

    # Arrays leave operators to this class: numpy would make an array of an expression for each element.
    __array_ufunc__ = None

    dtype: str | None = None  # of variables and constants, and of what is computed from them elementwise

    def __add__(self, other: Operand) -> Expr:
        return _binary("add", self, other)

    def __radd__(self, other: Operand) -> Expr:
        return _binary("add", other, self)

    def __sub__(self, other: Operand) -> Expr:
        return _binary("subtract", self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return _binary("subtract", other, self)

    def __mul__(self, other: Operand) -> Expr:
        return _binary("multiply", self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return _binary("multiply", other, self)

    def __truediv__(self, other: Operand) -> Expr:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return _binary("divide", other, self)

    def __neg__(self) -> Expr:
        return Call("negative", [self])

    def __getitem__(self, index: int) -> Expr:
        """A field of a tuple."""
        if not isinstance(index, int) or index < 0:
            raise Error(f"expected the number of a field of a tuple, found {index!r}")
        return TupleGetItem(self, index)

    def __repr__(self) -> str:
        return f"<hone.{type(self).__name__}>"

    # Sequences end; a graph value does not know how long it is.
    __iter__ = None

    def operands(self) -> Sequence[Expr]:
        return ()


class Var(Expr):
    def __init__(self, name: str, shape: Sequence[SupportsIndex], dtype: npt.DTypeLike = "float32") -> None:
        self.name, self.dtype = text_of(name, "the name of a variable"), dtype_name(dtype)
        expected = f"a shape of extents of at least 0 for variable {name!r}, as in (1, 3)"
        extents = elements_of(shape)
        if extents is None:
            raise Error(f"expected {expected}, found {shape!r}")
        self.shape = tuple(integer(extent, expected, 0, MAX_INT64) for extent in extents)

    def type_text(self) -> str:
        return tensor_type(self.shape, str(self.dtype))

    def __repr__(self) -> str:
        return f"hone.var({self.name!r}, {self.shape}, {self.dtype!r})"


class Constant(Expr):
    def __init__(self, value: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> None:
        given = np.asarray(value)
        if given.dtype.name not in ELEMENT_TYPES and given.dtype.kind not in "iuf":
            raise Error(f"expected a number or an array of them, found {value!r}")
        self.value = native(given if dtype is None else _converted(given, _numpy_dtype(dtype)))
        self.dtype = self.value.dtype.name

    def __repr__(self) -> str:
        return f"<hone.Constant {self.dtype}{list(self.value.shape)}>"


class Call(Expr):
    """A call of an operator or function."""

    def __init__(self, callee: str | Expr, args: Iterable[Operand], attrs: Mapping[str, Any] | None = None) -> None:
        self.callee = callee
        self.args = [_expr(arg) for arg in args]
        self.attrs = dict(attrs or {})
        dtypes = {arg.dtype for arg in self.args}
        self.dtype = dtypes.pop() if len(dtypes) == 1 else None

    def __repr__(self) -> str:
        callee = self.callee if isinstance(self.callee, str) else repr(self.callee)
        return f"<hone.Call {callee} of {len(self.args)}>"

    def operands(self) -> Sequence[Expr]:
        return [*self.args, *([self.callee] if isinstance(self.callee, Expr) else [])]


class Tuple(Expr):
    def __init__(self, fields: Iterable[Operand]) -> None:
        self.fields = [_expr(field) for field in fields]

    def operands(self) -> Sequence[Expr]:
        return self.fields


class TupleGetItem(Expr):
    def __init__(self, tuple_value: Expr, index: int) -> None:
        self.tuple_value, self.index = tuple_value, index

    def operands(self) -> Sequence[Expr]:
        return (self.tuple_value,)


class If(Expr):
    def __init__(self, condition: Expr, then: Operand, otherwise: Operand) -> None:
        self.condition, self.then, self.otherwise = condition, _expr(then), _expr(otherwise)

    def operands(self) -> Sequence[Expr]:
        return (self.condition, self.then, self.otherwise)


class GlobalVar(Expr):
    """The name of a function of the module. Calling it makes a call."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"hone.GlobalVar({self.name!r})"

    def __call__(self, *args: Operand) -> Expr:
        return Call(self, args)


class Function(Expr):
    """Parameters and a body. Calling it makes a call."""

    def __init__(self, params: Sequence[Var], body: Operand) -> None:
        if not isinstance(params, Iterable) or not all(isinstance(param, Var) for param in params):
            raise Error(f"expected parameters as a list of what hone.var gives, found {params!r}")
        self.params, self.body = list(params), _expr(body)

    def __repr__(self) -> str:
        return f"<hone.Function of {elided([param.name for param in self.params])}>"

    def __call__(self, *args: Operand) -> Expr:
        return Call(self, args)


def var(name: str, shape: Sequence[SupportsIndex] = (), dtype: npt.DTypeLike = "float32") -> Var:
    """`dtype`: its name, or as numpy has it."""
    return Var(name, shape, dtype)


def const(value: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Constant:
    return Constant(value, dtype)


class _Operators:
    """Operators by name: hone.op.nn.conv2d(data, weight, strides=[2, 2])."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of Python's protocols, as copy asks for them
            raise AttributeError(name)
        full = self._prefix + name
        names = operator_names()
        if full in names:
            return lambda *args, **attrs: Call(full, args, attrs)
        if any(known.startswith(full + ".") for known in names):
            return _Operators(full + ".")
        raise AttributeError(f"expected an operator of hone.operator_names(), found {full!r}")

    def __dir__(self) -> list[str]:
        names = [name[len(self._prefix) :] for name in operator_names() if name.startswith(self._prefix)]
        return sorted({name.split(".")[0] for name in names})


op = _Operators()


def module(functions: Function | Mapping[str, Function]) -> Graph:
    """A module of named functions; a single function is @main."""
    named = {"main": functions} if isinstance(functions, Function) else functions
    printer = _Printer()
    expected = "a hone.Function, or functions as {name: hone.Function}"
    items = items_of(named, expected)
    for name, function in items:
        if not isinstance(function, Function):
            raise Error(f"expected {expected}, found {function!r} for {name!r}")
    text = "".join(f"def @{_name(name)}{printer.function(function)}\n" for name, function in items)
    return Graph(text + printer.metadata())


def _expr(value: Operand) -> Expr:
    if isinstance(value, (tuple, list)):
        return Tuple(value)
    return value if isinstance(value, Expr) else Constant(value)


def _binary(name: str, a: Operand, b: Operand) -> Expr:
    """Python numbers take the dtype of the other operand."""
    dtype = next((side.dtype for side in (a, b) if isinstance(side, Expr)), None)
    args = [side if isinstance(side, Expr) else Constant(side, dtype) for side in (a, b)]
    return Call(name, args)


def _name(name: str) -> str:
    text_of(name, "a name")
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(char, char) for char in text) + '"'


def _attribute(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        text = repr(float(value))
        return text if any(mark in text for mark in ".en") else text + ".0"
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return dtype_name(value)
    if isinstance(value, str):
        return value if value in ELEMENT_TYPES else _quoted(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_attribute, value)) + "]"
    raise Error(f"expected a number, string, dtype or list as an attribute, found {value!r}")


class _Printer:
    """Expressions to graph text. Iterative: graphs may be deep."""

    def __init__(self) -> None:
        self._constants: list[Constant] = []

    def function(self, function: Function) -> str:
        params = ", ".join(f"%{_name(param.name)}: {param.type_text()}" for param in function.params)
        lines: list[str] = []
        names: dict[int, str] = {id(param): f"%{_name(param.name)}" for param in function.params}
        result = self._block(function.body, names, lines)
        return f"({params}) {{\n" + "".join(f"  {line}\n" for line in [*lines, result]) + "}"

    def metadata(self) -> str:
        entries = []
        for index, constant in enumerate(self._constants):
            data = base64.b64encode(constant.value.tobytes()).decode()
            type_text = tensor_type(constant.value.shape, str(constant.dtype))
            entries.append(f'meta[Constant][{index}] = {type_text} "{data}";\n')
        return "".join(entries)

    def _block(self, root: Expr, names: dict[int, str], lines: list[str]) -> str:
        """Statements for everything below `root`, each once; the text that stands for `root`."""
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in names:
                continue
            if not ready:
                stack.append((node, True))
                stack.extend((operand, False) for operand in reversed(node.operands()))
                continue
            text = self._text(node, names)
            if isinstance(node, (Constant, GlobalVar, TupleGetItem)):
                names[id(node)] = text
                continue
            number = names.get(0, "0")
            names[0] = str(int(number) + 1)  # no object has this id
            names[id(node)] = f"%{number}"
            lines.append(f"%{number} = {text};")
        return names[id(root)]

    def _text(self, node: Expr, names: dict[int, str]) -> str:
        if isinstance(node, Constant):
            return self._constant(node)
        if isinstance(node, GlobalVar):
            return f"@{_name(node.name)}"
        if isinstance(node, Tuple):
            fields = ", ".join(names[id(field)] for field in node.fields)
            return f"({fields},)" if len(node.fields) == 1 else f"({fields})"
        if isinstance(node, TupleGetItem):
            return f"{names[id(node.tuple_value)]}.{node.index}"
        if isinstance(node, If):
            condition, then, otherwise = (names[id(operand)] for operand in node.operands())
            return f"if ({condition}) {{ {then} }} else {{ {otherwise} }}"
        if isinstance(node, Function):
            return "fn " + self.function(node)
        if isinstance(node, Call):
            callee = node.callee if isinstance(node.callee, str) else names[id(node.callee)]
            args = [names[id(arg)] for arg in node.args]
            attrs = [f"{name}={_attribute(value)}" for name, value in sorted(node.attrs.items())]
            return f"{callee}({', '.join([*args, *attrs])})"
        if isinstance(node, Var):
            raise Error(f"expected variables to be parameters of their function, found %{node.name}")
        raise Error(f"expected an expression, found {node!r}")

    def _constant(self, constant: Constant) -> str:
        value, dtype = constant.value, str(constant.dtype)
        if value.shape == () and dtype == "bool":
            return "true" if value else "false"
        if value.shape == () and dtype in _SUFFIXES:
            bits = value.tobytes()[::-1].hex()
            if "float" in dtype:
                return f"{dtype}(0x{bits})"  # exact
            return f"{int(value)}{_SUFFIXES[dtype]}"
        if dtype not in ELEMENT_TYPES:
            raise Error(f"expected a constant of {', '.join(ELEMENT_TYPES)}, found {dtype}; convert it by .astype")
        self._constants.append(constant)
        return f"meta[Constant][{len(self._constants) - 1}]"
