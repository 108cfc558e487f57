"""Where the processes of a job call: whoever proves that it knows the secret is let in, and who says nothing keeps nobody waiting."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue

from assay.spark.exchange.protocol import admit

WATCHING = 0.2
"""Seconds after which a door that was closed is noticed at the latest."""


class Door:
    """Admits callers of a listening socket, each in a thread of its own, until it is closed, and the socket with it."""

    def __init__(self, listener: socket.socket, secret: bytes) -> None:
        self._listener = listener
        self._secret = secret
        self._admitted = SimpleQueue[tuple[int, socket.socket]]()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def next(self, seconds: float) -> tuple[int, socket.socket] | None:
        """The number and the connection of the next caller that has proven itself; None if there is none for so long."""
        try:
            return self._admitted.get(timeout=seconds)
        except Empty:
            return None

    def close(self) -> None:
        """Let nobody in any more. The thread that accepts closes the socket: its number might be another's by then, if this one did."""
        self._closed.set()

    def _watch(self) -> None:
        with self._listener:
            self._listener.settimeout(WATCHING)
            while not self._closed.is_set():
                with suppress(TimeoutError, ConnectionError):  # nobody, or one who has hung up again
                    connection, _ = self._listener.accept()
                    threading.Thread(target=self._prove, args=(connection,), daemon=True).start()

    def _prove(self, connection: socket.socket) -> None:
        try:
            number = admit(connection, self._secret)
        except OSError:
            return  # a stranger: whom the job waits for will come
        if self._closed.is_set():
            connection.close()
        else:
            self._admitted.put((number, connection))
