"""Containers for tests: real ones, each with an address of its own, from images that are made here."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

BASE = "docker.io/library/debian:bookworm-slim"
_SKIPPED = 77
# What Debian's slim images leave out as well.
_LEFT_OUT = ("usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/man", "var/cache/apt", "var/lib/apt/lists")


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(_SKIPPED)


def require_podman() -> None:
    """Skips the test where it cannot have containers, and says why."""
    if os.geteuid() != 0:
        skip("containers with addresses of their own take root here")
    # netavark calls iptables; without, every container ends with "No such file or directory".
    for program in ("podman", "runc", "iptables", "debootstrap"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed (docs/install.md)")
    if podman("info", check=False).returncode != 0:
        skip("podman does not run on this machine; podman info says why")


def podman(*arguments: str, check: bool = True, **kwargs: object) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(["podman", *arguments], text=True, capture_output=True, **kwargs)  # type: ignore[call-overload]
    if check and result.returncode != 0:
        raise AssertionError(f"podman {' '.join(arguments)}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result


def make_base() -> None:
    """The base image of the Containerfiles, made by debootstrap where no registry gave it."""
    if podman("image", "exists", BASE, check=False).returncode == 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(root)], check=True, stdout=subprocess.DEVNULL)
        for left_out in _LEFT_OUT:
            for path in (root / left_out).iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        exclude = "".join(f"path-exclude /{path}/*\n" for path in _LEFT_OUT if path.startswith("usr"))
        (root / "etc/dpkg/dpkg.cfg.d/slim").write_text(exclude)
        with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as tar:
            podman("import", "-", BASE, stdin=tar.stdout)


def eventually(holds: Callable[[], bool], limit_s: float, what: str) -> None:
    """Fails where it does not come to hold in time: for what other processes do."""
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"expected within {limit_s} s: {what}")
        time.sleep(0.2)


class Container:
    """A container that runs until the object is closed."""

    def __init__(self, image: str, arguments: Sequence[str] = (), options: Sequence[str] = ()) -> None:
        self.id = podman("run", "-d", *options, image, *arguments).stdout.strip()

    def __enter__(self) -> Container:
        return self

    def __exit__(self, *_: object) -> None:
        podman("rm", "-f", "-t", "1", self.id, check=False)

    def run(self, command: str, check: bool = True, user: str = "root") -> subprocess.CompletedProcess[str]:
        """A line of shell in it."""
        return podman("exec", "--user", user, "--workdir", "/tmp", self.id, "sh", "-c", command, check=check)

    def copy_in(self, source: pathlib.Path, target: str) -> None:
        podman("cp", str(source), f"{self.id}:{target}")

    def copy_out(self, source: str, target: pathlib.Path) -> None:
        podman("cp", f"{self.id}:{source}", str(target))


def make_packages(build: pathlib.Path, folder: pathlib.Path) -> None:
    """The Debian packages of this build."""
    subprocess.run(["cpack", "-B", str(folder)], cwd=build, check=True, stdout=subprocess.DEVNULL)
