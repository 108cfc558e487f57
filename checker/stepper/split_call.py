"""Splits the text of a step, ``elect(b1, {b1, b2})``, into the action and its arguments."""

from __future__ import annotations

import re

# A dot belongs to the name: `left.enter` is an action of an instance.
_CALL = re.compile(r"\s*([\w.]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_OPENING, _CLOSING = "([{", ")]}"
_WITH = " with "


class NoSuchStepError(Exception):
    """A step was asked for that the model does not allow here; the message says why."""


def split_call(text: str) -> tuple[str, list[str]]:
    """The action and the texts of its arguments, split at commas outside of brackets."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise NoSuchStepError(f"`{text}` is no step: write it as `action(argument, _)`")
    action, inside = match.groups()
    # `tick()` has no argument, not an empty one.
    return action, _arguments(inside) if inside and inside.strip() else []


def split_picks(text: str) -> tuple[str, str]:
    """The call before ``with``, and the picks behind it; an argument may have a ``with`` of its own, in brackets."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and text.startswith(_WITH, at):
            return text[:at], text[at + len(_WITH) :]
    return text, ""


def _arguments(text: str) -> list[str]:
    arguments, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == "," and depth == 0:
            arguments.append(text[begin:at].strip())
            begin = at + 1
    return [*arguments, text[begin:].strip()]
