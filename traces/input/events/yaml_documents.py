"""Documents of YAML, as ``gcloud logging read`` prints entries: mappings and lists in blocks, and texts of every style.

All scalars are texts. What is not in this part of YAML, such as anchors and tags, stays a text as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Value = str | dict[str, "Value"] | list["Value"]

_DOCUMENT = re.compile(rb"^---[ \t]*\r?\n", re.MULTILINE)
_ENTRY = re.compile(
    r"""(?P<key>"[^"\n]{0,300}"|'[^'\n]{0,300}'|[^\s'"#{\[-][^\n:]{0,300}?)[ ]?:(?:[ ]+(?P<value>[^\n]*))?\Z"""
)
# `|` keeps the lines of a text and `>` folds them; `-` drops the line feed at its end.
_BLOCK_TEXT = re.compile(r"(?P<style>[|>])(?P<indent>\d?)(?P<end>[+-]?)\d?\Z")
# In single quotes two quotes are one, and end nothing.
_SINGLE_END = re.compile(r"(?<!')(?:'')*'\Z")
_DOUBLE_END = re.compile(r'(?<!\\)(?:\\\\)*"\Z')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b", "_": "\xa0", "N": "\x85"}
_DEEPEST = 30


def yaml_documents(data: bytes) -> Iterator[tuple[int, dict[str, Value]]]:
    """The mappings behind lines of three hyphens, each with the byte where it begins."""
    starts = [found.end() for found in _DOCUMENT.finditer(data)]
    ends = [found.start() for found in _DOCUMENT.finditer(data)][1:]
    for start, end in zip(starts, [*ends, len(data)], strict=True):
        lines = data[start:end].decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
        found = _Block(lines).value(0, 0)
        if isinstance(found, dict) and found:
            yield start, found


class _Block:
    """The lines of a document; ``at`` is the next one."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines, self.at = list(lines), 0

    def value(self, indent: int, depth: int) -> Value:
        """The mapping or the list whose entries are indented so far at least; an empty text if there is none."""
        self._skip_blank()
        if self.at == len(self._lines) or _indent(self._lines[self.at]) < indent or depth > _DEEPEST:
            return ""
        own = _indent(self._lines[self.at])
        return self._list(own, depth) if _is_item(self._lines[self.at]) else self._mapping(own, depth)

    def _mapping(self, indent: int, depth: int) -> Value:
        found: dict[str, Value] = {}
        while self._goes_on(indent) and (entry := _ENTRY.match(self._lines[self.at].strip())) is not None:
            self.at += 1
            value = (entry["value"] or "").strip()
            if value:
                found[_unquoted(entry["key"])] = self._scalar(value, indent)
                continue
            self._skip_blank()
            # A list may stand as far to the left as the key that it is the value of.
            listed = self._goes_on(indent) and _is_item(self._lines[self.at])
            found[_unquoted(entry["key"])] = self.value(indent if listed else indent + 1, depth + 1)
        if self._goes_on(indent):  # in no form that is known
            self.at = len(self._lines)
        return found

    def _list(self, indent: int, depth: int) -> Value:
        found: list[Value] = []
        while self._goes_on(indent) and _is_item(self._lines[self.at]):
            text = self._lines[self.at].strip()[1:].strip()
            if text and _ENTRY.match(text) is None:
                self.at += 1
                found.append(self._scalar(text, indent))
            else:
                # The hyphen counts as a blank in front of the mapping that begins behind it: `- name: x` is one
                # indented by two.
                self._lines[self.at] = self._lines[self.at].replace("-", " ", 1)
                found.append(self.value(indent + 1, depth + 1))
        return found

    def _scalar(self, text: str, indent: int) -> Value:
        """A text that begins in a line, and goes on in those that are indented more."""
        if (block := _BLOCK_TEXT.match(text)) is not None:
            return self._block_text(indent, block["style"] == "|", block["end"])
        quote, end = text[0], {"'": _SINGLE_END, '"': _DOUBLE_END}.get(text[0])
        lines = [text[1:] if end is not None else text]
        while self.at < len(self._lines) and not (end is not None and end.search(lines[-1].rstrip())):
            line = self._lines[self.at]
            if end is None and (not line.strip() or _indent(line) <= indent):
                break
            lines.append(line.strip(" "))
            self.at += 1
        if end is None:
            return {} if text == "{}" else [] if text == "[]" else _folded(lines)
        lines[-1] = lines[-1].rstrip()[:-1]
        if quote == "'":
            return _folded(lines).replace("''", "'")
        return _unescaped(_folded(lines, escaped=True))

    def _block_text(self, indent: int, keeps_lines: bool, end: str) -> str:
        lines: list[str] = []
        while self.at < len(self._lines) and (not self._lines[self.at].strip() or self._goes_on(indent + 1)):
            lines.append(self._lines[self.at])
            self.at += 1
        own = min((_indent(line) for line in lines if line.strip()), default=0)
        first = next((_indent(line) for line in lines if line.strip()), own)
        lines = [line[min(own, first) :] for line in lines]
        text = "\n".join(lines).rstrip("\n") if keeps_lines else _folded(lines).rstrip("\n")
        return text if end == "-" else text + "\n"

    def _goes_on(self, indent: int) -> bool:
        self._skip_blank()
        return self.at < len(self._lines) and _indent(self._lines[self.at]) >= indent

    def _skip_blank(self) -> None:
        while self.at < len(self._lines) and not self._lines[self.at].strip():
            self.at += 1


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_item(line: str) -> bool:
    text = line.strip()
    return text == "-" or text.startswith("- ")


def _folded(lines: Sequence[str], *, escaped: bool = False) -> str:
    """Lines of a text joined by spaces; an empty line is a line feed, and so is an escaped one."""
    text = lines[0]
    feeds = 0
    for number, line in enumerate(lines[1:], 2):
        if not line.strip() and number < len(lines):
            feeds += 1
        elif feeds:
            text, feeds = text.rstrip(" ") + "\n" * feeds + line, 0
        elif escaped and text.endswith("\\"):
            text += "\n" + line
        else:
            text = f"{text.rstrip(' ')} {line}"
    return text + "\n" * feeds


def _unescaped(text: str) -> str:
    """The text of a literal in double quotes; an escaped line feed is nothing."""

    def plain(found: re.Match[str]) -> str:
        number = found[1] or found[2] or found[3]
        if number:
            return chr(min(int(number, 16), 0x10FFFF))
        return "" if found[4] == "\n" else _ESCAPED.get(found[4], found[4])

    return _ESCAPE.sub(plain, text)


def _unquoted(key: str) -> str:
    return key[1:-1] if key[:1] in {"'", '"'} else key
