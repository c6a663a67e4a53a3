#!/usr/bin/env python3
"""Writes small models of what real files hold and what was slow once, one file a case.

    bench/real/make_models.py FOLDER [NAME ...]

Needs onnx and numpy. All weights are random, from a fixed seed; bench/bench_real.py times them.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx  # type: ignore[import-not-found,unused-ignore]
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


def model(
    inputs: dict[str, Sequence[int]],
    outputs: dict[str, Sequence[int]],
    initializers: Mapping[str, np.ndarray | onnx.TensorProto],
    nodes: list[onnx.NodeProto],
    opset: int = OPSET,
) -> onnx.ModelProto:
    """A graph of float32 inputs and outputs."""
    graph = helper.make_graph(
        nodes,
        "main",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
        [
            numpy_helper.from_array(value, name) if isinstance(value, np.ndarray) else value
            for name, value in initializers.items()
        ],
    )
    domains = {"": opset} | {node.domain: 1 for node in nodes if node.domain}
    opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    onnx.checker.check_model(made)
    return made


def draw(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(sum(shape)).standard_normal(shape) * scale).astype(np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def subnormal_weights() -> onnx.ModelProto:
    """A 1x1 convolution a quarter of whose weights decayed to subnormal numbers."""
    weight = draw(384, 768, 1, 1, scale=0.05)
    decayed = np.random.default_rng(1).random(weight.shape) < 0.25
    weight[decayed] = np.float32(1e-40)
    return model(
        {"x": (1, 768, 15, 20)}, {"y": (1, 384, 15, 20)}, {"w": weight}, [helper.make_node("Conv", ["x", "w"], ["y"])]
    )


def subnormal_activations() -> onnx.ModelProto:
    """Two layers between which every number is subnormal."""
    small, large = draw(512, 512, scale=1e-20), draw(512, 512, scale=0.05)
    nodes = [
        helper.make_node("MatMul", ["x", "small"], ["a"]),
        helper.make_node("Mul", ["a", "tiny"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("MatMul", ["c", "large"], ["y"]),
    ]
    initializers = {"small": small, "large": large, "tiny": np.array(1e-20, np.float32)}
    return model({"x": (128, 512)}, {"y": (128, 512)}, initializers, nodes)


def dynamic_conv(padding: int) -> onnx.ModelProto:
    """A convolution as onnxruntime's dynamic quantisation leaves it: the zero point is known at run time."""
    weight = np.random.default_rng(2).integers(-127, 128, (64, 64, 3, 3)).astype(np.int8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
        helper.make_node("ConvInteger", ["q", "w", "zero"], ["sums"], kernel_shape=[3, 3], pads=[padding] * 4),
        helper.make_node("Cast", ["sums"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["scale", "weight_scale"], ["both"]),
        helper.make_node("Mul", ["real", "both"], ["y"]),
    ]
    size = 38 + 2 * padding
    scale = np.array(0.003, np.float32)
    return model({"x": (1, 64, 40, 40)}, {"y": (1, 64, size, size)}, {"w": weight, "weight_scale": scale}, nodes)


def roll(nodes: list[onnx.NodeProto], value: str, axis: int, shift: int, result: str) -> None:
    """As torch.roll is exported; the initializers "start", "end" and "atSHIFT" hold the ends, "axisN" the axes."""
    at = f"{result}_"
    nodes.append(helper.make_node("Slice", [value, f"at{shift}", "end", f"axis{axis}"], [at + "back"]))
    nodes.append(helper.make_node("Slice", [value, "start", f"at{shift}", f"axis{axis}"], [at + "front"]))
    nodes.append(helper.make_node("Concat", [at + "back", at + "front"], [result], axis=axis))


def rolled_rows(anchor: str) -> onnx.ModelProto:
    """Swin-v2: windows put back, a roll over two axes, and rows behind it."""
    nodes = [
        helper.make_node("Reshape", ["x", "windows"], ["a"]),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 1, 3, 2, 4, 5]),
        helper.make_node("Reshape", ["b", "image"], ["c"]),
    ]
    roll(nodes, "c", 1, -4, "rolled_once")
    roll(nodes, "rolled_once", 2, -4, "rolled")
    initializers = {
        "windows": ints(1, 8, 8, 8, 8, 96),
        "image": ints(1, 64, 64, 96),
        "at-4": ints(-4),
        "start": ints(0),
        "end": ints(2**31),
        "axis1": ints(1),
        "axis2": ints(2),
    }
    if anchor == "LayerNormalization":
        initializers |= {"gain": draw(96), "bias": draw(96)}
        nodes.append(helper.make_node(anchor, ["rolled", "gain", "bias"], ["y"], axis=-1))
    else:
        nodes.append(helper.make_node(anchor, ["rolled"], ["y"], axis=-1))
    return model({"x": (4096, 96)}, {"y": (1, 64, 64, 96)}, initializers, nodes)


