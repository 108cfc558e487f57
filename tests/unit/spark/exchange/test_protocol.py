"""Whoever does not know the job's secret gets no further, and what arrives is checked before it is believed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from assay.checker.layout.row import Rows
from assay.spark.exchange.all_to_all import FRAME, MAX_QUEUED_BYTES, AllToAll
from assay.spark.exchange.authenticated_listener import AuthenticatedListener
from assay.spark.exchange.protocol import (
    LENGTH,
    LONGEST,
    RefusedError,
    authenticate,
    connect,
    listen,
    new_secret,
    receive,
    send,
)

HOST = "127.0.0.1"


def called(secret: bytes, call: Callable[[tuple[str, int]], object]) -> int | Exception:
    """What a listener makes of a caller."""
    found: list[int | Exception] = []
    with listen(HOST, 1) as listener:

        def wait() -> None:
            connection, _ = listener.accept()
            with connection:
                try:
                    found.append(authenticate(connection, secret))
                except OSError as error:
                    found.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        call(listener.getsockname()[:2])
        thread.join()
    return found[0]


def test_both_sides_prove_the_secret_and_the_caller_its_number() -> None:
    secret = new_secret()
    assert called(secret, lambda address: connect(address, secret, 7).close()) == 7


def test_a_caller_without_the_secret_is_refused() -> None:
    def call(address: tuple[str, int]) -> None:
        with pytest.raises(ConnectionError):
            connect(address, new_secret(), 7)

    assert isinstance(called(new_secret(), call), RefusedError)


def test_a_listener_without_the_secret_is_refused() -> None:
    with listen(HOST, 1) as listener:

        def pretend() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(bytes(32))
                connection.recv(100)
                connection.sendall(bytes(32))

        thread = threading.Thread(target=pretend)
        thread.start()
        with pytest.raises(RefusedError, match="does not know the secret"):
            connect(listener.getsockname()[:2], new_secret(), 1)
        thread.join()


def test_a_stranger_who_says_nothing_keeps_nobody_waiting() -> None:
    secret = new_secret()
    listener = listen(HOST, 2)
    address = listener.getsockname()[:2]
    listening = AuthenticatedListener(listener, secret)
    with socket.create_connection(address) as stranger, connect(address, secret, 7):
        caller = listening.next(30)
        assert caller is not None
        with caller[1]:
            assert caller[0] == 7
        assert len(stranger.recv(64)) == 32
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):  # it has not been given up yet
            stranger.recv(1)
        assert listening.next(0) is None
    listening.close()


def test_a_listener_is_bound_to_one_address() -> None:
    with listen(HOST, 1) as listener:
        assert listener.getsockname()[0] == HOST


def test_messages_are_bounded_objects_of_json() -> None:
    here, there = socket.socketpair()
    with here, there:
        send(here, {"level": 3})
        assert receive(there) == {"level": 3}
        for wrong in (LENGTH.pack(2) + b"[]", LENGTH.pack(1) + b"{"):
            here.sendall(wrong)
            with pytest.raises(RefusedError):
                receive(there)
        here.sendall(LENGTH.pack(LONGEST + 1))
        here.shutdown(socket.SHUT_WR)  # whoever waits for the message is disappointed at once
        with pytest.raises(RefusedError, match="a message of 67,108,865 bytes"):
            receive(there)


@contextmanager
def meshes(
    count: int, longest: int, receive: Callable[[int, Rows], None]
) -> Iterator[tuple[list[AllToAll], list[socket.socket]]]:
    """Tasks of one job that are connected, and the other ends of their drivers' connections."""
    secret = new_secret()
    listeners = [listen(HOST, count) for _ in range(count)]
    peers = [listener.getsockname()[:2] for listener in listeners]
    pairs = [socket.socketpair() for _ in range(count)]
    found = [AllToAll(pairs[at][0], longest, partial(receive, at)) for at in range(count)]
    assert (
        at_once([partial(found[at].connect, at, peers, listeners[at], secret) for at in range(count)]) == [None] * count
    )
    try:
        yield found, [there for _, there in pairs]
    finally:
        for exchange in found:
            exchange.close()
        for pair in pairs:
            for end in pair:
                end.close()


def at_once(works: Sequence[Callable[[], object]]) -> list[BaseException | None]:
    """How pieces of work end that run at once."""
    ends: list[BaseException | None] = [None] * len(works)

    def run(at: int) -> None:
        try:
            works[at]()
        except OSError as error:
            ends[at] = error

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


def test_everything_arrives_though_all_send_more_than_may_wait() -> None:
    got = [0, 0, 0]
    words = np.arange(MAX_QUEUED_BYTES // 8 // 4, dtype=np.uint64)

    def receive(at: int, some: Rows) -> None:
        assert (some == words).all()
        got[at] += 1

    def work(exchange: AllToAll, others: list[int]) -> None:
        exchange.begin(5)
        for _ in range(10):
            for to in others:
                exchange.send(to, words)
        exchange.finish()

    with meshes(3, len(words), receive) as (three, _):
        works = [partial(work, exchange, [to for to in range(3) if to != own]) for own, exchange in enumerate(three)]
        assert at_once(works) == [None] * 3
    assert got == [20, 20, 20]


@pytest.mark.parametrize("header", [FRAME.pack(5, 9), FRAME.pack(4, 8), FRAME.pack(5, 1 << 60)])
def test_a_frame_that_is_too_long_or_of_another_level_is_refused(header: bytes) -> None:
    with meshes(2, 8, lambda _at, _words: None) as ((one, two), _):
        one.begin(5)
        two.begin(5)
        one._out[1].connection.setblocking(True)
        one._out[1].connection.sendall(header)
        with pytest.raises(RefusedError, match="a frame of"):
            two.pump(10)


def test_a_task_notices_when_another_one_is_gone() -> None:
    with meshes(2, 8, lambda _at, _words: None) as ((one, two), _):
        two.begin(5)
        one.close()
        with pytest.raises(ConnectionError, match="another task is gone"):
            two.finish()


def test_a_task_notices_when_the_driver_is_gone() -> None:
    with meshes(1, 8, lambda _at, _words: None) as ((alone,), (driver,)):
        driver.close()
        with pytest.raises(ConnectionError, match="the driver is gone"):
            alone.pump(10)
