"""Tensors of other libraries on a GPU, on the driver that stands in for NVIDIA's: device_tensor_test.py BUILD_FOLDER

LD_LIBRARY_PATH names that driver. Its memory is the processor's, so that tests can look into it.
"""

from __future__ import annotations

import ctypes
import gc
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BUILD / "python"))

import hone  # noqa: E402
from hone import device_tensor  # noqa: E402

MODEL = "def @main(%x: Tensor[(2, 3), {0}]) {{ add(%x, %x) }}\n"


class OfInterface:
    """A tensor of a library that has no DLPack."""

    def __init__(self, tensor: Any, **changes: Any) -> None:
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **changes}


class DeviceTensorTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(holder := tempfile.TemporaryDirectory())
        cls.folder = pathlib.Path(holder.name)

    def module(self, dtype: str = "float32") -> hone.Module:
        model, path = self.folder / f"{dtype}.relay", self.folder / f"{dtype}.so"
        model.write_text(MODEL.format(dtype))
        compiles = [BUILD / "bin/hone", "compile", model, "-o", path, "--target", "cuda -arch=sm_80"]
        subprocess.run(compiles, check=True, capture_output=True, env={"XDG_DATA_HOME": str(self.folder)})
        return hone.Module(path, device="cuda:0")

    def doubled(self, x: Any) -> tuple[hone.Module, device_tensor.DeviceTensor]:
        module = self.module(str(x.dtype))
        module.set_input("x", x)
        module.run()
        return module, module.get_device_output(0)

    X = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_an_output_is_an_input_by_dlpack(self) -> None:
        _, tensor = self.doubled(self.X)
        self.assertEqual((tensor.__dlpack_device__(), tensor.shape), ((2, 0), (2, 3)))
        second = self.module()
        second.set_input("x", tensor)
        second.run()
        np.testing.assert_array_equal(second.get_output(0), 4 * self.X)
        (result,) = second.run({"x": tensor})
        np.testing.assert_array_equal(result, 4 * self.X)

    def test_an_output_is_an_input_by_the_array_interface(self) -> None:
        _, tensor = self.doubled(self.X)
        second = self.module()
        second.set_input(0, OfInterface(tensor))
        second.run()
        np.testing.assert_array_equal(second.get_output(0), 4 * self.X)

    def test_a_view_lies_in_the_devices_memory(self) -> None:
        module, tensor = self.doubled(self.X)
        address, is_read_only = tensor.__cuda_array_interface__["data"]
        self.assertFalse(is_read_only)
        seen = np.frombuffer((ctypes.c_float * 6).from_address(address), np.float32)
        np.testing.assert_array_equal(seen, 2 * self.X.ravel())
        module.set_input("x", self.X + 1)
        module.run()
        np.testing.assert_array_equal(seen, 2 * self.X.ravel() + 2)

    def test_what_nobody_takes_is_freed(self) -> None:
        _, tensor = self.doubled(self.X)
        capsule = tensor.__dlpack__(stream=1)
        self.assertEqual(len(device_tensor._exports), 1)
        del capsule
        gc.collect()
        self.assertEqual(len(device_tensor._exports), 0)

    def test_another_shape_type_or_layout_is_refused(self) -> None:
        _, tensor = self.doubled(self.X)
        module = self.module()
        for changes in ({"shape": (3, 2)}, {"typestr": "<i4"}):
            with self.assertRaisesRegex(hone.Error, "expected a tensor on the CPU or on the model's device"):
                module.set_input("x", OfInterface(tensor, **changes))
        with self.assertRaisesRegex(hone.Error, "row-major"):
            module.set_input("x", OfInterface(tensor, strides=(4, 8)))
        with self.assertRaisesRegex(hone.Error, "give the tensor by DLPack"):
            module.set_input("x", OfInterface(tensor, typestr="<V2"))

    def test_before_a_run_there_is_none(self) -> None:
        with self.assertRaisesRegex(hone.Error, "expected a run before output"):
            self.module().get_device_output(0)


if __name__ == "__main__":
    unittest.main()
