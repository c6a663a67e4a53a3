"""Where a daemon is, and what its clients need to trust it and to be let in: as `hone --server` takes it (docs/security.md)."""

from __future__ import annotations

import dataclasses
import os
import re

from hone.arguments import text_of
from hone.errors import Error

_VARIABLE = "HONE_SERVER"
_SCHEME = "hone://"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_HOST = re.compile(r"[A-Za-z0-9._%-]+|\[[A-Za-z0-9.:_%-]+\]")
_MAX_FILE_BYTES = 4096  # join strings have some two hundred


@dataclasses.dataclass(frozen=True)
class ServerAddress:
    """Either a Unix socket, or a host and port with a certificate and a token."""

    socket: str = ""
    host: str = ""
    port: int = 0
    certificate: str = ""
    """SHA-256 of the certificate to trust, in hexadecimal digits."""
    token: str = dataclasses.field(default="", repr=False)

    def __str__(self) -> str:
        """For sentences: without a secret."""
        return f"unix:{self.socket}" if self.socket else f"{self.host}:{self.port}"


def _malformed(found: str) -> Error:
    return Error(
        "expected a daemon's address, unix:PATH or the join string that `hone auth add` prints "
        f"(hone://HOST:PORT?certificate=SHA256&token=TOKEN), found {found}",
        3,
    )


def _parse_join_string(text: str) -> ServerAddress:
    place, _, rest = text.removeprefix(_SCHEME).partition("?")
    host, colon, port = place.removesuffix("/").rpartition(":")
    if not colon:
        raise _malformed("no port")
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        raise _malformed("a port that is no number of 1 to 65535")
    if not _HOST.fullmatch(host):
        raise _malformed("a host that is neither a name nor an address (IPv6: in brackets)")
    certificate = token = ""
    for field in filter(None, rest.split("&")):
        name, _, value = field.partition("=")
        if name == "certificate" and _DIGEST.fullmatch(value):
            certificate = value
        elif name == "token" and _TOKEN.fullmatch(value):
            token = value
        else:
            raise _malformed("a field that is neither certificate=SHA256 nor token=TOKEN")
    if not certificate:
        raise _malformed("no certificate to trust")
    return ServerAddress(host=host, port=int(port), certificate=certificate, token=token)


def _parse(text: str) -> ServerAddress:
    if text.startswith(_SCHEME):
        return _parse_join_string(text)
    path = text.removeprefix("unix:")
    if path and (path != text or path.startswith("/")):
        return ServerAddress(socket=path)
    if ":" in text and "/" not in text:
        raise _malformed("a bare host and port, over which nothing would be secret")
    raise _malformed("something else" if text else "nothing")


def _read_file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            facts = os.fstat(file.fileno())
            held = file.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise Error(f"cannot read the join string in {path}: {error.strerror}", 3) from None
    if facts.st_uid not in (os.geteuid(), 0) or facts.st_mode & 0o077:
        raise Error(f"expected that nobody else may read the join string in {path}; chmod 600 it", 6)
    return held.decode(errors="replace").strip()


def server_text(server: str | None) -> str:
    """`server`, or the one of HONE_SERVER where it is None."""
    if server is not None:
        return text_of(server, "server")
    text = os.environ.get(_VARIABLE, "")
    if not text:
        raise Error(
            f"expected a server as unix:PATH, a join string or @FILE with one, found none, nor one in {_VARIABLE}", 5
        )
    try:
        read_server_address(text)
    except Error as error:
        raise Error(f"{_VARIABLE}: {error}", error.code) from None
    return text


def read_server_address(text: str) -> ServerAddress:
    """unix:PATH, /PATH, a join string, or @FILE with one of them, which others may not read."""
    return _parse(_read_file(text[1:]) if text.startswith("@") else text)
