"""The parts of an object around a log line: which of its keys is the message, the time, the level, and whose line it is.

Objects with equal keys are read by one plan, so that the keys are looked for once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from assay.traces.input.containers.fixed_shapes import FixedShape, Path, Roles, fixed_shape
from assay.traces.input.lines.line_layout import HEADER_LIMIT, LEVEL_FIRST, START
from assay.traces.input.lines.moments import timestamp
from assay.traces.input.lines.timestamps import DATED
from assay.traces.patterns.container import ORIGIN, Container, ContainerForm, Containers

_LEVEL = re.compile(r"TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL")
_LOGGER = re.compile(r"[A-Za-z_][\w$.-]{0,250}")
_STACK = re.compile(r"\n(?=\tat |[a-z][\w.$]{0,200}(?:Exception|Error|Throwable)\b)")
"""Where a stack trace begins below a message."""
_MOST_PLANS = 4096

Origin = tuple[str, str, str, str]
"""Whose line it is, in the order of ``ORIGIN``; a part is empty if it is not known."""

NOBODY: Origin = ("", "", "", "")


class OpenedObject(NamedTuple):
    """The log line in an object: its text with its own line feeds, and whose it is. The object also says when it was
    collected.

    A text without a line feed at its end continues in the next object.
    """

    text: str
    time: object
    origin: Origin
    container: Container


class _Plan:
    """Where objects with these keys have their parts."""

    __slots__ = ("container", "inner", "is_learned", "level", "logger", "message", "origin", "stack", "thread", "time")

    def __init__(self, container: Container, inner: Path, paths: Mapping[str, tuple[Path, ...]]) -> None:
        self.container, self.inner, self.is_learned = container, inner, False
        self.message, self.time, self.level = paths["message"], paths["time"], paths["level"]
        self.logger, self.thread, self.stack = paths["logger"], paths["thread"], paths["stack"]
        origin = tuple(paths[part] for part in ORIGIN)
        self.origin = origin if any(origin) else ()


class ObjectReader:
    """Opens objects: those of JSON lines, of documents, and rows of tables."""

    def __init__(self, containers: Containers, learned: tuple[Container, ...] = ()) -> None:
        self._containers, self._learned = containers, learned
        self._objects = (*learned, *containers.of(ContainerForm.OBJECT))
        self._plans: dict[tuple[object, ...], _Plan] = {}
        self._levels = containers.levels
        self._known_levels: dict[tuple[str, str], str] = {}

    def open(self, content: dict[str, Any], table: Container | None = None) -> OpenedObject | None:
        """The log line in an object, perhaps a row of a table; None if it holds none.

        An object with a message that is no record, and without time, level and origin, may be anything.
        """
        # Types count, too: under one key one object has a text, and another an object whose parts have to be looked
        # for.
        key = (*content, *map(type, content.values()))
        plan = self._plans.get(key)
        if plan is None or (table is not None and plan.container is not table):
            plan = self._plan(content, table)
            if len(self._plans) < _MOST_PLANS:
                self._plans[key] = plan
        for step in plan.inner:
            content = content.get(step, {})
            if type(content) is not dict:
                return None
        message = _value(content, plan.message)
        if type(message) is not str:
            return None
        origin = self._origin(content, plan) if plan.origin else NOBODY
        time = _value(content, plan.time)
        # Nothing around the message says that it is a log line; then its own beginning has to.
        alone = time is None and origin == NOBODY and table is None and not plan.is_learned
        if alone and _value(content, plan.level) is None and not _begins_record(message) and not self._holds(message):
            return None
        if plan.logger:
            message = self._record(content, plan, message, timestamp(time))
        elif message[-1:] != "\n" and not plan.container.only:
            message += "\n"
        return OpenedObject(message, time, origin, plan.container)

    def base_of(self, content: dict[str, Any]) -> Container:
        """The container of an object, as its keys say."""
        return next(each for each in self._objects if _fits(each, content))

    def _holds(self, message: str) -> bool:
        """Whether a message is an object with a log line."""
        inner = parsed(message.encode("utf-8", "replace")) if message.startswith("{") else None
        return inner is not None and self.open(inner) is not None

    def shape_of(self, line: bytes, content: dict[str, Any]) -> tuple[FixedShape, Origin] | None:
        """The shape of a line that is this object, and whose lines are so; None if only parsing reads lines like it."""
        opened, plan = self.open(content), self._plans.get((*content, *map(type, content.values())))
        if opened is None or plan is None:
            return None
        for step in plan.inner:
            content = content[step]
        parts = (plan.message, plan.time, plan.level, plan.logger, plan.thread, plan.stack, *plan.origin)
        message, time, level, logger, thread, stack, *origin = (_chosen(content, plan.inner, each) for each in parts)
        if message is None:
            return None
        text = opened.text.encode("utf-8", "replace")
        fixed = frozenset(each for each in origin if each is not None)
        forms = [Roles(message, fixed=frozenset({*fixed, *filter(None, (level, logger))}))]
        if time and level and logger and stack is None:
            forms.insert(0, Roles(message, time, level, logger, thread, fixed))
        for roles in forms:
            shape = fixed_shape(line, roles, self._levels)
            # A shape is taken only if it makes of this very line what parsing makes of it.
            if shape is not None and shape.example == text == stamped(text, opened.time):
                return shape, opened.origin
        return None

    @staticmethod
    def _origin(content: dict[str, Any], plan: _Plan) -> Origin:
        node, role, run, path = plan.origin
        return (
            _text(_value(content, node)) if node else "",
            _text(_value(content, role)) if role else "",
            _text(_value(content, run)) if run else "",
            _text(_value(content, path)) if path else "",
        )

    def _record(self, content: dict[str, Any], plan: _Plan, message: str, stamp: str) -> str:
        """The record in Kafka's own layout, if the object has all of its parts; otherwise the message as it is."""
        logged, logger = _text(_value(content, plan.level)), _value(content, plan.logger)
        level = self._level(logged, logger) if type(logger) is str else ""
        if not level:
            return message if message.endswith("\n") else message + "\n"
        begin = f"[{stamp}] {level}" if stamp else level
        thread, stack = _value(content, plan.thread), _value(content, plan.stack)
        # Some layouts put the stack into the message. In Kafka's own the logger stands between the two.
        if not stack and (below_message := _STACK.search(message)) is not None:
            message, stack = message[: below_message.start()], message[below_message.end() :]
        last = f" [{thread}]" if isinstance(thread, str) and "]" not in thread and "\n" not in message else ""
        below = f"{stack.rstrip()}\n" if isinstance(stack, str) and stack.strip() else ""
        return f"{begin} {message} ({logger}){last}\n{below}"

    def _level(self, logged: str, logger: str) -> str:
        """The level of a record, if that and its logger are names of such; else nothing."""
        known = self._known_levels.get((logged, logger))
        if known is None:
            level = self._levels.get(logged.upper(), logged.upper())
            known = level if _LOGGER.fullmatch(logger) and _LEVEL.fullmatch(level) else ""
            if len(self._known_levels) < _MOST_PLANS:
                self._known_levels[logged, logger] = known
        return known

    def _plan(self, content: dict[str, Any], table: Container | None) -> _Plan:
        container = table or self.base_of(content)
        inner = tuple(container.inside.split(".")) if container.inside else ()
        for step in inner:
            content = content[step] if isinstance(content.get(step), Mapping) else {}
        # Where a container names the keys of a part, the general ones do not count.
        own, general = container.parts, self._containers.parts
        paths = {
            part: tuple(path for key in own.get(part, keys) for path in _paths(content, key))
            for part, keys in general.items()
        }
        plan = _Plan(container, inner, paths)
        plan.is_learned = any(container is each for each in self._learned)
        return plan


