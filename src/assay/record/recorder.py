"""The recorder: events of all threads of a process go through one queue into one file."""

from __future__ import annotations

import atexit
import json
import logging
import os
import re
import sys
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable
from enum import Enum
from itertools import count
from pathlib import Path
from time import time_ns
from types import TracebackType
from typing import Any, Self

import orjson

from assay.record.own_file import OwnFile

LOGGER = logging.getLogger("assay.record")
MOST_PENDING = 1_024
"""So many events are written at once, whatever the interval."""
MOST_HEADS = 4_096
"""The beginnings of lines are kept for so many names of events."""
_PROVIDED = frozenset({"event", "sequence"})
_KEYS = frozenset({*_PROVIDED, "time", "node", "run", "thread"})


class Recorder:
    """Writes events, one JSON object a line: the event, its time in milliseconds, node, run, thread, number, fields.

    * Any thread may record. The lines of a file are in the order in which ``record`` was called; ``sequence`` counts
      them. Events that are recorded while the lock is held that protects what they report are in the order in which
      that happened.
    * A process writes a file of its own. The first that opens ``path`` writes it. Another (a child, a worker, a second
      recorder) writes a file beside it with the number of its process in the name. ``files`` lists them.
    * Events are written after ``flush_interval`` seconds at the latest (0: at once, before ``record`` returns). A
      process that is killed loses those that were not written yet, and no others.
    * ``record`` never fails because of the file. Events that cannot be written are counted in ``lost``, and the logger
      ``assay.record`` warns of them. A line in the file says so as soon as there is room; the answer about the file is
      then at best inconclusive.

    ``OSError`` is raised only here, if the file cannot be opened.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, node: str | None = None, run: int = 1, flush_interval: float = 0.1
    ) -> None:
        self.path = Path(path)
        self.node = node
        self.run = run
        self.flush_interval = flush_interval
        self.lost = 0
        self._reported = 0  # of these, how many the logger was told of
        self._file = OwnFile(self.path)
        self._file.open()
        self._begin()
        _RECORDERS.add(self)

    def _begin(self) -> None:
        """Begin in a process without what another one, whose copy it is, has not written yet."""
        self._pending: deque[bytes] = deque()
        self._heads: dict[str, bytes] = {}
        self._numbers = count(1)
        # A new lock: in a forked child the old one may be held by a thread that is not there.
        self._writing = threading.Lock()
        self._ended = threading.Event()
        self._same: Counter[str] = Counter()
        self._names: weakref.WeakKeyDictionary[threading.Thread, str] = weakref.WeakKeyDictionary()
        self._own = threading.local()
        self._flusher: threading.Thread | None = None
        self._nodes: list[Recorder] = []

    # ------------------------------------------------------------------------------------------------- recording

    def record(self, event: str, /, **fields: Any) -> None:
        """Record that an event happens now. A field ``time``, ``node``, ``run`` or ``thread`` replaces what is known.

        A field that is a constant of an ``Enum`` is written as its name; sets are lists, and what JSON has no value for
        is text.
        """
        try:
            # All events but a thread's first go this way, and a `try` that succeeds costs nothing.
            own = self._own.text
        except AttributeError:
            own = self._new_thread()
        try:
            head = self._heads[event]
        except KeyError:
            # A span may be called as the address that was asked for, and a service runs for months.
            if len(self._heads) >= MOST_HEADS:
                self._heads.clear()
            head = self._heads[event] = b'{"event":%b,"time":' % _json(event)
        for name, value in fields.items():
            if isinstance(value, Enum):
                # A value of a key that is there: the dictionary may be changed so while it is gone through.
                fields[name] = value.name
        # No lock is taken from here on: `next` of a count and `append` of a deque are atomic
        # (docs/design/recording.md).
        if not fields:
            text = b"%b%.3f%b%d}\n" % (head, time_ns() / 1e6, own, next(self._numbers))
        elif _KEYS.isdisjoint(fields):
            text = b"%b%.3f%b%d,%b\n" % (head, time_ns() / 1e6, own, next(self._numbers), _json(fields)[1:])
        else:
            text = self._replacing(event, fields)
        self._pending.append(text)
        if not self.flush_interval or len(self._pending) >= MOST_PENDING:
            self.flush()

    def _replacing(self, event: str, fields: dict[str, Any]) -> bytes:
        """The line of an event whose fields say what else is known of the process."""
        if not _PROVIDED.isdisjoint(fields):
            raise TypeError(f"{self.__class__.__name__}.record() writes {sorted(_PROVIDED & fields.keys())} itself")
        node = {} if self.node is None else {"node": self.node}
        name = self._names[threading.current_thread()]
        here = {**node, "run": self.run, "thread": name, "sequence": next(self._numbers)}
        return _json({"event": event, "time": time_ns() / 1e6, **here, **fields}) + b"\n"

    def _new_thread(self) -> bytes:
        """What the lines of a thread have in common that records for the first time. No two threads of a process have
        the same name.
        """
        thread = threading.current_thread()
        with self._writing:
            is_first = not self._same
            # Threads may share a name, and lines of one name are taken to be in order by `order: thread`.
            if thread not in self._names:
                self._same[thread.name] += 1
                same = self._same[thread.name]
                self._names[thread] = thread.name if same == 1 else f"{thread.name} ({same})"
            name = self._names[thread]
            if self._flusher is None and self.flush_interval:
                self._flusher = threading.Thread(
                    target=_flush_often, args=(weakref.ref(self), self._ended), daemon=True
                )
                self._flusher.start()
                if is_first:  # not again in the parent after each fork
                    _flush_at_exit()
        node = b"" if self.node is None else b',"node":%b' % _json(self.node)
        text = b'%b,"run":%d,"thread":%b,"sequence":' % (node, self.run, _json(name))
        self._own.text = text
        return text

    # --------------------------------------------------------------------------------------------------- writing

    def flush(self) -> None:
        """Write what was recorded. It is then the operating system's: a killed process does not lose it."""
        lost = 0
        with self._writing:
            while self._pending:
                lines = [self._pending.popleft() for _ in range(min(len(self._pending), MOST_PENDING))]
                lost += self._file.write(lines)
            self.lost += lost
            unreported = self.lost - self._reported
            # A full disk stays full: it is told again when twice as many are lost, and at the end.
            telling = unreported > 0 and (unreported >= self._reported or self._ended.is_set())
            self._reported += unreported if telling else 0
        # Without the lock: a handler of the logger may record an event itself.
        if telling:
            LOGGER.warning(
                "%d events could not be written to %s: %s; %d in all",
                unreported,
                self._file.path,
                self._file.error,
                self.lost,
            )

    def close(self) -> None:
        """Write what was recorded, and close the file. What is recorded later is lost, and counted."""
        for other in self._nodes:
            other.close()
        # Before the last lines are written, so that the logger is told of all that were lost.
        self._ended.set()
        self.flush()
        with self._writing:
            self._file.close()

    def of_node(self, node: str) -> Recorder:
        """A recorder of another node that this process plays, as in a test; it is closed with this one."""
        other = Recorder(self.path, node=node, run=self.run, flush_interval=self.flush_interval)
        self._nodes.append(other)
        return other

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of all processes that have recorded to ``path``, for ``assay.validate``."""
        name = re.compile(rf"{re.escape(self.path.stem)}-p\d+(?:-\d+)?{re.escape(self.path.suffix)}")
        others = [each for each in self.path.parent.iterdir() if name.fullmatch(each.name)]
        return (*([self.path] if self.path.exists() else []), *sorted(others))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """A recorder that is sent to another process records there, into a file of that process."""
        return _again, (str(self.path), self.node, self.run, self.flush_interval)

    def _before_fork(self) -> None:
        """Write what there is, and end the thread, which the next event starts again: Python warns of a fork beside
        other threads.
        """
        with self._writing:
            flusher, self._flusher = self._flusher, None
            self._ended.set()
            self._ended, self._own = threading.Event(), threading.local()
        if flusher is not None:
            # Without the lock, for which the thread may be waiting.
            flusher.join()
        self.flush()

    def _after_fork(self) -> None:
        self.lost = self._reported = 0
        self._file.forget()
        self._begin()


def _again(path: str, node: str | None, run: int, flush_interval: float) -> Recorder:
    return Recorder(path, node=node, run=run, flush_interval=flush_interval)


def _json(fields: dict[str, Any] | str) -> bytes:
    """An object or a text as JSON, whatever it holds: the program that records goes on."""
    try:
        return orjson.dumps(fields, _plain)
    except TypeError:  # such as an integer of more than 64 bits, a key that is no text, half of a surrogate pair
        pass
    try:
        return json.dumps(fields, default=_plain, skipkeys=True).encode()
    except (TypeError, ValueError, RecursionError):
        shown = fields if isinstance(fields, str) else {name: _text(value) for name, value in fields.items()}
        return json.dumps(shown).encode()


def _plain(value: object) -> Any:
    """What stands for a value that JSON lacks."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda each: _text(each, repr))
    return _text(value)


def _text(value: object, text_of: Callable[[object], str] = str) -> str:
    """The text of a value; the name of its type where the value's own code raises what it likes."""
    try:
        return text_of(value)
    except Exception:  # noqa: BLE001 - as an object of a database that is no longer connected does
        return f"<{type(value).__name__}>"


_RECORDERS: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _flush_often(of: weakref.ref[Recorder], ended: threading.Event) -> None:
    # A weak reference: this thread must not keep a recorder that the program has dropped.
    interval = getattr(of(), "flush_interval", 0)
    while not ended.wait(interval):
        recorder = of()
        if recorder is None:
            return
        recorder.flush()
        del recorder


def _flush_all() -> None:
    for recorder in list(_RECORDERS):
        recorder.flush()


def _flush_at_exit() -> None:
    """Flush at the end of a process of ``multiprocessing``, too: it ends without the functions of ``atexit``."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _flush_all, exitpriority=0)


def _before_fork() -> None:
    for recorder in list(_RECORDERS):
        recorder._before_fork()


def _forget_all() -> None:
    for recorder in list(_RECORDERS):
        recorder._after_fork()


atexit.register(_flush_all)
os.register_at_fork(before=_before_fork, after_in_child=_forget_all)
