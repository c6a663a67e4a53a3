"""The workload's text of an entry of a list of kernels, in the format of the peers' kernels.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

END = " accumulate=float32 numerics=default"


def tensor(shape: Sequence[int], dtype: str = "float32") -> str:
    return f"Tensor[({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}), {dtype}]"


def convolution(work: Mapping[str, Any]) -> str:
    shapes, axes = work["shapes"], len(work["pad"])
    params = [f"p0: {tensor(shapes['x'])}", f"const p1: {tensor(shapes['w'])}"]
    attributes = f"groups={work['groups']}, padding={[*work['pad']] * 2}, strides={[work['stride']] * axes}"
    steps = [f"nn.conv{axes}d(p0, p1, {attributes})"]
    if work.get("bias"):
        params.append(f"const p{len(params)}: {tensor(shapes['w'][:1])}")
        steps.append(f"nn.bias_add(%{len(steps) - 1}, p{len(params) - 1})")
    if work.get("add"):
        params.append(f"p{len(params)}: {tensor(shapes['y'])}")
        steps.append(f"add(%{len(steps) - 1}, p{len(params) - 1})")
    if work.get("relu"):
        steps.append(f"nn.relu(%{len(steps) - 1})")
    named = [f"%{i} = {step}; " for i, step in enumerate(steps[:-1])]
    return f"fn ({', '.join(params)}) {{ {''.join(named)}{steps[-1]} }}"


def sparse(work: Mapping[str, Any]) -> str:
    matrix = [tensor([work["nnz"]]), tensor([work["nnz"]], "int32"), tensor([work["rows"] + 1], "int32")]
    params = [f"const p{i}: {type_}" for i, type_ in enumerate(matrix)]
    return f"fn ({', '.join(params)}, p3: {tensor(work['shapes']['x'])}) {{ nn.sparse_dense(p0, p1, p2, p3) }}"


def workload_text(work: Mapping[str, Any]) -> str:
    op, shapes = work["op"], work["shapes"]
    x = tensor(shapes["x"])
    if op in ("conv2d", "conv3d"):
        return convolution(work) + END
    if op == "spmm":
        return sparse(work) + END
    if op == "dense":
        return f"fn (p0: {x}, const p1: {tensor(shapes['w'])}) {{ nn.dense(p0, p1) }}{END}"
    if op == "bmm":
        product = "%0 = transpose(p1, axes=[0, 2, 1]); nn.batch_matmul(p0, %0)"
        return f"fn (p0: {x}, p1: {tensor(shapes['w'])}) {{ {product} }}{END}"
    if op == "layer_norm":
        scale = tensor(shapes["x"][-1:])
        return f"fn (p0: {x}, const p1: {scale}, const p2: {scale}) {{ nn.layer_norm(p0, p1, p2) }}{END}"
    if op == "max_pool":
        window = f"padding={[*work['pad']] * 2}, pool_size={[work['k']] * 2}, strides={[work['stride']] * 2}"
        return f"fn (p0: {x}) {{ nn.max_pool2d(p0, {window}) }}{END}"
    calls = {"softmax": "nn.softmax(p0)", "gap": "nn.global_avg_pool2d(p0)", "relu": "nn.relu(p0)"}
    return f"fn (p0: {x}) {{ {calls[op]} }}{END}"