def reflected_rows() -> onnx.ModelProto:
    """A softmax behind a reflected border."""
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("Pad", ["e", "widths"], ["p"], mode="reflect"),
        helper.make_node("Softmax", ["p"], ["y"], axis=-1),
    ]
    return model({"x": (1, 56, 56, 96)}, {"y": (1, 64, 64, 96)}, {"widths": ints(0, 4, 4, 0, 0, 4, 4, 0)}, nodes)


def transpose(shape: Sequence[int], axes: Sequence[int]) -> onnx.ModelProto:
    result = [shape[axis] for axis in axes]
    return model({"x": shape}, {"y": result}, {}, [helper.make_node("Transpose", ["x"], ["y"], perm=list(axes))])


def scatter_range() -> onnx.ModelProto:
    """x[1:] = v, as exporters write it."""
    initializers = {"indices": np.arange(1, 1569, dtype=np.int64).reshape(-1, 1)}
    nodes = [helper.make_node("ScatterND", ["x", "indices", "v"], ["y"])]
    return model({"x": (1569, 2, 1024), "v": (1568, 2, 1024)}, {"y": (1569, 2, 1024)}, initializers, nodes)


def bytes_of(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(-127, 128, shape).astype(np.int8)


def nibbles(*shape: int) -> np.ndarray:
    """Bytes of two random numbers of 4 bits each."""
    return np.random.default_rng(5).integers(0, 256, shape).astype(np.uint8)


def scales(*shape: int) -> np.ndarray:
    return np.abs(draw(*shape, scale=0.01)) + np.float32(1e-3)


def product(
    rows: int,
    terms: int,
    units: int,
    constants: Mapping[str, np.ndarray | onnx.TensorProto],
    nodes: list[onnx.NodeProto],
    opset: int = OPSET,
) -> onnx.ModelProto:
    return model({"x": (rows, terms)}, {"y": (rows, units)}, constants, nodes, opset)


def weight_only(rows: int, terms: int, units: int, by_channel: bool) -> onnx.ModelProto:
    """A matrix of bytes that is dequantised in front of its product."""
    scale = scales(units) if by_channel else np.array(0.003, np.float32)
    constants = {"w": bytes_of(terms, units), "scale": scale, "zero": np.zeros(scale.shape, np.int8)}
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["real"], axis=1),
        helper.make_node("MatMul", ["x", "real"], ["y"]),
    ]
    return product(rows, terms, units, constants, nodes)


