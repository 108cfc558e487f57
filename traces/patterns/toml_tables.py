"""The TOML files of a package of data. They are parsed once and kept in the user's cache as JSON, which is read in a
twentieth of the time."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from assay.grammar.user_cache import cached, keep


@cache
def toml_tables(package: str) -> Mapping[str, Mapping[str, Any]]:
    """What the TOML files of a package hold, by their names. They hold no dates, which JSON does not have."""
    found = [each for each in files(package).iterdir() if each.name.endswith(".toml")]
    texts = {each.name: each.read_text(encoding="utf-8") for each in sorted(found, key=lambda each: each.name)}
    # The name has the hash of all texts, so what was kept for other contents is never taken.
    name = f"tables-{sha256(repr(texts).encode()).hexdigest()}"
    kept = cached(name)
    if kept is not None:
        tables: Mapping[str, Mapping[str, Any]] = json.loads(kept)
        return tables
    tables = {file: tomllib.loads(text) for file, text in texts.items()}
    keep(name, json.dumps(tables).encode())
    return tables
