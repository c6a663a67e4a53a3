#!/usr/bin/env python3
"""Makes the files of tests/data/tensorflow/operators: a small graph with TensorFlow's results a file.

A case is a GraphDef whose constants hold the values too: "value/X" is what the placeholder X is given,
"expected/Y" what Y must be. No node reads them. Needs TensorFlow, as peer.py does.
"""

import os
import pathlib
import zlib
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

FOLDER = pathlib.Path(__file__).parents[3] / "data" / "tensorflow" / "operators"
raw = tf.raw_ops


def floats(*shape: int, seed: str = "") -> Any:
    random = np.random.default_rng(zlib.crc32(f"{seed}{shape}".encode()))
    return random.standard_normal(shape).astype(np.float32)


def make_case(name: str, build: Callable[..., Any], *inputs: Any) -> None:
    """`build` gets a placeholder an input, and gives the results."""
    graph = tf.Graph()
    with graph.as_default():
        holders = [tf.compat.v1.placeholder(x.dtype, x.shape, f"x{i}") for i, x in enumerate(inputs)]
        made = build(*holders)
        if not isinstance(made, list | tuple):
            made = [made]
        results = [tf.identity(y, f"y{i}") for i, y in enumerate(made)]
        with tf.compat.v1.Session(graph=graph) as session:
            values = session.run(results, dict(zip(holders, inputs, strict=True)))
        for i, x in enumerate(inputs):
            tf.constant(x, name=f"value/x{i}")
        for i, y in enumerate(values):
            tf.constant(y, name=f"expected/y{i}")
    definition = graph.as_graph_def()
    definition.ClearField("versions")
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.pb").write_bytes(definition.SerializeToString(deterministic=True))


def convolved(x: Any, channels: int = 3) -> Any:
    """An image with its channels first in Hone, whose further operators see TensorFlow's axes."""
    filters = tf.constant(floats(1, 1, x.shape[-1], channels, seed="filter"))
    return tf.nn.conv2d(x, filters, 1, "SAME")


IMAGE = floats(2, 4, 6, 3)


def splits() -> None:
    make_case("split", lambda x: raw.Split(axis=1, value=x, num_split=3), floats(2, 6, 2))
    make_case("split_image", lambda x: raw.Split(axis=-1, value=convolved(x, 4), num_split=2), IMAGE)
    make_case("split_v", lambda x: raw.SplitV(value=x, size_splits=[1, -1, 2], axis=1, num_split=3), floats(2, 6, 2))
    make_case("unpack", lambda x: raw.Unpack(value=x, num=3, axis=1), floats(2, 3, 4))
    make_case("unpack_image", lambda x: raw.Unpack(value=convolved(x), num=3, axis=-1), IMAGE)


def generated() -> None:
    make_case("range", lambda x: x + tf.cast(raw.Range(start=2, limit=11, delta=3), tf.float32), floats(2, 3))
    make_case("range_of_shape", lambda x: x * tf.cast(tf.range(tf.shape(x)[1]), tf.float32), floats(2, 5))
    make_case("range_floats", lambda x: x + raw.Range(start=0.5, limit=2.0, delta=0.5), floats(2, 3))
    indices = np.array([[0, 2, -1], [3, 1, 4]], np.int32)
    make_case("one_hot", lambda i: raw.OneHot(indices=i, depth=4, on_value=2.0, off_value=-1.0), indices)
    make_case("one_hot_axis", lambda i: raw.OneHot(indices=i, depth=3, on_value=1.0, off_value=0.0, axis=0), indices)
    make_case("broadcast_to", lambda x: raw.BroadcastTo(input=x, shape=[2, 3, 4]), floats(3, 1))
    make_case("top_k", lambda x: list(raw.TopKV2(input=x, k=3)), floats(2, 7))
    make_case("cumsum", lambda x: raw.Cumsum(x=x, axis=1), floats(2, 5, 3))
    make_case(
        "cumsum_exclusive_reverse", lambda x: raw.Cumsum(x=x, axis=-1, exclusive=True, reverse=True), floats(2, 5, 3)
    )
    make_case("cumprod", lambda x: raw.Cumprod(x=x, axis=0), floats(4, 3))
    make_case(
        "einsum", lambda x, y: raw.Einsum(inputs=[x, y], equation="bij,bkj->bik"), floats(2, 3, 4), floats(2, 5, 4)
    )
    make_case(
        "einsum_ellipsis",
        lambda x, y: raw.Einsum(inputs=[x, y], equation="...ij,jk->...ik"),
        floats(2, 2, 3, 4),
        floats(4, 5),
    )
    make_case("constants_alone", lambda: tf.constant(floats(2, 3)) + tf.range(3.0))