def weight_only_cast(rows: int, terms: int, units: int) -> onnx.ModelProto:
    """The same as a cast and a scale, as torch exports it."""
    nodes = [
        helper.make_node("Cast", ["w"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["real", "scale"], ["scaled"]),
        helper.make_node("Transpose", ["scaled"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "turned"], ["y"]),
    ]
    return product(rows, terms, units, {"w": bytes_of(units, terms), "scale": scales(units, 1)}, nodes)


def weight_only_blocks(rows: int, terms: int, units: int, block: int) -> onnx.ModelProto:
    """A matrix of 4 bits with a scale for each block of a column."""
    packed = helper.make_tensor("w", TensorProto.INT4, (terms, units), nibbles(terms * units // 2).tobytes(), raw=True)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale"], ["real"], axis=0, block_size=block),
        helper.make_node("MatMul", ["x", "real"], ["y"]),
    ]
    return product(rows, terms, units, {"w": packed, "scale": scales(terms // block, units)}, nodes, opset=21)


def matmul_nbits(rows: int, terms: int, units: int, block: int, zero_points: bool) -> onnx.ModelProto:
    """A product of com.microsoft with weights of 4 bits."""
    blocks = terms // block
    constants = {"w": nibbles(units, blocks, block // 2), "scale": scales(units, blocks)}
    operands = ["x", "w", "scale"]
    if zero_points:
        constants["zero"] = nibbles(units, (blocks + 1) // 2)
        operands.append("zero")
    node = helper.make_node("MatMulNBits", operands, ["y"], domain="com.microsoft", K=terms, N=units, bits=4)
    node.attribute.append(helper.make_attribute("block_size", block))
    return product(rows, terms, units, constants, [node])


def weight_only_models() -> dict[str, Callable[[], onnx.ModelProto]]:
    """By form, rows, terms and units: some rows, as of a token or of a prompt, by weights of several sizes."""
    models: dict[str, Callable[[], onnx.ModelProto]] = {}
    sizes = [(1, 1024, 1024), (1, 4096, 4096), (4, 2048, 2048), (16, 1024, 1024), (128, 1024, 2048)]
    for size in sizes:
        forms = {
            "tensor": lambda size=size: weight_only(*size, False),
            "channel": lambda size=size: weight_only(*size, True),
            "cast": lambda size=size: weight_only_cast(*size),
            "blocks32": lambda size=size: weight_only_blocks(*size, 32),
            "blocks128": lambda size=size: weight_only_blocks(*size, 128),
            "nbits32": lambda size=size: matmul_nbits(*size, 32, False),
            "nbits32_zero": lambda size=size: matmul_nbits(*size, 32, True),
            "nbits128": lambda size=size: matmul_nbits(*size, 128, False),
            "nbits128_zero": lambda size=size: matmul_nbits(*size, 128, True),
        }
        models |= {f"weight_only_{form}_{'x'.join(map(str, size))}": make for form, make in forms.items()}
    return models


def lstm(steps: int, direction: str = "forward", inputs: int = 64, hidden: int = 128) -> onnx.ModelProto:
    """Sequences as long as recordings are: a step takes some microseconds, and there are many."""
    directions = 2 if direction == "bidirectional" else 1
    node = helper.make_node(
        "LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], name="lstm", direction=direction, hidden_size=hidden
    )
    scale = hidden**-0.5
    return model(
        {"x": (steps, 1, inputs)},
        {"y": (steps, directions, 1, hidden), "h": (directions, 1, hidden), "c": (directions, 1, hidden)},
        {
            "w": draw(directions, 4 * hidden, inputs, scale=scale),
            "r": draw(directions, 4 * hidden, hidden, scale=scale),
            "b": draw(directions, 8 * hidden, scale=scale),
        },
        [node],
    )


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "subnormal_weights": subnormal_weights,
    "subnormal_activations": subnormal_activations,
    "dynamic_conv": lambda: dynamic_conv(0),
    "dynamic_conv_padded": lambda: dynamic_conv(1),
    **weight_only_models(),
    "rolled_norm": lambda: rolled_rows("LayerNormalization"),
    "rolled_softmax": lambda: rolled_rows("Softmax"),
    "reflected_softmax": reflected_rows,
    "transpose": lambda: transpose((1569, 2, 6272), (2, 1, 0)),
    "transpose_unit_axis": lambda: transpose((1569, 2, 6272, 1), (2, 1, 3, 0)),
    "transpose_matrix": lambda: transpose((4096, 4096), (1, 0)),
    "transpose_channels": lambda: transpose((1, 64, 224, 224), (0, 2, 3, 1)),
    "scatter_range": scatter_range,
    "lstm_16_steps": lambda: lstm(16),
    "lstm_4096_steps": lambda: lstm(4096),
    "bilstm_18000_steps": lambda: lstm(18000, "bidirectional"),
}


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        onnx.save(MODELS[name](), str(folder / f"{name}.onnx"))


if __name__ == "__main__":
    main()
