"""Cases of the domain com.microsoft: integer products, weights of few bits, quantised operators in channels-last layout."""

from typing import Any

import numpy as np
from case_maker import Array, Const
from microsoft_case import floats, ms, whole


def integer_products() -> None:
    for name, dtype, low, high in (("uint8", np.uint8, 0, 255), ("int8", np.int8, -128, 127)):
        a, b = whole("a", 0, 255, (2, 3, 6), np.uint8), whole("b" + name, low, high, (6, 4), dtype)
        scale, zero = np.array(0.02, np.float32), np.array(117, np.uint8)
        by_column = floats("s", 4).__abs__() * 0.1
        ms(
            f"matmul_integer_to_float_{name}",
            "MatMulIntegerToFloat",
            a,
            Const(b),
            scale,
            Const(np.array([0.03], np.float32)),
            zero,
            Const(np.array([3], dtype)),
            dtypes=[1],
        )
        ms(
            f"matmul_integer_to_float_{name}_by_column",
            "MatMulIntegerToFloat",
            a,
            Const(b),
            scale,
            Const(by_column),
            zero,
            Const(whole("z" + name, low, high, (4,), dtype)),
            Const(floats("bias", 4)),
            dtypes=[1],
        )
        ms(
            f"dynamic_quantize_matmul_{name}",
            "DynamicQuantizeMatMul",
            floats("x", 2, 3, 6),
            Const(b),
            Const(np.array([0.03], np.float32)),
            Const(np.array([3], dtype)),
        )
        ms(
            f"dynamic_quantize_matmul_{name}_bias",
            "DynamicQuantizeMatMul",
            floats("x", 3, 6),
            Const(b),
            Const(by_column),
            None,
            Const(floats("bias", 4)),
        )
    ms(
        "matmul_integer_to_float_plain",
        "MatMulIntegerToFloat",
        whole("a", 0, 255, (3, 6), np.uint8),
        Const(whole("b", 0, 255, (6, 4), np.uint8)),
        np.array(0.5, np.float32),
        Const(np.array(0.25, np.float32)),
        dtypes=[1],
    )


def nbits(name: str, bits: int, k: int, block: int, n: int = 5, zero: str = "", **rest: Any) -> None:
    blocks = -(-k // block)
    operands: list[Array | Const | None] = [
        floats(name + "a", 2, 3, k),
        Const(whole(name, 0, 256, (n, blocks, block * bits // 8), np.uint8)),
        Const(np.abs(floats(name + "s", n, blocks)) * 0.1),
        None,
        None,
        None,
    ]
    if zero == "packed":
        operands[3] = Const(whole(name + "z", 0, 256, (n, -(-blocks * bits // 8)), np.uint8))
    if zero == "float":
        operands[3] = Const(floats(name + "z", n, blocks, scale=2.0) + 2 ** (bits - 1))
    if rest.pop("g_idx", False):
        operands[4] = Const(whole(name + "g", 0, blocks, (k,)))
    if rest.pop("bias", False):
        operands[5] = Const(floats(name + "b", n))
    while operands[-1] is None:
        operands.pop()
    ms(name, "MatMulNBits", *operands, N=n, K=k, bits=bits, block_size=block, **rest)


def few_bits() -> None:
    nbits("matmul_4bits", 4, 32, 16)
    nbits("matmul_4bits_zero_points", 4, 64, 16, zero="packed")
    nbits("matmul_4bits_odd_blocks", 4, 48, 16, zero="packed", bias=True)
    nbits("matmul_4bits_float_zero_points", 4, 32, 16, zero="float")
    nbits("matmul_4bits_tail", 4, 40, 32, zero="packed", accuracy_level=1)
    nbits("matmul_4bits_g_idx", 4, 32, 16, g_idx=True)
    nbits("matmul_8bits", 8, 32, 16)
    nbits("matmul_8bits_zero_points", 8, 64, 32, zero="packed", bias=True)
    nbits("matmul_2bits", 2, 64, 32, zero="packed")


def channels_last() -> None:
    x = whole("x", 0, 255, (1, 5, 6, 3), np.uint8)
    scale, zero = Const(np.array(0.02, np.float32)), Const(np.array(120, np.uint8))
    wide = Const(np.array(0.4, np.float32))
    w = Const(whole("w", -128, 127, (4, 3, 3, 3), np.int8))
    conv = [scale, zero, w, Const(np.abs(floats("ws", 4)) * 0.01 + 0.001), Const(np.zeros(4, np.int8)), wide, zero]
    ms(
        "qlinear_conv_channels_last",
        "QLinearConv",
        x,
        *conv,
        Const(whole("wb", -999, 999, (4,))),
        channels_last=1,
        pads=[1, 1, 1, 1],
    )
    ms("qlinear_conv", "QLinearConv", np.ascontiguousarray(x.transpose(0, 3, 1, 2)), *conv, strides=[2, 2])
    ms("nhwc_max_pool", "NhwcMaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    ms(
        "qlinear_average_pool_channels_last",
        "QLinearAveragePool",
        x,
        scale,
        zero,
        wide,
        zero,
        channels_last=1,
        kernel_shape=[2, 2],
    )
    ms(
        "qlinear_global_average_pool_channels_last",
        "QLinearGlobalAveragePool",
        x,
        scale,
        zero,
        wide,
        zero,
        channels_last=1,
    )
