"""The chains that slices share: few are kept, and what is kept no longer is freed."""

from __future__ import annotations

from typing import Any

import pytest

from assay.traces.windows import slice_chain


class Chain:
    """Stands for a chain, and says whether its solver was freed."""

    def __init__(self, template: Any, *_: Any) -> None:
        self.template = template
        self.is_full = self.closed = False

    def close(self) -> None:
        self.closed = True


def test_a_chain_that_is_replaced_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_chain, "SliceChain", Chain)
    monkeypatch.setattr(slice_chain, "_chains", [])
    given: Any = None

    def chain_of(template: Any) -> Any:
        return slice_chain.chain_of(template, given, 1)

    templates = [object() for _ in range(slice_chain.CHAINS)]
    first, *others = map(chain_of, templates)
    first.is_full = True
    second = chain_of(templates[0])
    assert (second is first, first.closed, [each.closed for each in others]) == (False, True, [False] * len(others))
    chain_of(object())
    assert [each.closed for each in others] == [True, *[False] * (len(others) - 1)]
