"""Runs the code of docs/python.md: docs_test.py PYTHON_FOLDER SOURCE_FOLDER"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any


def main() -> int:
    python_folder = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(python_folder))
    text = (pathlib.Path(sys.argv[2]) / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3, "docs/python.md has its examples"
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([python_folder / "hone" / "bin" / "hone", "zoo", "mlp"], check=True)
        for number, block in enumerate(blocks, 1):
            print(f"-- block {number}")
            exec(compile(block, f"docs/python.md block {number}", "exec"), names)
        assert pathlib.Path("two_calls.svg").read_text(encoding="utf-8").count("@AddFunc") >= 3
        assert pathlib.Path("two_calls.png").read_bytes().startswith(b"\x89PNG")
        os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
