"""Sends this package to executors that do not have it. What it depends on must be installed there."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import assay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHIP = "spark.assay.ship"
"""The setting with which a session sends this package to executors that lack it."""


def ship(spark: SparkSession) -> None:
    """Let all executors of a session import this package, in the driver's version. Its dependencies are not sent."""
    folder = tempfile.mkdtemp(prefix="assay-package-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # not before: executors that start later fetch it too
    path = Path(folder) / f"assay-{assay.__version__}.zip"
    pack(path)
    # Also for sessions of Spark Connect, which have no `SparkContext.addPyFile`.
    spark.addArtifacts(str(path), pyfile=True)


def pack(path: Path) -> None:
    """Write this package into a zip file, laid out as a wheel."""
    root = Path(assay.__file__).parent
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in _files(root):
            packed.write(file, Path("assay") / file.relative_to(root))


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder, following links: in a checkout the packages are links."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            # Compiled files are of this machine's Python; executors make their own.
            if entry.name != "__pycache__":
                yield from _files(entry)
        else:
            yield entry
