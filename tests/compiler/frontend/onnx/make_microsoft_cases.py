#!/usr/bin/env python3
"""The cases of the domain com.microsoft; expected values are onnxruntime's."""

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


def products() -> None:
    a, b = floats("a", 2, 3, 4, 5), floats("b", 2, 3, 5, 6)
    ms("fused_matmul_alpha", "FusedMatMul", a, b, alpha=0.25)
    ms("fused_matmul_trans_a", "FusedMatMul", floats("t", 2, 3, 5, 4), b, transA=1)
    ms("fused_matmul_trans_b", "FusedMatMul", a, Const(floats("u", 6, 5)), transB=1, alpha=2.0)
    ms("fused_matmul_trans_both", "FusedMatMul", floats("v", 5, 4), floats("w", 6, 5), transA=1, transB=1)
    ms("fused_matmul_trans_batch_a", "FusedMatMul", floats("x", 4, 2, 3, 5), b, transBatchA=1)
    ms(
        "fused_matmul_trans_batch_both",
        "FusedMatMul",
        floats("y", 5, 2, 3, 4),
        floats("z", 6, 2, 3, 5),
        transBatchA=1,
        transA=1,
        transBatchB=1,
        transB=1,
    )
    ms("fused_matmul_vector", "FusedMatMul", floats("p", 5), b, transA=1, alpha=0.5)
    ms("transpose_matmul", "TransposeMatMul", floats("q", 5, 4), floats("r", 5, 6), transA=1)
    x, w, bias = floats("cx", 1, 4, 6, 5), floats("cw", 4, 2, 3, 3), floats("cb", 4)
    conv = {"group": 2, "pads": [1, 1, 1, 1]}
    z = floats("cz", 1, 4, 6, 5)
    ms("fused_conv_relu", "FusedConv", x, Const(w), Const(bias), activation="Relu", **conv)
    ms("fused_conv_residual", "FusedConv", x, Const(w), Const(bias), z, activation="Relu", **conv)
    ms("fused_conv_no_bias", "FusedConv", x, Const(w), None, z, activation="Tanh", **conv)
    ms(
        "fused_conv_clip",
        "FusedConv",
        x,
        Const(w),
        Const(bias),
        activation="Clip",
        activation_params=[-0.5, 1.5],
        **conv,
    )
    ms(
        "fused_conv_leaky_relu",
        "FusedConv",
        x,
        Const(w),
        Const(bias),
        activation="LeakyRelu",
        activation_params=[0.125],
        **conv,
    )
    ms(
        "fused_conv_hard_sigmoid",
        "FusedConv",
        x,
        Const(w),
        Const(bias),
        activation="HardSigmoid",
        activation_params=[0.25, 0.375],
        strides=[2, 1],
        **conv,
    )
    ms(
        "fused_conv_sigmoid_1d",
        "FusedConv",
        floats("c1", 2, 3, 8),
        Const(floats("c2", 4, 3, 3)),
        activation="Sigmoid",
        auto_pad="SAME_UPPER",
    )
    ga, gb, gc = floats("ga", 3, 4), floats("gb", 4, 5), floats("gc", 5)
    ms("fused_gemm_relu", "FusedGemm", ga, Const(gb), Const(gc), activation="Relu")
    ms(
        "fused_gemm_leaky_relu",
        "FusedGemm",
        floats("gd", 4, 3),
        Const(floats("ge", 5, 4)),
        Const(gc),
        transA=1,
        transB=1,
        alpha=0.5,
        beta=2.0,
        activation="LeakyRelu",
        activation_alpha=0.2,
    )
    ms("fused_gemm_elu", "FusedGemm", ga, Const(gb), activation="Elu", activation_alpha=1.5)
    ms(
        "fused_gemm_hard_sigmoid",
        "FusedGemm",
        ga,
        gb,
        gc,
        activation="HardSigmoid",
        activation_alpha=0.25,
        activation_beta=0.5,
    )


def activations() -> None:
    x, bias = floats("x", 2, 3, 8, scale=2.0), floats("bias", 8)
    ms("gelu", "Gelu", x)
    ms("bias_gelu", "BiasGelu", x, Const(bias))
    ms("fast_gelu", "FastGelu", x)
    ms("fast_gelu_bias", "FastGelu", x, Const(bias))
    ms("quick_gelu", "QuickGelu", x)
    ms("quick_gelu_alpha", "QuickGelu", x, alpha=1.0)


