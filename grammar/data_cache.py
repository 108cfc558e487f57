"""Values of this package in the user's cache: syntax trees and kernels that take longer to make than to read.

An entry is named by the hash of what it depends on, the text of this package among it. It is a pickle, and
``user_cache`` gives out only what nobody but this user can have written. The reader makes values of this package's
classes of data and calls nothing else, so that even a foreign file would run no code.
"""

from __future__ import annotations

import io
import os
import pickle
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.grammar.user_cache import cached, keep

MARK = "\ue000"
"""Begins a stand-in: a text for which the reader of an entry puts in another one."""

_DATA = re.compile(
    r"assay\.grammar\.(?:kernel|syntax|values|diagnostics\.diagnostic|elaborate\.modules\.module_tree)(?:\.|$)"
)
_NO_NAMES: Mapping[str, str] = MappingProxyType({})


def entry(kind: str, *parts: object) -> str | None:
    """The name of an entry that depends on ``parts``, by their ``repr``; None where nothing can be kept."""
    code = code_text(Path(__file__).parent)
    # A file's name may hold lone surrogates, which UTF-8 does not have.
    return None if code is None else f"{kind}-{sha256(repr((code, parts)).encode('utf-8', 'replace')).hexdigest()}"


def remembered(name: str | None, stand_ins: Mapping[str, str] = _NO_NAMES, folder: Path | None = None) -> Any:
    """The value that was kept under a name, with the texts that its stand-ins mean; None if there is none."""
    content = None if name is None else cached(name, folder)
    return None if content is None else _decoded(content, stand_ins)


def remember(
    name: str | None, value: object, stand_ins: Mapping[str, str] = _NO_NAMES, folder: Path | None = None
) -> Any:
    """Keep a value in which stand-ins occur. Returns the value with the texts in their places. Returns None if it was
    not kept, because it holds something else than data, or is nested too deeply.
    """
    content = None if name is None else _encoded(value, stand_ins)
    if name is None or content is None:
        return None
    if not stand_ins:
        keep(name, content, folder)
        return value
    named = _decoded(content, stand_ins)
    if named is not None:
        keep(name, content, folder)
    return named


@cache
def code_text(folder: Path) -> str | None:
    """The hash of a package's text; None where its files cannot be read, as in an archive."""
    digest = sha256()
    try:
        for below, folders, files in os.walk(folder):  # half the time of `Path.rglob`
            folders.sort()
            for name in sorted(files):
                if name.endswith((".py", ".lark")):
                    path = Path(below, name)
                    digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    except OSError:
        return None
    return digest.hexdigest() if folder.is_dir() else None


class _Writer(pickle.Pickler):
    """A pickler that writes stand-ins as references, and refuses a text in which something like one is hidden."""

    def __init__(self, out: io.BytesIO, stand_ins: Mapping[str, str]) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._stand_ins = stand_ins

    def persistent_id(self, value: object) -> str | None:
        """The stand-in itself, for a stand-in."""
        if not isinstance(value, str) or MARK not in value:
            return None
        if value not in self._stand_ins:
            raise pickle.PicklingError(value)
        return value


class _Reader(pickle.Unpickler):
    """An unpickler that knows classes of data only."""

    def __init__(self, content: bytes, stand_ins: Mapping[str, str]) -> None:
        super().__init__(io.BytesIO(content))
        self._stand_ins = stand_ins

    def persistent_load(self, reference: Any) -> str:
        """The text that a stand-in means."""
        return self._stand_ins[reference]

    def find_class(self, module: str, name: str) -> Any:
        """A class of data; raises UnpicklingError for anything else."""
        found: object = None
        if _DATA.match(module) or (module, name) == ("builtins", "frozenset"):
            found = super().find_class(module, name)
        # A module of data holds functions as well, which a forged pickle would have called.
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return found


def _encoded(value: object, stand_ins: Mapping[str, str]) -> bytes | None:
    out = io.BytesIO()
    try:
        if not stand_ins:  # a writer that asks for each object takes three times as long
            return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        _Writer(out, stand_ins).dump(value)
    except (pickle.PicklingError, RecursionError, TypeError, AttributeError):
        return None
    return out.getvalue()


def _decoded(content: bytes, stand_ins: Mapping[str, str]) -> Any:
    """The value of an entry; None if it cannot be read."""
    try:
        return _Reader(content, stand_ins).load()
    except Exception:  # noqa: BLE001 - a damaged pickle raises anything; the value is made anew
        return None
