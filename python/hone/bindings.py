"""What is decided of a model's inputs before it is compiled: shapes by inputs, numbers by symbolic extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import SupportsIndex

from hone.arguments import elements_of, integer, items_of, text_of
from hone.errors import Error

Shape = Sequence[SupportsIndex]
Shapes = Mapping[str, Shape | Sequence[Shape]]
"""A list of shapes: one for each specialisation."""
Dims = Mapping[str, SupportsIndex | Sequence[SupportsIndex]]
"""A list of numbers: likewise."""


_MAX_EXTENT = 10**9 - 1  # as --shape and --dim of the command line have it


def _shape_of(name: str, value: object) -> list[int]:
    expected = f"a shape of extents from 0 to {_MAX_EXTENT} for input {name!r}, as in (1, 3, 224, 224)"
    extents = elements_of(value)
    if extents is None:
        raise Error(f"expected {expected}, found {value!r}")
    return [integer(extent, expected, 0, _MAX_EXTENT) for extent in extents]


def _shapes_of(name: str, value: object) -> list[list[int]]:
    """One shape is a list of one."""
    several = elements_of(value) or []
    are_shapes = bool(several) and all(elements_of(each) is not None for each in several)
    return [_shape_of(name, shape) for shape in (several if are_shapes else [value])]


def _numbers_of(name: str, value: object) -> list[int]:
    elements = elements_of(value)
    several = [value] if elements is None else elements
    expected = f"a number from 0 to {_MAX_EXTENT} for symbol {name!r}, or a list of them"
    if not several:
        raise Error(f"expected {expected}, found {value!r}")
    return [integer(number, expected, 0, _MAX_EXTENT) for number in several]


def _shape_lists(shapes: Shapes | None) -> dict[str, list[list[int]]]:
    items = items_of(shapes, "shapes as {name of an input: shape}")
    return {text_of(name, "the name of an input in shapes"): _shapes_of(name, value) for name, value in items}


def _dim_lists(dims: Dims | None) -> dict[str, list[int]]:
    items = items_of(dims, "dims as {name of a symbol: number}")
    return {text_of(name, "the name of a symbol in dims"): _numbers_of(name, value) for name, value in items}


def shape_flags(shapes: Shapes | None) -> list[str]:
    """As --shape of the command line has them."""
    return [
        f"{name}={','.join(map(str, shape))}" for name, several in _shape_lists(shapes).items() for shape in several
    ]


def dim_flags(dims: Dims | None) -> list[str]:
    """As --dim of the command line has them."""
    return [f"{name}={number}" for name, numbers in _dim_lists(dims).items() for number in numbers]


def specialisations(shapes: Shapes | None, dims: Dims | None) -> list[tuple[Shapes, Dims]]:
    """What each is loaded with: the i-th of every list, and what is no list."""
    shape_lists, dim_lists = _shape_lists(shapes), _dim_lists(dims)
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
