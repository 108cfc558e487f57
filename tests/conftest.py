"""What tests of every folder share."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from tests.load_once import remember
from tests.share import Share
from tests.stages import mark_seldom_cases

CHECKOUT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite", action="store_true", help="write what is computed into files that are compared with it"
    )
    parser.addoption(
        "--share", type=Share.of, metavar="PERCENT:WORD", help="so many percent of the tests, chosen by a word"
    )


def pytest_configure(config: pytest.Config) -> None:
    keep_byte_code()
    patch = pytest.MonkeyPatch()
    remember(patch)
    config.add_cleanup(patch.undo)


def keep_byte_code() -> None:
    """Keep byte code, whatever the environment says: processes that tests start would compile all modules, and each worker all tests."""
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_report_header(config: pytest.Config) -> str | None:
    share = config.getoption("--share")
    return (
        None if share is None else f"of the tests {share.percent} %, chosen by {share.word!r}; the others are left out"
    )


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out the slow ones
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_seldom_cases(items)
    share = config.getoption("--share")
    if share is not None:
        left_out = [item for item in items if not share.has(item.nodeid)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if share.has(item.nodeid)]


def pytest_collection_finish() -> None:
    """Look for cycles less often: there are few, and what all tests share is large.

    Nothing is frozen here: `frozen_heap` would take it for frozen already, and look through all that tests remember.
    """
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return CHECKOUT
