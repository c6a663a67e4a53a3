#!/usr/bin/env python3
"""Whole models of batch 1, default and tuned, in turns with other systems on the same machine.

    HONE_PEERS=FOLDER bench/bench_models.py [--threads 1,2] [--trials 300] [--rounds 11] [--only resnet18,vgg16]
                                            [--peers ort,openvino] [--db FILE] [--append]

HONE_PEERS has the peers' drivers (peerlib.py; its setup has been run). Writes bench/results/CPU/models.json, .md and .svg;
docs/benchmarks.md has the method.
"""

import pathlib
import sys
from typing import Any

import sweep


def items(driver: Any) -> list[sweep.Item]:
    files = sorted((pathlib.Path(driver.WORK) / "models").glob("*.onnx"))
    return [sweep.Item(file.stem, file, file.stem, None) for file in files]


KIND = sweep.Kind(
    name="models",
    views={"nchw": "ort,openvino,torch-eager,torch-cl,inductor,tf,tf-xla,tvm-relay,dgl"},
    sample_ms=100,
    items=items,
)

if __name__ == "__main__":
    sys.exit(sweep.main(KIND, __doc__))
