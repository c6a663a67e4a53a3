"""Writes a model whose kernels choose layouts as if its inputs and outputs could have any.

    free_ends.py MODEL.onnx OUT.relay      HONE_BUILD is the build folder

For the view of kernels in layouts of their own choice: copies at the ends count as no time (attribute ends="free" of main).
"""

from __future__ import annotations

import os
import pathlib
import sys


def with_free_ends(text: str) -> str:
    """The text of a module whose main says ends="free"."""
    start = text.index("def @main(") + len("def @main(")
    depth = 1
    at = start
    while depth > 0:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    end = at - 1
    comma = ", " if text[start:end].strip() else ""
    return f'{text[:end]}{comma}ends="free"{text[end:]}'


def main() -> None:
    sys.path.insert(0, str(pathlib.Path(os.environ["HONE_BUILD"]) / "python"))
    import hone

    source, target = sys.argv[1:]
    pathlib.Path(target).write_text(with_free_ends(hone.Graph.load(source).text()), encoding="utf-8")


if __name__ == "__main__":
    main()
