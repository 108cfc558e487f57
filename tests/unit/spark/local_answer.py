"""What the local command says of logs, but for what is not said of logs that grow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.cli.settings import load
from assay.report.validation_object import validation_object
from assay.spark.logs.validation import ClusterAnswer
from assay.traces.answer import validated
from assay.traces.conduct import DEFAULT_OPTIONS
from assay.traces.overview import overview
from assay.traces.read import read_logs

LOADED = load("kafka/cluster", None, {})


def said(answer: ClusterAnswer) -> Any:
    """An answer as JSON, without what was measured."""
    found = json.loads(json.dumps(validation_object(answer.validation, answer.overview)))
    del found["seconds"], found["impact"]
    found["notices"] = [each for each in found["notices"] if each["kind"] != "impact"]
    return found


def said_locally(logs: Path) -> Any:
    """The local answer about logs."""
    reading = read_logs([logs])
    return said(ClusterAnswer("", LOADED, validated(LOADED, reading, DEFAULT_OPTIONS), overview(reading)))
