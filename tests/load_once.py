"""Specs are read once in a process: hundreds of tests use the same few, and reading the largest takes two seconds.

What is remembered is never changed (the nodes are frozen), and depends on nothing but the key. The key of a parsed text
is the text and the name in its places. The key of a loaded spec is its file's content, the current folder, its
parameters and the folders that are searched. The key of a log's kernel is the texts of the spec, and what the log
binds.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from assay.grammar import load
from assay.grammar.elaborate.modules.library import Library, UnreadModule
from assay.grammar.kernel import Kernel
from assay.grammar.load import Loaded
from assay.grammar.loaded import Elements
from assay.grammar.parsing.parse import parse
from assay.grammar.spec_cache import kernel_with_names

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
    remember_kernels_of_logs(patch)


def remember_kernels_of_logs(patch: pytest.MonkeyPatch) -> None:
    """A dozen recordings are validated again and again; the user's cache would give each kernel in a tenth of a second."""
    known = OrderedDict[object, Kernel]()

    def kernel(
        spec: Loaded, elements: Elements, sizes: Mapping[str, int], elaborate: Callable[[Elements], Kernel]
    ) -> Kernel:
        bound = tuple((name, tuple(each)) for name, each in elements.items()), tuple(sizes.items())
        key = (tuple(spec.sources.items()), spec.model, tuple(spec.overrides.items()), bound)
        if key not in known:
            known[key] = kernel_with_names(spec, elements, sizes, elaborate)
        known.move_to_end(key)
        if len(known) > 40:
            known.popitem(last=False)
        return known[key]

    patch.setattr(load, "kernel_with_names", kernel)


def _is_bundled(place: Path) -> bool:
    """Whether a file is among the specs that come with assay, which no test changes."""
    return Path(os.path.realpath(place)).is_relative_to(BUNDLED)  # of a link to itself too
