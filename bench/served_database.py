"""A honed of a benchmark's own that serves a database on loopback."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
from collections.abc import Iterator

import result_file


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@contextlib.contextmanager
def served(database: str, folder: pathlib.Path) -> Iterator[dict[str, list[str]]]:
    """The flags of each way to the database, while a honed holds it."""
    honed = str(result_file.BUILD / "bin" / "honed")
    tls = ["--tls", str(folder / "tls")]
    made = subprocess.run(
        [honed, "init", "--db", database, "--address", "localhost:1", *tls], check=True, capture_output=True, text=True
    )
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    command = [honed, "--db", database, "--socket", str(runtime / "honed.sock"), "--listen", "localhost:0", *tls]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = first_line(process).rsplit(":", 1)[1]
            join = folder / "admin.join"
            join.touch(0o600)
            join.write_text(made.stdout.splitlines()[0].replace("localhost:1?", f"localhost:{port}?"))
            yield {
                "file": ["--db", database],
                "socket": ["--server", f"unix:{runtime / 'honed.sock'}"],
                "tls": ["--server", f"@{join}"],
            }
        finally:
            process.terminate()
