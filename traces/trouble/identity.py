"""Which Kafka wrote the logs: mode, roles and versions, each with the line that shows it.

The rules are in ``traces/patterns/rules/identity.toml``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition
from assay.traces.log_reader import LogReading
from assay.traces.patterns.rule_files import rule_file
from assay.traces.trouble.finding import ClusterIdentity, Evidence


def _by_place(noted: tuple[str, LogPosition]) -> tuple[str, int, str]:
    logger, place = noted
    return place.file, place.offset, logger


@dataclass(frozen=True, slots=True)
class IdentitySign:
    """A sign of a mode or of a role: loggers, what versions begin with, or kinds of events with a field."""

    name: str
    mode: str
    role: str
    loggers: tuple[str, ...]
    unless: tuple[str, ...]
    versions: tuple[str, ...]
    kinds: frozenset[str]
    field: str
    text: str

    def evidence(self, reading: LogReading) -> Evidence | None:
        """The line that shows it; None if none does."""
        # By place, so that the evidence does not depend on which file was read first.
        for logger, place in sorted(reading.loggers.items(), key=_by_place):
            if _fits(logger, self.loggers) and not _fits(logger, self.unless):
                return Evidence(self.text, f"lines of {logger}", place)
        for version in reading.versions:
            # With the dot: `0.1` is not the beginning of `0.10`.
            if any(version == known or version.startswith(f"{known}.") for known in self.versions):
                return Evidence(self.text, f"version {version}", _place_of_version(reading, version))
        telling = reading.of_kinds(self.kinds) if self.kinds else ()
        event = next((each for each in telling if each.fields.get(self.field) is not None), None)
        return None if event is None else Evidence(self.text, f"a line with its {self.field}", event.record.place)


def _fits(logger: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(logger, pattern) for pattern in patterns)


def _place_of_version(reading: LogReading, version: str) -> LogPosition | None:
    found = (event for event in reading.of_role("version") if str(event.fields.get("version")) == version)
    return next((event.record.place for event in found), None)


def signs_of(reading: LogReading) -> Iterator[tuple[IdentitySign, Evidence]]:
    """The signs that the logs show, each with its evidence."""
    for sign in _signs():
        evidence = sign.evidence(reading)
        if evidence is not None:
            yield sign, evidence


def identity_of(reading: LogReading) -> ClusterIdentity:
    """Mode, roles and versions of what wrote the logs."""
    found = list(signs_of(reading))
    modes = tuple(dict.fromkeys(sign.mode for sign, _ in found if sign.mode))
    # What is not supported is said alone: other signs in such logs would promise an answer.
    if "unsupported" in modes:
        modes = ("unsupported",)
    roles = tuple(dict.fromkeys(sign.role for sign, _ in found if sign.role))
    return ClusterIdentity(modes, roles, reading.versions, tuple(evidence for _, evidence in found))


@cache
def _signs() -> tuple[IdentitySign, ...]:
    content = rule_file("identity.toml")
    return tuple(
        IdentitySign(
            entry["name"],
            entry.get("mode", ""),
            entry.get("role", ""),
            tuple(entry.get("loggers", ())),
            tuple(entry.get("unless", ())),
            tuple(entry.get("versions", ())),
            frozenset(entry.get("kinds", ())),
            entry.get("field", ""),
            entry["text"],
        )
        for entry in content["sign"]
    )
