"""All-to-all streams between the tasks of a job: one connection for each ordered pair, served by one thread that never waits for one of them alone.

A frame is the number of the level, the number of words that follow, and so many words; a frame without words ends the sender's level. Whoever
has too much to send takes in what comes before it makes more: so no task's memory holds more than ``WAITING`` bytes of others', and no two
tasks wait for each other.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import numpy as np

from assay.checker.layout.row import Rows
from assay.spark.exchange.authenticated_listener import Door
from assay.spark.exchange.protocol import RefusedError, dial

FRAME = struct.Struct("<QQ")
WAITING = 8 << 20
"""Bytes that may wait to be sent before nothing more is made."""
AT_ONCE = 4 << 20
"""Bytes taken from one connection before the others have their turn."""
PATIENCE = 600.0
"""Seconds without any progress after which the others are given up."""


@dataclass(slots=True)
class Incoming:
    """What is coming from one task: the frame that is not complete yet."""

    connection: socket.socket
    header: bytearray = field(default_factory=lambda: bytearray(FRAME.size))
    filled: int = 0
    body: Rows | None = None
    ended: bool = False


@dataclass(slots=True)
class Outgoing:
    """What waits to be sent to one task."""

    connection: socket.socket
    queue: deque[memoryview] = field(default_factory=deque)


class Mesh:
    """The connections of one task with all others. Everything raises ``ConnectionError`` when another one is gone.

    ``receive`` gets the words of each frame, ``longest`` is how many there may be. ``control`` is the driver's connection: nothing may come on it while a level is exchanged.
    """

    def __init__(self, control: socket.socket, longest: int, receive: Callable[[Rows], None]) -> None:
        self.sent = 0
        self._longest = longest
        self._receive = receive
        self._level = 0
        self._waiting = 0
        self._in: dict[int, Incoming] = {}
        self._out: dict[int, Outgoing] = {}
        self._control = control
        self._selector = DefaultSelector()

    def connect(self, own: int, peers: list[tuple[str, int]], listener: socket.socket, secret: bytes) -> None:
        """Connect with all peers: call each one, and be called by each."""
        with closing(Door(listener, secret)) as door:
            for number, address in enumerate(peers):
                if number != own:
                    self._out[number] = Outgoing(dial(address, secret, own))
            while len(self._in) < len(peers) - 1:
                caller = door.next(PATIENCE)
                if caller is None:
                    raise ConnectionError("not all tasks of this job have called")
                self._in[caller[0]] = Incoming(caller[1])
        if sorted(self._in) != sorted(self._out):
            raise RefusedError("the tasks that called are not those of this job")
        for incoming in self._in.values():
            incoming.connection.setblocking(False)
            self._selector.register(incoming.connection, EVENT_READ, incoming)
        for outgoing in self._out.values():
            outgoing.connection.setblocking(False)
        self._selector.register(self._control, EVENT_READ, None)

    def close(self) -> None:
        """Close all connections."""
        for incoming in self._in.values():
            incoming.connection.close()
        for outgoing in self._out.values():
            outgoing.connection.close()
        self._selector.close()

    # ---------------------------------------------------------------------------------------------- a level

    def begin(self, level: int) -> None:
        """What is sent and received from now on is of this level."""
        self._level = level
        for incoming in self._in.values():
            incoming.ended = False

    def send(self, to: int, words: Rows) -> None:
        """Send words to a task; takes in what comes where too much waits."""
        self._queue(to, memoryview(FRAME.pack(self._level, len(words))))
        self._queue(to, words.view(np.uint8).data)
        while self._waiting > WAITING:
            self.pump(PATIENCE)

    def finish(self) -> None:
        """Tell all tasks that this was all, and take in what comes until all have said so."""
        for to in self._out:
            self._queue(to, memoryview(FRAME.pack(self._level, 0)))
        while self._waiting or not all(incoming.ended for incoming in self._in.values()):
            self.pump(PATIENCE)

    def _queue(self, to: int, content: memoryview) -> None:
        outgoing = self._out[to]
        if not outgoing.queue:
            self._selector.register(outgoing.connection, EVENT_WRITE, outgoing)
        outgoing.queue.append(content)
        self._waiting += len(content)
        self.sent += len(content)

    def pump(self, seconds: float = 0.0) -> None:
        """Send and take in what is possible at once, having waited so long at most until something is."""
        ready = self._selector.select(seconds)
        if seconds and not ready:
            raise ConnectionError("the other tasks are silent")
        for key, _ in ready:
            if isinstance(key.data, Incoming):
                self._take(key.data)
            elif isinstance(key.data, Outgoing):
                self._give(key.data)
            else:
                raise ConnectionError("the driver is gone, or ends the level")

    def _give(self, outgoing: Outgoing) -> None:
        try:
            while outgoing.queue:
                done = outgoing.connection.send(outgoing.queue[0])
                self._waiting -= done
                if done == len(outgoing.queue[0]):
                    outgoing.queue.popleft()
                else:
                    outgoing.queue[0] = outgoing.queue[0][done:]
            self._selector.unregister(outgoing.connection)
        except BlockingIOError:
            return

    def _take(self, incoming: Incoming) -> None:
        taken = 0
        try:
            while taken < AT_ONCE:
                into = memoryview(incoming.header) if incoming.body is None else incoming.body.view(np.uint8).data
                got = incoming.connection.recv_into(into[incoming.filled :])
                if not got:
                    raise ConnectionError("another task is gone")
                incoming.filled += got
                taken += got
                if incoming.filled == len(into):
                    self._complete(incoming)
        except BlockingIOError:
            return

    def _complete(self, incoming: Incoming) -> None:
        body, incoming.filled = incoming.body, 0
        if body is not None:
            incoming.body = None
            self._receive(body)
            return
        level, words = FRAME.unpack(incoming.header)
        if level != self._level or words > self._longest or incoming.ended:
            raise RefusedError(f"a frame of {words:,} words in level {level}")
        if words:
            incoming.body = np.empty(words, np.uint64)
        else:
            incoming.ended = True