def normalizations() -> None:
    x, skip = floats("x", 2, 3, 8), floats("skip", 2, 3, 8)
    gamma, beta, bias = floats("gamma", 8), floats("beta", 8), floats("bias", 8)
    op, simple = "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"
    ms("skip_layer_norm", op, x, skip, Const(gamma), Const(beta), epsilon=1e-5)
    ms("skip_layer_norm_default_epsilon", op, x, skip, Const(gamma))
    ms(
        "skip_layer_norm_sum",
        op,
        x,
        skip,
        Const(gamma),
        Const(beta),
        Const(bias),
        outputs=(True, False, False, True),
        epsilon=1e-5,
    )
    ms("skip_layer_norm_no_beta_bias", op, x, skip, Const(gamma), None, Const(bias), epsilon=1e-5)
    ms("skip_layer_norm_broadcast", op, x, floats("s", 3, 8), Const(gamma), Const(beta), epsilon=1e-5)
    ms("skip_layer_norm_broadcast_batch", op, x, floats("s", 1, 3, 8), Const(gamma), Const(beta), epsilon=1e-5)
    ms("skip_layer_norm_rows", op, floats("r", 3, 8), floats("t", 3, 8), Const(gamma), Const(beta))
    ms("skip_simplified", simple, x, skip, Const(gamma), epsilon=1e-6)
    ms(
        "skip_simplified_sum",
        simple,
        x,
        skip,
        Const(gamma),
        Const(bias),
        epsilon=1e-6,
        outputs=(True, False, False, True),
    )
    half = [v.astype(np.float16) for v in (x, skip, gamma, beta)]
    ms("skip_layer_norm_half", op, half[0], half[1], Const(half[2]), Const(half[3]), epsilon=1e-5)
    make_case("simplified_layer_norm", "SimplifiedLayerNormalization", x, Const(gamma), epsilon=1e-6, axis=-1)
    make_case(
        "simplified_layer_norm_statistics",
        "SimplifiedLayerNormalization",
        x,
        Const(floats("g", 3, 8)),
        axis=1,
        outputs=(True, True),
        stash_type=1,
    )
    ids, segments = whole("ids", 0, 11, (2, 5)), whole("segments", 0, 2, (2, 5))
    words, positions, kinds = floats("w", 11, 8), floats("p", 7, 8), floats("k", 2, 8)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    op = "EmbedLayerNormalization"
    three = {"dtypes": [1, 6, 1]}
    ms(
        "embed_layer_norm",
        op,
        ids,
        segments,
        Const(words),
        Const(positions),
        Const(kinds),
        Const(gamma),
        Const(beta),
        mask,
        outputs=(True, True),
        dtypes=[1, 6],
    )
    ms(
        "embed_layer_norm_no_segments",
        op,
        ids,
        None,
        Const(words),
        Const(positions),
        None,
        Const(gamma),
        Const(beta),
        outputs=(True, True),
        dtypes=[1, 6],
        epsilon=1e-5,
    )
    ms(
        "embed_layer_norm_positions",
        op,
        ids,
        segments,
        Const(words),
        Const(positions),
        Const(kinds),
        Const(gamma),
        Const(beta),
        mask,
        whole("at", 0, 7, (2, 5)),
        outputs=(True, True, True),
        **three,
    )
    ms(
        "embed_layer_norm_shared_positions",
        op,
        ids,
        None,
        Const(words),
        Const(positions),
        None,
        Const(gamma),
        Const(beta),
        None,
        whole("at1", 0, 7, (1, 5)),
        outputs=(True, False, True),
        **three,
    )
    shapes = {"qw": (11, 8), "qp": (7, 8), "qk": (2, 8), "qg": (8,), "qb": (8,)}
    tables = [Const(whole(n, 0, 256, shape, np.uint8)) for n, shape in shapes.items()]
    scales = [Const(np.array(0.01 * (i + 1), np.float32)) for i in range(5)]
    zeros = [Const(np.array(100 + 10 * i, np.uint8)) for i in range(5)]
    ms(
        "qembed_layer_norm",
        "QEmbedLayerNormalization",
        ids,
        segments,
        *tables,
        mask,
        *scales,
        *zeros,
        outputs=(True, True),
        dtypes=[1, 6],
    )
    ms(
        "qembed_layer_norm_no_segments",
        "QEmbedLayerNormalization",
        ids,
        None,
        tables[0],
        tables[1],
        None,
        *tables[3:],
        None,
        *scales[:2],
        None,
        *scales[3:],
        *zeros[:2],
        None,
        *zeros[3:],
        outputs=(True, True),
        dtypes=[1, 6],
    )


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


