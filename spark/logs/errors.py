"""Exceptions of Spark as diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError

LINES_SHOWN = 8
NO_FILE_SYSTEM = re.compile(r"ClassNotFoundException: Class [\w.]*FileSystem not found|UnsupportedFileSystemException")
HOW_TO_ADD = (
    "Spark reads this file system with a jar that the session does not have: name its package in `spark.jars.packages` "
    "(for `s3a:` `org.apache.hadoop:hadoop-aws`, in the version of Spark's Hadoop), by `spark-submit --packages` or in `spark-defaults.conf`"
)


@contextmanager
def as_diagnostic(code: str, message: str) -> Iterator[None]:
    """Turn what Spark raises inside into a SpecError with that code: ``message`` and Spark's first line, with the
    next lines as notes.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional
    from pyspark.errors import PySparkException  # noqa: PLC0415 - optional

    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = [line.strip(" :\t") for line in str(error).splitlines() if line.strip(" :\t")]
        # That line of py4j names an object of Java by its id, which says nothing to a user.
        lines = [line for line in lines if not line.startswith("An error occurred while calling")] or lines
        lines = lines or [type(error).__name__]
        notes = tuple(Note(line) for line in lines[1 : LINES_SHOWN + 1] if not line.startswith("at "))
        if NO_FILE_SYSTEM.search(str(error)):
            notes = (Note(HOW_TO_ADD),)
        raise SpecError([Diagnostic(code, NOWHERE, f"{message}: {lines[0]}", notes)]) from error