def elementwise() -> None:
    x = floats(2, 3, 4) * 3
    condition = floats(2, 3, 4, seed="c") > 0
    make_case("select", lambda c, a, b: raw.Select(condition=c, x=a, y=b), condition, x, floats(2, 3, 4))
    make_case(
        "select_rows", lambda c, a, b: raw.Select(condition=c, x=a, y=b), np.array([True, False]), x, floats(2, 3, 4)
    )
    make_case("select_v2", lambda c, a, b: raw.SelectV2(condition=c, t=a, e=b), condition, x, floats(4))
    for name in ("Elu", "Selu", "Softplus", "Softsign"):
        make_case(name.lower(), lambda x, op=name: getattr(raw, op)(features=x), x)
    make_case("elu_image", lambda x: raw.Elu(features=convolved(x)), IMAGE)
    make_case("all", lambda x: raw.All(input=x > 0, axis=[1]), floats(2, 3))
    make_case("any", lambda x: raw.Any(input=x > 1, axis=[0, 2], keep_dims=True), floats(2, 3, 4))
    make_case("any_image", lambda x: raw.Any(input=convolved(x) > 3, axis=[3]), IMAGE)


def images() -> None:
    for kind, op in (("bilinear", raw.ResizeBilinear), ("nearest", raw.ResizeNearestNeighbor)):
        for name, size in (("up", [7, 9]), ("down", [3, 4])):
            for corners, half in ((False, False), (True, False), (False, True)):
                rule = "corners" if corners else "half" if half else "legacy"
                make_case(
                    f"resize_{kind}_{name}_{rule}",
                    lambda x, op=op, size=size, c=corners, h=half: op(
                        images=x, size=size, align_corners=c, half_pixel_centers=h
                    ),
                    IMAGE,
                )
    make_case("resize_image", lambda x: convolved(raw.ResizeBilinear(images=convolved(x), size=[8, 12])), IMAGE)
    make_case("depth_to_space", lambda x: raw.DepthToSpace(input=x, block_size=2), floats(1, 2, 3, 8))
    make_case("space_to_depth", lambda x: raw.SpaceToDepth(input=x, block_size=2), IMAGE)
    make_case("depth_to_space_image", lambda x: raw.DepthToSpace(input=convolved(x, 8), block_size=2), IMAGE)
    make_case("lrn", lambda x: raw.LRN(input=x, depth_radius=1, bias=1.5, alpha=0.5, beta=0.75), floats(1, 2, 3, 7))
    make_case("lrn_image", lambda x: raw.LRN(input=convolved(x, 5)), IMAGE)
    pads = [[0, 0], [1, 2], [2, 1], [0, 0]]
    for mode in ("REFLECT", "SYMMETRIC"):
        make_case(f"mirror_pad_{mode.lower()}", lambda x, m=mode: raw.MirrorPad(input=x, paddings=pads, mode=m), IMAGE)
        make_case(
            f"mirror_pad_image_{mode.lower()}",
            lambda x, m=mode: convolved(raw.MirrorPad(input=convolved(x), paddings=pads, mode=m)),
            IMAGE,
        )
    block = {"block_shape": [2, 3]}
    make_case("space_to_batch", lambda x: raw.SpaceToBatchND(input=x, paddings=[[1, 1], [0, 3]], **block), IMAGE)
    make_case(
        "batch_to_space", lambda x: raw.BatchToSpaceND(input=x, crops=[[1, 0], [0, 2]], **block), floats(12, 3, 2, 2)
    )
    make_case(
        "space_to_batch_1d", lambda x: raw.SpaceToBatchND(input=x, paddings=[[0, 1]], block_shape=[2]), floats(2, 5, 3)
    )
    make_case(
        "dilated_in_batches",
        lambda x: raw.BatchToSpaceND(
            input=convolved(raw.SpaceToBatchND(input=x, paddings=[[0, 0], [0, 0]], block_shape=[2, 2])),
            crops=[[0, 0], [0, 0]],
            block_shape=[2, 2],
        ),
        IMAGE,
    )


