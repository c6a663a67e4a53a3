"""Graphs built by hand become the text that was meant, and compute it.

Usage: graph_test.py PACKAGE_FOLDER
"""

from __future__ import annotations

import copy
import gc
import math
import pathlib
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

sys.path.insert(0, sys.argv.pop(1))

import hone  # noqa: E402


def run(function: hone.Function, **inputs: object) -> list[object]:
    model = hone.build(hone.module(function), threads=1)
    for name, value in inputs.items():
        model.set_input(name, value)
    model.run()
    return [model.get_output(index) for index in range(len(model.outputs))]


class GraphTest(unittest.TestCase):
    def test_operators_of_python_are_those_of_the_graph(self) -> None:
        x = hone.var("x", (2,))
        (y,) = run(hone.Function([x], (1 - x) * 2 / (x + 3) + -x), x=np.array([1, 2], np.float32))
        np.testing.assert_allclose(y, [-1, -2.4], rtol=1e-6)

    def test_a_value_used_twice_is_computed_once(self) -> None:
        x = hone.var("x", (2,))
        y = hone.op.exp(x)
        text = str(hone.module(hone.Function([x], y * y)))
        self.assertEqual(text.count("exp("), 1)

    def test_constants_keep_their_bits(self) -> None:
        for value in (0.1, math.inf, -0.0, 1e-45, math.nan):
            x = hone.var("x", ())
            graph = hone.module(hone.Function([x], x + hone.const(np.float32(value))))
            again = hone.Graph(graph.text())
            self.assertEqual(str(again), str(graph))
        big = np.arange(6, dtype=np.int8).reshape(2, 3)
        x = hone.var("x", (2, 3), "int8")
        (y,) = run(hone.Function([x], x + hone.const(big)), x=big)
        np.testing.assert_array_equal(y, 2 * big)

    def test_bfloat16_goes_in_and_out_as_bits(self) -> None:
        x = hone.var("x", (3,), "bfloat16")
        model = hone.build(hone.module(hone.Function([x], hone.op.nn.relu(x))), threads=1)
        (y,) = model.run({"x": np.array([0x3F80, 0xBF80, 0x4000], np.uint16)})  # 1, -1, 2
        self.assertEqual(y.view(np.uint16).tolist(), [0x3F80, 0, 0x4000])
        self.assertIn("x: bfloat16[3]", repr(model))
        with self.assertRaisesRegex(hone.Error, r"expected bfloat16\[3\] .* found float32\[3\]; .*ml_dtypes"):
            model.set_input("x", np.zeros(3, np.float32))

    @unittest.skipIf(ml_dtypes is None, "ml_dtypes is not installed")
    def test_bfloat16_of_ml_dtypes(self) -> None:
        x = hone.var("x", (3,), "bfloat16")
        two = hone.const(np.array([1, 2, 3], ml_dtypes.bfloat16))
        graph = hone.module(hone.Function([x], x * two + hone.const(0.5, "bfloat16")))
        model = hone.build(graph, threads=1)
        self.assertEqual(model.inputs[0].dtype, ml_dtypes.bfloat16)
        (y,) = model.run({"x": np.array([1, -1, 4], ml_dtypes.bfloat16)})
        self.assertEqual(y.dtype, ml_dtypes.bfloat16)
        self.assertEqual(y.astype(np.float32).tolist(), [1.5, -1.5, 12.5])
        bound = graph.bind({"x": np.array([1, -1, 4], ml_dtypes.bfloat16)})
        (y,) = hone.build(bound, threads=1).run({})
        self.assertEqual(y.astype(np.float32).tolist(), [1.5, -1.5, 12.5])

    def test_float16_goes_in_and_out(self) -> None:
        x = hone.var("x", (3,), "float16")
        (y,) = run(hone.Function([x], x + x), x=np.array([1, -1, 2], np.float16))
        self.assertEqual((y.dtype, y.tolist()), (np.float16, [2, -2, 4]))

    def test_what_things_are_shows(self) -> None:
        x = hone.var("x", (2,))
        f = hone.Function([x], x + 1)
        self.assertEqual(repr(x), "hone.var('x', (2,), 'float32')")
        self.assertEqual(repr(f), "<hone.Function of x>")
        self.assertEqual(repr(hone.module(f)), "<hone.Graph (x: float32[2]) -> (output0: float32[2])>")
        with tempfile.TemporaryDirectory() as folder:
            report = hone.module(f).compile(pathlib.Path(folder) / "m.so", threads=1)
        self.assertRegex(repr(report), r"^<hone.CompileReport: 1 kernels \(1 \w+\) for llvm ")

    def test_names_that_need_quotes(self) -> None:
        x = hone.var('in.1 "x"\\', (2,))
        graph = hone.module(hone.Function([x], hone.op.nn.relu(x)))
        self.assertIn("nn.relu", str(graph))

    def test_attributes(self) -> None:
        x = hone.var("x", (1, 2, 4, 4))
        call = hone.op.nn.max_pool2d(x, pool_size=[2, 2], strides=(2, 2), ceil_mode=True)
        text = str(hone.module(hone.Function([x], call)).run_pass("InferTypes"))
        self.assertIn("nn.max_pool2d(%x, ceil_mode=true, pool_size=[2, 2], strides=[2, 2])", text)

    def test_deep_graphs(self) -> None:
        x = hone.var("x", (2,))
        y: hone.Expr = x
        for _ in range(5000):
            y = hone.op.nn.relu(y)
        self.assertEqual(str(hone.module(hone.Function([x], y))).count("nn.relu"), 5000)

    def test_params_of_the_wrong_type_are_refused(self) -> None:
        x, w = hone.var("x", (2,)), hone.var("w", (2,))
        graph = hone.module(hone.Function([x, w], x + w))
        with self.assertRaisesRegex(ValueError, r"expected a Tensor\[\(2\), float32\] for %w, found a Tensor\[\(2\), float64\]"):
            graph.bind({"w": np.zeros(2)})
        with self.assertRaisesRegex(ValueError, "expected the name of a parameter of @main, found 'v'"):
            graph.bind({"v": np.zeros(2, np.float32)})

    def test_numerics_reach_the_kernels(self) -> None:
        x = hone.var("x", (4, 4))
        inner = hone.GlobalVar("inner")
        graph = hone.module(
            {"inner": hone.Function([x], hone.op.nn.dense(x, x)), "main": hone.Function([x], inner(x))}
        )
        with tempfile.TemporaryDirectory() as folder:
            for numerics in ("strict", "default", "fast"):
                report = graph.with_numerics(numerics).compile(pathlib.Path(folder) / "m.so", threads=1)
                workloads = [kernel["workload"] for kernel in report["kernels"]]
                self.assertEqual(len(workloads), 1)
                self.assertTrue(workloads[0].endswith(f"numerics={numerics}"), workloads)
        model = hone.build(graph, threads=1, numerics="strict")
        model.set_input("x", np.eye(4, dtype=np.float32))
        model.run()
        np.testing.assert_array_equal(model.get_output(0), np.eye(4))
        with self.assertRaisesRegex(ValueError, "expected numerics strict, default or fast, found 'loose'"):
            hone.build(graph, numerics="loose")

    def test_graphs_never_change_so_that_their_copies_are_themselves(self) -> None:
        x = hone.var("x", (2,))
        graph = hone.module(hone.Function([x], hone.op.exp(x)))
        self.assertIs(copy.copy(graph), graph)
        self.assertIs(copy.deepcopy([graph])[0], graph)
        copy.copy(graph)
        gc.collect()
        self.assertIn("exp(", str(graph))
        self.assertIn("exp(", str(hone.module(hone.Function([x], copy.copy(hone.op).exp(x)))))

    def test_numbers_that_an_element_type_does_not_hold_are_refused(self) -> None:
        for dtype, value, found in (
            ("int32", 1.5, "1.5"),
            ("int32", math.nan, "nan"),
            ("int8", 128, "128"),
            ("uint8", -1, "-1"),
            ("uint64", -1, "-1"),
            ("uint64", 2.0**64, "1.8446744073709552e\\+19"),
            ("int64", 2.0**63, "9.223372036854776e\\+18"),
            ("bool", 2, "2"),
            ("int32", np.array([1.0, 2.5]), "2.5"),
            ("float16", 1e6, "1000000.0"),
        ):
            with self.subTest(dtype=dtype, value=value):
                y = hone.var("y", (2,), dtype)
                with self.assertRaisesRegex(hone.Error, f"expected values that {dtype} holds, found {found};"):
                    y + value
                with self.assertRaisesRegex(hone.Error, f"expected values that {dtype} holds, found {found};"):
                    hone.const(value, dtype)
        for value in (None, "1", 1j, [None]):
            with self.subTest(value=value), self.assertRaisesRegex(hone.Error, "expected a number or an array of them"):
                hone.var("x", (2,)) * value
        y = hone.var("y", (2,), "int32")
        u = hone.var("u", (1,), np.uint64)
        (most,) = run(hone.Function([u], u + (2**64 - 2)), u=np.ones(1, np.uint64))
        self.assertEqual((most.dtype, most.tolist()), (np.uint64, [2**64 - 1]))
        (sums,) = run(hone.Function([y], (y + 1.0) * True + np.array([2.0, 3.0])), y=np.array([1, 2], np.int32))
        self.assertEqual((sums.dtype, sums.tolist()), (np.int32, [4, 6]))
        x = hone.var("x", (1,))
        (rounded,) = run(hone.Function([x], x + 0.1 + math.inf * 0), x=np.zeros(1, np.float32))
        self.assertTrue(np.isnan(rounded[0]))

    def test_arrays_may_stand_on_the_left(self) -> None:
        x = hone.var("x", (3,))
        ones = np.ones(3, np.float32)
        (y,) = run(hone.Function([x], ones * x + (ones - x) / (np.float32(2) + x)), x=np.array([0, 1, 2], np.float32))
        np.testing.assert_allclose(y, [0.5, 1, 1.75], rtol=1e-6)

    def test_element_types_may_be_numpy_s(self) -> None:
        for dtype in (np.int32, np.dtype("int32"), "int32", "<i4"):
            self.assertEqual(hone.var("x", (2,), dtype).dtype, "int32")
            self.assertEqual(hone.const(1, dtype).dtype, "int32")
            x = hone.var("x", (2,))
            text = str(hone.module(hone.Function([x], hone.op.cast(x, dtype=np.dtype(dtype).type))))
            self.assertIn("dtype=int32", text)
        for dtype in (None, np.complex64, "float99", 3):
            with self.assertRaisesRegex(hone.Error, "expected an element type of float32, .*bool, found"):
                hone.var("x", (2,), dtype)

    def test_models_of_many_inputs_print_a_few(self) -> None:
        inputs = [hone.var(f"x{number}", (1,)) for number in range(20)]
        function = hone.Function(inputs, hone.op.concatenate(hone.Tuple(inputs), axis=0))
        graph = hone.module(function)
        model = hone.build(graph, threads=1)
        for text in (repr(function), repr(graph), repr(model)):
            self.assertIn("x7", text)
            self.assertNotIn("x8", text)
            self.assertIn("... 12 more", text)
        with self.assertRaisesRegex(hone.Error, r"'x7', \.\.\. 12 more\], found 'y'"):
            model.set_input("y", np.zeros(1, np.float32))

    def test_star_imports_leave_python_s_names(self) -> None:
        names: dict[str, object] = {}
        exec("from hone import *", names)
        builtins = names.pop("__builtins__")
        self.assertEqual(set(names) & set(builtins), set())

    def test_mistakes_are_sentences(self) -> None:
        with self.assertRaisesRegex(ValueError, "1:1: expected 'def' or 'meta'"):
            hone.Graph("hello")
        with self.assertRaisesRegex(AttributeError, "found 'nn.no_such'"):
            hone.op.nn.no_such(1)
        x = hone.var("x", (2,))
        graph = hone.module(hone.Function([x], hone.op.exp(x)))
        with self.assertRaisesRegex(ValueError, "unknown pass 'Nope'; known: InferTypes InlineFunctions"):
            graph.run_pass("Nope")
        with self.assertRaisesRegex(ValueError, "expected format tree, dot"):
            graph.draw(format="gif")
        with self.assertRaisesRegex(hone.Error, "tuned") as caught, tempfile.TemporaryDirectory() as folder:
            graph.compile(pathlib.Path(folder) / "out.so", require_tuned=True)
        self.assertEqual(caught.exception.code, 4)
        y = hone.var("y", (2,))
        for what, call in (
            ("variables to be parameters of their function, found %y", lambda: hone.module(hone.Function([x], x + y))),
            (r"found 'a\\x00b'", lambda: hone.var("a\0b")),
            (r"found 'a\\x00b'", lambda: hone.module({"a\0b": hone.Function([x], x)})),
            (r"text that UTF-8 holds, found '\\udcff'", lambda: hone.var("\udcff")),
            (r"a list of what hone.var gives, found hone.var\('x'", lambda: hone.Function(x, x)),
            ("expected a hone.Function, or functions as .*, found 3 for 'main'", lambda: hone.module({"main": 3})),
            (r"picture \(tree, dot, svg, pdf or png\) .* found ''", lambda: graph.draw("picture")),
            (r"found 'FuseOps\\x00x'", lambda: graph.run_pass("FuseOps\0x")),
            (r"found 'x\\x00y'", lambda: graph.bind({"x\0y": np.zeros(2, np.float32)})),
            ("constants as {name: array}, found a value of type list", lambda: graph.bind([1])),
            (r"for variable 'x', as in \(1, 3\), found 3", lambda: hone.var("x", 3)),
            (r"for variable 'x', as in \(1, 3\), found 1.0", lambda: hone.var("x", (1.0,))),
            ("graph text, found a value of type bytes", lambda: hone.Graph(b"")),
            ("a number of a field|the number of a field", lambda: x["a"]),
            ("threads, or 0, which chooses, found 1.0", lambda: hone.build(graph, threads=1.0)),
            ("threads, or 0, which chooses, found None", lambda: hone.build(graph, threads=None)),
            (f"threads, or 0, which chooses, found {2**32 + 1}", lambda: hone.build(graph, threads=2**32 + 1)),
            ("target as a text that is not empty", lambda: hone.build(graph, target="")),
            (r"numerics \(strict, default or fast\) as a text that is not empty", lambda: hone.build(graph, numerics="")),
            ("database as a path that is not empty", lambda: hone.build(graph, database="")),
        ):
            with self.subTest(what), self.assertRaisesRegex(hone.Error, what):
                call()


if __name__ == "__main__":
    unittest.main()
