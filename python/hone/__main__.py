"""`python -m hone`, and the commands that the wheel installs: the programs of this package."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from hone.errors import Error
from hone.program import find


def _execute(name: str) -> NoReturn:
    try:
        path = find(name)
    except Error as error:
        sys.exit(f"{name}: {error}")
    os.execv(path, [name, *sys.argv[1:]])


def hone() -> NoReturn:
    _execute("hone")


def honed() -> NoReturn:
    _execute("honed")


def hone_measure() -> NoReturn:
    _execute("hone-measure")


if __name__ == "__main__":
    hone()