def lstms() -> None:
    steps, batch, size, hidden = 4, 2, 5, 3
    for name, dtype, directions, columns in (
        ("one", np.uint8, 1, False),
        ("signed", np.int8, 1, True),
        ("both_ways", np.uint8, 2, True),
    ):
        d, gates = directions, 4 * hidden
        low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
        per = (d, gates) if columns else (d,)
        scale = np.abs(floats(name + "s", *per)) * 0.01 + 0.002
        zero = np.zeros(per, dtype) if dtype == np.int8 else np.full(per, 127, dtype)
        rest: list[Array | Const | None] = [None, None, None, None]
        if name == "both_ways":
            rest = [np.array([4, 2], np.int32), floats("h", d, batch, hidden), floats("c", d, batch, hidden), None]
        if name == "one":
            rest[3] = Const(floats("p", d, 3 * hidden))
        ms(
            f"dynamic_quantize_lstm_{name}",
            "DynamicQuantizeLSTM",
            floats("x", steps, batch, size),
            Const(whole(name + "w", low, high, (d, size, gates), dtype)),
            Const(whole(name + "r", low, high, (d, hidden, gates), dtype)),
            Const(floats("b", d, 2 * gates)),
            *rest,
            Const(scale),
            Const(zero),
            Const(scale),
            Const(zero),
            hidden_size=hidden,
            direction="bidirectional" if d == 2 else "forward",
            outputs=(True, True, True),
        )


def attentions() -> None:
    b, s, heads, size = 2, 4, 2, 3
    hidden = heads * size
    x, w, bias = floats("x", b, s, 8), floats("w", 8, 3 * hidden), floats("bias", 3 * hidden)
    op = "Attention"
    base = {"num_heads": heads}
    ends = np.array([3, 4], np.int32)
    raw = np.array([[1, 1, 1, 0], [0, 1, 1, 1]], np.int32)
    ms("attention", op, x, Const(w), Const(bias), **base)
    # onnxruntime 1.31 dies without a bias; without one is with zeros.
    zeros = np.zeros(3 * hidden, np.float32)
    ms("attention_zero_bias", op, x, Const(w), Const(zeros), **base)
    ms("attention_mask_ends", op, x, Const(w), Const(bias), ends, **base)
    ms("attention_mask_ends_and_begins", op, x, Const(w), Const(bias), np.array([3, 4, 0, 1], np.int32), **base)
    ms("attention_mask_keys", op, x, Const(w), Const(bias), raw, **base)
    ms("attention_mask_queries", op, x, Const(w), Const(bias), whole("m", 0, 2, (b, s, s)), **base)
    ms("attention_mask_hides_all", op, x, Const(w), Const(bias), np.zeros((b, s), np.int32), **base)
    ms("attention_mask_filter_value", op, x, Const(w), Const(bias), raw, mask_filter_value=-2.0, **base)
    ms("attention_unidirectional", op, x, Const(w), Const(bias), unidirectional=1, **base)
    ms("attention_unidirectional_mask", op, x, Const(w), Const(bias), raw, unidirectional=1, **base)
    ms("attention_scale", op, x, Const(w), Const(bias), scale=0.25, **base)
    past = floats("past", 2, b, heads, 2, size)
    ms("attention_past", op, x, Const(w), Const(bias), None, past, outputs=(True, True), **base)
    ms(
        "attention_past_unidirectional",
        op,
        x,
        Const(w),
        Const(bias),
        np.ones((b, s + 2), np.int32),
        past,
        unidirectional=1,
        outputs=(True, True),
        **base,
    )
    ms("attention_bias_operand", op, x, Const(w), Const(bias), raw, None, floats("ab", 1, heads, s, s), **base)
    sizes = [6, 6, 10]
    ms(
        "attention_hidden_sizes",
        op,
        x,
        Const(floats("w2", 8, 22)),
        Const(floats("b2", 22)),
        qkv_hidden_sizes=sizes,
        **base,
    )
    xq, wq = whole("xq", 0, 255, (b, s, 8), np.uint8), whole("wq", -128, 127, (8, 3 * hidden), np.int8)
    scales = [Const(np.array([0.02], np.float32)), Const(np.array([0.01], np.float32))]
    ms(
        "qattention",
        "QAttention",
        xq,
        Const(wq),
        Const(bias),
        *scales,
        raw,
        Const(np.array([120], np.uint8)),
        Const(np.array([0], np.int8)),
        dtypes=[1],
        **base,
    )
    ms("qattention_plain", "QAttention", xq, Const(wq), Const(bias), *scales, dtypes=[1], unidirectional=1, **base)
    op = "MultiHeadAttention"
    q, k, v = floats("q", b, s, hidden), floats("k", b, 5, hidden), floats("v", b, 5, hidden)
    ms("multi_head_attention", op, q, k, v, **base)
    ms("multi_head_attention_bias", op, q, k, v, Const(bias), **base)
    ms(
        "multi_head_attention_padding",
        op,
        q,
        k,
        v,
        None,
        np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.int32),
        **base,
    )
    ms("multi_head_attention_lengths", op, q, k, v, None, np.array([4, 2], np.int32), **base)
    ms("multi_head_attention_attention_bias", op, q, k, v, None, None, floats("ab", b, 1, s, 5), scale=0.5, **base)
    ms("multi_head_attention_values", op, q, k, floats("v2", b, 5, 2 * hidden), **base)
    ms(
        "multi_head_attention_split_keys",
        op,
        q,
        floats("k4", b, heads, 5, size),
        floats("v4", b, heads, 5, size),
        **base,
    )
    ms(
        "multi_head_attention_past",
        op,
        q,
        floats("k5", b, s, hidden),
        floats("v5", b, s, hidden),
        None,
        None,
        None,
        floats("pk", b, heads, 3, size),
        floats("pv", b, heads, 3, size),
        outputs=(True, True, True),
        **base,
    )
    ms(
        "multi_head_attention_unidirectional",
        op,
        q,
        floats("k6", b, s, hidden),
        floats("v6", b, s, hidden),
        unidirectional=1,
        **base,
    )


