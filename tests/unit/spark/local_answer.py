"""What the local command says of logs, but for what is not said of logs that grow."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from assay.cli.settings import load
from assay.grammar.load import Loaded
from assay.report.logs.validation_object import validation_object
from assay.spark.logs.validate import ClusterAnswer
from assay.traces.diagnosis.node_settings import overview
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.scoped_validate import validate_in_scope


@cache
def loaded() -> Loaded:
    """The spec of the logs: read when a test asks for it, for whoever only collects tests does not need it."""
    return load("kafka/cluster", None, {})


def said(answer: ClusterAnswer) -> Any:
    """An answer as JSON, without what was measured."""
    found = json.loads(json.dumps(validation_object(answer.validation, answer.overview)))
    del found["seconds"], found["impact"]
    found["notices"] = [each for each in found["notices"] if each["kind"] != "impact"]
    return found


def said_locally(logs: Path) -> Any:
    """The local answer about logs."""
    reading = read_logs([logs])
    return said(ClusterAnswer("", loaded(), validate_in_scope(loaded(), reading, DEFAULT_OPTIONS), overview(reading)))
