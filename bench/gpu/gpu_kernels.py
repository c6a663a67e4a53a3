"""The kernels that are measured on GPUs: a one-operator ONNX file, inputs, and a reference in float64 of each."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bfloat16 import bits, numbers_of
from onnx_file import OnnxFile

Array = npt.NDArray[Any]
Work = dict[str, Any]
ELEMENT_BYTES = {"float32": 4, "bfloat16": 2}
SHORT = {"float32": "fp32", "bfloat16": "bf16"}
# Errors beyond these, as parts of the largest value, are wrong results: what is stored as bfloat16 has been rounded to
# 8 bits of its mantissa.
ERROR_LIMIT = {"float32": 1e-3, "bfloat16": 1e-2}
TF32_ERROR_LIMIT = 1e-2

# Input channels, output channels, extent, taps, stride: the distinct convolutions of ResNet-50, the stem first.
RESNET50 = [
    *[(3, 64, 224, 7, 2), (64, 64, 56, 1, 1), (64, 64, 56, 3, 1), (64, 256, 56, 1, 1), (256, 64, 56, 1, 1)],
    *[(256, 128, 56, 1, 1), (128, 128, 56, 3, 2), (128, 512, 28, 1, 1), (256, 512, 56, 1, 2), (512, 128, 28, 1, 1)],
    *[(128, 128, 28, 3, 1), (512, 256, 28, 1, 1), (256, 256, 28, 3, 2), (256, 1024, 14, 1, 1), (512, 1024, 28, 1, 2)],
    *[(1024, 256, 14, 1, 1), (256, 256, 14, 3, 1), (1024, 512, 14, 1, 1), (512, 512, 14, 3, 2), (512, 2048, 7, 1, 1)],
    *[(1024, 2048, 14, 1, 2), (2048, 512, 7, 1, 1), (512, 512, 7, 3, 1)],
]
DEPTHWISE = [(32, 112, 1), (144, 56, 1), (192, 56, 2), (384, 14, 1), (960, 7, 1)]  # channels, extent, stride
GEMM = [(512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096)]  # rows, units, terms
BERT = [(128, 768, 768), (128, 3072, 768), (128, 768, 3072)]


def work(name: str, op: str, dtype: str, shapes: Mapping[str, Sequence[int]], flops: int, **more: Any) -> Work:
    elements = sum(math.prod(shape) for shape in shapes.values())
    listed = {key: list(shape) for key, shape in shapes.items()}
    head = {"id": f"{name}_{SHORT[dtype]}", "op": op, "dtype": dtype, "shapes": listed}
    return head | {"flops": flops, "bytes": ELEMENT_BYTES[dtype] * elements} | more


def dense(m: int, n: int, k: int, dtype: str) -> Work:
    return work(f"gemm_{m}_{n}_{k}", "dense", dtype, {"x": (m, k), "w": (n, k), "y": (m, n)}, 2 * m * n * k)


def convolution(batch: int, i: int, o: int, extent: int, taps: int, stride: int, groups: int, dtype: str) -> Work:
    pad = taps // 2
    out = (extent + 2 * pad - taps) // stride + 1
    shapes = {"x": (batch, i, extent, extent), "w": (o, i // groups, taps, taps), "y": (batch, o, out, out)}
    kind = f"dw{taps}x{taps}_{i}" if groups > 1 else f"conv{taps}x{taps}_{i}_{o}"
    flops = 2 * math.prod(shapes["y"]) * math.prod(shapes["w"][1:])
    name = f"{kind}_{extent}_s{stride}_b{batch}"
    return work(name, "conv2d", dtype, shapes, flops, stride=stride, pad=[pad, pad], groups=groups)


def rows(op: str, r: int, c: int, dtype: str) -> Work:
    shapes = {"x": (r, c), "y": (r, c)}
    if op == "add":
        shapes["z"] = (r, c)
    if op == "transpose":
        shapes["y"] = (c, r)
    flops = {"softmax": 5, "layer_norm": 8, "add": 1, "transpose": 0}[op] * r * c
    return work(f"{op}_{r}_{c}", op, dtype, shapes, flops)


def attention(batch: int, heads: int, length: int, width: int, dtype: str) -> Work:
    shape = (batch, heads, length, width)
    flops = 4 * batch * heads * length * length * width
    name = f"attention_{batch * heads}_{length}_{width}"
    return work(name, "attention", dtype, {"x": shape, "z": shape, "v": shape, "y": shape}, flops)


def listed(is_tiny: bool) -> list[Work]:
    """All of them, or a few small ones, which show in minutes that everything works."""
    works = []
    for dtype in ("float32", "bfloat16"):
        if is_tiny:
            works += [dense(32, 32, 32, dtype), convolution(1, 8, 16, 6, 3, 1, 1, dtype), attention(1, 1, 16, 16, dtype)]
            continue
        works += [dense(*shape, dtype) for shape in [*GEMM, *BERT]]
        works += [convolution(batch, i, o, e, t, s, 1, dtype) for batch in (1, 8) for i, o, e, t, s in RESNET50]
        works.append(attention(1, 12, 128, 64, dtype))
    if is_tiny:
        return [*works, *(rows(op, 8, 16, "float32") for op in ("softmax", "add"))]
    works += [convolution(batch, c, c, e, 3, s, c, "float32") for batch in (1, 8) for c, e, s in DEPTHWISE]
    works += [rows("softmax", 4096, 4096, "float32"), rows("softmax", 1536, 128, "float32")]
    works += [rows("layer_norm", 4096, 1024, "float32"), rows("layer_norm", 128, 768, "float32")]
    return [*works, rows("add", 4096, 4096, "float32"), rows("transpose", 4096, 4096, "float32")]


def operands(w: Work) -> dict[str, Array]:
    """Random, from a seed, by name: as the element type has them."""
    generator = np.random.default_rng(1)
    names = [name for name in w["shapes"] if name != "y"] + (["g", "b"] if w["op"] == "layer_norm" else [])
    arrays = {}
    for name in names:
        shape = w["shapes"].get(name, w["shapes"]["x"][-1:])
        numbers = generator.standard_normal(shape, dtype=np.float32)
        arrays[name] = bits(numbers) if w["dtype"] == "bfloat16" else numbers
    return arrays


def reference(w: Work, arrays: Mapping[str, Array]) -> Array:
    """In float64."""
    a = {name: numbers_of(array).astype(np.float64) for name, array in arrays.items()}
    if w["op"] == "dense":
        return a["x"] @ a["w"].T
    if w["op"] == "conv2d":
        return _convolved(w, a["x"], a["w"])
    if w["op"] == "softmax":
        return _softmax(a["x"])
    if w["op"] == "layer_norm":
        centred = a["x"] - a["x"].mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * a["g"] + a["b"]
    if w["op"] == "add":
        return a["x"] + a["z"]
    if w["op"] == "transpose":
        return a["x"].T.copy()
    return _softmax(a["x"] @ a["z"].swapaxes(-1, -2) / math.sqrt(a["x"].shape[-1])) @ a["v"]


def _softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    quotients: Array = exponentials / exponentials.sum(-1, keepdims=True)
    return quotients


def _convolved(w: Work, x: Array, weight: Array) -> Array:
    pad, stride, taps = w["pad"][0], w["stride"], weight.shape[2]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (taps, taps), axis=(2, 3))[:, :, ::stride, ::stride]
    if w["groups"] > 1:
        return np.einsum("nchwij,cij->nchw", windows, weight[:, 0], optimize=True)
    # As one product a sample, which is fast and takes little memory.
    flat = weight.reshape(len(weight), -1)
    samples = []
    for sample in windows:
        terms = sample.transpose(0, 3, 4, 1, 2).reshape(flat.shape[1], -1)
        samples.append((flat @ terms).reshape(len(weight), *sample.shape[1:3]))
    return np.stack(samples)


def onnx(w: Work, arrays: Mapping[str, Array]) -> bytes:
    """The operator alone; weights are constants."""
    file, dtype, op = OnnxFile(), w["dtype"], w["op"]
    names = [file.input(name, dtype, arrays[name].shape) for name in arrays if name not in ("w", "g", "b")]
    names += [file.constant(name, dtype, arrays[name].shape, arrays[name].tobytes()) for name in arrays if name in ("w", "g", "b")]
    if op == "dense":
        file.node("Gemm", names, "y", transB=1)
    elif op == "conv2d":
        attributes = {"strides": [w["stride"]] * 2, "pads": w["pad"] * 2, "group": w["groups"]}
        file.node("Conv", names, "y", kernel_shape=w["shapes"]["w"][2:], **attributes)
    elif op == "softmax":
        file.node("Softmax", names, "y", axis=-1)
    elif op == "layer_norm":
        file.node("LayerNormalization", names, "y", axis=-1, epsilon=1e-5)
    elif op == "add":
        file.node("Add", names, "y")
    elif op == "transpose":
        file.node("Transpose", names, "y", perm=[1, 0])
    else:
        scaled_dot_product_attention(file, names, w["shapes"]["x"][-1], dtype, "y")
    file.output("y", dtype, w["shapes"]["y"])
    return file.serialized()


def scaled_dot_product_attention(file: OnnxFile, names: Sequence[str], width: int, dtype: str, output: str = "") -> str:
    """Of queries, keys and values (batch, heads, length, width)."""
    query, key, value = names
    factor = np.float32(1 / math.sqrt(width))
    raw = bits(factor.reshape(1)) if dtype == "bfloat16" else factor
    scale = file.constant(f"scale_of_{query}", dtype, (), raw.tobytes())
    scores = file.node("MatMul", [query, file.node("Transpose", [key], perm=[0, 1, 3, 2])])
    weights = file.node("Softmax", [file.node("Mul", [scores, scale])], axis=-1)
    return file.node("MatMul", [weights, value], output)


def write(w: Work, folder: pathlib.Path) -> pathlib.Path:
    """NAME.onnx, and beside it NAME.npz with the operands and `ref`."""
    arrays = operands(w)
    path = folder / f"{w['id']}.onnx"
    path.write_bytes(onnx(w, arrays))
    np.savez(path.with_suffix(".npz"), ref=reference(w, arrays).astype(np.float32), **arrays)  # type: ignore[arg-type]
    return path
