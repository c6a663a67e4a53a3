#!/usr/bin/env python3
"""The cases of operators new in opsets 23 to 28; expected values are ONNX's reference evaluator's."""

from typing import Any

import numpy as np
from case_maker import Array, Const, by_reference_evaluator, make_case, random


def standard(name: str, op: str, *operands: Array | Const | None, opset: int, **rest: Any) -> None:
    make_case(name, op, *operands, opset=opset, reference=by_reference_evaluator, **rest)


def floats(name: str, *shape: int, dtype: Any = np.float32) -> Array:
    return random(name).standard_normal(shape).astype(dtype)


def attentions() -> None:
    b, heads, shared, s, t, size = 2, 4, 2, 3, 5, 4
    q = floats("q", b, heads, s, size)
    k, v = floats("k", b, heads, t, size), floats("v", b, heads, t, 6)
    op = "Attention"
    everything = (True, True, True, True)
    standard("attention_4d", op, q, k, v, opset=23)
    standard(
        "attention_4d_group_query", op, q, floats("k2", b, shared, t, size), floats("v2", b, shared, t, size), opset=23
    )
    q3, k3, v3 = floats("q3", b, s, heads * size), floats("k3", b, t, shared * size), floats("v3", b, t, shared * 6)
    sizes = {"q_num_heads": heads, "kv_num_heads": shared}
    standard("attention_3d", op, q3, k3, v3, opset=23, **sizes)
    standard("attention_3d_causal", op, q3, k3, v3, opset=23, is_causal=1, **sizes)
    standard("attention_float_mask", op, q, k, v, floats("m", s, t), opset=23)
    seen = random("seen").random((b, 1, s, t)) < 0.6
    seen[0, 0, 1] = False
    standard("attention_bool_mask", op, q, k, v, seen, opset=24)
    standard("attention_bool_mask_constant", op, q, k, v, Const(seen), opset=24)
    standard("attention_bool_mask_causal", op, q, k, v, seen[1], opset=24, is_causal=1)
    standard("attention_short_mask", op, q, k, v, floats("m3", b, heads, s, 3), opset=24)
    standard("attention_short_bool_mask", op, q, k, v, seen[1, 0, :, :4], opset=24)
    standard("attention_softcap", op, q, k, v, opset=23, softcap=1.5, scale=0.75)
    past = [floats("pk", b, heads, 2, size), floats("pv", b, heads, 2, 6)]
    standard("attention_past", op, q, k, v, None, *past, opset=23, outputs=(True, True, True))
    standard(
        "attention_past_causal",
        op,
        q,
        k,
        v,
        floats("m7", s, t + 2),
        *past,
        opset=24,
        is_causal=1,
        outputs=everything,
        qk_matmul_output_mode=3,
    )
    standard("attention_scores", op, q, k, v, opset=23, outputs=(True, False, False, True))
    standard(
        "attention_scores_capped",
        op,
        q,
        k,
        v,
        floats("m", s, t),
        opset=24,
        softcap=2.0,
        outputs=(True, False, False, True),
        qk_matmul_output_mode=1,
    )
    standard(
        "attention_scores_masked",
        op,
        q,
        k,
        v,
        floats("m", s, t),
        opset=24,
        softcap=2.0,
        outputs=(True, False, False, True),
        qk_matmul_output_mode=2,
    )
    lengths = np.array([3, 5], np.int64)
    standard("attention_valid_keys", op, q, k, v, None, None, None, lengths, opset=24)
    standard(
        "attention_valid_keys_causal", op, q, k, v, None, None, None, np.array([2, 5], np.int64), opset=24, is_causal=1
    )
    standard("attention_window", op, q, k, v, opset=25, left_window_size=1, right_window_size=1)
    standard("attention_window_causal", op, q, k, v, None, *past, opset=25, left_window_size=2, is_causal=1)
    half = [x.astype(np.float16) for x in (q, k, v)]
    standard("attention_half", op, *half, opset=23, softmax_precision=1)
    standard("attention_double", op, *[x.astype(np.float64) for x in (q, k, v)], opset=23)


