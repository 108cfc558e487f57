"""The text of a spec file. Any problem of a file becomes a diagnostic with a code and a place."""

from __future__ import annotations

import stat
from pathlib import Path

from assay.grammar.diagnostics.diagnostic import Diagnostics, Span
from assay.grammar.diagnostics.suggest import did_you_mean

MAX_BYTES = 10_000_000
MAX_LINE = 10_000
MAX_RUN_BYTES = 1_000_000_000
"""For a saved run: one of 100,000 steps has 15 million bytes and more."""


def normalized(text: str) -> str:
    """The text with plain line ends and without a byte order mark; lines and columns refer to this form."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: Path, diagnostics: Diagnostics) -> str | None:
    """The text of a file with plain line ends, or None after a report (codes E601 to E605)."""
    content = _read_bytes(path, MAX_BYTES, diagnostics)
    text = None if content is None else _decode(content, str(path), diagnostics)
    if text is None or _has_long_line(text, str(path), diagnostics):
        return None
    return text


def read_run(path: Path, diagnostics: Diagnostics) -> str | None:
    """The text of a saved run, which may be longer than a spec, and in one line; None after a report as above."""
    content = _read_bytes(path, MAX_RUN_BYTES, diagnostics)
    return None if content is None else _decode(content, str(path), diagnostics)


def _read_bytes(path: Path, most: int, diagnostics: Diagnostics) -> bytes | None:
    place = Span(str(path), 1, 1, 1, 1)
    try:
        # Before it is opened: to open a named pipe waits for a writer, and a device may never end.
        if not stat.S_ISREG(path.stat().st_mode):
            _report_special(path, place, diagnostics)
            return None
        with path.open("rb") as stream:
            # One byte beyond the limit shows that a file is too large; the rest is not read into memory.
            content = stream.read(most + 1)
    except (FileNotFoundError, NotADirectoryError):
        _report_missing(path, place, diagnostics)
    except OSError as error:
        diagnostics.error("E604", place, f"the file cannot be read: {error.strerror}")
    # Python refuses a path with a zero byte in it.
    except ValueError:
        diagnostics.error("E601", place, "this is not the name of a file")
    else:
        return _within_size(content, most, place, diagnostics)
    return None


def _within_size(content: bytes, most: int, place: Span, diagnostics: Diagnostics) -> bytes | None:
    if len(content) <= most:
        return content
    if most == MAX_RUN_BYTES:
        diagnostics.error("E605", place, f"a saved run may have {most:,} bytes, and this file has more")
        return None
    # What was read is not all of the file, so "more than" is all that can be said.
    line = content.count(b"\n") + 1
    widest = max(map(len, content.split(b"\n")))
    longest = (
        f"; it has a line of more than {MAX_LINE:,} characters"
        if widest > MAX_LINE
        else f"; it has more than {line:,} lines"
    )
    diagnostics.error("E605", place, f"a spec may have {MAX_BYTES:,} bytes, and this file has more{longest}")
    return None


def _report_missing(path: Path, place: Span, diagnostics: Diagnostics) -> None:
    try:
        siblings = [entry.name for entry in path.parent.iterdir() if entry.suffix == path.suffix]
    except OSError:
        siblings = []  # no directory, so there is nothing to suggest
    meant = did_you_mean(path.name, siblings)
    diagnostics.error(
        "E601", place, "there is no such file", *([f"did you mean `{path.with_name(meant)}`?"] if meant else [])
    )


def _report_special(path: Path, place: Span, diagnostics: Diagnostics) -> None:
    if path.is_dir():
        specs = sorted(entry.name for entry in path.glob("*.assay"))[:5]
        advice = (f"it holds {', '.join(specs)}",) if specs else ()
        diagnostics.error("E602", place, "this is a directory, and a file is wanted", *advice)
    else:
        diagnostics.error("E604", place, "this is not a regular file")


def _decode(content: bytes, file: str, diagnostics: Diagnostics) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        diagnostics.error("E603", Span(file, 1, 1, 1, 1), "the file is UTF-16 text; save it as UTF-8")
        return None
    # UTF-8 has zero bytes, so decoding alone lets them pass. Whichever fault comes first in the file is reported.
    fault, reason = content.find(b"\0"), "a zero byte, which no text has"
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        text = None
        if fault < 0 or error.start < fault:
            fault, reason = error.start, f"the byte 0x{content[error.start]:02x}, which is not UTF-8"
    if fault >= 0 or text is None:
        diagnostics.error("E603", _place_of(content, fault, file), f"the file is not text: here is {reason}")
        return None
    return normalized(text)


def _place_of(content: bytes, offset: int, file: str) -> Span:
    # Columns count characters, and the text before the fault may be longer in bytes.
    before = content[:offset].decode("utf-8", errors="replace")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Span(file, line, column, line, column + 1)


def _has_long_line(text: str, file: str, diagnostics: Diagnostics) -> bool:
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAX_LINE:
            place = Span(file, number, MAX_LINE + 1, number, MAX_LINE + 2)
            diagnostics.error("E605", place, f"a line of {len(line):,} characters; at most {MAX_LINE:,} are allowed")
            return True
    return False
