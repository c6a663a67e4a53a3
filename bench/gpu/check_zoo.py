#!/usr/bin/env python3
"""Compares models of the zoo on a device with the same models on this processor: check_zoo.py [--device cuda:0] [NAME ...]

Prints a line a model: the largest difference as a part of the largest value. Exits 1 where a model fails or differs by more
than 1e-3. Runs from a build's tree or from a bundle; needs numpy.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
try:
    import numpy as np

    import bench_gpu
except ModuleNotFoundError as error:
    sys.exit(f"check_zoo.py: expected a Python with numpy, found none ({error}); install it: {sys.executable} -m pip install numpy")
import result_file
from output_error import largest_error

ZOO = [
    *["mlp", "lstm", "dqn", "gcn", "dcgan", "synthetic", "squeezenet", "mobilenet", "mobilenet_v2", "resnet18", "resnet50"],
    *["resnet_3d", "inception_v3", "densenet121", "vgg16", "bert"],
]
LIMIT = 1e-3


def inputs_of(module: Any) -> dict[str, Any]:
    """Random; of integers ones, which every model can take for words and masks."""
    generator = np.random.default_rng(3)
    return {
        info.name: generator.standard_normal(info.shape, dtype=np.float32) if info.dtype == np.float32 else np.ones(info.shape, info.dtype)
        for info in module.inputs
    }


def difference(hone: Any, name: str, device: bench_gpu.Device, folder: pathlib.Path) -> float:
    model = str(folder / f"{name}.onnx")
    result_file.run("zoo", name, "-o", model)
    outputs = []
    for target, where in (("native", None), (device.target, device.name)):
        path = str(folder / f"{name}-{where or 'cpu'}.so")
        result_file.hone("compile", model, "-o", path, "--target", target)
        module = hone.Module(path, device=where)
        outputs.append(module.run(inputs_of(module)))
    return largest_error(outputs[1], outputs[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of the zoo; default: one of each kind")
    parser.add_argument("--device", default="cuda:0")
    args = parser.parse_args()
    sys.path.insert(0, str(result_file.BUILD / "python"))
    import hone

    device = bench_gpu.find_device(args.device)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names or ZOO:
            try:
                error = difference(hone, name, device, pathlib.Path(folder))
                verdict, said = "ok" if error < LIMIT else "differs", f"{error:.1e}"
            except Exception as fault:
                verdict, said = "failed", result_file.said(fault)
            failed += [name] if verdict != "ok" else []
            print(f"{name:<14} {verdict:<8} {said}", flush=True)
    print(f"{len(args.names or ZOO) - len(failed)} right on {device.model}" + (f"; not so: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
