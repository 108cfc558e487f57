"""Connections between the processes of one job: each side proves that it knows the job's secret, before anything else is read.

What follows are messages of JSON, or frames of known size (``mesh``); nothing that arrives is ever executed or unpickled. The proof is a
challenge and its HMAC in both directions; what is sent afterwards is not encrypted.
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
"""Bytes of the longest message."""
SECONDS = 60.0
"""In which a connection must be made and proven."""
LENGTH = struct.Struct("<I")
NUMBER = struct.Struct("<I")


class RefusedError(ConnectionError):
    """The other side does not know the secret, or does not speak this protocol."""


def new_secret() -> bytes:
    """A secret for one job."""
    return secrets.token_bytes(NONCE)


def _proof(secret: bytes, role: bytes, number: int, *nonces: bytes) -> bytes:
    return hmac.digest(secret, role + NUMBER.pack(number) + b"".join(nonces), "sha256")


def dial(address: tuple[str, int], secret: bytes, number: int) -> socket.socket:
    """A proven connection to an address, as the task of this number; raises ``ConnectionError``."""
    try:
        connection = socket.create_connection(address, SECONDS)
    except OSError as error:
        raise ConnectionError(f"{address[0]} does not answer: {error}") from None
    try:
        theirs, ours = exactly(connection, NONCE), secrets.token_bytes(NONCE)
        connection.sendall(NUMBER.pack(number) + ours + _proof(secret, b"dial", number, theirs, ours))
        if not hmac.compare_digest(exactly(connection, NONCE), _proof(secret, b"accept", number, ours, theirs)):
            raise RefusedError("the other side does not know the secret of this job")
    except OSError as error:
        connection.close()
        raise error if isinstance(error, ConnectionError) else ConnectionError(str(error)) from None
    return _tuned(connection)


def admit(connection: socket.socket, secret: bytes) -> int:
    """Have whoever called prove itself; its number. Raises ``OSError``, and then the connection is closed."""
    try:
        connection.settimeout(SECONDS)
        ours = secrets.token_bytes(NONCE)
        connection.sendall(ours)
        number = int(NUMBER.unpack(exactly(connection, NUMBER.size))[0])
        theirs = exactly(connection, NONCE)
        if not hmac.compare_digest(exactly(connection, NONCE), _proof(secret, b"dial", number, ours, theirs)):
            raise RefusedError("a caller does not know the secret of this job")
        connection.sendall(_proof(secret, b"accept", number, theirs, ours))
    except OSError:
        connection.close()
        raise
    _tuned(connection)
    return number


def _tuned(connection: socket.socket) -> socket.socket:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connection


def listen(host: str, backlog: int) -> socket.socket:
    """A socket that listens at one address of this machine, at a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind((host, 0))
    listener.listen(backlog)
    return listener


def exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes; raises ``ConnectionError`` if they do not come."""
    content = bytearray()
    while len(content) < size:
        more = connection.recv(min(size - len(content), 1 << 20))
        if not more:
            raise ConnectionError("the other side is gone")
        content += more
    return bytes(content)


def say(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send a message."""
    content = json.dumps(message).encode()
    connection.sendall(LENGTH.pack(len(content)) + content)


def hear(connection: socket.socket) -> dict[str, Any]:
    """The next message; raises ``ConnectionError`` if there is none, or it is none."""
    length = int(LENGTH.unpack(exactly(connection, LENGTH.size))[0])
    if length > LONGEST:
        raise RefusedError(f"a message of {length:,} bytes")
    try:
        message = json.loads(exactly(connection, length))
    except ValueError:
        raise RefusedError("a message that is not JSON") from None
    if not isinstance(message, dict):
        raise RefusedError("a message that is no object")
    return message
