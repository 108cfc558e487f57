"""Specs are read once in a process: hundreds of tests use the same few, and reading the largest takes two seconds.

What is remembered is never changed (the nodes are frozen), and depends on nothing but the key: a parsed text on the text and the
name that its places carry; a loaded spec on its file's content, the current folder (by which files are named), its parameters and
the folders that are searched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from assay.grammar import load
from assay.grammar.elaborate.modules.library import Library, UnreadModule
from assay.grammar.load import Loaded
from assay.grammar.parsing.parse import parse

BUNDLED = load.bundled_specs()[0].resolve()
READERS = ("assay.grammar.elaborate.modules.module_tree.parse", "assay.grammar.parsing.read_file.parse")


def remember(patch: pytest.MonkeyPatch) -> None:
    """Let all loading in this process remember what it read, until the patch is undone."""
    parsed = lru_cache(maxsize=200)(parse)
    for reader in READERS:
        patch.setattr(reader, parsed)
    read, known = load._load, {}

    def loaded(top: UnreadModule, library: Library, model: str | None, overrides: Mapping[str, str]) -> Loaded:
        if top.text is not None or top.place is None or not _is_bundled(top.place):
            return read(top, library, model, overrides)
        key = (top, str(library), str(Path.cwd()), model, tuple(overrides.items()))
        if key not in known:
            known[key] = read(top, library, model, overrides)
        return known[key]

    patch.setattr(load, "_load", loaded)


def _is_bundled(place: Path) -> bool:
    """Whether a file is among the specs that come with assay, which no test changes."""
    return Path(os.path.realpath(place)).is_relative_to(BUNDLED)  # of a link to itself too
