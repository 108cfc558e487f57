"""Entries of YAML: texts of every style are what they were before they were printed."""

from __future__ import annotations

import pytest

from assay.traces.input.events.yaml_documents import yaml_documents

LONG = "[2022-02-03 10:00:00,100] INFO [KafkaServer id=4] started (kafka.server.KafkaServer)"


def document(text: str) -> dict[str, object]:
    [(_, found)] = yaml_documents(f"---\n{text}".encode())
    return dict(found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain words\n  go on", "plain words go on"),
        ("'it''s\n\n  quoted'", "it's\nquoted"),
        ("'ends\n\n  '", "ends\n"),
        (r'"tab\t, \"quote\", \x41\u00e9' + '\\\n  \\ joined"', 'tab\t, "quote", Aé joined'),
        ("|-\n  one\n    two\n\n  three", "one\n  two\n\nthree"),
        ("|\n  one\n  two", "one\ntwo\n"),
        (">-\n  one\n  two", "one two"),
        ("{}", {}),
        ("", ""),
    ],
)
def test_a_text_of_any_style(text: str, value: object) -> None:
    assert document(f"a: b\nmessage: {text}\nlast: 'c'\n") == {"a": "b", "message": value, "last": "c"}


def test_mappings_and_lists_in_each_other() -> None:
    text = f"labels:\n  k8s-pod/app: kafka\nlist:\n- one\n- a: 1\n  b:\n  - two\ntextPayload: '{LONG}'\n"
    assert document(text) == {
        "labels": {"k8s-pod/app": "kafka"},
        "list": ["one", {"a": "1", "b": ["two"]}],
        "textPayload": LONG,
    }


def test_documents_stand_behind_lines_of_hyphens_and_what_is_no_entry_ends_one() -> None:
    data = b"---\na: b\n---\r\nc: d\r\n--- no\n---\n[1]\n"
    assert list(yaml_documents(data)) == [(4, {"a": "b"}), (14, {"c": "d"})]
