"""PyTorch as a peer on a GPU: reads JSON commands on stdin, answers on stdout.

    torch_worker.py MODE[-tf32]      MODE: eager, graph, graph-cl, inductor

    prep   {"kind": "kernel"|"model", "w": ..., "data": NPZ, "err_limit": 0.001}   prepares, runs once, compares with the reference
    time   {"min_ms": 60}                                                          one sample: the mean seconds of back-to-back calls
    drop

eager: calls in a loop, as a Python program makes them. graph: a replayed CUDA graph of so many calls that a replay takes a
millisecond or more. graph-cl: the same with channels-last convolutions. inductor: torch.compile with freezing, channels-last,
in such a graph. With -tf32 products of float32 may round their operands to TF32. HONE_BENCH_TORCH_DEVICE=cpu is for tests:
there is no graph then.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

try:
    import numpy as np
    import torch
    from torch.nn import functional

    import torch_models
    from output_error import error_of
except ImportError as error:
    print(json.dumps({"error": f"expected a Python with torch and numpy, found none: {error}"}), flush=True)
    sys.exit(1)

DEVICE = os.environ.get("HONE_BENCH_TORCH_DEVICE", "cuda")
GRAPH_S = 1.5e-3
MOST_CALLS = 200  # in a graph
Call = Callable[[], Any]


def tensor(stored: Any) -> torch.Tensor:
    """uint16 stands for bfloat16."""
    if stored.dtype == np.uint16:
        return torch.from_numpy(stored.view(np.int16).copy()).view(torch.bfloat16).to(DEVICE)
    return torch.from_numpy(np.ascontiguousarray(stored)).to(DEVICE)


def kernel(w: dict[str, Any], a: dict[str, torch.Tensor]) -> tuple[Callable[..., torch.Tensor], list[torch.Tensor]]:
    """The operator as a function of its inputs; weights are the function's own."""
    op = w["op"]
    if op == "dense":
        return lambda x: functional.linear(x, a["w"]), [a["x"]]
    if op == "conv2d":
        more = {"stride": w["stride"], "padding": tuple(w["pad"]), "groups": w["groups"]}
        return lambda x: functional.conv2d(x, a["w"], **more), [a["x"]]
    if op == "softmax":
        return lambda x: torch.softmax(x, -1), [a["x"]]
    if op == "layer_norm":
        return lambda x: functional.layer_norm(x, x.shape[-1:], a["g"], a["b"]), [a["x"]]
    if op == "add":
        return lambda x, z: x + z, [a["x"], a["z"]]
    if op == "transpose":
        return lambda x: x.t().contiguous(), [a["x"]]
    if op == "attention":
        return functional.scaled_dot_product_attention, [a["x"], a["z"], a["v"]]
    raise NotImplementedError(f"no kernel {op}")


def synchronize() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


