"""The tables in ``rules/``: data about logs that other rooms read, one TOML file each."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def rule_file(name: str) -> dict[str, Any]:
    """What a file of ``rules/`` holds, such as that of ``clocks.toml``."""
    return tomllib.loads((files("assay.traces.patterns.rules") / name).read_text(encoding="utf-8"))
