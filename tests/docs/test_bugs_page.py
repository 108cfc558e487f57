"""docs/kafka-bugs.md is what the specs' safeguards say (`pytest --rewrite tests/docs` writes it anew)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.api.bundled import SPECS, bundled_specs
from assay.grammar.parsing.parse import parse
from assay.grammar.syntax import Module
from assay.report.bugs_page import Safeguard, bugs_page, safeguards

FORM = 'param Fence: bool = true\n    """Old requests are obeyed (KAFKA-1, KIP-2; up to 2.1).\n\n    Why\n    so.\n    """\n'


def module(text: str) -> Module:
    return parse(text, "spec.assay").module


def documented() -> list[Safeguard]:
    return [
        each
        for name in bundled_specs()
        for each in safeguards(name, module((SPECS / f"{name}.assay").read_text(encoding="utf-8")))
    ]


@pytest.mark.slow
def test_the_page_is_made_of_the_specs(checkout: Path, request: pytest.FixtureRequest) -> None:
    page = checkout / "docs" / "kafka-bugs.md"
    found = bugs_page(documented())
    if request.config.getoption("--rewrite"):
        page.write_text(found, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == found


def test_a_safeguard_says_what_goes_wrong_where_it_is_known_from_and_why() -> None:
    found = list(safeguards("kafka/x", module(FORM)))
    assert found == [
        Safeguard("kafka/x", "Fence", "Old requests are obeyed", "KAFKA-1, KIP-2", "up to 2.1", ("Why so.",))
    ]


@pytest.mark.parametrize(
    "text",
    [
        FORM.replace("KAFKA-1, KIP-2", "a rumour"),
        FORM.replace("= true", "= false"),
        FORM.replace("bool = true", "int = 1"),
    ],
)
def test_other_parameters_are_no_safeguards_of_kafka(text: str) -> None:
    assert list(safeguards("kafka/x", module(text))) == []


@pytest.mark.parametrize("text", [FORM.replace("; up to 2.1", ""), FORM.replace("Why\n    so.", "")])
def test_a_safeguard_without_versions_or_reason_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"kafka/x: the documentation of Fence is not"):
        list(safeguards("kafka/x", module(text)))


def test_a_section_shows_the_command_that_finds_the_bug() -> None:
    page = bugs_page(safeguards("kafka/x", module(FORM)))
    assert "| KAFKA-1, KIP-2 | Old requests are obeyed | [`kafka/x` `Fence`](#kafkax-fence) |" in page
    assert "## kafka/x Fence\n\n**Old requests are obeyed.** KAFKA-1, KIP-2; up to 2.1.\n\nWhy so.\n" in page
    assert "    assay check kafka/x --set Fence=false" in page


def test_the_command_names_the_model_that_the_paragraphs_name() -> None:
    page = bugs_page(safeguards("kafka/x", module(FORM.replace("so.", "so (model `big`)."))))
    assert "    assay check kafka/x --model big --set Fence=false" in page
