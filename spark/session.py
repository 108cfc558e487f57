"""A session on Spark, made with the settings that long tasks and large cells need, or one that is there already.

Raises ``SpecError`` with a diagnostic wherever no session is to be had: ``E830`` without pyspark, ``E831`` without Java, ``E832`` where Spark
itself does not start.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.grammar.diagnostics import NOWHERE, Diagnostic, Note, SpecError
from assay.spark.java import java_home
from assay.spark.package import SHIP

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_PYSPARK = "E830"
NO_SESSION = "E832"
LOCAL = "local[*]"
SHOWN = 5
"""Lines of Spark's own log that a diagnostic repeats."""
GRACE = 20.0
"""Seconds in which Spark's process may end by itself."""

RUNTIME = {
    "spark.sql.adaptive.enabled": "false",  # would join partitions, and so break who owns what
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",  # cells are megabytes
}
"""Settings that can be changed in a session that runs."""
STATIC = {
    "spark.speculation": "false",
    "spark.python.worker.reuse": "true",
    "spark.dynamicAllocation.enabled": "false",  # with it Spark refuses barrier stages
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "1s",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "2",  # else too few slots are waited for for ten minutes
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    SHIP: "true",
}
"""Settings that a session begins with."""
SEARCH = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # jobs are short: what the second compiler costs, it does not bring in
    "spark.shuffle.compress": "false",  # packed rows and fingerprints do not get smaller
}
"""Settings for searches on this machine; a cluster has its own."""


def search_settings(master: str) -> dict[str, str]:
    """Settings with which a session for searches begins."""
    return SEARCH if master.startswith("local") else {}


@contextmanager
def session(master: str = LOCAL, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A session with a master, ended at the end with the process that serves it; under `spark-submit` the one that was submitted.

    ``settings`` go before those of assay. Raises ``SpecError``.
    """
    require_pyspark()
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        yield _submitted(settings or {})
        return
    with tempfile.TemporaryDirectory(prefix="assay-spark-") as folder:
        log = Path(folder) / "spark.log"
        spark = _started(master, settings or {}, log)
        try:
            yield spark
        finally:
            _end()


def require_pyspark() -> None:
    """Raise ``SpecError`` if pyspark, or what it needs to hand tables to Python, is not installed."""
    try:
        import pandas  # noqa: F401, PLC0415 - optional
        import pyarrow  # noqa: F401, PLC0415 - optional
        import pyspark  # noqa: F401, PLC0415 - optional
    except ImportError as error:
        notes = (Note("`pip install 'assay[spark]'` brings it, with a Java"),)
        raise SpecError([Diagnostic(NO_PYSPARK, NOWHERE, f"`{error.name}` is not installed", notes)]) from None


@contextmanager
def configured(spark: SparkSession, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """Inside, a session has the settings that every job needs, and ``settings``; afterwards its own again, as somebody else may have made it."""
    wanted = {**RUNTIME, **(settings or {})}
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield spark
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def _submitted(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    builder = SparkSession.builder.appName("assay")
    for name, value in {**RUNTIME, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _started(master: str, settings: Mapping[str, str], log: Path) -> SparkSession:
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional
    from pyspark.errors import PySparkException  # noqa: PLC0415 - optional

    try:
        return _start(master, settings, log)
    except (Py4JError, PySparkException, OSError) as error:
        _end()
        raise SpecError([_not_started(master, error, log)]) from None


def _start(master: str, settings: Mapping[str, str], log: Path) -> SparkSession:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - optional
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - optional
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    chosen = {**RUNTIME, **STATIC, **_of_this_machine(master), **settings}
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName("assay").setAll(list(chosen.items()))
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java_home())
    try:
        with log.open("wb") as stream:
            gateway = launch_gateway(conf, {"stdout": stream, "stderr": stream})  # type: ignore[no-untyped-call]
    finally:
        os.environ.pop("JAVA_HOME") if before is None else os.environ.update(JAVA_HOME=before)
    SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
    context = SparkContext(conf=conf, gateway=gateway)
    context.pythonExec = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return SparkSession(context)


def _of_this_machine(master: str) -> dict[str, str]:
    """What follows from a cluster that is this machine alone: nothing listens to others."""
    if not master.startswith("local"):
        return {}
    return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}


def _end() -> None:
    """End the session and the process that serves it, so that the next one starts afresh."""
    from pyspark import SparkContext  # noqa: PLC0415 - optional
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    gateway: Any = SparkContext._gateway
    active = SparkSession.getActiveSession() if gateway is not None else None
    if active is not None:
        active.stop()
    if gateway is None:
        return
    gateway.shutdown()
    process: subprocess.Popen[bytes] = gateway.proc
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    SparkContext._gateway = SparkContext._jvm = None


def _not_started(master: str, error: Exception, log: Path) -> Diagnostic:
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()] if log.exists() else []
    notes = [Note(line) for line in [*str(error).splitlines()[:SHOWN], *lines[-SHOWN:]]]
    return Diagnostic(NO_SESSION, NOWHERE, f"Spark does not start with the master `{master}`", tuple(notes))