def convolutions() -> None:
    for padding, size in (("SAME", 8), ("SAME", 7), ("VALID", 9), ("VALID", 10)):
        make_case(
            f"conv_transpose_{padding.lower()}_{size}",
            lambda x, p=padding, n=size: raw.Conv2DBackpropInput(
                input_sizes=[2, n, n, 5],
                filter=tf.constant(floats(3, 3, 5, 3)),
                out_backprop=x,
                strides=[1, 2, 2, 1],
                padding=p,
            ),
            floats(2, 4, 4, 3),
        )
    make_case(
        "conv_transpose_chain",
        lambda x: tf.nn.relu(
            raw.Conv2DBackpropInput(
                input_sizes=[2, 8, 12, 4],
                filter=tf.constant(floats(2, 2, 4, 3)),
                out_backprop=convolved(x),
                strides=[1, 2, 2, 1],
                padding="SAME",
            )
        ),
        IMAGE,
    )
    volume = floats(1, 4, 5, 6, 2)
    make_case(
        "conv_3d_same",
        lambda x: raw.Conv3D(
            input=x, filter=tf.constant(floats(3, 3, 3, 2, 4)), strides=[1, 2, 1, 2, 1], padding="SAME"
        ),
        volume,
    )
    make_case(
        "conv_3d_valid",
        lambda x: tf.nn.relu(
            raw.Conv3D(input=x, filter=tf.constant(floats(2, 3, 1, 2, 3)), strides=[1, 1, 1, 1, 1], padding="VALID")
        ),
        volume,
    )
    ksize = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1]}
    make_case("max_pool_3d", lambda x: raw.MaxPool3D(input=x, padding="SAME", **ksize), volume)
    make_case("avg_pool_3d", lambda x: raw.AvgPool3D(input=x, padding="VALID", **ksize), volume)


def gathers() -> None:
    data = floats(2, 3, 5, 4)
    rows = np.array([[1, 0], [2, 2]], np.int32)
    make_case("gather_batch_1", lambda x, i: raw.GatherV2(params=x, indices=i, axis=1, batch_dims=1), data, rows)
    make_case("gather_batch_1_axis_2", lambda x, i: raw.GatherV2(params=x, indices=i, axis=2, batch_dims=1), data, rows)
    make_case("gather_batch_1_axis_3", lambda x, i: raw.GatherV2(params=x, indices=i, axis=3, batch_dims=1), data, rows)
    make_case(
        "gather_batch_2",
        lambda x, i: raw.GatherV2(params=x, indices=i, axis=2, batch_dims=2),
        data,
        np.array([[[1, 0], [4, 4], [3, 1]], [[0, 0], [2, 1], [1, 3]]], np.int32),
    )
    make_case("gather_nd", lambda x, i: raw.GatherNd(params=x, indices=i), data, np.array([[1, 2], [0, 1]], np.int32))


if __name__ == "__main__":
    splits()
    generated()
    elementwise()
    images()
    convolutions()
    gathers()
