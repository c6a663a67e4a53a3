"""Writes ONNX files without any package: graphs of a few nodes, and what torch modules become."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

IR_VERSION, OPSET = 9, 20
TYPES = {"float32": 1, "int64": 7, "bfloat16": 16}  # TensorProto.DataType
Shape = Sequence[int]


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _attribute(name: str, value: Any) -> bytes:
    """An integer, a float, or a list of integers."""
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, 2)
    return _bytes(1, name) + b"".join(_number(8, each) for each in value) + _number(20, 7)


def _value_info(name: str, dtype: str, shape: Shape) -> bytes:
    extents = b"".join(_bytes(1, _number(1, extent)) for extent in shape)
    tensor = _number(1, TYPES[dtype]) + _bytes(2, extents)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


class OnnxFile:
    """A graph that is being made; names are the caller's, and each is given once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names = 0

    def input(self, name: str, dtype: str, shape: Shape) -> str:
        self._parts.append(_bytes(11, _value_info(name, dtype, shape)))
        return name

    def output(self, name: str, dtype: str, shape: Shape) -> None:
        self._parts.append(_bytes(12, _value_info(name, dtype, shape)))

    def constant(self, name: str, dtype: str, shape: Shape, raw: bytes) -> str:
        """`raw`: the elements as they lie in memory, row-major."""
        extents = b"".join(_number(1, extent) for extent in shape)
        self._parts.append(_bytes(5, extents + _number(2, TYPES[dtype]) + _bytes(8, name) + _bytes(9, raw)))
        return name

    def node(self, op: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """Adds a node; returns the name of its result, a new one if none is given."""
        self._names += 1
        output = output or f"v{self._names}"
        body = b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(3, f"n{self._names}") + _bytes(4, op)
        body += b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items())
        self._parts.append(_bytes(1, body))
        return output

    def serialized(self) -> bytes:
        graph = _bytes(2, "main") + b"".join(self._parts)
        return _number(1, IR_VERSION) + _bytes(7, graph) + _bytes(8, _number(2, OPSET))

