"""Models of torch's own modules, with seeded weights, and the same models as ONNX files for Hone.

    torch_models.py NAME DTYPE BATCH OUT.onnx      beside it OUT.npz, with the inputs and `ref`, in float64 where memory allows

Neither torchvision nor onnx is needed. Batch norms are folded into the convolutions in front of them on both sides.
"""

from __future__ import annotations

import operator
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch.fx.experimental.optimization import fuse
from torch.nn import functional

import bfloat16
import gpu_kernels
from onnx_file import OnnxFile

LENGTH = 128  # of BERT's input
VOCABULARY = 30522


class ConvNorm(nn.Sequential):
    """Convolution, batch norm and, unless left out, an activation."""

    def __init__(self, i: int, o: int, taps: Any, stride: int = 1, pad: Any = None, groups: int = 1, act: Any = nn.ReLU) -> None:
        pad = (taps // 2 if isinstance(taps, int) else tuple(t // 2 for t in taps)) if pad is None else pad
        conv = nn.Conv2d(i, o, taps, stride, pad, groups=groups, bias=False)
        super().__init__(conv, nn.BatchNorm2d(o), *([act()] if act else []))


class Residual(nn.Module):
    """relu(body(x) + shortcut(x)); without the relu where a network has none."""

    def __init__(self, body: nn.Module, shortcut: nn.Module | None, is_linear: bool = False) -> None:
        super().__init__()
        self.body, self.shortcut = body, shortcut
        self.end = None if is_linear else nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x) + (x if self.shortcut is None else self.shortcut(x))
        return y if self.end is None else self.end(y)


def head(channels: int, classes: int = 1000) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(1), nn.Linear(channels, classes)]


