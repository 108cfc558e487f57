"""A list of steps that grows as far as it is asked for."""

from __future__ import annotations

from assay.explorer.listing import GrowingList


def test_what_lies_behind_the_end_is_not_there() -> None:
    listing = GrowingList[str](iter(["a", None, "b"]))
    assert [listing.grow_to(number) for number in (1, 0, 2)] == ["b", "a", None]
    assert listing.complete
