"""Stands in for the export of torch's models in gpu_bench_test.py: all of them are relu of two numbers, but for texts, which
cannot be had."""

from __future__ import annotations

import pathlib
import sys

import bfloat16
import numpy as np
from onnx_file import OnnxFile

name, dtype, _, out = sys.argv[1:]
if "text" in name:
    sys.exit("expected torch 2, found an older one")
file = OnnxFile()
file.node("Relu", [file.input("x", dtype, (1, 2))], "y")
file.output("y", dtype, (1, 2))
path = pathlib.Path(out)
path.write_bytes(file.serialized())
x = np.array([[-1, 2]], np.float32)
np.savez(path.with_suffix(".npz"), x=bfloat16.bits(x) if dtype == "bfloat16" else x, ref=np.maximum(x, 0))
