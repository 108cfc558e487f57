"""A session on Spark, made with the settings that long tasks and large cells need, or one that is there already.

Raises ``SpecError`` with a diagnostic wherever no session is to be had: ``E830`` without pyspark, ``E831`` without Java, ``E832`` where Spark
itself does not start.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.spark.session.java import java_home
from assay.spark.session.ship_package import SHIP

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_PYSPARK = "E830"
NO_SESSION = "E832"
LOCAL = "local[*]"
SHOWN = 5
"""Lines of Spark's own log that a diagnostic repeats."""
GRACE = 20.0
"""Seconds in which Spark's process may end by itself."""
LASTING = re.compile(
    r"Could not parse Master URL|UnknownHostException|Connection refused|ClassNotFoundException|NoClassDefFoundError|UnsupportedClassVersionError"
    r"|IllegalArgumentException|Could not create the Java Virtual Machine|Error: (Missing|Invalid|Unknown|Unrecognized)"
)
"""What Spark says where another attempt would end as the first one did."""
PAUSE = 2.0
"""Seconds before a second attempt: what a process took that has just ended is free by then."""
LOGGER = logging.getLogger(__name__)

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
LOCALLY = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # jobs are short: what the second compiler costs, it does not bring in
    "spark.shuffle.compress": "false",  # packed rows and fingerprints do not get smaller
}
"""Settings for sessions on this machine; a cluster has its own."""


def local_settings(master: str) -> dict[str, str]:
    """Settings with which a session begins."""
    return {**LOCALLY, "spark.driver.memory": f"{_heap()}m"} if master.startswith("local") else {}


def _heap() -> int:
    """The most megabytes that Java may take here: a gigabyte, which is Spark's own, is too little for what comes of some gigabytes of logs."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return min(max(memory // 6, 1_024), 4_096)


@contextmanager
def session(master: str = LOCAL, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A session with a master, ended at the end with the process that serves it; under `spark-submit` the one that was submitted.

    ``settings`` go before those of assay. Raises ``SpecError``, also where this process has a session already, which stays as it is.
    """
    require_pyspark()
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        yield _submitted(settings or {})
        return
    _refuse_a_second_one(master)
    with tempfile.TemporaryDirectory(prefix="assay-spark-") as folder, _own_interrupts():
        spark = _started(master, settings or {}, Path(folder))
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
        notes = (Note("assay's extra `spark` brings it, with a Java; in a clone: `pip install '.[spark]'`"),)
        raise SpecError([Diagnostic(NO_PYSPARK, NOWHERE, f"`{error.name}` is not installed", notes)]) from None


@contextmanager
def configured(spark: SparkSession, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """Inside, a session has the settings that every job needs, and ``settings``; afterwards its own again, as somebody else may have made it."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional

    wanted = {**RUNTIME, **(settings or {})}
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield spark
    finally:
        with suppress(Py4JError, OSError):  # the process is gone, and its settings with it
            for name, old in before.items():
                spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def _submitted(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    builder = SparkSession.builder.appName("assay")
    for name, value in {**RUNTIME, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _refuse_a_second_one(master: str) -> None:
    from pyspark import SparkContext  # noqa: PLC0415 - optional

    if SparkContext._active_spark_context is not None:
        notes = (Note("a process has one session at a time: end the other one, or hand it to `assay.spark`"),)
        text = f"Spark does not start with the master `{master}`: this process has a session already"
        raise SpecError([Diagnostic(NO_SESSION, NOWHERE, text, notes)])


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """A session takes Ctrl-C for itself and does not give it back."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _started(master: str, settings: Mapping[str, str], folder: Path) -> SparkSession:
    """A session, by a second attempt where what the first one failed for may pass: memory, ports, or a master that was slow."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional
    from pyspark.errors import PySparkException  # noqa: PLC0415 - optional

    failed: list[tuple[Exception, list[str]]] = []
    while True:
        log = folder / f"spark-{len(failed)}.log"
        try:
            return _start(master, settings, log)
        except (Py4JError, PySparkException, OSError) as error:
            _end()
            failed.append((error, _lines(log)))
        except BaseException:
            _end()
            raise
        if len(failed) > 1 or any(LASTING.search(line) for line in _said(*failed[0])):
            raise SpecError([_not_started(master, failed)])
        LOGGER.warning("Spark did not start and is started again: %s", " | ".join(_shown(*failed[0])))
        time.sleep(PAUSE)


def _start(master: str, settings: Mapping[str, str], log: Path) -> SparkSession:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - optional
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - optional
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    _forget()  # of a session that somebody stopped a process of Java is left, which is not the one that is started here
    chosen = {**RUNTIME, **STATIC, **_of_this_machine(master), **settings}
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName("assay").setAll(list(chosen.items()))
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    process = _environment(JAVA_HOME=str(java_home()), PYSPARK_PYTHON=python, **_address(chosen))
    with process, log.open("wb") as stream:
        gateway = launch_gateway(conf, {"stdout": stream, "stderr": stream})  # type: ignore[no-untyped-call]
    SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
    context = SparkContext(conf=conf, gateway=gateway)
    context.pythonExec = python
    return SparkSession(context)


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Inside, variables of the environment have these values, which a process that is started gets."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, old in before.items():
            os.environ.pop(name) if old is None else os.environ.update({name: old})


def _address(chosen: Mapping[str, str]) -> dict[str, str]:
    """The address that Spark is told where it would ask the network for this machine's name, which a driver that listens on loopback has no need of."""
    address = chosen.get("spark.driver.bindAddress")
    return {} if address is None else {"SPARK_LOCAL_IP": address}


def _of_this_machine(master: str) -> dict[str, str]:
    """What follows from a cluster that is this machine alone: nothing listens to others."""
    if not master.startswith("local"):
        return {}
    return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}


def _end() -> None:
    """End the session and the process that serves it, also one that is gone, so that the next one starts afresh."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional
    from pyspark import SparkContext  # noqa: PLC0415 - optional

    gateway: Any = SparkContext._gateway
    context = SparkContext._active_spark_context
    try:
        if context is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # says that the process is gone
                with suppress(OSError):  # so does this
                    context.stop()
                context.stop()  # does what the first time, where that was so, did not come to
    finally:
        _forget()
        if gateway is not None:
            with suppress(Py4JError, OSError):  # the process is gone; otherwise it ends when its input does
                gateway.shutdown()
            _end_process(gateway.proc)


def _forget() -> None:
    """Let pyspark know of no session: it keeps several notes of one, and the next would be asked for by what an old one says."""
    from pyspark import SparkContext  # noqa: PLC0415 - optional
    from pyspark.sql import SparkSession, SQLContext  # noqa: PLC0415 - optional

    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


def _end_process(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _lines(log: Path) -> list[str]:
    """What Spark's process wrote."""
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    return [line for line in text.splitlines() if line.strip()]


def _said(error: Exception, lines: Sequence[str]) -> list[str]:
    return [*str(error).splitlines(), *lines]


def _shown(error: Exception, lines: Sequence[str]) -> list[str]:
    """The beginning of what was raised, and the end of what was written."""
    return [*str(error).splitlines()[:SHOWN], *lines[-SHOWN:]]


def _not_started(master: str, failed: Sequence[tuple[Exception, list[str]]]) -> Diagnostic:
    notes = [Note(line) for each in failed for line in _shown(*each)]
    again = ", nor when it is started again" if len(failed) > 1 else ""
    return Diagnostic(NO_SESSION, NOWHERE, f"Spark does not start with the master `{master}`{again}", tuple(notes))
