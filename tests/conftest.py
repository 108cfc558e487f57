"""What tests of every folder share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.share import Share

CHECKOUT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="write what is computed into files that are compared with it"
    )
    parser.addoption(
        "--share", type=Share.of, metavar="PERCENT:WORD", help="so many percent of the tests, chosen by a word"
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    share = config.getoption("--share")
    return (
        None if share is None else f"of the tests {share.percent} %, chosen by {share.word!r}; the others are left out"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = config.getoption("--share")
    if share is not None:
        left_out = [item for item in items if not share.has(item.nodeid)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if share.has(item.nodeid)]


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return CHECKOUT
