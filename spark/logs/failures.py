"""What Spark raises, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from assay.grammar.diagnostics import NOWHERE, Diagnostic, Note, SpecError

LINES_SHOWN = 8


@contextmanager
def as_diagnostic(code: str, said: str) -> Iterator[None]:
    """What Spark raises inside, as a SpecError with that code: what is said, then Spark's first line, and the next ones as notes."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional
    from pyspark.errors import PySparkException  # noqa: PLC0415 - optional

    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = [line.strip(" :\t") for line in str(error).splitlines() if line.strip(" :\t")]
        lines = [line for line in lines if not line.startswith("An error occurred while calling")]
        notes = tuple(Note(line) for line in lines[1 : LINES_SHOWN + 1] if not line.startswith("at "))
        raise SpecError([Diagnostic(code, NOWHERE, f"{said}: {lines[0]}", notes)]) from error
