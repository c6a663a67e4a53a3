"""What hatchling cannot know: the wheel is for this kind of machine, but, with ctypes, for every Python."""

from __future__ import annotations

import pathlib
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BUILT = (
    "libhone_runtime.so",
    "libhone_compiler.so",
    "bin/hone",
    "bin/honed",
    "bin/hone-builder",
    "bin/hone-measure",
    "v1/tuning_pb2_grpc.py",
)


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        package = pathlib.Path(self.root) / "hone"
        missing = [name for name in _BUILT if not (package / name).exists()]
        if missing:
            raise FileNotFoundError(f"expected {', '.join(missing)} in {package}, found none; build the target wheel")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