def resnet(blocks: list[int], is_deep: bool) -> nn.Module:
    layers: list[nn.Module] = [ConvNorm(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    i = 64
    for stage, count in enumerate(blocks):
        c = 64 << stage
        o = 4 * c if is_deep else c
        for block in range(count):
            s = 2 if block == 0 and stage > 0 else 1
            if is_deep:
                body = nn.Sequential(ConvNorm(i, c, 1), ConvNorm(c, c, 3, s), ConvNorm(c, o, 1, act=None))
            else:
                body = nn.Sequential(ConvNorm(i, c, 3, s), ConvNorm(c, o, 3, act=None))
            layers.append(Residual(body, ConvNorm(i, o, 1, s, act=None) if s > 1 or i != o else None))
            i = o
    return nn.Sequential(*layers, *head(i))


def mobilenet_v2() -> nn.Module:
    layers: list[nn.Module] = [ConvNorm(3, 32, 3, 2, act=nn.ReLU6)]
    i = 32
    for t, o, count, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(count):
            s, c = first if block == 0 else 1, i * t
            widen = [ConvNorm(i, c, 1, act=nn.ReLU6)] if t > 1 else []
            body = nn.Sequential(*widen, ConvNorm(c, c, 3, s, groups=c, act=nn.ReLU6), ConvNorm(c, o, 1, act=None))
            layers.append(Residual(body, None, is_linear=True) if s == 1 and i == o else body)
            i = o
    return nn.Sequential(*layers, ConvNorm(i, 1280, 1, act=nn.ReLU6), *head(1280))


class Branches(nn.Module):
    """Concatenates the channels of what several give of the same input."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


def inception_v3() -> nn.Module:
    cn, seq = ConvNorm, nn.Sequential

    def pooled(i: int, o: int) -> nn.Module:
        return seq(nn.AvgPool2d(3, 1, 1), cn(i, o, 1))

    def a(i: int, pool: int) -> nn.Module:
        return Branches(cn(i, 64, 1), seq(cn(i, 48, 1), cn(48, 64, 5)), seq(cn(i, 64, 1), cn(64, 96, 3), cn(96, 96, 3)), pooled(i, pool))

    def b(i: int) -> nn.Module:
        return Branches(cn(i, 384, 3, 2, 0), seq(cn(i, 64, 1), cn(64, 96, 3), cn(96, 96, 3, 2, 0)), nn.MaxPool2d(3, 2))

    def c(c7: int) -> nn.Module:
        across, along = (1, 7), (7, 1)
        twice = seq(cn(768, c7, 1), cn(c7, c7, across), cn(c7, 192, along))
        long = seq(cn(768, c7, 1), cn(c7, c7, along), cn(c7, c7, across), cn(c7, c7, along), cn(c7, 192, across))
        return Branches(cn(768, 192, 1), twice, long, pooled(768, 192))

    def d() -> nn.Module:
        long = seq(cn(768, 192, 1), cn(192, 192, (1, 7)), cn(192, 192, (7, 1)), cn(192, 192, 3, 2, 0))
        return Branches(seq(cn(768, 192, 1), cn(192, 320, 3, 2, 0)), long, nn.MaxPool2d(3, 2))

    def e(i: int) -> nn.Module:
        def both() -> nn.Module:
            return Branches(cn(384, 384, (1, 3)), cn(384, 384, (3, 1)))

        return Branches(cn(i, 320, 1), seq(cn(i, 384, 1), both()), seq(cn(i, 448, 1), cn(448, 384, 3), both()), pooled(i, 192))

    stem = [cn(3, 32, 3, 2, 0), cn(32, 32, 3, 1, 0), cn(32, 64, 3), nn.MaxPool2d(3, 2), cn(64, 80, 1), cn(80, 192, 3, 1, 0), nn.MaxPool2d(3, 2)]
    body = [a(192, 32), a(256, 64), a(288, 64), b(288), c(128), c(160), c(160), c(192), d(), e(1280), e(2048)]
    return seq(*stem, *body, *head(2048))


class Heads(nn.Module):
    """Queries, keys and values (batch, heads, length, width) of one product."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.product = nn.Linear(width, 3 * width)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        batch, length, width = x.shape
        return self.product(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)


class Joined(nn.Module):
    """The heads side by side again."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.transpose(1, 2).flatten(2)


class Encoder(nn.Module):
    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads, self.joined, self.product = Heads(width, heads), Joined(), nn.Linear(width, width)
        self.inner = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part for part in split(self.heads(x)))
        x = self.first(x + self.product(self.joined(functional.scaled_dot_product_attention(q, k, v))))
        return self.second(x + self.inner(x))


def split(heads: Any) -> list[Any]:
    return [heads[0], heads[1], heads[2]]


class Bert(nn.Module):
    def __init__(self, width: int, heads: int, layers: int, inner: int, length: int, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(1, length, width))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(*(Encoder(width, heads, inner) for _ in range(layers)))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.layers(self.norm(self.words(ids) + self.places))


# By name: what makes it, and the extent of an image.
IMAGES: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "resnet18": (lambda: resnet([2, 2, 2, 2], False), 224),
    "resnet50": (lambda: resnet([3, 4, 6, 3], True), 224),
    "mobilenet_v2": (mobilenet_v2, 224),
    "inception_v3": (inception_v3, 299),
    "tiny_images": (lambda: nn.Sequential(ConvNorm(3, 8, 3, 2), Residual(ConvNorm(8, 8, 3, act=None), None), *head(8, 10)), 12),
}
# By name: what makes it, its length and how many words it knows.
TEXTS: dict[str, tuple[Callable[[], nn.Module], int, int]] = {
    "bert_base": (lambda: Bert(768, 12, 12, 3072, LENGTH, VOCABULARY), LENGTH, VOCABULARY),
    "tiny_text": (lambda: Bert(32, 2, 1, 64, 16, 50), 16, 50),
}


def make(name: str) -> nn.Module:
    """With weights that keep activations in range, the same ones every time, in evaluation mode."""
    model = IMAGES[name][0]() if name in IMAGES else TEXTS[name][0]()
    generator = torch.Generator().manual_seed(1)
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            terms = module.weight[0].numel()
            gain = 1.6 if isinstance(module, nn.Conv2d) else 1.0
            module.weight.data.normal_(0, gain**0.5 / terms**0.5, generator=generator)
            if module.bias is not None:
                module.bias.data.normal_(0, 0.02, generator=generator)
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None and module.running_var is not None
            module.running_mean.normal_(0, 0.1, generator=generator)
            module.running_var.uniform_(0.8, 1.2, generator=generator)
        if isinstance(module, nn.Embedding):
            module.weight.data.normal_(0, 1, generator=generator)
    return model.eval()


def fused(model: nn.Module) -> nn.Module:
    """With batch norms folded into convolutions."""
    has_norms = any(isinstance(module, nn.BatchNorm2d) for module in model.modules())
    return fuse(model) if has_norms else model


def inputs_of(name: str, batch: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    if name in IMAGES:
        return torch.randn(batch, 3, IMAGES[name][1], IMAGES[name][1], generator=generator)
    return torch.randint(0, TEXTS[name][2], (batch, TEXTS[name][1]), generator=generator)


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return isinstance(module, (Heads, Joined)) or super().is_leaf_module(module, name)


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


class Exporter:
    """One model as an ONNX graph."""

    def __init__(self, model: nn.Module, dtype: str) -> None:
        self.file, self.dtype, self.model = OnnxFile(), dtype, model
        self.names: dict[fx.Node, Any] = {}
        self._constants = 0

    def constant(self, value: torch.Tensor, dtype: str = "") -> str:
        self._constants += 1
        dtype = dtype or self.dtype
        array = value.detach().contiguous().cpu().numpy()
        raw = bfloat16.bits(array) if dtype == "bfloat16" else array.astype(dtype)
        return self.file.constant(f"c{self._constants}", dtype, array.shape, raw.tobytes())

    def linear(self, x: str, weight: torch.Tensor, bias: torch.Tensor, is_matrix: bool) -> str:
        if is_matrix:
            return self.file.node("Gemm", [x, self.constant(weight), self.constant(bias)], transB=1)
        return self.file.node("Add", [self.file.node("MatMul", [x, self.constant(weight.t())]), self.constant(bias)])

    def heads(self, module: Heads, x: str, width: int) -> list[str]:
        weights, biases = module.product.weight.chunk(3), module.product.bias.chunk(3)
        shape = self.constant(torch.tensor([0, 0, module.heads, width // module.heads]), "int64")
        products = [self.linear(x, w, b, is_matrix=False) for w, b in zip(weights, biases, strict=True)]
        apart = [self.file.node("Reshape", [product, shape]) for product in products]
        return [self.file.node("Transpose", [each], perm=[0, 2, 1, 3]) for each in apart]

    def module(self, m: Any, x: Any, node: fx.Node) -> Any:
        node_of, kind = self.file.node, type(m)
        if kind is nn.Conv2d:
            operands = [x, self.constant(m.weight)] + ([self.constant(m.bias)] if m.bias is not None else [])
            return node_of("Conv", operands, kernel_shape=_pair(m.kernel_size), strides=_pair(m.stride), pads=_pair(m.padding) * 2, group=m.groups)
        if kind in (nn.MaxPool2d, nn.AvgPool2d):
            window = {"kernel_shape": _pair(m.kernel_size), "strides": _pair(m.stride), "pads": _pair(m.padding) * 2}
            return node_of("MaxPool", [x], **window) if kind is nn.MaxPool2d else node_of("AveragePool", [x], count_include_pad=1, **window)
        if kind is nn.ReLU6:
            return node_of("Clip", [x, self.constant(torch.tensor(0.0)), self.constant(torch.tensor(6.0))])
        if kind is nn.Linear:
            return self.linear(x, m.weight, m.bias, is_matrix=node.meta["rank"] == 2)
        if kind is nn.LayerNorm:
            return node_of("LayerNormalization", [x, self.constant(m.weight), self.constant(m.bias)], axis=-1, epsilon=m.eps)
        if kind is nn.Embedding:
            return node_of("Gather", [self.constant(m.weight), x])
        if kind is Heads:
            return self.heads(m, x, m.product.in_features)
        if kind is Joined:
            side_by_side = node_of("Transpose", [x], perm=[0, 2, 1, 3])
            return node_of("Reshape", [side_by_side, self.constant(torch.tensor([0, 0, -1]), "int64")])
        plain = {nn.ReLU: "Relu", nn.GELU: "Gelu", nn.AdaptiveAvgPool2d: "GlobalAveragePool", nn.Flatten: "Flatten"}
        if kind in plain:
            return node_of(plain[kind], [x])
        raise NotImplementedError(f"expected a module that Exporter knows, found {kind.__name__}")

    def function(self, node: fx.Node) -> Any:
        arguments = [self.value(each) for each in node.args]
        if node.target is operator.getitem:
            return arguments[0][arguments[1]]
        if node.target is operator.add:
            return self.file.node("Add", arguments)
        if node.target is torch.cat:
            return self.file.node("Concat", arguments[0], axis=arguments[1])
        if node.target is functional.scaled_dot_product_attention:
            return gpu_kernels.scaled_dot_product_attention(self.file, arguments, node.meta["width"], self.dtype)
        raise NotImplementedError(f"expected a function that Exporter knows, found {node.target}")

    def value(self, argument: Any) -> Any:
        if isinstance(argument, fx.Node):
            return self.names[argument]
        return [self.value(each) for each in argument] if isinstance(argument, (list, tuple)) else argument

    def export(self, x: torch.Tensor) -> bytes:
        graph = _Tracer().trace(self.model)
        shapes = _Shapes(fx.GraphModule(self.model, graph))
        result = shapes.run(x)
        for node in graph.nodes:
            node.meta |= shapes.known.get(node.name, {})
            if node.op == "placeholder":
                dtype = "int64" if x.dtype == torch.int64 else self.dtype
                self.names[node] = self.file.input("x", dtype, x.shape)
            elif node.op == "get_attr":
                self.names[node] = self.constant(self.model.get_parameter(node.target))
            elif node.op == "call_module":
                self.names[node] = self.module(self.model.get_submodule(node.target), self.value(node.args[0]), node)
            elif node.op == "call_function":
                self.names[node] = self.function(node)
            elif node.op == "output":
                self.file.node("Identity", [self.value(node.args[0])], "y")
        self.file.output("y", self.dtype, result.shape)
        return self.file.serialized()


class _Shapes(fx.Interpreter):
    """Ranks of results, and the width of attention's heads."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.known: dict[str, dict[str, int]] = {}

    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        if isinstance(result, torch.Tensor) and result.dim() > 0:
            self.known[n.name] = {"rank": result.dim(), "width": result.shape[-1]}
        return result


def write(name: str, dtype: str, batch: int, path: pathlib.Path) -> None:
    """NAME.onnx in this element type, and NAME.npz with x and ref."""
    torch.set_grad_enabled(False)
    model, x = fused(make(name)), inputs_of(name, batch)
    path.write_bytes(Exporter(model, dtype).export(x))
    reference = model.double()(x.double() if x.is_floating_point() else x).float().numpy()
    stored = x.numpy()
    if dtype == "bfloat16" and x.is_floating_point():
        stored = bfloat16.bits(stored)
    np.savez(path.with_suffix(".npz"), x=stored, ref=reference)


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    name, dtype, batch, out = sys.argv[1:]
    write(name, dtype, int(batch), pathlib.Path(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
