"""Cases of the domain com.microsoft: normalisations and recurrent cells."""

import numpy as np
from case_maker import Array, Const, make_case
from microsoft_case import floats, ms, whole


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
