#!/usr/bin/env python3
"""Single operators, default and tuned, in turns with other systems on the same machine.

    HONE_PEERS=FOLDER bench/bench_kernels.py [--view nchw|own] [--threads 1,2] [--trials 300] [--rounds 11]
                                             [--only conv3x3,dense] [--peers ort,openvino] [--db FILE] [--append]

View `nchw`: the one-operator model, row-major inputs and outputs. View `own`: the operator's kernel alone, in layouts of its
own choice, beside the peers that are timed that way. HONE_PEERS has the peers' drivers (peerlib.py; its setup has been run).
Writes bench/results/CPU/kernels.json, .md and .svg; docs/benchmarks.md has the method.
"""

import sys

import sweep

KIND = sweep.Kind(
    name="kernels",
    views={"nchw": "ort,openvino,torch-eager,tvm-relay,scipy,dgl", "own": "onednn,torch-cl,inductor"},
    sample_ms=60,
    items=sweep.kernel_items,
)

if __name__ == "__main__":
    sys.exit(sweep.main(KIND, __doc__))
