#!/usr/bin/env python3
"""The cases of integers without a sign and of 4 bits, of BitCast and LinearAttention.

Expected values are those of ONNX's reference evaluator, which computes as numpy does.
"""

from typing import Any

import ml_dtypes
import numpy as np
from case_maker import Array, Const, by_reference_evaluator, make_case, random
from onnx import TensorProto, helper

UNSIGNED = (np.uint16, np.uint32, np.uint64)


def standard(name: str, op: str, *operands: Array | Const | None, opset: int = 21, **rest: Any) -> None:
    make_case(name, op, *operands, opset=opset, reference=by_reference_evaluator, **rest)


def name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


def wide(name: str, dtype: Any, *shape: int) -> Array:
    """Numbers over all of the type, among them those that a signed type of its width does not have."""
    top = np.iinfo(dtype).max
    numbers = random(name).integers(0, top, shape, dtype=dtype, endpoint=True)
    numbers.flat[:3] = top, top // 2 + 1, 0
    return numbers


def arithmetic() -> None:
    for dtype in UNSIGNED:
        x, y = wide("x", dtype, 2, 5), wide("y", dtype, 2, 5)
        y = np.maximum(y, 1).astype(dtype)
        t = name_of(dtype)
        for op in ("Add", "Sub", "Mul", "Div", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            standard(f"{op.lower()}_{t}", op, x, y)
        for op in ("Equal", "Less", "GreaterOrEqual"):
            standard(f"{op.lower()}_{t}", op, x, y, dtypes=[TensorProto.BOOL])
        standard(f"max_{t}", "Max", x, y, wide("z", dtype, 5))
        standard(f"min_{t}", "Min", x, y, wide("z", dtype, 5))
        standard(f"bitwise_not_{t}", "BitwiseNot", x)
        shift = np.arange(10, dtype=dtype).reshape(2, 5)
        standard(f"shift_right_{t}", "BitShift", x, shift, direction="RIGHT")
        standard(f"shift_left_{t}", "BitShift", x, shift, direction="LEFT")
        standard(f"sign_{t}", "Sign", x)
        standard(f"abs_{t}", "Abs", x)
        low, high = Const(np.array(3, dtype)), Const(np.array(np.iinfo(dtype).max - 9, dtype))
        standard(f"clip_{t}", "Clip", x, low, high)


def reductions() -> None:
    for dtype in (np.uint32, np.uint64):
        x = wide("r", dtype, 3, 4)
        t = name_of(dtype)
        axes = Const(np.array([1], np.int64))
        standard(f"reduce_max_{t}", "ReduceMax", x, axes, opset=20)
        standard(f"reduce_min_{t}", "ReduceMin", x, axes, opset=20, keepdims=0)
        standard(f"reduce_sum_{t}", "ReduceSum", x // 8, axes)
        standard(f"argmax_{t}", "ArgMax", x, axis=1, dtypes=[TensorProto.INT64])
        standard(f"topk_{t}", "TopK", x, Const(np.array([2], np.int64)), outputs=(True, True), axis=1)
        standard(f"matmul_{t}", "MatMul", x // 1000, wide("m", dtype, 4, 2) // 1000)


def moves() -> None:
    for dtype in UNSIGNED:
        x = wide("v", dtype, 3, 4)
        t = name_of(dtype)
        standard(f"gather_{t}", "Gather", x, np.array([2, 0, -1], np.int64))
        standard(f"concat_{t}", "Concat", x, wide("v2", dtype, 1, 4), axis=0)
        mask = random("mask").random((3, 4)) < 0.5
        standard(f"where_{t}", "Where", mask, x, wide("v3", dtype, 4), dtypes=[TensorProto.FLOAT])
        pads = Const(np.array([0, 1, 1, 0], np.int64))
        standard(f"pad_{t}", "Pad", x, pads, Const(np.array(np.iinfo(dtype).max - 2, dtype)))
        standard(f"transpose_{t}", "Transpose", x, perm=[1, 0])
        at = np.array([[0, 2], [1, 1]], np.int64)
        standard(f"scatter_{t}", "ScatterElements", x, at, wide("v4", dtype, 2, 2), axis=0)
        standard(f"constant_{t}", "Concat", Const(x), Const(x), axis=1)


def casts() -> None:
    for dtype in UNSIGNED:
        t = name_of(dtype)
        x = wide("c", dtype, 7)
        for to in (np.float32, np.float64, np.int64, np.int8, np.uint8, np.bool_, *UNSIGNED):
            number = int(helper.np_dtype_to_tensor_dtype(np.dtype(to)))
            standard(f"cast_{t}_to_{name_of(to)}", "Cast", x, to=number, dtypes=[number])
        number = int(TensorProto.DataType.Value(t.upper()))
        given = np.array([0, 1.5, 255.99, 60000.7], np.float32)
        standard(f"cast_float_to_{t}", "Cast", given, to=number, dtypes=[number])
        standard(f"cast_int64_to_{t}", "Cast", np.array([-1, 2**40 + 5, 7], np.int64), to=number, dtypes=[number])
    large = np.array([2.0**63, 2.0**64 - 2048, 2.0**53 + 2], np.float64)
    standard("cast_double_to_uint64_large", "Cast", large, to=TensorProto.UINT64, dtypes=[TensorProto.UINT64])


def quantised() -> None:
    x = (random("q").standard_normal((3, 4)) * 3).astype(np.float32)
    scale, zero = np.array(2e-4, np.float32), np.array(32768, np.uint16)
    standard("quantize_uint16", "QuantizeLinear", x, scale, zero, dtypes=[TensorProto.UINT16])
    codes = wide("codes", np.uint16, 3, 4)
    standard("dequantize_uint16", "DequantizeLinear", codes, scale, zero, dtypes=[TensorProto.FLOAT])
    for dtype, number in ((ml_dtypes.int4, TensorProto.INT4), (ml_dtypes.uint4, TensorProto.UINT4)):
        t = np.dtype(dtype).name
        zero4, scale4 = Const(np.array(1, dtype)), Const(np.array(0.75, np.float32))
        standard(f"quantize_{t}", "QuantizeLinear", x, scale4, zero4, dtypes=[number])
        standard(f"quantize_{t}_by_type", "QuantizeLinear", x, scale4, output_dtype=number, dtypes=[number])
        low = -8 if t == "int4" else 0
        codes4 = (random(t).integers(low, low + 16, (3, 4))).astype(dtype)
        standard(f"dequantize_{t}_input", "DequantizeLinear", codes4, scale4, zero4, dtypes=[TensorProto.FLOAT])
        standard(f"transpose_{t}", "Transpose", codes4, perm=[1, 0], dtypes=[number])
        standard(f"cast_float_to_{t}", "Cast", np.array([low, 2.5, 7], np.float32), to=number, dtypes=[number])
        standard(f"cast_{t}_to_float", "Cast", codes4, to=TensorProto.FLOAT, dtypes=[TensorProto.FLOAT])


def bit_casts() -> None:
    x = np.array([-1, 5, 2**31 - 1], np.int32)
    standard("bit_cast_int32_to_uint32", "BitCast", x, to=TensorProto.UINT32, opset=26, dtypes=[TensorProto.UINT32])
    bits = Const(np.array([0x3F800000, 0xC0490FDB], np.uint32))
    standard("bit_cast_constant_to_float", "BitCast", bits, to=TensorProto.FLOAT, opset=26, dtypes=[TensorProto.FLOAT])


def linear_attentions() -> None:
    b, t, heads, size, values = 2, 3, 2, 4, 5

    def operand(name: str, *shape: int) -> Array:
        return (random(name).standard_normal(shape) * 0.5).astype(np.float32)

    k, v = operand("lk", b, t, heads * size), operand("lv", b, t, heads * values)
    past = operand("lp", b, heads, size, values)
    decays = -np.abs(operand("ld", b, t, heads)), -np.abs(operand("le", b, t, heads * size))
    beta = operand("lb", b, t, heads)
    for group in (1, 2):
        q = operand(f"lq{group}", b, t, group * heads * size)
        rest = {"q_num_heads": group * heads, "kv_num_heads": heads, "opset": 27, "outputs": (True, True)}
        op = "LinearAttention"
        name = f"linear_attention_group_{group}"
        standard(f"{name}_linear", op, q, k, v, update_rule="linear", **rest)
        standard(f"{name}_gated", op, q, k, v, past, decays[1], update_rule="gated", **rest)
        standard(f"{name}_delta", op, q, k, v, past, None, beta, update_rule="delta", scale=0.3, **rest)
        standard(f"{name}_gated_delta", op, q, k, v, None, decays[0], beta[:, :, :1].copy(), **rest)


if __name__ == "__main__":
    arithmetic()
    reductions()
    moves()
    casts()
    quantised()
    bit_casts()
    linear_attentions()
