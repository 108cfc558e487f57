"""Validation on Spark in `local[2]`: how fast logs are read, and slices checked, on many shifted copies of a recording as so many clusters."""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.grammar.load import bundled_specs, load_spec
from assay.spark.logs.asking import Question
from assay.spark.logs.inputs import list_inputs
from assay.spark.logs.reading import files_of, read_whole, settings
from assay.spark.logs.validation import AS_USUAL, asked, shared_answers, slice_answers
from assay.spark.session import configured, session
from assay.traces.samples import sample

Line = dict[str, object]

CORES = 2
COPIES = 40


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line each for reading, for the part that slices share, and for slices; the argument is the number of copies."""
    copies = int(arguments[0]) if arguments else COPIES
    loaded = load_spec(bundled_specs()[0] / "kafka" / "cluster.assay")
    with TemporaryDirectory() as folder, session(f"local[{CORES}]") as spark, configured(spark, settings(32 << 20)):
        size = _copy(Path(folder), copies)
        inputs = list_inputs(spark, [folder], rf"{folder}/([^/]+)/")
        question = Question(loaded)
        warm = read_whole(files_of(spark, inputs.files[:2]), inputs.files[:2], question.read)
        warm.count()
        begun = time.perf_counter()
        read_whole(files_of(spark, inputs.files), inputs.files, question.read).count()
        yield _line("reading", begun, copies, megabytes=size / 1e6)
        begun = time.perf_counter()
        with asked(spark, inputs, question, AS_USUAL) as rows:
            shared = shared_answers(rows)
            yield _line("reading and what slices share", begun, copies, megabytes=size / 1e6)
            begun = time.perf_counter()
            answers = slice_answers(spark, rows, shared, AS_USUAL, keep_executions=False)
            yield _line("slices", begun, copies, events=sum(each.tally.used for each in answers.values()))


def _copy(folder: Path, copies: int) -> int:
    """The recording as that many clusters; how many bytes they have."""
    size = 0
    for number in range(copies):
        with tarfile.open(sample("elections")) as packed:
            packed.extractall(folder / f"cluster-{number}", filter="data")
    for path in folder.rglob("*"):
        size += path.stat().st_size if path.is_file() else 0
    return size


def _line(what: str, begun: float, copies: int, **amounts: float) -> Line:
    seconds = time.perf_counter() - begun
    rates = {f"{name}_per_second_and_core": round(amount / seconds / CORES, 2) for name, amount in amounts.items()}
    return {
        "benchmark": "spark_logs",
        "what": what,
        "clusters": copies,
        "cores": CORES,
        "seconds": round(seconds, 2),
        **{name: round(amount, 1) for name, amount in amounts.items()},
        **rates,
        "load_before": round(os.getloadavg()[0], 2),
    }
