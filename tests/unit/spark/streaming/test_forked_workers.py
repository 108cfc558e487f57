"""Work that copies of this process do beside its own."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from assay.spark.streaming import forked_workers as module
from assay.spark.streaming.forked_workers import most_processes, run_in_fork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")


def test_copies_have_what_this_process_has_and_send_what_they_found() -> None:
    found = {"here": os.getpid()}
    mine, others = run_in_fork([lambda: b"%d %d" % (found["here"], os.getpid() != found["here"])], os.getpid)
    assert (mine, others) == (os.getpid(), [b"%d 1" % os.getpid()])
    assert most_processes() >= 1


def test_more_than_a_pipe_holds_is_sent() -> None:
    assert run_in_fork([lambda: b"1" * 1_000_000, lambda: b""], lambda: None) == (None, [b"1" * 1_000_000, b""])


def test_what_does_not_come_to_an_end_is_left_to_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """One ends without an answer, and one waits for something that does not come."""
    monkeypatch.setattr(module, "EXTRA_SECONDS", 0.2)

    def waits() -> bytes:
        threading.Event().wait()
        return b"late"

    mine, others = run_in_fork([lambda: os._exit(1), waits], lambda: "own")
    assert (mine, others) == ("own", [None, None])


def test_copies_end_where_the_own_work_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        run_in_fork([lambda: b"1"], lambda: 1 // 0)