def normalizations() -> None:
    x = floats("x", 2, 3, 8)
    op = "RMSNormalization"
    standard("rms_normalization", op, x, Const(floats("g", 8)), opset=23)
    standard("rms_normalization_axis_1", op, x, floats("g2", 3, 8), opset=23, axis=1, epsilon=1e-3)
    standard("rms_normalization_broadcast", op, x, floats("g3", 1), opset=23, axis=-2)
    standard("rms_normalization_half", op, x.astype(np.float16), floats("g", 8, dtype=np.float16), opset=23)


def rotaries() -> None:
    b, heads, s, size = 2, 2, 3, 8
    x4, x3 = floats("x4", b, heads, s, size), floats("x3", b, s, heads * size)
    angles = floats("angles", 10, size // 2)
    caches = [Const(np.cos(angles)), Const(np.sin(angles))]
    at = np.array([[0, 1, 2], [7, 8, 9]], np.int64)
    op = "RotaryEmbedding"
    standard("rotary_4d", op, x4, *caches, at, opset=23)
    standard("rotary_3d", op, x3, *caches, at, opset=23, num_heads=heads)
    standard("rotary_interleaved", op, x3, *caches, at, opset=23, num_heads=heads, interleaved=1)
    own = floats("own", b, s, size // 2)
    standard("rotary_without_positions", op, x4, np.cos(own), np.sin(own), opset=23)
    part = floats("part", 10, 2)
    standard("rotary_part", op, x4, Const(np.cos(part)), Const(np.sin(part)), at, opset=23, rotary_embedding_dim=4)


def others() -> None:
    x = floats("x", 2, 3, 8)
    standard("swish", "Swish", x, opset=24)
    standard("swish_alpha", "Swish", x, opset=24, alpha=1.5)
    standard("swish_half", "Swish", x.astype(np.float16), opset=24)
    standard("swi_glu", "SwiGLU", x, floats("y", 2, 3, 8), opset=28, alpha=0.5)
    cache, update = floats("cache", 2, 3, 6, 4), floats("update", 2, 3, 2, 4)
    at = np.array([1, 4], np.int64)
    op = "TensorScatter"
    standard("tensor_scatter", op, cache, update, at, opset=24)
    standard("tensor_scatter_start", op, cache, update, opset=24)
    standard("tensor_scatter_circular", op, cache, update, np.array([5, 3], np.int64), opset=24, mode="circular")
    standard("tensor_scatter_axis", op, cache, floats("u1", 2, 2, 6, 4), np.array([0, 1], np.int64), opset=24, axis=1)
    axis = Const(np.array(1, np.int64))
    standard("cum_prod", "CumProd", x, axis, opset=26)
    standard(
        "cum_prod_exclusive_reverse", "CumProd", x, Const(np.array(-1, np.int32)), opset=26, exclusive=1, reverse=1
    )
    standard("cum_prod_integers", "CumProd", np.array([[3, -2, 5, 0, 7]], np.int32), axis, opset=26)
    weight, bias = floats("cw", 3, 1, 4), floats("cb", 3)
    x = floats("cx", 2, 3, 5)
    op, both = "CausalConvWithState", (True, True)
    standard("causal_conv", op, x, Const(weight), opset=27, outputs=both)
    standard(
        "causal_conv_past",
        op,
        x,
        Const(weight),
        Const(bias),
        floats("cp", 2, 3, 3),
        opset=27,
        outputs=both,
        activation="silu",
    )
    standard(
        "causal_conv_one_step",
        op,
        x[:, :, :1].copy(),
        Const(weight),
        None,
        floats("cp", 2, 3, 3),
        opset=27,
        outputs=both,
    )


if __name__ == "__main__":
    attentions()
    normalizations()
    rotaries()
    others()
