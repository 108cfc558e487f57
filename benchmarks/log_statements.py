"""The statements at WARN and above in a checkout of Kafka: package, logger, level, and the text with its variables as `{}`.

They are found by reading the sources as text. What counts is a call of a logger or of a fault handler. Its text is a
literal, or a value that was set to a literal before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.traces.patterns.statement_catalogue import statement_catalogue, text_regex

AREAS = (
    ("controller", r"/kafka/controller/"),
    ("raft", r"/kafka/raft/|/kafka/common/raft/|/kafka/snapshot/"),
    ("metadata", r"/kafka/(?:metadata|image|timeline)/|/kafka/server/metadata/"),
    (
        "replicas",
        r"/kafka/cluster/|/kafka/server/(?:replica/|purgatory/|[^/]*(?:Replica|Fetcher|AlterPartition|AlterIsr|LeaderEndPoint|DelayedProduce|DirectoryEvent|AssignmentsManager)[^/]*$)",
    ),
    (
        "log",
        r"/kafka/log/|/kafka/storage/|/kafka/server/(?:LogDirFailure|log/|[^/]*Checkpoint|BrokerMetadataCheckpoint)",
    ),
    ("zk", r"/kafka/(?:zk|zookeeper)/|/kafka/utils/(?:ZkUtils|ReplicationUtils)"),
    ("server", r"/kafka/server/"),
)
"""The areas, each with what a path of it holds; the first that fits counts."""

REQUIRED = ("controller", "raft", "metadata", "replicas", "log")

_CALL = re.compile(
    r"(?P<receiver>(?:[\w.]+|\))\s*\.\s*)?\b(?P<level>warn|error|fatal|handleFault)\s*\(|(?<!\w)(?P<bare>warn|error|fatal)\s*\("
)
_LOGGER = re.compile(r"(?i)log|\)|fault")
_LITERAL = re.compile(r'(?P<prefix>\b[sf])?(?P<text>"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*")')
_INTERPOLATED = re.compile(r"\$(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[A-Za-z_]\w*)(?:%[\d.]*\w)?")
_FORMAT = re.compile(r"%(?:\d+\$)?[-,.\d]*[sdfxbn]|\{\}")
_COMMENT = re.compile(r"//[^\n]*|/\*(?:.|\n)*?\*/")


@dataclass(frozen=True, slots=True)
class LogStatement:
    """A statement: its area, the class that logs it, its level, and its text; `{}` stands for what differs."""

    area: str
    logger: str
    level: str
    text: str


def statements(checkout: Path) -> list[LogStatement]:
    """The statements of a checkout, each text of a class once."""
    found: dict[tuple[str, str], LogStatement] = {}
    for path in sorted((*checkout.rglob("*.java"), *checkout.rglob("*.scala"))):
        name = "/" + str(path.relative_to(checkout))
        area = next((area for area, holds in AREAS if re.search(holds, name)), None)
        if area is None or "/test/" in name or "/src/generated/" in name:
            continue
        logger = re.sub(r".*?/((?:org/apache/)?kafka/.*)\.(?:java|scala)$", r"\1", name).replace("/", ".")
        for level, text in of_source(path.read_text(encoding="utf-8")):
            found.setdefault((logger, text), LogStatement(area, logger, level, text))
    return list(found.values())


def of_source(source: str) -> Iterator[tuple[str, str]]:
    """The level and the text of each statement of a source."""
    source = _without_comments(source)
    for call in _CALL.finditer(source):
        receiver = (call["receiver"] or "").strip().rstrip(".").strip()
        level = call["level"] or call["bare"]
        before = source[max(0, call.start() - 12) : call.start()]
        if re.search(r"\b(?:def|void|throw|new)\s*$", before) or (
            receiver and not _LOGGER.search(receiver.rpartition(".")[2])
        ):
            continue
        if receiver == ")" and not re.search(
            r"(?i)(?:log|epoch)\w*\([^()]*\)?\s*$", source[max(0, call.start() - 80) : call.start()]
        ):
            continue
        text = _text(_first_argument(source, call.end()), source[: call.start()])
        if text is not None and re.search(r"[A-Za-z]{2}", text):
            yield ("ERROR" if level == "handleFault" else level.upper()), text


def _without_comments(source: str) -> str:
    """The source without comments; literals are left alone."""
    parts: list[str] = []
    at = 0
    for match in re.finditer(f"{_LITERAL.pattern}|{_COMMENT.pattern}|'(?:\\\\.|[^'\\\\\n])'", source):
        parts.append(source[at : match.start()])
        parts.append(" " if match[0].startswith(("//", "/*")) else match[0])
        at = match.end()
    return "".join((*parts, source[at:]))


def _first_argument(source: str, at: int) -> str:
    """The first argument of a call whose bracket is open before `at`."""
    depth, begin = 0, at
    while at < len(source):
        literal = _LITERAL.match(source, at)
        if literal is not None:
            at = literal.end()
            continue
        letter = source[at]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return source[begin:at]
        elif letter == "," and depth == 0:
            return source[begin:at]
        at += 1
    return source[begin:at]


def _text(argument: str, before: str) -> str | None:
    """The text of an argument; None if it holds no literal."""
    literals = list(_LITERAL.finditer(argument))
    if not literals:
        name = re.fullmatch(r"\s*([A-Za-z_]\w*)(?:\.get)?\s*", argument)
        if name is None:
            return None
        sets = list(re.finditer(rf"\b{name[1]}\s*(?::\s*String\s*)?=(?!=)", before))
        if not sets:
            return None
        value = before[sets[-1].end() : sets[-1].end() + 1500]
        ends = re.search(
            r";\s*\n|\n\s*(?:val|var|def|throw|if|info|warn|error|fatal|logger|stateChange\w*|log)\b|\n\s*\n",
            _masked(value),
        )
        return _text(value[: ends.start() if ends else None], "")
    out, at = [], 0
    for literal in literals:
        between = argument[at : literal.start()]
        if re.search(
            r"[\w)]", re.sub(r"\bString\s*\.\s*format\s*\(", "", between).replace("+", " ").strip(" \n()") or ""
        ):
            out.append("{}")
        text = literal["text"]
        text = text[3:-3] if text.startswith('"""') else text[1:-1]
        text = text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t")
        if literal["prefix"]:
            text = _INTERPOLATED.sub("{}", text)
        out.append(_FORMAT.sub("{}", text))
        at = literal.end()
    rest = re.sub(r"\.(?:format|formatted|stripMargin|replaceAll)\b(?:.|\n)*", "", argument[at:])
    rest = rest.lstrip()
    if rest.startswith("+"):
        out.append("{}")
    return re.sub(r"(?:\{\})+", "{}", re.sub(r"\s+", " ", "".join(out))).strip()


