"""What the cases of the domain com.microsoft share; expected values are onnxruntime's."""

from typing import Any

import numpy as np
from case_maker import Array, Const, make_case, random

DOMAIN = "com.microsoft"


def ms(name: str, op: str, *operands: Array | Const | None, **rest: Any) -> None:
    make_case("microsoft_" + name, op, *operands, domain=DOMAIN, **rest)


def floats(name: str, *shape: int, scale: float = 1.0) -> Array:
    return (random(name).standard_normal(shape) * scale).astype(np.float32)


def whole(name: str, low: int, high: int, shape: tuple[int, ...], dtype: Any = np.int32) -> Array:
    return random(name).integers(low, high, shape).astype(dtype)
