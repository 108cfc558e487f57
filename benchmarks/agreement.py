"""The agreement of assay and TLC about temporal properties: the specs of the corpus, then random ones; one line for each run of TLC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.differential import test_liveness_corpus as corpus
from tests.differential import test_tlc_liveness as random
from tests.differential.tlc_behaviours import Question, ask


def lines(arguments: Sequence[str]) -> Iterator[dict[str, object]]:
    """Of how many properties TLC says what assay says; of random ones as many as the argument says, 50 at a time."""
    if len(arguments) > 1 or not all(each.isdigit() for each in arguments):
        raise ValueError("agreement takes the number of random properties at most")
    for name in corpus.SPECS:
        yield _line(name, corpus.questions(name))
    for first in range(0, int(arguments[0]) if arguments else 0, 50):
        yield _line(f"random from {first}", random.questions(50, first, nested=first % 100 == 0))


def _line(about: str, questions: Sequence[Question]) -> dict[str, object]:
    with TemporaryDirectory() as folder:
        agreed = ask(questions, Path(folder)).is_complete
    violated = sum(question.run is not None for question in questions)
    return {
        "benchmark": "agreement with TLC", "about": about, "holds": len(questions) - violated, "violated": violated,
        "agreed": len(questions) if agreed else 0,
    }  # fmt: skip
