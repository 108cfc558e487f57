"""Readings and answers as bytes, which another process of this package turns into the same values.

Line patterns are pickled by their names, because both processes have loaded the same catalogue. The bytes are a pickle:
unpickling executes code, so accept them only from processes of the same job.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import TraceRule
from assay.traces.patterns.catalogue import Catalogue
from assay.traces.patterns.pattern import LinePattern


def _proxy(content: dict[object, object]) -> MappingProxyType[object, object]:
    return MappingProxyType(content)


def _of_proxy(proxy: MappingProxyType[object, object]) -> tuple[Callable[..., Any], tuple[dict[object, object]]]:
    return _proxy, (dict(proxy),)


def _pattern_of(name: str) -> LinePattern:
    """The pattern of a name. A pickle refers to this function; the reader substitutes its own lookup."""
    raise LookupError(name)


def _of_pattern(pattern: LinePattern) -> tuple[Callable[..., Any], tuple[str]]:
    return _pattern_of, (pattern.name,)


def _rule_of(number: int) -> TraceRule:
    """The rule of a number; the reader substitutes its own lookup."""
    raise LookupError(number)


class _Writer(pickle.Pickler):
    """A pickler that writes patterns as names, and rules as numbers."""

    def __init__(self, out: io.BytesIO, rules: Sequence[TraceRule]) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._numbers = IdentityMemo((rule, number) for number, rule in enumerate(rules))
        self.dispatch_table = {**copyreg.dispatch_table, MappingProxyType: _of_proxy, LinePattern: _of_pattern}
        # Without rules in the call the reader has no table of them: then they are pickled whole.
        if rules:
            self.dispatch_table[TraceRule] = self._of_rule

    def _of_rule(self, rule: TraceRule) -> Any:
        number = self._numbers.get(rule)
        # The default of `object`: a rule without a number goes whole, and the table must not be asked for it again.
        return object.__reduce_ex__(rule, pickle.HIGHEST_PROTOCOL) if number is None else (_rule_of, (number,))


class _Reader(pickle.Unpickler):
    """An unpickler that looks patterns and rules up in its own tables."""

    def __init__(self, data: bytes, catalogue: Catalogue | None, rules: Sequence[TraceRule]) -> None:
        super().__init__(io.BytesIO(data))
        self._rules = rules
        self._patterns = {} if catalogue is None else {pattern.name: pattern for pattern in catalogue.patterns}

    def find_class(self, module: str, name: str) -> Any:
        """The object of a global name in the bytes."""
        if (module, name) == (__name__, _pattern_of.__name__):
            return self._patterns.__getitem__
        if (module, name) == (__name__, _rule_of.__name__):
            return self._rules.__getitem__
        return super().find_class(module, name)


def to_bytes(value: object, rules: Sequence[TraceRule] = ()) -> bytes:
    """A value as bytes; ``rules`` are written as their numbers."""
    out = io.BytesIO()
    _Writer(out, rules).dump(value)
    return out.getvalue()


def from_bytes(data: bytes, catalogue: Catalogue | None = None, rules: Sequence[TraceRule] = ()) -> Any:
    """The value of such bytes. Matches need the catalogue of their patterns, and numbered rules need the same
    ``rules``.
    """
    return _Reader(data, catalogue, rules).load()
