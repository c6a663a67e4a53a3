"""Makes the files of tests/data/onnx/operators: one operator, its operands and right results a file.

A case is an ONNX model whose initializers hold the values too: "value:X" is what the input X is given,
"expected:Y" what the output Y must be. Nothing else reads them, so that any runtime can load the file.
"""

import pathlib
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]
Reference = Callable[[onnx.ModelProto, dict[str, Array]], Sequence[Array]]

FOLDER = pathlib.Path(__file__).parents[3] / "data" / "onnx" / "operators"


class Const:
    """An operand that is an initializer of the model."""

    def __init__(self, value: Array) -> None:
        self.value = value


def by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Array]) -> Sequence[Array]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results: Sequence[Array] = session.run(None, feeds)
    return results


def by_reference_evaluator(model: onnx.ModelProto, feeds: dict[str, Array]) -> Sequence[Array]:
    results: Sequence[Array] = ReferenceEvaluator(model).run(None, feeds)
    return results


def random(name: str) -> np.random.Generator:
    """The same numbers for a name on every run."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def element_type(value: Array) -> int:
    return int(helper.np_dtype_to_tensor_dtype(value.dtype))


def make_case(
    name: str,
    op: str,
    *operands: Array | Const | None,
    outputs: Sequence[bool] = (True,),
    domain: str = "",
    opset: int = 21,
    reference: Reference = by_onnxruntime,
    dtypes: Sequence[int] | None = None,
    **attributes: Any,
) -> None:
    """Writes the case `name`; `outputs` says which of the operator's results are there."""
    names = [f"x{i}" if operand is not None else "" for i, operand in enumerate(operands)]
    results = [f"y{i}" if there else "" for i, there in enumerate(outputs)]
    node = helper.make_node(op, names, results, name=name, domain=domain, **attributes)
    feeds = {n: x for n, x in zip(names, operands, strict=True) if isinstance(x, np.ndarray)}
    inputs = [helper.make_tensor_value_info(n, element_type(x), list(x.shape)) for n, x in feeds.items()]
    constants = [
        numpy_helper.from_array(np.asarray(x.value), n)
        for n, x in zip(names, operands, strict=True)
        if isinstance(x, Const)
    ]
    first = next(x.value if isinstance(x, Const) else x for x in operands if x is not None)
    types = dtypes or [element_type(first)] * len(results)
    graph = helper.make_graph(
        [node],
        name,
        inputs,
        [helper.make_tensor_value_info(r, t, None) for r, t in zip(results, types, strict=True) if r],
        constants,
    )
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    values = reference(model, feeds)
    for info, value in zip(graph.output, values, strict=True):
        made = np.asarray(value)
        info.type.CopyFrom(helper.make_tensor_type_proto(element_type(made), list(made.shape)))
        model.graph.initializer.append(numpy_helper.from_array(made, "expected:" + info.name))
    for n, x in feeds.items():
        model.graph.initializer.append(numpy_helper.from_array(x, "value:" + n))
    model.graph.ClearField("output")
    model.graph.output.extend(graph.output)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
