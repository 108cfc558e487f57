"""The exception below a line of trouble, in words instead of Java's."""

from __future__ import annotations

import re

from assay.traces.patterns.rule_files import rule_file

_CAUSE = re.compile(
    r"^(?:Caused by: )?(?:[\w$]+\.)+(?P<name>[\w$]*(?:Exception|Error|Fault|Throwable))\b(?:: ?(?P<message>[^\n]*))?",
    re.MULTILINE,
)
# `KeeperErrorCode = NoNode for /brokers/ids/1`: the class of the exception says the same.
_CODE = re.compile(r"KeeperErrorCode = (\w+)(?: for )?")
# `NotLeaderOrFollower` becomes `Not Leader Or Follower`, and `IOError` becomes `IO Error`.
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def cause_of(message: str) -> str:
    """The last cause of the exception below a line, in words; empty if there is none."""
    found = None
    # Java prints the innermost cause last; what is above it only says which calls it passed through.
    for found in _CAUSE.finditer(message):  # noqa: B007 - the last one counts
        pass
    return "" if found is None else in_words(found["name"], (found["message"] or "").strip())


def in_words(name: str, message: str) -> str:
    """What an exception of a class means that says this itself."""
    name = name.rpartition("$")[2]
    message = _CODE.sub("", message)
    known = rule_file("causes.toml").get(name, {}).get("words")
    # Words that are the message alone say nothing without one: then the name of the class is taken apart.
    if known is not None and (message or known != "{message}"):
        return (
            str(known)
            .replace(" ({message})", f" ({message})" if message else "")
            .replace("{message}", message)
            .rstrip(": ")
        )
    plain = re.sub(r"(?:Exception|Error|Throwable)$", "", name) or name
    words = _CAPITAL.sub(" ", plain)
    words = " ".join(each if each.isupper() and len(each) > 1 else each.lower() for each in words.split())
    return f"{words}: {message}" if message else words
