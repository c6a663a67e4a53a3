#!/usr/bin/env python3
"""Frozen graphs made and run by TensorFlow, against what Hone compiles of them.

Needs TensorFlow, which Hone does not, and so runs in an environment of its own, outside CI:

    python peer.py compare --hone build/release/bin/hone     top-5 and values of whole models
    python peer.py small tests/data/tensorflow               writes the model of the CI test
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework.convert_to_constants import (  # noqa: E402
    convert_variables_to_constants_v2,
)

KERAS_MODELS: dict[str, tuple[Callable[..., Any], int]] = {
    "inception_v3": (tf.keras.applications.InceptionV3, 299),
    "mobilenet": (tf.keras.applications.MobileNet, 224),
    "mobilenet_v2": (tf.keras.applications.MobileNetV2, 224),
    "resnet50": (tf.keras.applications.ResNet50, 224),
}


def randomise(model: Any, seed: int) -> None:
    """Weights that keep the scale of activations, and statistics that are not 0 and 1."""
    random = np.random.default_rng(seed)
    for variable in model.variables:
        shape = tuple(variable.shape)
        name = variable.path.rsplit("/", 1)[-1]
        if name in ("kernel", "depthwise_kernel"):
            taps = int(np.prod(shape[:-1])) if name == "kernel" else shape[0] * shape[1]
            value = random.normal(0, np.sqrt(2 / taps), shape)
        elif name in ("gamma", "moving_variance"):
            value = random.uniform(0.8, 1.2, shape)
        else:
            value = random.uniform(-0.125, 0.125, shape)
        variable.assign(value.astype(np.float32))


def spread(model: Any, data: Any) -> None:
    """Logits that differ by a few units, so that the order of the first five means something."""
    last = {v.path.rsplit("/", 1)[-1]: v for v in model.variables if "pred" in v.path}
    kernel, bias = last["kernel"], last["bias"]
    bias.assign(bias * 0)
    for _ in range(8):
        probabilities = model(data, training=False).numpy()
        saturated = probabilities.min() < 1e-30
        kernel.assign(kernel * (1e-2 if saturated else 2 / np.log(probabilities).std()))


def freeze(function: Callable[..., Any], shape: list[int]) -> Any:
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec(shape, tf.float32, "input"))
    return convert_variables_to_constants_v2(concrete)


def slim_resnet_block(random: np.random.Generator) -> Callable[[Any], Any]:
    """The operators TF-slim freezes to: FusedBatchNorm, BiasAdd of a 1x1 convolution as logits, Squeeze."""

    def constant(*shape: int, low: float = -0.3, high: float = 0.3) -> Any:
        return tf.constant(random.uniform(low, high, shape).astype(np.float32))

    def norm(x: Any) -> Any:
        channels = x.shape[3]
        y, _, _ = tf.compat.v1.nn.fused_batch_norm(
            x,
            constant(channels, low=0.8, high=1.2),
            constant(channels),
            mean=constant(channels),
            variance=constant(channels, low=0.8, high=1.2),
            epsilon=1e-5,
            is_training=False,
        )
        return y

    def model(x: Any) -> Any:
        x = tf.pad(x, [[0, 0], [3, 3], [3, 3], [0, 0]])
        x = tf.nn.relu(norm(tf.nn.conv2d(x, constant(7, 7, 3, 16), 2, "VALID")))
        x = tf.nn.max_pool2d(x, 3, 2, "SAME")
        y = tf.nn.relu(norm(tf.nn.conv2d(x, constant(3, 3, 16, 16), 1, "SAME")))
        x = tf.nn.relu(x + norm(tf.nn.conv2d(y, constant(1, 1, 16, 16), 1, "SAME")))
        x = tf.reduce_mean(x, [1, 2], keepdims=True)
        x = tf.nn.bias_add(tf.nn.conv2d(x, constant(1, 1, 16, 1000), 1, "SAME"), constant(1000))
        return tf.nn.softmax(tf.squeeze(x, [1, 2]))

    return model


def small_model(random: np.random.Generator) -> Callable[[Any], Any]:
    """An Inception-like graph of every layer kind, with odd extents, so that SAME pads unevenly."""

    def constant(*shape: int, low: float = -0.3, high: float = 0.3) -> Any:
        return tf.constant(random.uniform(low, high, shape).astype(np.float32))

    def conv(x: Any, taps: tuple[int, int], channels: int, stride: int = 1, padding: str = "SAME") -> Any:
        return tf.nn.conv2d(x, constant(*taps, x.shape[3], channels), stride, padding)

    def norm(x: Any) -> Any:
        channels = x.shape[3]
        scale, mean, offset = constant(channels, low=0.8, high=1.2), constant(channels), constant(channels)
        variance = constant(channels, low=0.8, high=1.2)
        y, _, _ = tf.compat.v1.nn.fused_batch_norm(
            x, scale, offset, mean=mean, variance=variance, epsilon=1e-3, is_training=False
        )
        return tf.nn.relu(y)

    def model(x: Any) -> Any:
        x = (tf.cast(x, tf.float32) - 0.5) * 2.0
        x = tf.pad(x, [[0, 0], [0, 1], [0, 1], [0, 0]])
        x = norm(conv(x, (3, 3), 8, 2, "VALID"))
        x = tf.nn.max_pool2d(x, 3, 2, "SAME")
        one = norm(conv(x, (1, 1), 8))
        three = norm(conv(norm(conv(x, (1, 1), 4)), (1, 3), 8))
        pooled = tf.nn.avg_pool2d(x, 3, 1, "SAME")
        pooled = tf.nn.relu6(tf.nn.bias_add(conv(pooled, (1, 1), 4), constant(4)))
        x = tf.concat([one, three, pooled], 3)
        x = tf.nn.depthwise_conv2d(x, constant(3, 3, 20, 1), [1, 2, 2, 1], "SAME")
        variance, mean = constant(20, low=0.8, high=1.2), constant(20)
        x = tf.nn.batch_normalization(x, mean, variance, constant(20), constant(20), 1e-3)
        gate = tf.sigmoid(conv(tf.reduce_mean(x, [1, 2], keepdims=True), (1, 1), 20))
        x = tf.maximum(x * gate + tf.tanh(x), x * 0.1)
        x = tf.reduce_mean(x, [1, 2])
        shape = tf.shape(x)
        x = tf.reshape(tf.expand_dims(x, 1), tf.stack([shape[0], -1]))
        return tf.nn.softmax(tf.matmul(x, constant(20, 10)) + constant(10))

    return model


def operators_model(random: np.random.Generator) -> Callable[[Any], Any]:
    """Operators one by one on what a convolution gives, whose channels Hone has first."""
    weight = tf.constant(random.uniform(-1, 1, (3, 3, 3, 4)).astype(np.float32))
    vector = tf.constant(random.uniform(0.5, 1, (4,)).astype(np.float32))
    plane = tf.constant(random.uniform(0.5, 1, (5, 1, 4)).astype(np.float32))

    def model(image: Any) -> Any:
        x = tf.nn.conv2d(image, weight, 2, "SAME")  # (2, 5, 4, 4)
        axes = [[0], [1], [2], [3], [0, 1], [0, 2], [1, 2], [1, 3], [0, 1, 2], [0, 1, 2, 3]]
        results = [tf.reduce_mean(x, a) for a in axes] + [tf.reduce_max(x, a, keepdims=True) for a in axes]
        results += [tf.reduce_sum(x, [2, 3]), tf.reduce_min(x, 1), tf.reduce_prod(x, 3)]
        results += [tf.argmax(x, a) for a in range(4)]
        results += [tf.transpose(x, p) for p in ([0, 3, 1, 2], [0, 2, 1, 3], [3, 2, 1, 0])]
        results += [tf.transpose(tf.transpose(x, [0, 3, 1, 2]), [0, 2, 3, 1]), tf.reshape(x, [4, -1])]
        results += [x[:, 1], x[:, ::-1, 1:3], x[..., 1], x[0, tf.newaxis, ..., ::2]]
        results += [tf.gather(x, [2, 0], axis=3)]
        results += [tf.slice(x, [0, 1, 0, 1], [-1, 2, 3, -1]), tf.concat([x, x[:, :2]], 1), tf.stack([x, -x], 4)]
        results += [tf.concat([x, image[:, :5, :4]], 3), x + vector, plane * x, x - x[:, :1]]
        results += [x / (2.5 + image[:, :5, :4, :1])]
        results += [tf.pad(x, [[0, 0], [1, 0], [0, 2], [0, 0]], constant_values=0.5)]
        results += [tf.pad(x, [[1, 0], [0, 1], [0, 0], [2, 0]])]
        results += [tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.leaky_relu(x), tf.square(x)]
        results += [tf.math.rsqrt(tf.abs(x) + 1)]
        results += [tf.where(x > 0, x, vector), tf.math.squared_difference(x, vector), tf.math.pow(tf.abs(x), 1.5)]
        results += [tf.math.floordiv(tf.cast(x * 9, tf.int32), 4), tf.math.floormod(tf.cast(x * 9, tf.int32), 4)]
        results += [tf.cast(tf.cast(x * 9, tf.int32), tf.float32), tf.cast(x > 0.1, tf.float32), tf.expand_dims(x, 1)]
        results += [tf.squeeze(tf.reduce_mean(x, [1, 2], keepdims=True), [1]), tf.matmul(x, x, transpose_b=True)]
        results += [tf.matmul(tf.reshape(x, [8, 20]), tf.reshape(x, [8, 20]), transpose_a=True)[:3]]
        results += [tf.nn.conv2d(x, weight[:, :, :2], 1, [[0, 0], [2, 0], [0, 1], [0, 0]])]
        results += [tf.nn.avg_pool2d(x, [1, 3], [1, 2], "VALID")]
        wide = tf.tile(weight, [1, 1, 2, 1])[:, :, :4]
        results += [tf.nn.conv2d(x, wide, 1, "SAME", dilations=2), tf.fill([2, 3], 1.5)]
        results += [tf.add_n([x, x, x]), tf.round(x * 3), tf.nn.relu(x) + tf.nn.sigmoid(x), tf.maximum(x, 0.1)]
        return tf.concat([tf.reshape(tf.cast(r, tf.float32), [-1]) for r in results], 0)

    return model


def run_hone(hone: str, graph: pathlib.Path, frozen: Any, data: Any, folder: pathlib.Path) -> Any:
    np.save(folder / "input.npy", data)
    name = frozen.inputs[0].op.name
    command = [hone, "run", str(graph), "--input", f"{name}={folder / 'input.npy'}", "--output-dir", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    outputs = [p for p in folder.glob("*.npy") if p.name != "input.npy"]
    assert len(outputs) == 1, outputs
    return np.load(outputs[0])


def input_of(shape: list[int]) -> Any:
    return np.random.default_rng(7).uniform(-1, 1, shape).astype(np.float32)


def compare_one(name: str, frozen: Any, shape: list[int], hone: str) -> bool:
    data = input_of(shape)
    expected = frozen(tf.constant(data))[0].numpy()
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        graph = folder / "model.pb"
        graph.write_bytes(frozen.graph.as_graph_def().SerializeToString())
        begin = time.monotonic()
        found = run_hone(hone, graph, frozen, data, folder)
        seconds = time.monotonic() - begin
    top5 = np.argsort(-expected, 1, kind="stable")[:, :5]
    same = bool((top5 == np.argsort(-found, 1, kind="stable")[:, :5]).all())
    close = bool(np.allclose(found, expected, rtol=1e-3, atol=1e-5))
    error = float(np.max(np.abs(found - expected)))
    relative = float(np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1e-5)))
    print(
        f"{name}: top-5 {top5[0].tolist()} {'equal' if same else 'DIFFERENT'}, values"
        f" {'equal' if close else 'DIFFERENT'} (largest error {error:.1e}, relative {relative:.1e}; largest"
        f" probability {expected.max():.3f}), compiled and run in {seconds:.0f} s",
        flush=True,
    )
    return same and close


def compare(hone: str, names: list[str]) -> bool:
    good = True
    for name, (make, extent) in KERAS_MODELS.items():
        if names and name not in names:
            continue
        model = make(weights=None)
        randomise(model, seed=1)
        shape = [1, extent, extent, 3]
        spread(model, input_of(shape))
        frozen = freeze(lambda x, model=model: model(x, training=False), shape)
        good = compare_one(name, frozen, shape, hone) and good
        tf.keras.backend.clear_session()
    if not names or "slim" in names:
        frozen = freeze(slim_resnet_block(np.random.default_rng(3)), [2, 65, 65, 3])
        good = compare_one("slim", frozen, [2, 65, 65, 3], hone) and good
    return good


def write_small(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(5)
    for name, model, shape in [
        ("small", small_model(random), [2, 37, 30, 3]),
        ("operators", operators_model(random), [2, 9, 8, 3]),
    ]:
        frozen = freeze(model, shape)
        data = np.random.default_rng(6).uniform(0, 1, shape).astype(np.float32)
        np.save(folder / f"{name}_input.npy", data)
        np.save(folder / f"{name}_output.npy", frozen(tf.constant(data))[0].numpy())
        graph = frozen.graph.as_graph_def()
        (folder / f"{name}.pb").write_bytes(graph.SerializeToString(deterministic=True))
        print(name, sorted({node.op for node in graph.node}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("compare")
    verb.add_argument("--hone", required=True)
    verb.add_argument("names", nargs="*", help="models; all by default")
    verb = verbs.add_parser("small")
    verb.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.verb == "small":
        write_small(arguments.folder)
        return 0
    return 0 if compare(arguments.hone, arguments.names) else 1


if __name__ == "__main__":
    sys.exit(main())