def _masked(text: str) -> str:
    """The text with its literals blanked, so that what is in them ends nothing."""
    return _LITERAL.sub(lambda match: "x" * len(match[0]), text)


def lines(arguments: list[str]) -> Iterator[dict[str, object]]:
    """For each checkout that is named: how many statements each area has, and how many of them the catalogue explains."""
    if not arguments:
        raise ValueError(
            "the arguments are folders, each with a checkout of Kafka; `--missing` lists what is not explained"
        )
    missing = "--missing" in arguments
    for name in (each for each in arguments if each != "--missing"):
        found = statements(Path(name))
        unexplained = [each for each in found if not explains(each)]
        yield {"checkout": Path(name).name, **{area: _share(found, unexplained, area) for area, _ in AREAS}}
        for each in unexplained if missing else ():
            yield {"area": each.area, "logger": each.logger, "level": each.level, "text": each.text}


def _share(found: list[LogStatement], unexplained: list[LogStatement], area: str) -> list[int]:
    """How many statements of an area are explained, and how many there are."""
    own = sum(each.area == area for each in found)
    return [own - sum(each.area == area for each in unexplained), own]


def explains(statement: LogStatement) -> bool:
    """Whether a family of the catalogue takes the lines of a statement."""
    # A value for each variable: `_loose` takes anything there.
    text = re.sub(r"\$\{.*$", "{}", statement.text).replace("{}", "7")
    logger = statement.logger
    own = [
        each
        for each in statement_catalogue().statements
        if each.prints(logger) or each.prints(f"{logger}$") or _by_class(each, logger)
    ]
    return any(_loose(each).match(text) for family in own for each in family.texts)


def _by_class(family: object, logger: str) -> bool:
    """State changes go to a logger of their own, whichever class writes them."""
    return "state.change.logger" in getattr(family, "loggers", ()) and any(
        logger.endswith(name)
        for name in ("ReplicaManager", "StateMachine", "Partition", "KafkaController", "Selector", "Delegate")
    )


@cache
def _loose(text: str) -> re.Pattern[str]:
    """The regular expression of a text of the catalogue, in which every field takes anything."""
    return text_regex(re.sub(r"\{\w+\}", "{}", text))
