"""Which tests are among a share of them."""

from __future__ import annotations

import pytest
from tests.share import Share

NAMES = [f"tests/test_{number}.py::test" for number in range(1_000)]


def test_of_all_none_is_left_out_and_half_is_about_half() -> None:
    assert all(Share.of("100:1").has(name) for name in NAMES)
    assert not any(Share.of("0:1").has(name) for name in NAMES)
    assert 400 < sum(Share.of("50:1").has(name) for name in NAMES) < 600


def test_the_shares_of_some_days_have_all_tests() -> None:
    assert all(any(Share.of(f"50:{day}").has(name) for day in range(40)) for name in NAMES)


def test_what_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        Share.of("half")
