"""Answers to an assistant whose questions have mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.agents.answers import answer_to

SPEC = "module light\nstate:\n    on: bool = false\naction press:\n    on := not on\ninvariant whole: true\n"


@pytest.mark.parametrize(("name", "advice"), [("whale", "; did you mean `whole`?"), ("zebra", "")])
def test_only_a_name_that_is_close_is_suggested(name: str, advice: str, tmp_path: Path) -> None:
    path = tmp_path / "light.assay"
    path.write_text(SPEC)
    found = answer_to("check", {"spec": str(path), "model": None, "settings": {}, "properties": [name]})
    assert found["short"]["message"] == f"the spec has no property `{name}`{advice}"


def test_what_is_inductive_has_to_be_named(tmp_path: Path) -> None:
    path = tmp_path / "light.assay"
    path.write_text(SPEC)
    asked: dict[str, object] = {"spec": str(path), "model": None, "settings": {}, "properties": [], "how": "inductive"}
    assert "name some" in answer_to("check", asked)["short"]["message"]