def _fits(container: Container, content: Mapping[str, Any]) -> bool:
    """Whether an object has the keys of a container, and no others if these are all that it may have."""
    if container.only and not content.keys() <= {*container.keys, *container.also}:
        return False
    return all(_has(content, key) for key in container.keys)


def _has(content: Mapping[str, Any], key: str) -> bool:
    if key in content:
        return True
    value: Any = content
    for step in key.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return False
        value = value[step]
    return True


def _paths(content: Mapping[str, Any], key: str) -> Iterator[Path]:
    """Where an object may have the value of a key: as it is, in other case, or with its dots as steps into objects."""
    if key in content:
        yield (key,)
    elif len(key) > 2 and (other := _in_other_case(content, key)):
        yield (other,)
    if "." in key and type(content.get(key.partition(".")[0])) in {dict, list}:
        yield _steps_to(content, key)


def _in_other_case(content: Mapping[Any, Any], key: str) -> str:
    """The key as an object writes it, in upper or lower case; empty if it has none such."""
    return next((each for each in content if isinstance(each, str) and each.lower() == key.lower()), "")


def _steps_to(content: Mapping[str, Any], key: str) -> Path:
    """The steps to a value whose names may have dots themselves; each dot is one if nothing is there."""
    steps: list[str] = []
    value: Any = content
    while key:
        ends = [at for at, char in enumerate(key) if char == "."]
        names = [key, *(key[:at] for at in reversed(ends))] if isinstance(value, Mapping) else []
        name = next((each for each in names if each in value), None)
        if name is None:
            return (*steps, *key.split("."))
        steps.append(name)
        value, key = value[name], key[len(name) + 1 :]
    return tuple(steps)


