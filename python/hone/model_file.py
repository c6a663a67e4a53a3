"""What models may be given as, beside a Graph."""

from __future__ import annotations

import os
from typing import Protocol

from hone.errors import Error


class Serializable(Protocol):
    """onnx.ModelProto, and TensorFlow's GraphDef."""

    def SerializeToString(self) -> bytes: ...


ModelFile = str | os.PathLike[str] | bytes | bytearray | memoryview | Serializable


def model_bytes(model: ModelFile) -> bytes | None:
    """The content of a model that is given by it; None: it is a path."""
    if isinstance(model, (str, os.PathLike)):
        return None
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if not hasattr(model, "SerializeToString"):
        raise Error(
            "expected a model as a path, as bytes, as an onnx.ModelProto or as a hone.Graph, "
            f"found {type(model).__name__}"
        )
    return model.SerializeToString()
