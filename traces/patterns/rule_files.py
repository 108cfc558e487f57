"""The tables in ``rules/``: data about logs that other rooms read, one TOML file each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.traces.patterns.toml_tables import toml_tables


def rule_file(name: str) -> Mapping[str, Any]:
    """What a file of ``rules/`` holds, such as that of ``clocks.toml``."""
    return toml_tables("assay.traces.patterns.rules")[name]
