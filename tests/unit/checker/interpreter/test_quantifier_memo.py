"""What an evaluation consults is noted for the thread in which it runs."""

from __future__ import annotations

from threading import Thread

from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.quantifier_memo import ValueMemo, consulted


def test_what_another_thread_evaluates_meanwhile_is_not_noted() -> None:
    own, other = (ValueMemo(lambda _: True, [], []) for _ in range(2))
    with consulted() as found:
        thread = Thread(target=other, args=(Frame((), (), {}),))
        thread.start()
        thread.join()
        own(Frame((), (), {}))
    assert list(found) == [(own, ())]
