"""What a version of a product is known to do explains nothing in the logs of another version."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.grammar.load import load_text
from assay.traces.event import Event
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

LAMP = """\
module lamp

state:
    lit: bool = false

action switch():
    lit := not lit

action flicker():
    lit := not lit

trace log:
    from toy
    on Switched: switch() or flicker() then lit
    on Flickered: flicker()
    report flicker as known WITHIN "the switch of these versions bounces"
    order: file
""".replace("()", "")

Line = Callable[..., Event]


@pytest.mark.everyday(4)
@pytest.mark.parametrize(
    ("within", "versions", "consistent"),
    [
        ('since "2.7" before "3.3"', ("2.8.2",), True),
        ('since "2.7" before "3.3"', ("3.2.3",), True),
        ('since "2.7" before "3.3"', ("3.3.0",), False),
        ('since "2.7" before "3.3"', ("2.6-IV0",), False),
        ('since "2.7" before "3.3"', ("2.6.1", "2.10"), True),
        ('since "2.7" before "3.3"', (), True),
        ('before "2.7"', ("3.9.1", "2.4-IV1"), True),
        ('since "4.0"', ("10.0",), True),
        ("", ("0.1",), True),
    ],
)
def test_known_behaviour_is_that_of_its_versions(
    line: Line, within: str, versions: tuple[str, ...], *, consistent: bool
) -> None:
    loaded = load_text(LAMP.replace("WITHIN ", f"{within} " if within else ""))
    found = validate(loaded, [line("n", 1, 0, "Flickered")], options=Options(versions=versions))
    assert found.verdict is (TraceVerdict.CONSISTENT if consistent else TraceVerdict.INCONSISTENT)


def test_what_a_rule_of_the_protocol_explains_needs_no_version(line: Line) -> None:
    loaded = load_text(LAMP.replace("WITHIN", 'before "1.0"'))
    found = validate(loaded, [line("n", 1, 0, "Switched")], options=Options(versions=("4.0",)))
    assert found.verdict is TraceVerdict.CONSISTENT


@pytest.mark.parametrize(("version", "known"), [("2.6.3", True), ("2.8.2", False), ("3.0.2", True), ("3.1.2", False)])
def test_one_behaviour_may_be_known_of_several_ranges(line: Line, version: str, *, known: bool) -> None:
    first, *_, last = [each for each in LAMP.splitlines(keepends=True) if "WITHIN" in each] * 2
    reports = first.replace("WITHIN", 'before "2.7"') + last.replace("WITHIN", 'since "3.0" before "3.1"')
    loaded = load_text(LAMP.replace(first, reports))
    found = validate(loaded, [line("n", 1, 0, "Flickered")], options=Options(versions=(version,)))
    assert (found.verdict is TraceVerdict.CONSISTENT) == known
