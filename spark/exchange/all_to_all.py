"""All-to-all exchange of words between the tasks of a job.

There is one connection for each ordered pair of tasks. One thread in each task serves all of its connections with a
selector, so that it never blocks on a single one of them.

A frame is a level number, the number of 64-bit words that follow, and these words. A frame of no words ends the
sender's level.

Flow control: a task that has more than ``MAX_QUEUED_BYTES`` to send receives before it produces more. So the memory for
queues is bounded, and two tasks cannot wait for each other.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import field
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import numpy as np

from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.exchange.authenticated_listener import AuthenticatedListener
from assay.spark.exchange.protocol import RefusedError, connect

FRAME = struct.Struct("<QQ")
MAX_QUEUED_BYTES = 8 << 20
"""How many bytes may be queued for sending before ``send`` stops to receive."""
MAX_BYTES_PER_TURN = 4 << 20
"""How many bytes are read from one connection before the others get their turn."""
MAX_SECONDS_WITHOUT_PROGRESS = 600.0
"""After so many seconds without any progress the other tasks are taken for dead."""


@dataclass(slots=True)
class Incoming:
    """The receiving side of a connection with one task, and the frame that is not complete yet."""

    connection: socket.socket
    header: bytearray = field(default_factory=lambda: bytearray(FRAME.size))
    filled: int = 0
    body: Rows | None = None
    ended: bool = False


@dataclass(slots=True)
class Outgoing:
    """The sending side of a connection with one task, and what is queued for it."""

    connection: socket.socket
    queue: deque[memoryview] = field(default_factory=deque)


class AllToAll:
    """The connections of one task with all other tasks of the job. Every method raises ``ConnectionError`` when another
    task is gone.

    ``receive`` is called with the words of each frame; a frame of more than ``longest`` words is refused. ``control``
    is the connection with the driver. Nothing may arrive on it while a level is exchanged: if something does, the
    driver is gone or ends the level.
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
        """Connect with all peers, in both directions: call each of them, and accept a call from each."""
        # Callers are answered by threads meanwhile: two tasks that call each other both wait for the other's proof.
        with closing(AuthenticatedListener(listener, secret)) as listening:
            for number, address in enumerate(peers):
                if number != own:
                    self._out[number] = Outgoing(connect(address, secret, own))
            while len(self._in) < len(peers) - 1:
                caller = listening.next(MAX_SECONDS_WITHOUT_PROGRESS)
                if caller is None:
                    raise ConnectionError("not all tasks of this job have called")
                self._in[caller[0]] = Incoming(caller[1])
        # Late callers of an earlier attempt have another secret; this finds a task number that called twice.
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
        """Begin a level: frames are sent, and expected, with this level number from now on."""
        # All tasks have ended the level before when one begins the next: the driver waits for every report first.
        self._level = level
        for incoming in self._in.values():
            incoming.ended = False

    def send(self, to: int, words: Rows) -> None:
        """Queue words for a task. Receives and sends until no more than ``MAX_QUEUED_BYTES`` are queued."""
        self._queue(to, memoryview(FRAME.pack(self._level, len(words))))
        # A view and no copy: the words must not change until they are sent.
        self._queue(to, words.view(np.uint8).data)
        while self._waiting > MAX_QUEUED_BYTES:
            self.pump(MAX_SECONDS_WITHOUT_PROGRESS)

    def finish(self) -> None:
        """Send every task the end of this level, and receive until all of them have sent theirs."""
        for to in self._out:
            self._queue(to, memoryview(FRAME.pack(self._level, 0)))
        # Both: what others still wait for has to leave before this task turns to work that takes long.
        while self._waiting or not all(incoming.ended for incoming in self._in.values()):
            self.pump(MAX_SECONDS_WITHOUT_PROGRESS)

    def _queue(self, to: int, content: memoryview) -> None:
        outgoing = self._out[to]
        # A connection is watched for writing only while something waits for it: an idle one is always writable, and
        # would wake the loop for nothing.
        if not outgoing.queue:
            self._selector.register(outgoing.connection, EVENT_WRITE, outgoing)
        outgoing.queue.append(content)
        self._waiting += len(content)
        self.sent += len(content)

    def pump(self, seconds: float = 0.0) -> None:
        """Send and receive what is possible without blocking. Waits for so many seconds at most until something is."""
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
            # Nothing waits any more. `_queue` registers the connection again with the next frame.
            self._selector.unregister(outgoing.connection)
        except BlockingIOError:
            return

    def _take(self, incoming: Incoming) -> None:
        taken = 0
        try:
            while taken < MAX_BYTES_PER_TURN:
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
        """A header or a body has arrived whole: expect what follows it, or hand the body over."""
        body, incoming.filled = incoming.body, 0
        if body is not None:
            incoming.body = None
            self._receive(body)
            return
        level, words = FRAME.unpack(incoming.header)
        # Checked before memory is allocated: a damaged header must not ask for gigabytes.
        if level != self._level or words > self._longest or incoming.ended:
            raise RefusedError(f"a frame of {words:,} words in level {level}")
        if words:
            incoming.body = np.empty(words, np.uint64)
        else:
            incoming.ended = True
