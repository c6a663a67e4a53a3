"""The Python package, on a module that the system's C compiler makes.

Usage: module_test.py PACKAGE_FOLDER SOURCE_FOLDER
"""

from __future__ import annotations

import copy
import multiprocessing
import os
import pathlib
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

SOURCE_FOLDER = sys.argv.pop(2)
sys.path.insert(0, sys.argv.pop(1))

import hone  # noqa: E402

SOURCE = """
#include "runtime/module_abi.h"
static void scale(void* const* b, int64_t begin, int64_t end, void* scratch) {
  const float* x = b[0];
  const float* p = b[1];
  float* y = b[2];
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] * p[i];
}
static const int64_t shape[2] = {2, 2};
static const struct hone_buffer buffers[3] = {
    {"x", HONE_ROLE_INPUT, 1, 2, 0, shape, "NC", 16, 0, 0},
    {"p", HONE_ROLE_CONSTANT, 1, 2, 0, shape, "NC", 16, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 2, 0, shape, "NC", 16, 0, 0}};
static const struct hone_launch launches[1] = {{"scale", scale, 4, 0, HONE_PHASE_RUN, 0, 0, 0}};
static const struct hone_kernel kernels[1] = {
    {"scale", "multiply", "00", "", "tuned", 4, 1, 3, 1, buffers, launches}};
static const struct hone_value x = {"x", 1, {0}, 2, shape, 16}, y = {"y", 1, {0}, 2, shape, 16};
static const struct hone_location locations[3] = {
    {HONE_SPACE_INPUT, 0, 0}, {HONE_SPACE_PARAMETERS, 0, 0}, {HONE_SPACE_OUTPUT, 0, 0}};
static const struct hone_call calls[1] = {{0, 0, locations}};
static const struct hone_function functions[1] = {{"main", 1, 1, 1, 0, &x, &y, calls, 0}};
const struct hone_module hone_module_v1 = {
    HONE_MODULE_ABI_VERSION, 1, 1, 0, "llvm -threads=1", "cc", kernels, functions, 16};
"""


# A parallel launch that finds nothing to do.
EMPTY_SOURCE = (
    SOURCE.replace("{2, 2}", "{2, 0}")
    .replace('"NC", 16', '"NC", 0')
    .replace("shape, 16}", "shape, 0}")
    .replace("scale, 4, 0,", "scale, 1, 0,")
    .replace("i < end", "i < 0")
)


# A kernel that reads its input late, when another thread could have set it.
SLOW_SOURCE = SOURCE.replace("  for (", "  for (volatile int turn = 0; turn < 50000; ++turn) {}\n  for (", 1)


# The same for two rows and, as a second specialisation, for one.
SECOND_KERNEL = """
static const int64_t row[2] = {1, 2};
static const struct hone_buffer row_buffers[3] = {
    {"x", HONE_ROLE_INPUT, 1, 2, 0, row, "NC", 8, 0, 0},
    {"p", HONE_ROLE_CONSTANT, 1, 2, 0, row, "NC", 8, 0, 0},
    {"y", HONE_ROLE_OUTPUT, 1, 2, 0, row, "NC", 8, 0, 0}};
static const struct hone_launch row_launches[1] = {{"scale", scale, 2, 0, HONE_PHASE_RUN, 0, 0, 0}};
static const struct hone_value row_x = {"x", 1, {0}, 2, row, 8}, row_y = {"y", 1, {0}, 2, row, 8};
"""
TWO_SHAPES_SOURCE = (
    SOURCE.replace("static const struct hone_kernel kernels[1]", SECOND_KERNEL + "static const struct hone_kernel kernels[2]")
    .replace("launches}};", 'launches}, {"row", "multiply", "01", "", "tuned", 2, 1, 3, 1, row_buffers, row_launches}};')
    .replace("calls[1] = {{0, 0, locations}", "calls[2] = {{0, 0, locations}, {1, 0, locations}")
    .replace("functions[1]", "functions[2]")
    .replace("calls, 0}}", 'calls, 0}, {"main", 1, 1, 1, 0, &row_x, &row_y, calls + 1, 0}}')
    .replace("VERSION, 1, 1, 0,", "VERSION, 2, 2, 0,")
)


def run_on_ones(module: hone.Module) -> object:
    module.set_input("x", np.ones((2, 2), "float32"))
    module.run()
    return module.get_output(0)


def compile_module(folder: str, text: str = SOURCE) -> str:
    source, module = pathlib.Path(folder) / "scale.c", pathlib.Path(folder) / "scale.so"
    source.write_text(text)
    command = ["cc", "-shared", "-fPIC", "-nostdlib", "-I", SOURCE_FOLDER, "-o", str(module), str(source)]
    subprocess.run(command, check=True)
    code = module.read_bytes()
    code += bytes(-len(code) % 4096)
    parameters = struct.pack("4f", 2, 3, 5, 7)
    trailer = struct.pack("<QQ32s8s", len(code), len(parameters), bytes(32), b"HONEPRM1")
    module.write_bytes(code + parameters + trailer)
    return str(module)


class ModuleTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.module = hone.Module(compile_module(self.folder.name), threads=2)

    def test_describes_inputs_and_outputs(self) -> None:
        self.assertEqual(self.module.inputs, [hone.TensorInfo("x", (2, 2), np.dtype("float32"))])
        self.assertEqual(self.module.outputs, [hone.TensorInfo("y", (2, 2), np.dtype("float32"))])
        self.assertEqual(self.module.threads, 2)

    def test_runs(self) -> None:
        self.module.set_input("x", np.array([[1, 2], [3, 4]], "float32"))
        self.module.run()
        np.testing.assert_array_equal(self.module.get_output(0), [[2, 6], [15, 28]])

    def test_takes_arrays_of_any_strides(self) -> None:
        self.module.set_input("x", np.array([[1, 3], [2, 4]], "float32").T)
        self.module.run()
        np.testing.assert_array_equal(self.module.get_output(0), [[2, 6], [15, 28]])

    def test_runs_on_a_mapping_and_gives_all_outputs(self) -> None:
        (y,) = self.module.run({"x": np.ones((2, 2), "float32")})
        np.testing.assert_array_equal(y, [[2, 3], [5, 7]])

    def test_inputs_and_outputs_have_names_and_numbers(self) -> None:
        self.module.set_input(0, np.ones((2, 2), "float32"))
        self.module.run()
        np.testing.assert_array_equal(self.module.get_output("y"), self.module.get_output(0))
        with self.assertRaisesRegex(hone.Error, r"expected an output of \['y'\], found 'z'"):
            self.module.get_output("z")

    def test_inputs_that_are_not_set_are_named(self) -> None:
        with self.assertRaisesRegex(hone.Error, r"found none for x \(float32\[2, 2\]\); set what is missing"):
            self.module.run()
        with self.assertRaisesRegex(hone.Error, "expected a run before output 'y' is read, found none; call run"):
            self.module.get_output("y")

    def test_says_what_it_is(self) -> None:
        self.assertEqual(repr(self.module), "<hone.Module (x: float32[2, 2]) -> (y: float32[2, 2]), threads=2>")
        self.assertEqual(self.module.target, "llvm -threads=1")
        self.assertRegex(hone.__version__, r"^\d+\.\d+\.\d+$")

    def test_takes_arrays_of_any_byte_order(self) -> None:
        (y,) = self.module.run({"x": np.array([[1, 2], [3, 4]], ">f4")})
        np.testing.assert_array_equal(y, [[2, 6], [15, 28]])

    def test_outputs_are_copies(self) -> None:
        self.module.set_input("x", np.ones((2, 2), "float32"))
        self.module.run()
        first = self.module.get_output(0)
        self.module.set_input("x", np.zeros((2, 2), "float32"))
        self.module.run()
        np.testing.assert_array_equal(first, [[2, 3], [5, 7]])

    def test_runs_on_copied_parameters(self) -> None:
        module = hone.Module(compile_module(self.folder.name), threads=1, copy_parameters=True)
        module.set_input("x", np.ones((2, 2), "float32"))
        module.run()
        np.testing.assert_array_equal(module.get_output(0), [[2, 3], [5, 7]])

    def test_times_in_seconds(self) -> None:
        self.assertGreater(self.module.time(100), 0)

    def test_times_each_call_of_a_kernel(self) -> None:
        self.assertEqual([(call.name, call.tier, call.flops) for call in self.module.calls], [("scale", "tuned", 4.0)])
        self.assertGreater(self.module.time_call(0, 100), 0)
        self.assertGreaterEqual(self.module.profile(3)[0], 0)
        with self.assertRaisesRegex(ValueError, "expected a call below 1, found 1"):
            self.module.time_call(1, 1)

    def test_times_the_executor_without_kernels(self) -> None:
        self.assertGreater(self.module.time_executor(1000), 0)

    def test_goes_on_in_a_forked_child(self) -> None:
        run_on_ones(self.module)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=lambda: queue.put(run_on_ones(self.module)))
        child.start()
        np.testing.assert_array_equal(queue.get(timeout=30), [[2, 3], [5, 7]])
        child.join(30)
        self.assertEqual(child.exitcode, 0)

    def test_copies_are_refused(self) -> None:
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(hone.Error, r"found a copy; open it again by hone.Module\(path\)"):
                copied(self.module)
        run_on_ones(self.module)

    def test_threads_of_python_take_turns(self) -> None:
        path = compile_module(self.folder.name, SLOW_SOURCE)
        for threads in (1, 2):
            module, wrong = hone.Module(path, threads=threads), []

            def work(value: int, module: hone.Module = module, wrong: list[object] = wrong) -> None:
                x = np.full((2, 2), value, "float32")
                for _ in range(100):
                    (y,) = module.run({"x": x})
                    if not np.array_equal(y, x * np.array([[2, 3], [5, 7]])):
                        wrong.append(y)

            workers = [threading.Thread(target=work, args=(value,), daemon=True) for value in range(3)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join(60)  # a deadlock is not to hang the tests
            self.assertFalse(any(worker.is_alive() for worker in workers))
            self.assertEqual(wrong, [])

    def test_gives_empty_outputs(self) -> None:
        module = hone.Module(compile_module(self.folder.name, EMPTY_SOURCE), threads=1)
        module.set_input("x", np.ones((2, 0), "float32"))
        module.run()
        self.assertEqual(module.get_output(0).shape, (2, 0))
        self.assertEqual(module.get_output(0).dtype, np.dtype("float32"))

    def test_the_shape_of_an_input_chooses_the_specialisation(self) -> None:
        module = hone.Module(compile_module(self.folder.name, TWO_SHAPES_SOURCE), threads=1)
        self.assertEqual([inputs[0].shape for inputs in module.specialisations], [(2, 2), (1, 2)])
        for rows in (1, 2, 1):
            module.set_input("x", np.ones((rows, 2), "float32"))
            module.run()
            self.assertEqual(module.inputs[0].shape, (rows, 2))
            np.testing.assert_array_equal(module.get_output(0), [[2, 3], [5, 7]][:rows])
        self.assertEqual(module.specialisation, 1)
        with self.assertRaisesRegex(ValueError, "x=2,2 or x=1,2.*found x=3,2"):
            module.set_input("x", np.ones((3, 2), "float32"))
        with self.assertRaisesRegex(ValueError, r"found float64\[2, 2\]; convert it by .astype\('float32'\)$"):
            module.set_input("x", np.ones((2, 2)))
        module.choose(0)
        self.assertGreater(module.time(1), 0)
        with self.assertRaisesRegex(ValueError, "below 2, found 2"):
            module.choose(2)

    def test_takes_paths_of_all_kinds(self) -> None:
        path = compile_module(self.folder.name)
        for same in (path, path.encode(), pathlib.Path(path)):
            self.assertEqual(hone.Module(same).inputs[0].name, "x")
        odd = os.fsencode(self.folder.name) + b"/\xff.so"
        shutil.copy(path, odd)
        self.assertEqual(hone.Module(odd).inputs[0].name, "x")
        with self.assertRaisesRegex(ValueError, "zero byte"):
            hone.Module(path + "\0.txt")

    def test_opens_on_a_device_by_its_name(self) -> None:
        path = compile_module(self.folder.name)
        self.assertEqual(hone.Module(path, device="cpu").threads, 1)
        for device in ("gpu", "opencl:", 0):
            with self.assertRaisesRegex(ValueError, "expected a device such as"):
                hone.Module(path, device=device)
        with self.assertRaisesRegex(ValueError, "OpenCL"):  # of a module for the CPU, or no device
            hone.Module(path, device="opencl:0")

    def test_refuses_numbers_of_threads_that_make_no_sense(self) -> None:
        for threads in (-1, 1025, 2**32 + 1):
            with self.assertRaisesRegex(ValueError, f"found {threads}"):
                hone.Module(compile_module(self.folder.name), threads=threads)

    def test_names_what_is_wrong(self) -> None:
        with self.assertRaisesRegex(ValueError, "found 'z'"):
            self.module.set_input("z", np.ones((2, 2), "float32"))
        with self.assertRaisesRegex(ValueError, r"float32\[2, 2\].*found float32\[4\]; reshape it by .reshape\(\(2, 2\)\)"):
            self.module.set_input("x", np.ones(4, "float32"))
        with self.assertRaisesRegex(ValueError, r"float32\[2, 2\].*found float32\[2, 3\]; give it that shape, or compile"):
            self.module.set_input("x", np.ones((2, 3), "float32"))
        with self.assertRaisesRegex(ValueError, r"found float64\[2, 2\]; convert it by .astype\('float32'\)"):
            self.module.set_input("x", np.ones((2, 2)))
        with self.assertRaisesRegex(ValueError, "found the model 'a.onnx'; hone.build compiles and opens it"):
            hone.Module("a.onnx")
        with self.assertRaisesRegex(ValueError, "output below 1"):
            self.module.get_output(1)
        for what, call in (
            (r"inputs as \{name: array\}, found a value of type list", lambda: self.module.run([1])),
            (r"inputs as \{name: array\}, found a value of type ndarray", lambda: self.module.run(np.ones((2, 2)))),
            (r"an output below 1, or one of \['y'\], found None", lambda: self.module.get_output(None)),
            ("a specialisation below 1, found '0'", lambda: self.module.choose("0")),
            ("a call below 1, found 0.5", lambda: self.module.time_call(0.5, 1)),
            (f"runs, found {2**64 + 1}", lambda: self.module.time(2**64 + 1)),
            (f"runs, found {2**64 + 1}", lambda: self.module.time_executor(2**64 + 1)),
            (f"runs, found {2**32 + 1}", lambda: self.module.profile(2**32 + 1)),
            ("runs, found 0", lambda: self.module.time(0)),
            ("threads, or 0, which chooses, found None", lambda: hone.Module("a.so", threads=None)),
            ("a path that is not empty", lambda: hone.Module("")),
            ("a path that is not empty", lambda: hone.Module(3)),
        ):
            with self.assertRaisesRegex(hone.Error, what):
                call()
        with self.assertRaisesRegex(ValueError, "/nowhere.so"):
            hone.Module("/nowhere.so")


if __name__ == "__main__":
    unittest.main()