def _value(content: dict[str, Any], paths: tuple[Path, ...]) -> Any:
    """The first value that is no object and not empty; a list of one value counts as it, and a time may have several
    parts.
    """
    for path in paths:
        value: Any = content
        for step in path:
            value = value.get(step) if type(value) is dict else _of_list(value, step)
        if type(value) is str:
            if value:
                return value
            continue
        if type(value) is list and value:
            value = value[0] if len(value) == 1 else _text_of_bytes(value)
        # log4j 2 writes its `instant` as an object of seconds and nanoseconds.
        if value is None or (type(value) is dict and "epochSecond" not in value):
            continue
        return value
    return None


def _text_of_bytes(value: list[Any]) -> str | None:
    """The text whose bytes are listed, as journald lists those of a line with colours; None if they are no bytes."""
    try:
        return bytes(value).decode("utf-8", "replace")
    except (TypeError, ValueError):
        return None


def _chosen(content: dict[str, Any], inner: Path, paths: tuple[Path, ...]) -> Path | None:
    """The path of which ``_value`` takes the value; None if it takes none."""
    return next(((*inner, *path) for path in paths if _value(content, (path,)) is not None), None)


def _of_list(value: object, name: str) -> str | None:
    """The value of a name in a list of ``name:value``."""
    if not isinstance(value, list):
        return None
    begin = f"{name}:"
    return next((each[len(begin) :] for each in value if isinstance(each, str) and each.startswith(begin)), None)


def _begins_record(message: str) -> bool:
    return START.match(b"\n" + message[:HEADER_LIMIT].encode("utf-8", "replace")) is not None


def _text(value: object) -> str:
    return value if type(value) is str else str(value) if type(value) is int else ""


_UNDATED = re.compile(rb"\[?(?:\d\d[-/]\d\d |[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d(?:[,.]\d{1,9})?\]?")
_DATED = re.compile(rb"\[?(?:" + DATED + rb")")


def stamped(text: bytes, time: object) -> bytes:
    """A line to which its container gives a time, as bytes or as a value of an object.

    If the line begins a record and has no timestamp of its own, or one without a date, it takes that of the container.
    """
    if _DATED.match(text) is not None:
        return text
    stamp = time if isinstance(time, bytes) else timestamp(time).encode()
    if not stamp:
        return text
    if LEVEL_FIRST.match(text) is not None:
        return b"[" + stamp + b"] " + text
    found = _UNDATED.match(text)
    if found is not None and START.match(b"\n" + text) is not None:
        return b"[" + stamp + b"]" + text[found.end() :]
    return text


def json_value(text: bytes) -> Any:
    """The value of a JSON text; None if the text is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # Half a surrogate pair, NaN: what only the standard library takes.
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def parsed(text: bytes) -> dict[str, Any] | None:
    """A JSON object; None if the text is none."""
    content = json_value(text)
    return content if type(content) is dict else None
