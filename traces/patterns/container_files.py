"""Read containers from TOML: the built-in files of ``patterns/containers/``, and ``[[container]]`` tables of a user's
pattern files, which are tried before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from assay.traces.patterns.container import PARTS, Container, ContainerForm, Containers, FixedFact
from assay.traces.patterns.regex_cost import REPEATS, WITHOUT_CLASSES, degree
from assay.traces.patterns.toml_tables import toml_tables

BUILT_IN = (
    "prefixes.toml",
    "headings.toml",
    "objects.toml",
    "events.toml",
    "documents.toml",
    "tables.toml",
    "outputs.toml",
)
"""The files that come with the product."""

_MACROS = {
    "<rfc3339>": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| UTC|[+-]\d\d:?\d\d)",
    "<syslog>": r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?",
}
_TEXTS = ("name", "form", "example", "pattern", "inside", "items", "unit")
_LISTS = frozenset({"keys", "also", "columns", "pairs", "named", "fields_of", "needs", *PARTS})
_FLAGS = ("only", "fields", "cells", "controls")
_TABLES = ("holds", "beside", "lookup", "event")
_KEYS = frozenset({*_TEXTS, *_LISTS, *_FLAGS, *_TABLES, "states"})
_OF_LINES = (ContainerForm.PREFIX, ContainerForm.HEADING)
_WITH_PATTERN = (*_OF_LINES, ContainerForm.OUTPUT)


def containers_of(contents: Iterable[Mapping[str, Any]]) -> Containers:
    """The containers of parsed files without mistakes."""
    entries: list[Container] = []
    parts: dict[str, tuple[str, ...]] = {}
    levels: dict[str, str] = {}
    noise: list[str] = []
    for content in contents:
        entries += map(_container, content.get("container", ()))
        for part, keys in content.get("parts", {}).items():
            parts[part] = (*parts.get(part, ()), *keys)
        levels |= content.get("levels", {})
        noise += content.get("noise", ())
    return Containers(tuple(entries), parts, levels, tuple(_noise(noise)))


def _noise(texts: Sequence[str]) -> Iterator[re.Pattern[bytes]]:
    """The patterns as one, which is faster, but for those that would change in it.

    Groups are counted and named, and flags in front are those of a whole pattern.
    """
    alone = [text for text in texts if text.startswith("(?") or re.compile(text).groups]
    joined = "|".join(f"(?:{text})" for text in texts if text not in alone)
    yield from (re.compile(text.encode()) for text in [*alone, *([joined] if joined else [])])


def _without_mistakes(file: str, content: Mapping[str, Any], problems: list[str]) -> Mapping[str, Any]:
    """What can be used of a user's file; what is wrong with the rest goes to ``problems``."""
    told = _file_mistakes(content)
    problems += [f"{file}: {text}" for text in told]
    if told:
        return {}
    sound: list[Mapping[str, Any]] = []
    for number, table in enumerate(content.get("container", ()), 1):
        wrong = mistakes_of(table)
        problems += [f"container {number} of {file}: {text}" for text in wrong]
        sound += [] if wrong else [table]
    return {**content, "container": sound}


@cache
def built_in_containers() -> Containers:
    """The containers that come with the product."""
    found, problems = load_containers(())
    if problems:
        raise ValueError("\n".join(problems))
    return found


