#!/usr/bin/env python3
"""A second list of one-operator workloads, in the format of the peers' kernels.json: shapes of other networks than
those whose figures are published, odd and small ones. Defaults and spaces are not fitted to either list.

    bench/more_kernels.py FILE.json
    PEERS_KERNELS=FILE.json PEERS_WORK=FOLDER HONE_PEERS=.. python $HONE_PEERS/build_inputs.py kernels
    PEERS_KERNELS=FILE.json PEERS_WORK=FOLDER HONE_PEERS=.. bench/bench_kernels.py --trials 0 --rounds 5 --out FOLDER
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

FLOAT_BYTES = 4
Work = dict[str, Any]

# Input channels, output channels, extent, taps (height, width), stride, padding.
CONVOLUTIONS: list[tuple[int, int, int, tuple[int, int], int, tuple[int, int]]] = [
    *[(i, o, e, (3, 3), 1, (1, 1)) for i, o, e in [(32, 64, 147), (64, 96, 35), (448, 384, 8), (64, 64, 224)]],
    *[(i, o, e, (3, 3), 1, (1, 1)) for i, o, e in [(256, 256, 56), (512, 512, 28), (512, 512, 14), (24, 24, 57)]],
    *[(i, o, e, (3, 3), 1, (1, 1)) for i, o, e in [(17, 33, 31), (16, 64, 55), (64, 256, 13), (96, 208, 14)]],
    *[(i, o, e, (3, 3), 1, (1, 1)) for i, o, e in [(32, 32, 128), (64, 12, 64), (12, 3, 512), (3, 64, 224)]],
    *[(i, o, e, (3, 3), 1, (0, 0)) for i, o, e in [(32, 32, 149), (80, 192, 73)]],
    *[(i, o, e, (3, 3), 2, (0, 0)) for i, o, e in [(288, 384, 35), (192, 320, 17), (3, 32, 299)]],
    *[(i, o, e, (3, 3), 2, (1, 1)) for i, o, e in [(64, 128, 56), (128, 256, 28), (256, 512, 14), (3, 24, 224)]],
    *[(128, 128, 17, (7, 1), 1, (3, 0)), (160, 192, 17, (1, 7), 1, (0, 3)), (384, 384, 8, (1, 3), 1, (0, 1))],
    *[(48, 64, 35, (5, 5), 1, (2, 2)), (32, 128, 28, (5, 5), 1, (2, 2)), (1, 20, 28, (5, 5), 1, (0, 0))],
    *[(i, o, e, (1, 1), 1, (0, 0)) for i, o, e in [(32, 64, 112), (64, 128, 56), (512, 512, 14), (1024, 1024, 7)]],
    *[(i, o, e, (1, 1), 1, (0, 0)) for i, o, e in [(16, 96, 112), (144, 24, 56), (320, 1280, 7), (960, 160, 7)]],
    *[(i, o, e, (1, 1), 1, (0, 0)) for i, o, e in [(768, 128, 17), (288, 64, 35), (512, 1000, 13), (832, 384, 7)]],
    *[(i, o, e, (1, 1), 2, (0, 0)) for i, o, e in [(256, 512, 56), (64, 128, 56), (1024, 2048, 14)]],
    *[(3, 64, 224, (11, 11), 4, (2, 2)), (3, 96, 224, (4, 4), 4, (0, 0)), (3, 768, 224, (16, 16), 16, (0, 0))],
]
# Channels, extent, taps, stride.
DEPTHWISE = [
    *[(96, 112, 3, 2), (144, 56, 3, 1), (384, 14, 3, 1), (576, 14, 3, 2), (960, 7, 3, 1), (40, 33, 3, 1)],
    *[(240, 28, 5, 1), (672, 14, 5, 1), (1152, 7, 5, 1), (96, 56, 7, 1), (384, 14, 7, 1), (64, 28, 11, 1)],
]
# Channels, extent, taps, stride, groups.
GROUPED = [(128, 56, 3, 1, 32), (256, 28, 3, 2, 32), (1024, 7, 3, 1, 32), (240, 28, 1, 1, 3), (48, 56, 3, 1, 2)]
# Input channels, output channels, depth, extent, stride; 3x3x3.
VOLUMES = [(128, 128, 4, 14, 1), (64, 128, 8, 28, 2), (256, 256, 2, 7, 1), (3, 32, 8, 56, 1), (16, 16, 16, 32, 1)]
# Rows, units, terms.
DENSE = [
    *[(1, 4096, 9216), (1, 10, 84), (1, 1000, 1280), (64, 64, 64), (100, 100, 100), (127, 129, 131), (384, 768, 768)],
    *[(8, 4096, 1024), (16, 1000, 2048), (4, 512, 512), (3000, 3, 5), (197, 2304, 768), (784, 128, 16), (32, 10, 784)],
]
# Matrices, rows, terms, units.
BATCHES = [
    *[(8, 64, 64, 64), (12, 384, 64, 384), (12, 384, 384, 64), (12, 197, 64, 197), (16, 10, 20, 30)],
    *[(1, 500, 500, 500), (64, 49, 32, 49), (12, 1, 64, 128)],
]
SOFTMAX = [(4608, 384), (1, 1000), (4096, 10), (2364, 197), (16, 30522), (784, 49), (1, 100000)]
LAYER_NORM = [(384, 1024), (197, 768), (49, 384), (3136, 96), (1, 768), (512, 100)]
# Channels, extent, window, stride, padding.
MAX_POOL = [(192, 71, 3, 2, 0), (64, 224, 2, 2, 0), (512, 14, 2, 2, 0), (288, 35, 3, 1, 1), (50, 8, 2, 2, 0)]
GLOBAL_POOL = [(1280, 7), (2048, 8), (1000, 13), (64, 56), (17, 9)]


def work(name: str, op: str, shapes: Mapping[str, Sequence[int]], flops: int, **attributes: Any) -> Work:
    elements = sum(math.prod(shape) for shape in shapes.values())
    listed = {key: list(shape) for key, shape in shapes.items()}
    head = {"id": name, "op": op, "dtype": "float32", "shapes": listed, "flops": flops, "bytes": FLOAT_BYTES * elements}
    return head | attributes


def convolution(
    name: str, data: Sequence[int], out: int, taps: Sequence[int], stride: int, pad: Sequence[int], groups: int = 1
) -> Work:
    """A convolution over two or three axes; `data` is the channels and the extents."""
    channels, *extents = data
    weight = [out, channels // groups, *taps]
    result = [1, out, *((e + 2 * p - t) // stride + 1 for e, t, p in zip(extents, taps, pad, strict=True))]
    shapes = {"x": [1, *data], "y": result, "w": weight}
    layout = "NCHW" if len(extents) == 2 else "NCDHW"
    attributes = {"layout": layout, "stride": stride, "pad": list(pad), "groups": groups}
    fused = {"bias": False, "relu": False, "add": False} if len(extents) == 2 else {}
    op = f"conv{len(extents)}d"
    return work(name, op, shapes, 2 * math.prod(result) * math.prod(weight[1:]), **attributes, **fused)


def convolutions() -> list[Work]:
    works = []
    for i, o, e, taps, s, pad in CONVOLUTIONS:
        name = f"more_conv{taps[0]}x{taps[1]}_{i}_{o}_{e}_s{s}_p{max(pad)}"
        works.append(convolution(name, [i, e, e], o, taps, s, pad))
    for c, e, t, s in DEPTHWISE:
        works.append(convolution(f"more_dw{t}x{t}_{c}_{e}_s{s}", [c, e, e], c, [t, t], s, [t // 2] * 2, c))
    for c, e, t, s, groups in GROUPED:
        works.append(
            convolution(f"more_conv{t}x{t}_{c}_{e}_s{s}_g{groups}", [c, e, e], c, [t, t], s, [t // 2] * 2, groups)
        )
    for i, o, d, e, s in VOLUMES:
        works.append(convolution(f"more_conv3d_{i}_{o}_{d}x{e}_s{s}", [i, d, e, e], o, [3, 3, 3], s, [1, 1, 1]))
    return works


def products() -> list[Work]:
    works = []
    for m, n, k in DENSE:
        shapes = {"x": [m, k], "y": [m, n], "w": [n, k]}
        works.append(work(f"more_dense_{m}_{n}_{k}", "dense", shapes, 2 * m * n * k, layout="MK,NK->MN"))
    for b, m, k, n in BATCHES:
        shapes = {"x": [b, m, k], "y": [b, m, n], "w": [b, k, n]}
        works.append(work(f"more_bmm_{b}_{m}_{k}_{n}", "bmm", shapes, 2 * b * m * k * n, layout="BMK,BKN->BMN"))
    return works


def rows_and_pools() -> list[Work]:
    works = []
    for op, flops, listed in (("softmax", 5, SOFTMAX), ("layer_norm", 8, LAYER_NORM)):
        for r, c in listed:
            works.append(work(f"more_{op}_{r}_{c}", op, {"x": [r, c], "y": [r, c]}, flops * r * c, axis=-1))
    for c, e, window, s, pad in MAX_POOL:
        out = (e + 2 * pad - window) // s + 1
        shapes = {"x": [1, c, e, e], "y": [1, c, out, out]}
        attributes = {"layout": "NCHW", "k": window, "stride": s, "pad": [pad, pad]}
        works.append(
            work(f"more_max_pool_{c}_{e}_k{window}s{s}", "max_pool", shapes, window**2 * c * out**2, **attributes)
        )
    for c, e in GLOBAL_POOL:
        shapes = {"x": [1, c, e, e], "y": [1, c, 1, 1]}
        works.append(work(f"more_gap_{c}_{e}", "gap", shapes, c * e * e, layout="NCHW"))
    # What a call costs that computes next to nothing, as the peers' list has it.
    works.append(work("overhead_relu_16", "relu", {"x": [1, 16], "y": [1, 16]}, 16))
    return works


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    works = [*convolutions(), *products(), *rows_and_pools()]
    pathlib.Path(sys.argv[1]).write_text("[\n" + ",\n".join(map(json.dumps, works)) + "\n]\n", encoding="utf-8")
    print(f"{len(works)} workloads in {sys.argv[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
