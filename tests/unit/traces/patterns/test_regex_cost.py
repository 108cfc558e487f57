"""No line keeps a shape busy for long: patterns whose time grows faster than the line are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.traces.input.lines import line_layout, timestamps
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.patterns.container_files import built_in_containers
from assay.traces.patterns.regex_cost import EXPONENTIAL, bounded, degree


@pytest.mark.parametrize(
    ("pattern", "worst"),
    [
        ("a", 1),
        ("a*", 1),
        ("(a|b)*c", 1),
        (r"[^ ]+ [^ ]+", 1),
        (r"(?:[^,]+,)*x", 1),
        (r"[a-z.]+-\d", 1),
        (r".*foo", 1),
        (r".*foo.*", 1),
        (r".*foo.*bar", 2),
        (r".*foo.*bar.*baz", 3),
        (r"[\w.-]*-[\d]*", 2),
        (r"(?:x.*y|z).*w", 2),
        (r"(?:ab*)*c", 1),
        (r"(a+)+b", EXPONENTIAL),
        (r"(?:[a-z]+ ?)*", EXPONENTIAL),
        (r"(?:x|(?:.*,)*)y", EXPONENTIAL),
        ("a?b?c?d?e?f?g?h?i?j?.*a.*b.*c", 3),
        (r"[ab]*(?:b|cd)?[ab]*x", 2),
        (r"(?:a(?:b|c)?)*c*x", 2),
        (r"(?:a*(?:b)?c)*x", 1),
        (r".*,.*(?:x)?", 2),
    ],
)
def test_the_degree_is_the_exponent_of_the_length(pattern: str, worst: int) -> None:
    assert degree(re.compile(pattern, re.DOTALL), to_the_end=True) == worst


def test_a_pattern_with_too_many_paths_is_not_judged() -> None:
    with pytest.raises(ValueError, match="more than 512 paths"):
        degree(re.compile("(?:ab|cd)" * 10 + ".*a.*b.*c"), to_the_end=True)


def test_where_a_match_begins_and_ends_counts() -> None:
    pattern = re.compile(r"\w+ x")
    assert degree(pattern, to_the_end=False) == 1
    assert degree(pattern, to_the_end=False, anywhere=True) == 2
    assert degree(re.compile(r"a.*"), to_the_end=False, anywhere=True) == 1


def test_classes_that_are_repeated_get_a_bound() -> None:
    assert bounded(r"(\d+) \w* \S+? \\d+ [\d,]* \(\d\)") == r"(\d{1,20}) \w{0,250} \S{1,500}? \\d+ [\d,]* \(\d\)"


def test_a_pattern_that_a_line_could_keep_busy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = "[[shape]]\nname = 'mine'\nkind = 'Mine'\nloggers = ['a.B']\npattern = '{0}'\nmeaning = 'm'\nexample = 'e'\n"
    for pattern, said in (("(.+,)+x", "doubles with every character"), ("a.*b.*c.*d", "the third power of the length")):
        path.write_text(text.format(pattern))
        with pytest.raises(SpecError) as caught:
            load_catalogue([path])
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "E702"
        assert said in diagnostic.message


def test_a_pattern_whose_time_grows_with_the_square_is_not_tried_on_long_messages(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        "[[shape]]\nname = 'mine'\nkind = 'M'\nloggers = ['a.B']\npattern = 'a.*b.*c'\nmeaning = 'm'\nexample = 'e'\n"
    )
    pattern = load_catalogue([path]).pattern("mine")
    assert pattern.match("a" + "b" * 4000 + "c")
    assert not pattern.match("a" + "b" * 5000 + "c")


def test_the_patterns_of_headers_and_prefixes_are_linear() -> None:
    for header in line_layout.HEADERS:
        assert degree(header, to_the_end=False) == 1
    found = [each.pattern for each in built_in_containers().entries if each.pattern is not None]
    as_text = [re.compile(each.pattern.decode()) for each in found]
    assert all(degree(each, to_the_end=False) == 1 for each in as_text)
    start = re.compile(line_layout.START.pattern.decode())
    assert degree(start, to_the_end=False, anywhere=True) == 1
    assert degree(re.compile(timestamps.STAMP.decode()), to_the_end=True) == 1
