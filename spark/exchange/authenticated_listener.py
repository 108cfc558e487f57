"""A listening socket that only hands out connections whose caller has proved that it knows the job's secret.

Each caller is authenticated in a thread of its own, so that one that connects and sends nothing does not hold up the
others.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue

from assay.spark.exchange.protocol import authenticate

POLL_SECONDS = 0.2
"""How long it takes at most until a closed listener is noticed by the thread that accepts."""


class AuthenticatedListener:
    """Accepts and authenticates callers of a listening socket, until it is closed. It owns the socket and closes it."""

    def __init__(self, listener: socket.socket, secret: bytes) -> None:
        self._listener = listener
        self._secret = secret
        self._admitted = SimpleQueue[tuple[int, socket.socket]]()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def next(self, seconds: float) -> tuple[int, socket.socket] | None:
        """The task number and the connection of the next authenticated caller; None if there is none within so many
        seconds.
        """
        try:
            return self._admitted.get(timeout=seconds)
        except Empty:
            return None

    def close(self) -> None:
        """Accept no more callers.

        The accepting thread closes the socket. Were it closed here, its file descriptor could already belong to another
        file when that thread uses it.
        """
        self._closed.set()

    def _watch(self) -> None:
        with self._listener:
            self._listener.settimeout(POLL_SECONDS)
            while not self._closed.is_set():
                with suppress(TimeoutError, ConnectionError):  # nobody called, or the caller has hung up again
                    connection, _ = self._listener.accept()
                    # Not by this thread: a caller that sends nothing would hold up all others for a minute.
                    threading.Thread(target=self._prove, args=(connection,), daemon=True).start()

    def _prove(self, connection: socket.socket) -> None:
        try:
            number = authenticate(connection, self._secret)
        except OSError:
            return  # not a task of this job: those will call by themselves
        # Nobody takes it from the queue any more; the caller learns at once that it came too late.
        if self._closed.is_set():
            connection.close()
        else:
            self._admitted.put((number, connection))
