#!/usr/bin/env python3
"""A second list of models, in the format of the peers' work folder (models/NAME.onnx, NAME.npz with x and ref): other
networks than those whose figures are published. Defaults and spaces are not fitted to either list.

    PEERS_WORK=FOLDER ~/.cache/hone-peers/bin/python bench/more_models.py [NAME ..]
    PEERS_WORK=FOLDER HONE_PEERS=.. bench/bench_models.py --trials 0 --rounds 5 --peers ort,openvino --out FOLDER

Runs in the main environment of the peers (torch, torchvision, transformers); weights are random, from a fixed seed.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

torch: Any = importlib.import_module("torch")
nn: Any = torch.nn
OPSET = 17
SEED = 0

Shape = tuple[int, ...]
IMAGE: Shape = (1, 3, 224, 224)
TOKENS: Shape = (1, 128)

# Names of models in torchvision's zoo, by what their inputs are.
CLASSIFIERS = [
    *["alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "mnasnet1_0"],
    *["mobilenet_v3_large", "mobilenet_v3_small", "regnet_x_400mf", "regnet_y_400mf", "resnet34", "resnet101"],
    *["resnext50_32x4d", "shufflenet_v2_x1_0", "squeezenet1_1", "swin_t", "vgg11_bn", "vit_b_32", "wide_resnet50_2"],
]
SEGMENTERS = ["lraspp_mobilenet_v3_large", "fcn_resnet50"]


def of_zoo(name: str) -> Callable[[], Any]:
    def make() -> Any:
        zoo = importlib.import_module("torchvision.models")
        more = {"init_weights": False} if name == "googlenet" else {}
        return zoo.get_model(name, weights=None, **more)

    return make


def of_segmenters(name: str) -> Callable[[], Any]:
    def make() -> Any:
        zoo = importlib.import_module("torchvision.models")
        return First(zoo.get_model(name, weights=None, weights_backbone=None))

    return make


class First(nn.Module):  # type: ignore[misc]
    """The first output of a model that has several."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Any) -> Any:
        outputs = self.model(x)
        return next(iter(outputs.values())) if isinstance(outputs, dict) else outputs[0]


class Around(nn.Module):  # type: ignore[misc]
    """Adds to what a part gives what it was given."""

    def __init__(self, part: Any) -> None:
        super().__init__()
        self.part = part

    def forward(self, x: Any) -> Any:
        return x + self.part(x)


class Swapped(nn.Module):  # type: ignore[misc]
    """A part on the other of the two last axes."""

    def __init__(self, part: Any) -> None:
        super().__init__()
        self.part = part

    def forward(self, x: Any) -> Any:
        return self.part(x.transpose(1, 2)).transpose(1, 2)


