"""Models load from whatever they are given as.

Usage: model_file_test.py PACKAGE_FOLDER SOURCE_FOLDER
"""

from __future__ import annotations

import contextlib
import inspect
import os
import pathlib
import signal
import struct
import sys
import tempfile
import threading
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

DATA = (pathlib.Path(sys.argv.pop(2)) / "tests" / "data").resolve()
sys.path.insert(0, sys.argv.pop(1))

import hone  # noqa: E402
from hone.errors import in_python  # noqa: E402

SYMBOLIC = DATA / "onnx" / "symbolic.onnx"  # x (N, 3) and bias (M, 4)
FROZEN = DATA / "tensorflow" / "small.pb"


def field(number: int, value: int | bytes | str) -> bytes:
    """A field of a protobuf message, shorter than 128 bytes or a small number."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(data)]) + data


def model_with_external_weights() -> bytes:
    """y = x + w, as ONNX: w's values are the file weights.bin."""
    shape = field(2, field(1, field(1, 1) + field(2, field(1, field(1, 2)))))  # float, one extent: 2
    weight = field(1, 2) + field(2, 1) + field(8, "w") + field(14, 1)
    weight += field(13, field(1, "location") + field(2, "weights.bin"))
    node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")
    graph = field(1, node) + field(2, "g") + field(5, weight)
    graph += field(11, field(1, "x") + shape) + field(12, field(1, "y") + shape)
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


class Proto:
    """What onnx.ModelProto is to its users."""

    def SerializeToString(self) -> bytes:
        return SYMBOLIC.read_bytes()


def children() -> list[str]:
    """The processes that threads of this one have started; a thread may end while it is asked."""
    found = []
    for thread in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            found += (thread / "children").read_text().split()
    return found


class ModelFileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_paths_bytes_and_messages_are_the_same_model(self) -> None:
        models = (str(SYMBOLIC), SYMBOLIC, SYMBOLIC.read_bytes(), bytearray(SYMBOLIC.read_bytes()), Proto())
        texts = {hone.Graph.load(model, dims={"N": 2, "M": 2}).text() for model in models}
        self.assertEqual(len(texts), 1)

    def test_dims_and_shapes_bind_symbolic_extents(self) -> None:
        graph = hone.Graph.load(SYMBOLIC, shapes={"x": (5, 3)}, dims={"M": 1})
        self.assertEqual([info.shape for info in graph.inputs], [(5, 3), (1, 4)])
        self.assertEqual([info.shape for info in graph.outputs], [(5, 4)])
        with self.assertRaisesRegex(hone.Error, r'give them, as in dims=\{"N": 1, "M": 1\}$'):
            hone.Graph.load(SYMBOLIC)
        with self.assertRaisesRegex(hone.Error, r'shapes=\{"x": \(5, 4\)\}: the model\'s input has the shape N,3'):
            hone.Graph.load(SYMBOLIC, shapes={"x": (5, 4)}, dims={"M": 1})
        with self.assertRaisesRegex(hone.Error, "a hone.Graph; give them to Graph.load"):
            hone.build(graph, dims={"N": 1})

    def test_lists_make_specialisations(self) -> None:
        for model in (SYMBOLIC, SYMBOLIC.read_bytes()):
            module = hone.build(model, shapes={"x": [(1, 3), (4, 3)]}, dims={"M": 1}, threads=1)
            shapes = [[info.shape for info in inputs] for inputs in module.specialisations]
            self.assertEqual(shapes, [[(1, 3), (1, 4)], [(4, 3), (1, 4)]])
        module = hone.build(SYMBOLIC, dims={"N": [1, 4], "M": 1}, threads=1)
        bias = np.zeros((1, 4), np.float32)
        (many,) = module.run({"x": np.arange(12, dtype=np.float32).reshape(4, 3), "bias": bias})
        (one,) = module.run({"x": np.arange(3, dtype=np.float32).reshape(1, 3), "bias": bias})
        np.testing.assert_allclose(many[:1], one, rtol=1e-6)
        graphs = [hone.Graph.load(SYMBOLIC, dims={"N": 1, "M": 1}), hone.Graph.load(SYMBOLIC, dims={"N": 4, "M": 1})]
        self.assertEqual(len(hone.build(graphs, threads=1).specialisations), 2)
        with self.assertRaisesRegex(hone.Error, "expected one value for 'N', .* or 3, found 2"):
            hone.build(SYMBOLIC, dims={"N": [1, 4], "M": [1, 2, 3]})
        with self.assertRaisesRegex(hone.Error, "a graph takes one specialisation"):
            hone.Graph.load(SYMBOLIC, dims={"N": [1, 4], "M": 1})

    def test_constants_are_inputs_no_more(self) -> None:
        bias = np.arange(4, dtype=np.float32).reshape(1, 4)
        graph = hone.Graph.load(SYMBOLIC, dims={"N": 2, "M": 1}, constants={"bias": bias})
        self.assertEqual([info.name for info in graph.inputs], ["x"])
        (y,) = hone.build(graph, threads=1).run({"x": np.zeros((2, 3), np.float32)})
        np.testing.assert_array_equal(y, np.broadcast_to(bias, (2, 4)))
        with self.assertRaisesRegex(hone.Error, "expected an element type that Hone has for bias, found complex64"):
            hone.Graph.load(SYMBOLIC, dims={"N": 2, "M": 1}, constants={"bias": bias.astype(np.complex64)})

    def test_a_part_of_a_model_is_had_by_its_values(self) -> None:
        for model in (SYMBOLIC, SYMBOLIC.read_bytes()):
            graph = hone.Graph.load(model, dims={"N": 2}, cut=["p"])
            self.assertEqual([info.name for info in graph.inputs], ["x"])
            self.assertEqual([info.name for info in graph.outputs], ["p"])
        with self.assertRaisesRegex(hone.Error, r'cut=\["q"\]: a value of the model'):
            hone.Graph.load(SYMBOLIC, dims={"N": 2, "M": 2}, cut=["q"])
        with self.assertRaisesRegex(hone.Error, r'cut as a list of names of values, as in \["logits"\], found \'p\''):
            hone.Graph.load(SYMBOLIC, dims={"N": 2}, cut="p")
        with self.assertRaisesRegex(hone.Error, r"the name of a value in cut as a text .*found 'p\\x00'"):
            hone.Graph.load(SYMBOLIC, dims={"N": 2}, cut=["p\0"])

    def test_compile_and_build_take_a_part_of_a_model(self) -> None:
        x = np.ones((2, 3), np.float32)
        path = self.folder / "part.so"
        hone.compile(SYMBOLIC, path, dims={"N": 2}, cut=["p"], threads=1)
        (expected,) = hone.Module(path).run({"x": x})
        for model in (SYMBOLIC, SYMBOLIC.read_bytes()):
            module = hone.build(model, dims={"N": 2}, cut=["p"], threads=1)
            self.assertEqual([info.name for info in module.outputs], ["p"])
            np.testing.assert_array_equal(module.run({"x": x})[0], expected)
        with self.assertRaisesRegex(hone.Error, "shapes, dims and cut with a model that is not loaded yet"):
            hone.build(hone.Graph.load(SYMBOLIC, dims={"N": 2, "M": 2}), cut=["p"])

    def test_ctrl_c_ends_a_compile_at_once_and_leaves_nothing(self) -> None:
        x = last = hone.var("x", (1, 64))
        for units in range(65, 165):  # a hundred kernels, no two alike
            weight = hone.const(np.ones((units, units - 1), np.float32))
            last = hone.op.nn.dense(last, weight)
        graph = hone.module(hone.Function([x], last))

        def interrupt(has_ended: threading.Event) -> None:
            while not children():
                if has_ended.is_set():
                    return
            os.kill(os.getpid(), signal.SIGINT)

        for start in (lambda: hone.build(graph, threads=1), lambda: graph.compile(self.folder / "m.so", threads=1)):
            has_ended = threading.Event()
            thread = threading.Thread(target=interrupt, args=(has_ended,))
            thread.start()
            try:
                with self.assertRaises(KeyboardInterrupt):
                    start()
            finally:
                has_ended.set()
                thread.join()
            self.assertEqual(children(), [])
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_compile_that_is_refused_says_why(self) -> None:
        with self.assertRaisesRegex(hone.Error, "expected every kernel tuned") as refused:
            hone.build(SYMBOLIC, dims={"N": 2, "M": 1}, require_tuned=True, threads=1)
        self.assertEqual(refused.exception.code, 4)

    def test_build_takes_what_compile_takes_but_for_the_path(self) -> None:
        taken = dict(inspect.signature(hone.compile).parameters)
        del taken["path"]
        self.assertEqual(dict(inspect.signature(hone.build).parameters), taken)

    def test_all_verbs_take_all_of_them(self) -> None:
        x, bias = np.ones((2, 3), np.float32), np.ones((2, 4), np.float32)
        results = []
        for model in (SYMBOLIC, SYMBOLIC.read_bytes(), Proto()):
            module = hone.build(model, dims={"N": 2, "M": 2}, threads=1)
            results.append(module.run({"x": x, "bias": bias})[0])
            path = self.folder / "symbolic.so"
            report = hone.compile(model, path, dims={"N": 2, "M": 2}, threads=1)
            self.assertEqual(report["specialisations"][0]["inputs"], "x=2,3 bias=2,4")
            results.append(hone.Module(path).run({"x": x, "bias": bias})[0])
        for result in results:
            np.testing.assert_array_equal(result, results[0])

    def test_frozen_graphs_of_tensorflow(self) -> None:
        value = np.load(DATA / "tensorflow" / "small_input.npy")
        expected = np.load(DATA / "tensorflow" / "small_output.npy")
        for model in (FROZEN, FROZEN.read_bytes()):
            module = hone.build(model, shapes={"input": value.shape}, threads=1)
            (result,) = module.run({module.inputs[0].name: value})
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)

    def test_external_data_is_beside_a_path_and_nowhere_else(self) -> None:
        path = self.folder / "model.onnx"
        path.write_bytes(model_with_external_weights())
        (self.folder / "weights.bin").write_bytes(struct.pack("<2f", 10, 20))
        (y,) = hone.build(path, threads=1).run({"x": np.array([1, 2], np.float32)})
        self.assertEqual(y.tolist(), [11, 22])
        os.chdir(self.folder)  # where bytes have nothing to look for
        self.addCleanup(os.chdir, "/")
        with self.assertRaisesRegex(hone.Error, '"weights.bin", .*give a model by its path, or save'):
            hone.Graph.load(path.read_bytes())

    def test_what_is_no_model_is_refused_with_the_way_out(self) -> None:
        with self.assertRaisesRegex(hone.Error, "expected a model as a path, as bytes, as an onnx.ModelProto .* found int"):
            hone.Graph.load(3)  # type: ignore[arg-type]
        with self.assertRaisesRegex(hone.Error, "expected an ONNX model or a frozen TensorFlow GraphDef"):
            hone.Graph.load(b"no model")
        with self.assertRaisesRegex(hone.Error, "expected a model file at .*nowhere.onnx, found none; check") as caught:
            hone.build(self.folder / "nowhere.onnx")
        self.assertEqual(caught.exception.code, 3)

    def test_lists_of_models_are_of_graphs(self) -> None:
        graph = hone.Graph.load(SYMBOLIC, dims={"N": 1, "M": 1})
        for verb in (hone.build, hone.tune):
            with self.assertRaisesRegex(hone.Error, "one hone.Graph for each specialisation, found an empty list"):
                verb([])
            for models in (["a.onnx", "b.onnx"], (graph, "b.onnx")):
                with self.assertRaisesRegex(hone.Error, "found a list with a value of type str; load each by Graph.load"):
                    verb(models)  # type: ignore[arg-type]

    def test_what_is_no_shape_is_refused_with_the_name(self) -> None:
        for name, arguments in (
            ("input 'x', .*found 3", {"shapes": {"x": 3}}),
            ("input 'x', .*found None", {"shapes": {"x": (1, None)}}),
            ("input 'x', .*found '1,3'", {"shapes": {"x": "1,3"}}),
            ("input 'x', .*found -1", {"shapes": {"x": [(1, 3), (-1, 3)]}}),
            ("shapes as {name of an input: shape}, found a value of type list", {"shapes": [(1, 3)]}),
            ("from 0 to 999999999 for symbol 'N', or a list of them, found 3.0", {"dims": {"N": 3.0}}),
            ("from 0 to 999999999 for symbol 'N', or a list of them, found -1", {"dims": {"N": -1}}),
            ("symbol 'N', .*found '4'", {"dims": {"N": "4"}}),
            (r"symbol 'N', .*found \[\]", {"dims": {"N": []}}),
            (r"found 'N\\x00'", {"dims": {"N\0": 1}}),
            ("constants as {name: array}, found a value of type list", {"dims": {"N": 1, "M": 1}, "constants": [1]}),
        ):
            for verb in (hone.Graph.load, hone.build, hone.tune):
                with self.subTest(name, verb=verb), self.assertRaisesRegex(hone.Error, name):
                    verb(SYMBOLIC, **arguments)
        for extent in (np.int64(2), np.array(2)):
            graph = hone.Graph.load(SYMBOLIC, dims={"N": extent}, shapes={"bias": np.array([2, 4])})
            self.assertEqual([info.shape for info in graph.inputs], [(2, 3), (2, 4)])

    def test_compile_and_build_take_constants(self) -> None:
        bias = np.arange(4, dtype=np.float32).reshape(1, 4)
        model = hone.build(SYMBOLIC, dims={"N": 2, "M": 1}, constants={"bias": bias}, threads=1)
        self.assertEqual([info.name for info in model.inputs], ["x"])
        hone.compile(SYMBOLIC, self.folder / "m.so", dims={"N": 2, "M": 1}, constants={"bias": bias}, threads=1)
        self.assertEqual([info.name for info in hone.Module(self.folder / "m.so").inputs], ["x"])

    def test_flags_in_sentences_become_arguments(self) -> None:
        for flags, arguments in (
            ("--dim batch=1 --dim 'a name'=2", 'dims={"batch": 1, "a name": 2}'),
            ("--shape x=1,3 --shape 'y z'=5", 'shapes={"x": (1, 3), "y z": (5,)}'),
            ("--shape x=?,224,224,3", 'shapes={"x": (?, 224, 224, 3)}'),
            (r"--cut a --cut 'it'\''s; y' --cut head:1: none", 'cut=["a", "it\'s; y", "head:1"]: none'),
            (r"--dim 'it'\''s'=4 --dim n=2", 'dims={"it\'s": 4, "n": 2}'),
            (r"--shape ''\''x'\'''=1,3; found 'y'", "shapes={\"'x'\": (1, 3)}; found 'y'"),
            ("--cut 'größe'", 'cut=["größe"]'),
            ("give it with --shape", "give it with shapes"),
            ("--db excludes --server", "database excludes server"),
            ("name the daemon by --server", "name the daemon by server"),
            ("--constant NAME=FILE", 'constants={"NAME": array}'),
            ("expected --trials of at least 1; see hone --help", "expected trials of at least 1"),
        ):
            self.assertEqual(in_python(flags), arguments)


if __name__ == "__main__":
    unittest.main()
