"""Cases of the domain com.microsoft: attentions and groups of heads."""

from typing import Any

import numpy as np
from case_maker import Array, Const
from microsoft_case import floats, ms, whole


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
