"""Messages that differ in digits alone are read as the first of them was, and what is read that way is what the patterns read."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest

from assay.traces.event import Field
from assay.traces.input.lines.line_layout import split_logger
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.patterns.match import LoggerPatterns, PatternMatcher
from assay.traces.patterns.pattern import LinePattern
from assay.traces.patterns.template import template_table
from assay.traces.patterns.template_fields import LineFields

CATALOGUE = load_catalogue()


def direct(patterns: LoggerPatterns, message: str) -> tuple[list[tuple[str, dict[str, Field]]], bool]:
    """What the patterns find, one after another."""
    whole = next(((pattern.name, found[0]) for pattern in patterns.whole if (found := pattern.match(message))), None)
    parts = [(pattern.name, fields) for pattern in patterns.partial for fields in pattern.match(message)]
    return ([] if whole is None else [whole]) + parts, whole is not None


def variations(message: str, rng: random.Random) -> Iterable[str]:
    """The message, others that differ in digits, and damaged ones."""
    yield message
    for _ in range(6):
        yield re.sub(r"\d", lambda _: rng.choice("0123456789"), message)
    for _ in range(6):
        at = rng.randrange(len(message))
        yield (
            message[:at] + rng.choice(["", "7", "12", "é", "-", ",", "x", "٣", " "]) + message[at + rng.randrange(3) :]
        )


@pytest.mark.parametrize("pattern", CATALOGUE.patterns, ids=lambda pattern: pattern.name)
def test_a_message_is_read_as_its_patterns_read_it(pattern: LinePattern) -> None:
    record = pattern.example.partition("] ")[2].partition(" ")[2].encode() + b"\n"
    head, logger, _ = split_logger(record)
    patterns = PatternMatcher(CATALOGUE).patterns_of(logger.decode())
    assert patterns is not None
    for message in variations(head.decode(), random.Random(pattern.name)):
        findings, whole = patterns.find(message)
        assert ([(each.pattern.name, dict(each.fields)) for each in findings], whole) == direct(patterns, message)


def test_digits_that_a_pattern_tells_apart_stay_apart() -> None:
    table = template_table([re.compile(r"log4j \d+ [0-3]x")], ["v2"])
    assert table is not None
    templates = {digit: digit.encode().translate(table) for digit in "0123456789"}
    assert len({templates[digit] for digit in "013"}) == 1
    assert len({templates[digit] for digit in "56789"}) == 1
    assert len({templates[digit] for digit in "0245"}) == 4


def test_a_pattern_that_compares_parts_of_a_text_has_no_skeletons() -> None:
    assert template_table([re.compile(r"(\d+) and \1 again")], []) is None
    assert template_table([re.compile(r"(\d)?(?(1)a|b)")], []) is None


def test_equal_events_of_a_message_count_once_in_each_message() -> None:
    patterns = PatternMatcher(CATALOGUE).patterns_of("state.change.logger")
    assert patterns is not None
    for epochs, count in ((("1", "2"), 2), (("3", "3"), 1), (("4", "5"), 2)):
        findings, _ = patterns.find("x ControllerEpoch:{} and ControllerEpoch:{}".format(*epochs))
        assert len(findings) == count


def test_fields_are_read_when_asked_for_and_not_before() -> None:
    patterns = PatternMatcher(CATALOGUE).patterns_of("kafka.server.KafkaServer")
    assert patterns is not None
    (field_layout,) = patterns.template_match(b"[KafkaServer id=1] started").field_layouts
    fields, more = (LineFields(field_layout, f"[KafkaServer id={number}] started", {"node": "n"}) for number in (1, 2))
    assert set(field_layout.fields) == {"broker"}
    assert dict(more) == {"broker": 2, "node": "n"}
    assert (len(more), "node" in more, "node" in LineFields(field_layout, "[KafkaServer id=2] started")) == (
        2,
        True,
        False,
    )
    assert fields["broker"] == 1
    assert repr(more) == "{'broker': 2, 'node': 'n'}"


def test_many_kinds_of_messages_need_no_more_memory_than_some() -> None:
    patterns = PatternMatcher(CATALOGUE).patterns_of("kafka.server.KafkaServer")
    assert patterns is not None
    for number in range(9_000):
        word = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        assert patterns.find(f"Cluster ID = {word}")[0][0].fields["cluster"] == word
    assert len(patterns._known) < 9_000


@pytest.mark.slow
def test_a_line_that_states_thousands_of_things_is_read_to_its_end() -> None:
    patterns = PatternMatcher(CATALOGUE).patterns_of("state.change.logger")
    assert patterns is not None
    findings, whole = patterns.find(" ".join(f"ControllerEpoch:{number % 20_000}" for number in range(40_000)))
    assert (len(findings), whole) == (20_000, False)


@pytest.mark.parametrize(
    "logger", ["state.change.logger", "kafka.controller.KafkaController", "kafka.cluster.Partition"]
)
def test_the_loggers_that_say_most_tell_no_digits_apart(logger: str) -> None:
    """One digit in one pattern of a logger, and a message has as many skeletons as it has ways to hold that digit."""
    patterns = PatternMatcher(CATALOGUE).patterns_of(logger)
    assert patterns is not None
    assert patterns.table is not None
    assert len(set(b"0123456789".translate(patterns.table))) == 1
