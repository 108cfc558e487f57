"""Connections between the processes of one job, with mutual authentication.

Each side proves that it knows the job's secret before anything else is read: a random challenge in each direction,
answered by its HMAC-SHA256. What follows are messages of JSON, or frames of known size (``all_to_all``). Nothing that
arrives is executed or unpickled. The connection is authenticated, not encrypted: what is sent can be read on the
network.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import struct
from typing import Any

NONCE = 32
LONGEST = 64 << 20
"""Bytes of the longest message that is accepted."""
SECONDS = 60.0
"""Seconds within which a connection must be made and authenticated."""
LENGTH = struct.Struct("<I")
NUMBER = struct.Struct("<I")


class RefusedError(ConnectionError):
    """The other side does not know the secret, or does not follow this protocol."""


def new_secret() -> bytes:
    """A new secret, for one job."""
    return secrets.token_bytes(NONCE)


def _proof(secret: bytes, role: bytes, number: int, *nonces: bytes) -> bytes:
    """What proves knowledge of the secret. The role is part of it, so that a challenge cannot be reflected to the side
    that sent it.
    """
    # Both challenges are in it, so that a proof overheard on one connection fits no other.
    return hmac.digest(secret, role + NUMBER.pack(number) + b"".join(nonces), "sha256")


def connect(address: tuple[str, int], secret: bytes, number: int) -> socket.socket:
    """An authenticated connection to an address, as the task of this number; raises ``ConnectionError``."""
    try:
        connection = socket.create_connection(address, SECONDS)
    except OSError as error:
        raise ConnectionError(f"{address[0]} does not answer: {error}") from None
    try:
        theirs, ours = receive_exactly(connection, NONCE), secrets.token_bytes(NONCE)
        connection.sendall(NUMBER.pack(number) + ours + _proof(secret, b"connect", number, theirs, ours))
        if not hmac.compare_digest(receive_exactly(connection, NONCE), _proof(secret, b"accept", number, ours, theirs)):
            raise RefusedError("the other side does not know the secret of this job")
    except OSError as error:
        connection.close()
        raise error if isinstance(error, ConnectionError) else ConnectionError(str(error)) from None
    return _tuned(connection)


def authenticate(connection: socket.socket, secret: bytes) -> int:
    """Have a caller prove that it knows the secret, and prove it to the caller; returns its task number.

    Raises ``OSError``, and then the connection is closed.
    """
    try:
        connection.settimeout(SECONDS)
        ours = secrets.token_bytes(NONCE)
        connection.sendall(ours)
        # The caller proves first: one that does not know the secret gets nothing but a random number.
        number = int(NUMBER.unpack(receive_exactly(connection, NUMBER.size))[0])
        theirs = receive_exactly(connection, NONCE)
        if not hmac.compare_digest(
            receive_exactly(connection, NONCE), _proof(secret, b"connect", number, ours, theirs)
        ):
            raise RefusedError("a caller does not know the secret of this job")
        connection.sendall(_proof(secret, b"accept", number, theirs, ours))
    except OSError:
        connection.close()
        raise
    _tuned(connection)
    return number


def _tuned(connection: socket.socket) -> socket.socket:
    # Messages are short and waited for, so Nagle's algorithm must not hold them back.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A machine that loses its power closes no connection.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connection


def listen(host: str, backlog: int) -> socket.socket:
    """A socket that listens at one address of this machine, at a free port."""
    # An address of the sixth version alone has colons.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind((host, 0))
    listener.listen(backlog)
    return listener


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    """Receive so many bytes; raises ``ConnectionError`` if the other side closes the connection before."""
    content = bytearray()
    while len(content) < size:
        # In blocks: `recv` takes as much memory as it is asked for, whatever comes.
        more = connection.recv(min(size - len(content), 1 << 20))
        if not more:
            raise ConnectionError("the other side is gone")
        content += more
    return bytes(content)


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send a message: its length in four bytes, then JSON."""
    content = json.dumps(message).encode()
    connection.sendall(LENGTH.pack(len(content)) + content)


def receive(connection: socket.socket) -> dict[str, Any]:
    """The next message; raises ``ConnectionError`` if the connection is closed, and ``RefusedError`` for what is no
    message.
    """
    length = int(LENGTH.unpack(receive_exactly(connection, LENGTH.size))[0])
    if length > LONGEST:
        raise RefusedError(f"a message of {length:,} bytes")
    try:
        message = json.loads(receive_exactly(connection, length))
    except ValueError:
        raise RefusedError("a message that is not JSON") from None
    if not isinstance(message, dict):
        raise RefusedError("a message that is no object")
    return message