def groups() -> None:
    b, s, heads, shared, size = 2, 3, 4, 2, 16
    op = "GroupQueryAttention"
    q = floats("q", b, s, heads * size)
    k, v = floats("k", b, s, shared * size), floats("v", b, s, shared * size)
    base: dict[str, Any] = {"num_heads": heads, "kv_num_heads": shared, "outputs": (True, True, True)}

    def lengths(*each: int) -> list[Array | Const | None]:
        return [np.array(each, np.int32) - 1, Const(np.array(max(each), np.int32))]

    empty = [np.zeros((b, shared, 0, size), np.float32)] * 2
    past = [floats("pk", b, shared, 4, size), floats("pv", b, shared, 4, size)]
    # What stands behind a sequence's end in a cache means nothing: onnxruntime does not copy it.
    long = [floats("lk", b, shared, 9, size), floats("lv", b, shared, 9, size)]
    ragged = [x.copy() for x in long]
    for cache in long:
        cache[:, :, 5:] = 0
    for cache in ragged:
        cache[0, :, 4:] = 0
        cache[1, :, 2:] = 0
    angles = floats("angles", 16, size // 2)
    caches = [Const(np.cos(angles)), Const(np.sin(angles))]
    ms("group_query_prompt", op, q, k, v, None, None, *lengths(s, s), **base)
    ms("group_query_prompt_empty_past", op, q, k, v, *empty, *lengths(s, s), **base)
    ms("group_query_past", op, q[:, :1], k[:, :1], v[:, :1], *past, *lengths(5, 5), **base)
    ms("group_query_past_ragged", op, q[:, :1], k[:, :1], v[:, :1], *ragged, *lengths(5, 3), **base)
    ms("group_query_rotary", op, q, k, v, None, None, *lengths(s, s), *caches, do_rotary=1, **base)
    ms(
        "group_query_rotary_past",
        op,
        q[:, :1],
        k[:, :1],
        v[:, :1],
        *long,
        *lengths(6, 6),
        *caches,
        do_rotary=1,
        rotary_interleaved=1,
        **base,
    )
    packed = floats("packed", b, s, (heads + 2 * shared) * size)
    ms("group_query_packed", op, packed, None, None, None, None, *lengths(s, s), *caches, do_rotary=1, **base)
    ms("group_query_window", op, q, k, v, None, None, *lengths(s, s), local_window_size=2, **base)
    ms("group_query_softcap", op, q, k, v, None, None, *lengths(s, s), softcap=2.0, scale=0.5, **base)
    sinks = floats("sinks", heads)
    ms("group_query_sinks", op, q, k, v, None, None, *lengths(s, s), None, None, None, None, sinks, **base)
    ms("group_query_smooth", op, q, k, v, None, None, *lengths(s, s), smooth_softmax=1, **base)
    x = floats("x", b, s, heads * size)
    position = np.array([[0, 1, 2], [5, 6, 7]], np.int64)
    op = "RotaryEmbedding"
    ms("rotary", op, x, position, *caches)
    ms("rotary_offset", op, x, np.array([3], np.int64), *caches)
    ms("rotary_interleaved", op, floats("x4", b, heads, s, size), position, *caches, interleaved=1)
    part = floats("part", 16, 2)
    ms(
        "rotary_part",
        op,
        x,
        position,
        Const(np.cos(part)),
        Const(np.sin(part)),
        num_heads=heads,
        rotary_embedding_dim=4,
    )


def names() -> None:
    ms("trilu", "Trilu", floats("x", 2, 4, 5), Const(np.array(1, np.int64)), upper=0)
    ms("gather_nd", "GatherND", floats("x", 3, 4, 5), Const(np.array([[0, 1], [2, 3]], np.int64)))
    ms("pad", "Pad", floats("x", 2, 3), Const(np.array([0, 1, 1, 0], np.int64)), Const(np.array([0.5], np.float32)))


if __name__ == "__main__":
    products()
    activations()
    normalizations()
    integer_products()
    few_bits()
    channels_last()
    lstms()
    attentions()
    groups()
    names()
