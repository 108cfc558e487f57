"""Which files are read, and to which cluster each belongs. They are paths as the local command takes them, patterns,
and URIs of any file system of Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from glob import glob, has_magic
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.logs.errors import as_diagnostic
from assay.traces.event import LogPosition, Notice
from assay.traces.input.sources import ListedFile, check_paths, list_files, unreadable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_LISTED = "E840"
NO_CLUSTER = "E841"
NOT_ON_SPARK = "E842"
NOT_READ = "E843"
SHOWN = 5
"""How many files a message names at most."""
# Two characters before the colon at least, so that `C:/logs` is no URI.
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_WILD = re.compile(r"([\\*?\[\]{},])")


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file to read: its number, its cluster (empty if there is only one), and the path under which Spark reports
    it.
    """

    number: int
    cluster: str
    listed: ListedFile
    path: str
    before: tuple[Notice, ...] = ()
    """Notices between the file listed before this one and this one."""

    @property
    def pattern(self) -> str:
        """A pattern that matches this file only."""
        # Spark expands every path as a pattern, so a bracket in a name would match other files.
        return _WILD.sub(r"\\\1", self.path)


@dataclass(frozen=True, slots=True)
class Inputs:
    """All files, in the order in which they are read, and the notices after the last one."""

    files: tuple[LogFile, ...]
    notices: tuple[Notice, ...]

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of the clusters, sorted; one empty name if there are no files."""
        return tuple(sorted({file.cluster for file in self.files})) or ("",)


def list_inputs(spark: SparkSession, paths: Sequence[str], clusters: str | None = None) -> Inputs:
    """The files behind paths. ``clusters`` is a regular expression whose first group, matched in a file's name, names
    its cluster.

    Raises SpecError for a path behind which there is nothing (E601, E840), and for standard input (E842). An expression
    that is invalid or does not match a file is E841.
    """
    if "-" in paths:
        notes = (Note("write it to a file first"),)
        raise SpecError([Diagnostic(NOT_ON_SPARK, NOWHERE, "standard input cannot be read on Spark", notes)])
    notices: list[Notice] = []
    # By key and not by path: the user and Spark spell one file differently, and a task finds it by the key.
    files: dict[str, LogFile] = {}
    for listed, path in _listed(spark, paths, notices):
        earlier = files.get(file_key(path))
        if earlier is not None:
            text = f"the same as {earlier.listed.name}; read once"
            notices.append(Notice("duplicated input", LogPosition(listed.name, 1, 0), text))
            continue
        files[file_key(path)] = LogFile(len(files), "", listed, path, tuple(notices))
        # Each notice keeps its place among the files, so that the answer tells them in the order of the local one.
        notices.clear()
    return Inputs(tuple(assign_clusters([*files.values()], clusters)), tuple(notices))


def _listed(spark: SparkSession, paths: Sequence[str], notices: list[Notice]) -> Iterator[tuple[ListedFile, str]]:
    """The files behind paths, each with the path by which Spark knows it.

    Consecutive paths of this machine are listed together, so that a file behind two of them is read once.
    """
    for is_uri, group in groupby(paths, key=lambda path: URI.match(path) is not None):
        if is_uri:
            yield from chain.from_iterable(_remote(spark, uri) for uri in group)
        else:
            yield from _local([place for path in group for place in _expand_pattern(path)], notices)


def _expand_pattern(path: str) -> list[Path]:
    """A path, or what matches it if it is a pattern."""
    # A file whose own name has a bracket is that file. A pattern without a match stays, so that it is refused by
    # name, as is one that is too long for a file's name.
    with suppress(OSError):
        if has_magic(path) and not Path(path).exists():
            return [Path(found) for found in sorted(glob(path, recursive=True))] or [Path(path)]  # noqa: PTH207 - of any path
    return [Path(path)]


def _local(places: Sequence[Path], notices: list[Notice]) -> Iterator[tuple[ListedFile, str]]:
    """The files behind local paths. A file that cannot be opened here becomes a notice: no task could open it
    either.
    """
    check_paths(places)
    for listed in list_files(places, notices):
        # Asked here: a task that could not open the file would end the whole job.
        reason = _unreadable_because(Path(listed.name))
        if reason is None:
            yield listed, f"file:{_without_dotdot(Path(listed.location))}"
        else:
            notices.append(unreadable(listed.name, reason))


def _without_dotdot(path: Path) -> Path:
    """A path without ``..``: Spark removes it from every path that it hands back, and files are found again by their
    paths.
    """
    return path.parent.resolve() / path.name if ".." in path.parts else path


def _unreadable_because(path: Path) -> str | None:
    try:
        path.open("rb").close()
    except OSError as error:
        return error.strerror
    return None


def _remote(spark: SparkSession, uri: str) -> list[tuple[ListedFile, str]]:
    found = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    with as_diagnostic(NOT_LISTED, f"`{uri}` cannot be listed"):
        # Without the column `content` Spark opens none of the files.
        rows = found.load(uri).select("path", "length", "modificationTime").collect()
    if not rows:
        raise SpecError([Diagnostic(NOT_LISTED, NOWHERE, f"there is no file behind `{uri}`")])
    return [
        (
            ListedFile(row.path, row.path, file_key(row.path) == file_key(uri), row.length, _milliseconds(row)),
            row.path,
        )
        # Spark promises no order. Local files are read in that of their names, too.
        for row in sorted(rows, key=lambda row: str(row.path))
    ]


def _milliseconds(row: object) -> int:
    moment = row.modificationTime  # type: ignore[attr-defined]  # a row has what was selected
    milliseconds: int = round(moment.timestamp() * 1000)
    return milliseconds


def file_key(path: str) -> str:
    """A path in one spelling: Spark writes a URI with one slash after the scheme, or with three."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/+", r"\1:/", path)


def key_of_metadata(path: str) -> str:
    """The key of a path in ``_metadata.file_path``, which is percent-encoded."""
    return file_key(unquote(path))


def assign_clusters(files: Sequence[LogFile], clusters: str | None) -> Iterator[LogFile]:
    """The files with their clusters; without an expression all of them belong to one cluster without a name."""
    if clusters is None:
        yield from files
        return
    try:
        expression = re.compile(clusters)
    except re.error as error:
        raise SpecError([Diagnostic(NO_CLUSTER, NOWHERE, f"`{clusters}` is no regular expression: {error}")]) from None
    if not expression.groups:
        message = f"`{clusters}` has no group in parentheses to name the cluster"
        raise SpecError([Diagnostic(NO_CLUSTER, NOWHERE, message)])
    found = [expression.search(file.listed.name) for file in files]
    # The group may have taken no part in the match, or have matched nothing: neither names a cluster.
    unmatched = [file.listed.name for file, match in zip(files, found, strict=True) if match is None or not match[1]]
    if unmatched:
        more = f", and {len(unmatched) - SHOWN} more" if len(unmatched) > SHOWN else ""
        message = f"`{clusters}` names no cluster for {', '.join(unmatched[:SHOWN])}{more}"
        raise SpecError([Diagnostic(NO_CLUSTER, NOWHERE, message)])
    for file, match in zip(files, found, strict=True):
        yield file if match is None else replace(file, cluster=match[1])
