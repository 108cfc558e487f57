"""docs/kafka-rules.md: each rule is where the page says that it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.kafka.models import AREAS

from assay.api.bundled import SPECS

REFERENCE = re.compile(r"`(kafka/[\w/]+)` ((?:`\w+`(?:, )?)+)")


def references(page: str) -> list[tuple[str, str]]:
    """Specs with the names that are to be found there."""
    return [(spec, name) for spec, names in REFERENCE.findall(page) for name in re.findall(r"`(\w+)`", names)]


@pytest.fixture(scope="module")
def page(checkout: Path) -> str:
    return (checkout / "docs" / "kafka-rules.md").read_text(encoding="utf-8")


def test_every_name_is_declared_in_the_spec_beside_it(page: str) -> None:
    found = references(page)
    assert len(found) > 100
    missing = [(spec, name) for spec, name in found if not declares((SPECS / f"{spec}.assay").read_text(), name)]
    assert missing == []


def declares(text: str, name: str) -> bool:
    """Whether an action, a property, a parameter, a variable, a function or a label has that name."""
    kinds = "action|def|invariant|transition|lemma|reachable|property|scenario|param|when|bound"
    declared = rf"^ *(?:size )?(?:{kinds}) {name}\b|^ +(?:ghost )?{name}: |[:,] {name}: "
    return re.search(declared, text, re.MULTILINE) is not None


def rows(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| rule", "| ---"))]


def test_every_row_names_a_spec(page: str) -> None:
    assert [row for row in rows(page) if not references(row)] == []


def test_every_row_says_what_is_left_out(page: str) -> None:
    assert [row for row in rows(page) if not row.split(" | ")[2:] or not row.split(" | ")[2].strip(" |")] == []


@pytest.mark.parametrize("area", [*list(AREAS)[:-1]])
def test_the_areas_are_those_of_the_models(page: str, area: str) -> None:
    """Whole clusters are the rules of all areas together."""
    assert f"\n## {area}\n" in page