def load_containers(more: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[Containers, list[str]]:
    """The containers of further files, which are tried first, and of those that come with the product; and mistakes."""
    tables = toml_tables("assay.traces.patterns.containers")
    problems: list[str] = []
    users = [_without_mistakes(file, content, problems) for file, content in more]
    # That the built-in files have no mistakes is tested, and not asked again each time.
    return containers_of([*users, *(tables[name] for name in BUILT_IN)]), problems


def _container(table: Mapping[str, Any]) -> Container:
    form = ContainerForm(table["form"])
    # Prefixes and headings are matched with one line, the patterns of outputs with the whole head of a text.
    flags = 0 if form in _OF_LINES else re.MULTILINE
    return Container(
        name=table["name"],
        form=form,
        example=table["example"],
        holds=table.get("holds", {}),
        pattern=re.compile(_expanded(table["pattern"]).encode(), flags) if "pattern" in table else None,
        keys=tuple(table.get("keys", ())),
        also=frozenset(table.get("also", ())),
        only=table.get("only", False),
        inside=table.get("inside", ""),
        items=table.get("items", ""),
        columns=tuple(table.get("columns", ())),
        pairs=tuple(table.get("pairs", ())),
        beside=table.get("beside", {}),
        fields=table.get("fields", False),
        named=tuple(table.get("named", ())),
        fields_of=tuple(table.get("fields_of", ())),
        needs=tuple(table.get("needs", ())),
        cells=table.get("cells", False),
        controls=table.get("controls", False),
        lookup={name: (steps[0], steps[1]) for name, steps in table.get("lookup", {}).items()},
        event={name: tuple(paths) for name, paths in table.get("event", {}).items()},
        unit=table.get("unit", ""),
        parts={part: tuple(table[part]) for part in sorted(PARTS & set(table))},
        states=tuple(
            FixedFact(re.compile(each["pattern"], re.MULTILINE), each["text"]) for each in table.get("states", ())
        ),
    )


def _expanded(pattern: str) -> str:
    for name, text in _MACROS.items():
        pattern = pattern.replace(name, text)
    return pattern


def mistakes_of(table: Mapping[str, Any]) -> list[str]:
    """What is wrong with a table, in words."""
    found = [f"`{key}` is missing" for key in ("name", "form", "example") if key not in table]
    found += [f"there is no key `{key}`" for key in sorted(set(table) - _KEYS)]
    found += [f"`{key}` is a text" for key in _TEXTS if not isinstance(table.get(key, ""), str)]
    found += [f"`{key}` is a list of texts" for key in sorted(_LISTS) if not _is_texts(table.get(key, []))]
    found += [f"`{key}` is true or false" for key in _FLAGS if not isinstance(table.get(key, False), bool)]
    found += [f"`{key}` is a table" for key in _TABLES if not isinstance(table.get(key, {}), dict)]
    # Types first: all that follows takes each entry for what it should be.
    if found:
        return found
    if table["form"] not in {form.value for form in ContainerForm}:
        return [f"`form` is one of {', '.join(form.value for form in ContainerForm)}, not `{table['form']}`"]
    if (ContainerForm(table["form"]) in _WITH_PATTERN) != ("pattern" in table):
        return ["a prefix, a heading and an output have a `pattern`, and no other form has one"]
    for key, least in (("lookup", 2), ("event", 1)):
        if not all(_is_texts(each) and len(each) >= least for each in table.get(key, {}).values()):
            return [f"each entry of `{key}` is a list of texts"]
    states = table.get("states", [])
    if not isinstance(states, list) or not all(map(_is_fact, states)):
        return ["`states` are tables with the texts `pattern` and `text`"]
    found = _pattern_mistakes(_expanded(table["pattern"]), of_bytes=True) if "pattern" in table else []
    return found + [text for each in states for text in _pattern_mistakes(each["pattern"])]


def _file_mistakes(content: Mapping[str, Any]) -> list[str]:
    """What is wrong with the parts, the levels and the noise of a file, in words."""
    parts, levels, noise = content.get("parts", {}), content.get("levels", {}), content.get("noise", [])
    if not isinstance(parts, dict) or not all(map(_is_texts, parts.values())):
        return ["each entry of `parts` is a list of texts"]
    if not isinstance(levels, dict) or not _is_texts(list(levels.values())):
        return ["each entry of `levels` is a text"]
    if not _is_texts(noise):
        return ["`noise` is a list of texts"]
    return [text for pattern in noise for text in _pattern_mistakes(pattern, of_bytes=True)]


def _is_fact(state: object) -> bool:
    return isinstance(state, dict) and all(isinstance(state.get(key), str) for key in ("pattern", "text"))


def _pattern_mistakes(pattern: str, *, of_bytes: bool = False) -> list[str]:
    try:
        compiled = re.compile(pattern)
        if of_bytes:  # some escapes and flags are for texts alone
            re.compile(pattern.encode())
        repeats = REPEATS.search(WITHOUT_CLASSES.sub("x", pattern)) is not None
        # Text comes from strangers: one line must not be able to hold up the reading of a log.
        slow = repeats and degree(compiled, to_the_end=False) > 1
    except re.error as error:
        return [f"the pattern is no regular expression: {error}"]
    except ValueError as error:
        return [str(error)]
    if slow:
        return ["the time that the pattern takes grows faster than the line; say how long its repetitions can be"]
    return []


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