class Unet(nn.Module):  # type: ignore[misc]
    def __init__(self, widths: Shape = (32, 64, 128, 256)) -> None:
        super().__init__()
        ins = (3, *widths[:-1])
        self.down = nn.ModuleList(self.block(i, o) for i, o in zip(ins, widths, strict=True))
        pairs = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
        self.up = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, 2) for i, o in pairs)
        self.join = nn.ModuleList(self.block(2 * o, o) for _, o in pairs)
        self.last = nn.Conv2d(widths[0], 2, 1)

    @staticmethod
    def block(i: int, o: int) -> Any:
        return nn.Sequential(nn.Conv2d(i, o, 3, 1, 1), nn.ReLU(), nn.Conv2d(o, o, 3, 1, 1), nn.ReLU())

    def forward(self, x: Any) -> Any:
        kept: list[Any] = []
        for block in self.down:
            x = block(nn.functional.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for up, join, beside in zip(self.up, self.join, kept[-2::-1], strict=True):
            x = join(torch.cat([up(x), beside], 1))
        return self.last(x)


def temporal() -> Any:
    """Dilated convolutions over a series."""

    def block(i: int, dilation: int) -> Any:
        return nn.Sequential(nn.Conv1d(i, 64, 3, 1, dilation, dilation), nn.ReLU(), nn.Conv1d(64, 64, 1), nn.ReLU())

    return nn.Sequential(block(8, 1), *[Around(block(64, 2**k)) for k in range(1, 6)], nn.Conv1d(64, 4, 1))


def generator() -> Any:
    """DCGAN's."""
    layers: list[Any] = [nn.ConvTranspose2d(100, 512, 4, 1, 0), nn.ReLU()]
    for i, o in [(512, 256), (256, 128), (128, 64)]:
        layers += [nn.ConvTranspose2d(i, o, 4, 2, 1), nn.BatchNorm2d(o), nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh())


def super_resolution() -> Any:
    return nn.Sequential(
        *[nn.Conv2d(1, 64, 5, 1, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU()],
        *[nn.Conv2d(64, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, 9, 3, 1, 1), nn.PixelShuffle(3)],
    )


def style_transfer(norm: Callable[[int], Any]) -> Any:
    def conv(i: int, o: int, taps: int, stride: int) -> list[Any]:
        return [nn.ReflectionPad2d(taps // 2), nn.Conv2d(i, o, taps, stride), norm(o)]

    middle = [Around(nn.Sequential(*conv(128, 128, 3, 1), nn.ReLU(), *conv(128, 128, 3, 1))) for _ in range(5)]
    up = nn.Upsample(scale_factor=2)
    return nn.Sequential(
        *[*conv(3, 32, 9, 1), nn.ReLU(), *conv(32, 64, 3, 2), nn.ReLU(), *conv(64, 128, 3, 2), nn.ReLU(), *middle],
        *[up, *conv(128, 64, 3, 1), nn.ReLU(), up, *conv(64, 32, 3, 1), nn.ReLU()],
        *[nn.ReflectionPad2d(4), nn.Conv2d(32, 3, 9)],
    )


def mixer() -> Any:
    """A mixer with 196 patches and 256 channels."""

    def block() -> list[Any]:
        def dense(i: int, o: int) -> Any:
            return nn.Sequential(nn.Linear(i, o), nn.GELU(), nn.Linear(o, i))

        rows = nn.Sequential(nn.LayerNorm(256), Swapped(dense(196, 128)))
        return [Around(rows), Around(nn.Sequential(nn.LayerNorm(256), dense(256, 1024)))]

    patches = nn.Sequential(nn.Conv2d(3, 256, 16, 16), nn.Flatten(2))
    blocks = nn.Sequential(*[layer for _ in range(6) for layer in block()], nn.LayerNorm(256))
    return nn.Sequential(patches, Swapped(blocks), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(256, 1000))


def distilled_bert() -> Any:
    zoo = importlib.import_module("transformers")
    return First(zoo.DistilBertModel(zoo.DistilBertConfig(n_layers=3, attn_implementation="eager")))


MODELS: dict[str, tuple[Callable[[], Any], Shape]] = {
    **{name: (of_zoo(name), IMAGE) for name in CLASSIFIERS},
    **{name: (of_segmenters(name), IMAGE) for name in SEGMENTERS},
    "unet": (Unet, (1, 3, 128, 128)),
    "gru": (lambda: First(nn.GRU(64, 128, 2)), (32, 1, 64)),
    "bilstm": (lambda: First(nn.LSTM(96, 64, bidirectional=True)), (40, 1, 96)),
    "tcn": (temporal, (1, 8, 500)),
    "dcgan": (generator, (1, 100, 1, 1)),
    "super_resolution": (super_resolution, (1, 1, 224, 224)),
    "style_batch_norm": (lambda: style_transfer(nn.BatchNorm2d), (1, 3, 256, 256)),
    "style_instance_norm": (lambda: style_transfer(nn.InstanceNorm2d), (1, 3, 256, 256)),
    "mixer": (mixer, IMAGE),
    "distilbert": (distilled_bert, TOKENS),
}


def export(name: str, folder: pathlib.Path) -> None:
    make, shape = MODELS[name]
    torch.manual_seed(SEED)
    model = make().eval()
    random = torch.Generator().manual_seed(SEED + 1)
    x = torch.randint(0, 30000, shape, generator=random) if shape == TOKENS else torch.randn(shape, generator=random)
    with torch.inference_mode():
        ref = model(x).numpy()
    file = folder / f"{name}.onnx"
    torch.onnx.export(model, (x,), str(file), input_names=["x"], output_names=["y"], opset_version=OPSET, dynamo=False)
    importlib.import_module("numpy").savez(file.with_suffix(".npz"), x=x.numpy(), ref=ref)


def main() -> int:
    names = sys.argv[1:] or list(MODELS)
    if unknown := [name for name in names if name not in MODELS]:
        print(f"expected names of {', '.join(MODELS)}; found {', '.join(unknown)}", file=sys.stderr)
        return 2
    if "PEERS_WORK" not in os.environ:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(os.environ["PEERS_WORK"]) / "models"
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names:
        try:
            export(name, folder)
            print(name, flush=True)
        except Exception as error:  # one that this torch cannot export must not stop the others
            failed.append(name)
            print(f"{name}: {type(error).__name__}: {str(error)[:400]}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
