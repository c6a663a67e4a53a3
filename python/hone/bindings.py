"""What is decided of a model's inputs before it is compiled: shapes by inputs, numbers by symbolic extents."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import SupportsIndex, cast

from hone.errors import Error

Shape = Sequence[SupportsIndex]
Shapes = Mapping[str, Shape | Sequence[Shape]]
"""A list of shapes: one for each specialisation."""
Dims = Mapping[str, SupportsIndex | Sequence[SupportsIndex]]
"""A list of numbers: likewise."""


def _shapes_of(value: Shape | Sequence[Shape]) -> list[Shape]:
    is_shape = all(isinstance(each, SupportsIndex) for each in value)
    return [cast(Shape, value)] if is_shape else list(cast("Sequence[Shape]", value))


def _numbers_of(value: SupportsIndex | Sequence[SupportsIndex]) -> list[SupportsIndex]:
    return [value] if isinstance(value, SupportsIndex) else list(value)


def shape_flags(shapes: Shapes | None) -> list[str]:
    """As --shape of the command line has them."""
    return [
        f"{name}={','.join(str(operator.index(extent)) for extent in shape)}"
        for name, value in (shapes or {}).items()
        for shape in _shapes_of(value)
    ]


def dim_flags(dims: Dims | None) -> list[str]:
    """As --dim of the command line has them."""
    return [
        f"{name}={operator.index(number)}" for name, value in (dims or {}).items() for number in _numbers_of(value)
    ]


def specialisations(shapes: Shapes | None, dims: Dims | None) -> list[tuple[Shapes, Dims]]:
    """What each is loaded with: the i-th of every list, and what is no list."""
    shape_lists = {name: _shapes_of(value) for name, value in (shapes or {}).items()}
    dim_lists = {name: _numbers_of(value) for name, value in (dims or {}).items()}
    lengths = [(name, len(shape_list)) for name, shape_list in shape_lists.items()]
    lengths += [(name, len(numbers)) for name, numbers in dim_lists.items()]
    count = max([1, *(length for _, length in lengths)])
    for name, length in lengths:
        if length not in (1, count):
            raise Error(f"expected one value for {name!r}, which all specialisations share, or {count}, found {length}")
    return [
        (
            {name: values[number % len(values)] for name, values in shape_lists.items()},
            {name: values[number % len(values)] for name, values in dim_lists.items()},
        )
        for number in range(count)
    ]
