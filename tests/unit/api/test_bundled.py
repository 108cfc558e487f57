"""A name that no bundled spec has: what was probably meant, else where the bundled specs are."""

from __future__ import annotations

import pytest

from assay.api.bundled import locate_spec
from assay.grammar.diagnostics.diagnostic import SpecError


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("kafka/contrller", "did you mean `kafka/controller`?"),
        ("quorumm", "did you mean one of `kafka/kraft/quorum`?"),
        ("unheard", "bundled specs have names such as `kafka/controller`: "),
    ],
)
def test_an_unknown_name_gets_near_names_or_the_folders(name: str, advice: str) -> None:
    with pytest.raises(SpecError) as error:
        locate_spec(name)
    (note,) = error.value.diagnostics[0].notes
    assert note.message.startswith(advice)
    assert len(note.message) < 250
