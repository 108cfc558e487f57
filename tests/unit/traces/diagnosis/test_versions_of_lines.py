"""Logs that state no version are of the releases that write all of their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.diagnosis.node_settings import protocol_versions
from assay.traces.log_reader import read_logs

CACHE = "[2022-03-08 07:59:21,414] INFO [Controller id=5] Initialized broker epochs cache: HashMap(5 -> 68) (kafka.controller.KafkaController)\n"
BANNER = "[2022-03-08 07:59:20,000] INFO Kafka version: 3.1.2 (org.apache.kafka.common.utils.AppInfoParser)\n"


@pytest.mark.parametrize(("text", "first", "last"), [(CACHE, "2.2", "3.9"), (BANNER + CACHE, "3.1.2", "3.1.2")])
def test_versions_are_stated_or_follow_from_the_lines(text: str, first: str, last: str, tmp_path: Path) -> None:
    path = tmp_path / "controller.log"
    path.write_text(text, encoding="utf-8")
    found = protocol_versions(read_logs([path]))
    assert (found[0], found[-1]) == (first, last)
