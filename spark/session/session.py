"""A Spark session with the settings that assay needs, started here or made by the user.

Raises ``SpecError`` where there is none: E830 without pyspark, E831 without Java, E832 where Spark does not start.
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
"""How many lines of Spark's log a diagnostic repeats."""
GRACE = 20.0
"""Seconds that Spark's Java process has to end by itself."""
LASTING = re.compile(
    r"Could not parse Master URL|UnknownHostException|Connection refused|ClassNotFoundException|NoClassDefFoundError|UnsupportedClassVersionError"
    r"|IllegalArgumentException|Could not create the Java Virtual Machine|Error: (Missing|Invalid|Unknown|Unrecognized)"
)
"""Errors of Spark that a second attempt would meet again."""
PAUSE = 2.0
"""Seconds before a second attempt, so that memory and ports of a process that has just ended are free."""
LOGGER = logging.getLogger(__name__)

RUNTIME = {
    "spark.sql.adaptive.enabled": "false",  # would merge partitions: which task owns which states would change
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",  # a row may be megabytes
}
"""Settings that can be changed while a session runs."""
STATIC = {
    "spark.speculation": "false",
    "spark.python.worker.reuse": "true",
    "spark.dynamicAllocation.enabled": "false",  # with it Spark refuses barrier stages
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "1s",
    # By default, Spark waits ten minutes for slots that will not come.
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "2",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    SHIP: "true",
}
"""Settings that can only be given when a session starts."""
LOCALLY = {
    # Jobs are short: Java's second compiler costs more than it saves.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.shuffle.compress": "false",  # packed rows and fingerprints do not compress
}
"""Settings for sessions on this machine; a cluster has its own."""


def local_settings(master: str) -> dict[str, str]:
    """The settings that a session with this master starts with."""
    return {**LOCALLY, "spark.driver.memory": f"{_heap()}m"} if master.startswith("local") else {}


def _heap() -> int:
    """The maximum heap of Java, in megabytes: a sixth of the memory, between 1 and 4 GB.

    Spark's default of one gigabyte is too little for the results of some gigabytes of logs.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return min(max(memory // 6, 1_024), 4_096)


@contextmanager
def session(master: str = LOCAL, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A session with a master; it ends, and its Java process with it, with the context. Under ``spark-submit``, the
    submitted session.

    ``settings`` take precedence over assay's. Raises ``SpecError``, also where this process has a session already,
    which is left alone.
    """
    require_pyspark()
    # Set by `spark-submit`, which has started Java already.
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        # Not ended here: `spark-submit` started it, and ends it.
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
    """Raise ``SpecError`` if pyspark, pandas or pyarrow is not installed."""
    try:
        import pandas  # noqa: F401, PLC0415 - optional
        import pyarrow  # noqa: F401, PLC0415 - optional
        import pyspark  # noqa: F401, PLC0415 - optional
    except ImportError as error:
        notes = (Note("assay's extra `spark` brings it, with a Java; in a clone: `pip install '.[spark]'`"),)
        raise SpecError([Diagnostic(NO_PYSPARK, NOWHERE, f"`{error.name}` is not installed", notes)]) from None


@contextmanager
def configured(spark: SparkSession, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """Inside, a session has the settings that every job needs, and ``settings``. Afterwards it has its own again, as
    it may be the user's.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional

    wanted = {**RUNTIME, **(settings or {})}
    # None where a setting has its default, which is then restored by unsetting it.
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
    """Restores the handler of Ctrl-C: a session replaces it and does not give it back."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        # Only the main thread may set handlers of signals.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _started(master: str, settings: Mapping[str, str], folder: Path) -> SparkSession:
    """A session. A first failure that may pass (memory, ports, a slow master) is followed by a second attempt."""
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
        # One more attempt alone, and none for an error that would come again: a user waits for each.
        if len(failed) > 1 or any(LASTING.search(line) for line in _said(*failed[0])):
            raise SpecError([_not_started(master, failed)])
        LOGGER.warning("Spark did not start and is started again: %s", " | ".join(_shown(*failed[0])))
        time.sleep(PAUSE)


def _start(master: str, settings: Mapping[str, str], log: Path) -> SparkSession:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - optional
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - optional
    from pyspark.sql import SparkSession  # noqa: PLC0415 - optional

    _forget()  # a session that was stopped has left a Java process, which must not be used for this one
    chosen = {**RUNTIME, **STATIC, **_of_this_machine(master), **settings}
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName("assay").setAll(list(chosen.items()))
    # Workers run this Python, unless the user chose another: the first one on the path may lack this package.
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    process = _environment(JAVA_HOME=str(java_home()), PYSPARK_PYTHON=python, **_address(chosen))
    with process, log.open("wb") as stream:
        gateway = launch_gateway(conf, {"stdout": stream, "stderr": stream})  # type: ignore[no-untyped-call]
    # Given beforehand, so that `SparkContext` starts no Java of its own, whose output would reach the terminal.
    SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
    context = SparkContext(conf=conf, gateway=gateway)
    context.pythonExec = python
    return SparkSession(context)


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Inside, environment variables have these values, for processes that are started."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, old in before.items():
            os.environ.pop(name) if old is None else os.environ.update({name: old})


def _address(chosen: Mapping[str, str]) -> dict[str, str]:
    """The address that Spark would otherwise look up by this machine's name. A driver on loopback does not need
    that, and may have no network.
    """
    address = chosen.get("spark.driver.bindAddress")
    return {} if address is None else {"SPARK_LOCAL_IP": address}


def _of_this_machine(master: str) -> dict[str, str]:
    """Settings of a session that is this machine alone: nothing listens to other machines."""
    if not master.startswith("local"):
        return {}
    return {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}


def _end() -> None:
    """End the session and its Java process, even if that has died, so that the next session starts afresh."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 - optional
    from pyspark import SparkContext  # noqa: PLC0415 - optional

    gateway: Any = SparkContext._gateway
    context = SparkContext._active_spark_context
    try:
        if context is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # warns that the process is gone
                with suppress(OSError):  # the process is gone
                    context.stop()
                context.stop()  # again: the first call may have failed half way
    finally:
        _forget()
        if gateway is not None:
            with suppress(Py4JError, OSError):  # the process is gone; otherwise it ends when its input does
                gateway.shutdown()
            _end_process(gateway.proc)


def _forget() -> None:
    """Clear the references that pyspark keeps to a session in class attributes. The next session would otherwise use
    a dead one.
    """
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
    """The lines that Spark's process wrote."""
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    return [line for line in text.splitlines() if line.strip()]


def _said(error: Exception, lines: Sequence[str]) -> list[str]:
    return [*str(error).splitlines(), *lines]


def _shown(error: Exception, lines: Sequence[str]) -> list[str]:
    """The first lines of the error, and the last lines of the log."""
    return [*str(error).splitlines()[:SHOWN], *lines[-SHOWN:]]


def _not_started(master: str, failed: Sequence[tuple[Exception, list[str]]]) -> Diagnostic:
    notes = [Note(line) for each in failed for line in _shown(*each)]
    again = ", nor when it is started again" if len(failed) > 1 else ""
    return Diagnostic(NO_SESSION, NOWHERE, f"Spark does not start with the master `{master}`{again}", tuple(notes))
