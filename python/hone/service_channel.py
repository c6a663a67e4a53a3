"""How a client reaches a daemon: over its Unix socket, or over TLS to the one whose certificate the join string pins.

A join string names the daemon's own authority, whose certificate is in the chain that the daemon sends. So the chain is
looked at first, by a handshake in which nothing is said, then the certificate with that digest, and no other, is what
gRPC trusts. The pin says who is there: the name by which it is dialled, which may be an address, says nothing more."""

from __future__ import annotations

import dataclasses
import hashlib
import socket
import ssl
from typing import TYPE_CHECKING

from hone.errors import Error
from hone.server_address import ServerAddress
from hone.service_errors import ServerError, Unauthenticated, Unavailable, error_of

if TYPE_CHECKING:
    import grpc
    import grpc.aio

_MISSING = (
    "expected the packages grpcio and protobuf for hone.Client, found that {} is missing; pip install 'hone[client]'"
)
_HANDSHAKE_LIMIT_S = 10.0
_MAX_MESSAGE_BYTES = 64 << 20
_KEEPALIVE_MS = 20_000
_RECONNECT_MS = 200  # a daemon that is started again is found again at once
CALL_LIMIT_S = 30.0
"""For calls that answer at once."""


def check_installed() -> None:
    try:
        import google.protobuf  # noqa: F401
        import grpc
    except ImportError as error:
        raise Error(_MISSING.format(error.name)) from None
    del grpc


@dataclasses.dataclass(frozen=True)
class Trust:
    """What a client takes for the daemon's."""

    authority: bytes
    """PEM."""
    name: str
    """One that the server's certificate holds for."""


def _handshake(address: ServerAddress, context: ssl.SSLContext) -> ssl.SSLSocket:
    host = address.host.removeprefix("[").removesuffix("]")
    context.set_alpn_protocols(["h2"])
    try:
        plain = socket.create_connection((host, address.port), _HANDSHAKE_LIMIT_S)
        return context.wrap_socket(plain, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        raise Unauthenticated(
            f"at {address} the server's certificate does not hold: {error.verify_message}", 6
        ) from None
    except OSError as error:
        raise error_of("UNAVAILABLE", str(error), str(address)) from None


def _chain(tls: ssl.SSLSocket) -> list[bytes]:
    """The certificates that the server sent, in DER."""
    if hasattr(tls, "get_unverified_chain"):  # from Python 3.13 on
        return list(tls.get_unverified_chain())
    inner = tls._sslobj  # type: ignore[attr-defined]
    return [ssl.PEM_cert_to_DER_cert(each.public_bytes()) for each in inner.get_unverified_chain() or ()]


def _find_authority(address: ServerAddress) -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing is said over it
    with _handshake(address, context) as tls:
        for certificate in _chain(tls):
            if hashlib.sha256(certificate).hexdigest() == address.certificate:
                return certificate
    raise Unauthenticated(
        f"at {address} the server's certificate is not the one of the join string: either another server answers there, "
        "or the daemon has been given a new authority; ask its administrator for a new join string",
        6,
    )


def find_trust(address: ServerAddress) -> Trust | None:
    """Asks the server, which takes a moment. None: over a Unix socket the system says who is there."""
    if address.socket:
        return None
    authority = ssl.DER_cert_to_PEM_cert(_find_authority(address))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # the pin decides
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=authority)
    with _handshake(address, context) as tls:
        names = (tls.getpeercert() or {}).get("subjectAltName", ())
    of_kinds = {str(kind): str(name) for kind, name in reversed(names)}
    name = of_kinds.get("DNS") or of_kinds.get("IP Address") or address.host
    return Trust(authority.encode(), name)


def _options(trust: Trust | None) -> list[tuple[str, str | int]]:
    options: list[tuple[str, str | int]] = [
        ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_MS),
        ("grpc.initial_reconnect_backoff_ms", _RECONNECT_MS),
        ("grpc.min_reconnect_backoff_ms", _KEEPALIVE_MS),
        ("grpc.max_reconnect_backoff_ms", _RECONNECT_MS),
    ]
    if trust is not None:
        options.append(("grpc.ssl_target_name_override", trust.name))
    return options


def _credentials(address: ServerAddress, trust: Trust) -> grpc.ChannelCredentials:
    import grpc

    credentials = grpc.ssl_channel_credentials(root_certificates=trust.authority)
    if not address.token:
        return credentials
    return grpc.composite_channel_credentials(credentials, grpc.access_token_call_credentials(address.token))


def open_channel(address: ServerAddress, trust: Trust | None) -> grpc.Channel:
    import grpc

    if trust is None:
        return grpc.insecure_channel(str(address), _options(trust))
    return grpc.secure_channel(str(address), _credentials(address, trust), _options(trust))


def open_async_channel(address: ServerAddress, trust: Trust | None) -> grpc.aio.Channel:
    import grpc.aio

    if trust is None:
        return grpc.aio.insecure_channel(str(address), _options(trust))
    return grpc.aio.secure_channel(str(address), _credentials(address, trust), _options(trust))


def error_of_call(error: grpc.RpcError, address: ServerAddress) -> ServerError:
    """In the daemon's own sentence. A handshake that fails is told from a server that is away: the pin is looked at."""
    code, details = error.code().name, error.details() or ""
    found = error_of(code, details, str(address))
    if isinstance(found, Unavailable) and not address.socket:
        try:
            _find_authority(address)
        except Unauthenticated as other:
            return other
        except ServerError:
            pass
    return found