class Timed:
    """A call that is ready to be timed: alone, or many of it in a graph."""

    def __init__(self, call: Call, in_graph: bool) -> None:
        self._call, self._calls = call, 1
        if in_graph and DEVICE == "cuda":
            self._call, self._calls = self._graph(call)
        self.estimate = self._estimate()

    def _graph(self, call: Call) -> tuple[Call, int]:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(stream)
        synchronize()
        # A graph of one call says how long it takes, since calls from Python take longer than many kernels.
        replay = self._recorded(call, 1)
        one = min(self._seconds(replay, 20) for _ in range(3))
        calls = max(1, min(MOST_CALLS, int(GRAPH_S / one) + 1))
        return (replay, 1) if calls == 1 else (self._recorded(call, calls), calls)

    def _recorded(self, call: Call, calls: int) -> Call:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(calls):
                self.kept = call()  # its memory is the graph's
        replay: Call = graph.replay
        return replay

    @staticmethod
    def _seconds(call: Call, count: int) -> float:
        call()
        synchronize()
        started = time.perf_counter()
        for _ in range(count):
            call()
        synchronize()
        return (time.perf_counter() - started) / count

    def _estimate(self) -> float:
        self._call()
        return min(self._seconds(self._call, 5) for _ in range(3)) / self._calls

    def sample(self, min_ms: float) -> float:
        count = max(1, int(min_ms / 1e3 / self.estimate / self._calls + 0.5))
        for _ in range(max(1, count // 5)):
            self._call()
        synchronize()
        self.estimate = self._seconds(self._call, count) / self._calls
        return self.estimate


class Worker:
    def __init__(self, mode: str) -> None:
        self.mode = mode.removesuffix("-tf32")
        if self.mode not in ("eager", "graph", "graph-cl", "inductor"):
            raise SystemExit(f"expected one of eager, graph, graph-cl, inductor, perhaps with -tf32 behind it, found {mode}")
        torch.set_grad_enabled(False)
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = mode.endswith("-tf32")
        self.is_last = self.mode in ("graph-cl", "inductor")  # the channels of images
        self.timed: Timed | None = None

    def laid_out(self, x: torch.Tensor) -> torch.Tensor:
        return x.contiguous(memory_format=torch.channels_last) if self.is_last and x.dim() == 4 else x

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        if command["cmd"] == "time":
            assert self.timed is not None
            return {"s": self.timed.sample(command["min_ms"])}
        self.timed = None
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
        return self.prepared(command) if command["cmd"] == "prep" else {}

    def prepared(self, command: dict[str, Any]) -> dict[str, Any]:
        started = time.time()
        stored = dict(np.load(command["data"]))
        arrays = {name: tensor(array) for name, array in stored.items() if not name.startswith("ref")}
        if command["kind"] == "kernel":
            w = command["w"]
            if self.mode == "graph-cl" and w["op"] != "conv2d":
                return {"skip": "the layout makes no difference here"}
            if w["op"] == "conv2d":
                arrays = {name: self.laid_out(array) for name, array in arrays.items()}
            function, inputs = kernel(w, arrays)
        else:
            function, inputs = self.model(command["w"], arrays)
        if self.mode == "inductor":
            function = compiled(function)
        outputs = function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        error = max(error_of(found.double().cpu().numpy(), stored[f"ref{i or ''}"]) for i, found in enumerate(outputs))
        del outputs
        self.timed = Timed(lambda: function(*inputs), self.mode != "eager")
        reply = {"prep": time.time() - started, "err": error, "est": self.timed.estimate, "note": f"torch {torch.__version__}"}
        return reply | ({"err_limit": command["err_limit"]} if "err_limit" in command else {})

    def model(self, w: dict[str, Any], arrays: dict[str, torch.Tensor]) -> tuple[Callable[..., Any], list[torch.Tensor]]:
        model = torch_models.fused(torch_models.make(w["model"])).to(DEVICE)
        if w["dtype"] == "bfloat16":
            model = model.bfloat16()
        if self.is_last and w["model"] in torch_models.IMAGES:
            model = model.to(memory_format=torch.channels_last)
        if self.mode == "graph-cl" and w["model"] not in torch_models.IMAGES:
            raise NotImplementedError("the layout makes no difference here")
        return model, [self.laid_out(array) for array in arrays.values()]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch._dynamo
    import torch._inductor.config

    torch._dynamo.reset()
    torch._inductor.config.freezing = True
    result: Callable[..., Any] = torch.compile(function, dynamic=False)
    return result


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the protocol's alone
    worker = Worker(sys.argv[1])
    if DEVICE == "cuda" and not torch.cuda.is_available():
        print(json.dumps({"error": "expected torch with CUDA and a GPU, found one without"}), file=answers, flush=True)
        return
    print(json.dumps({"ok": True}), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
            answer = answer if "skip" in answer else {"ok": True, **answer}
        except NotImplementedError as error:
            answer = {"skip": str(error)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
