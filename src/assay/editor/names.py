"""Names in a document: what stands at a place, where it is declared, where else it stands, what could be written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.editor.analysis import Document
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.scopes.scope import (
    ActionEntity,
    ArrayEntity,
    AtomEntity,
    Entity,
    FunctionEntity,
    FunctionParameter,
    ModuleEntity,
    Scope,
    SortEntity,
    StateEntity,
    TypeEntity,
    ValueEntity,
    VariantEntity,
    span_of,
)
from assay.grammar.elaborate.scopes.type_relations import type_text
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax import Declaration, Name

_WORD = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_STRING_OR_COMMENT = re.compile(r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')
_KINDS: dict[type, str] = {
    SortEntity: "set parameter",
    AtomEntity: "element",
    ValueEntity: "parameter",
    StateEntity: "state variable",
    TypeEntity: "type",
    VariantEntity: "variant",
    FunctionEntity: "function",
    FunctionParameter: "function",
    ActionEntity: "action",
    ModuleEntity: "module",
    ArrayEntity: "array of modules",
}


@dataclass(frozen=True, slots=True)
class NameAt:
    """A name in a text, as far as it is written up to the part asked about: ``membership.owner``; its last part."""

    path: tuple[str, ...]
    span: Span

    @property
    def last(self) -> str:
        """The part that the place is in."""
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class Declared:
    """What a name denotes: where its declaration is, what it is in words, and the declaration as written."""

    span: Span
    kind: str
    text: str
    doc: str | None
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A name that could be written, with what it denotes."""

    name: str
    kind: str
    detail: str


def name_at(text: str, file: str, line: int, column: int) -> NameAt | None:
    """The name at a place, both counted from 1; None inside strings and comments, and where no name stands."""
    return next((each for each in names_in(text, file, line) if _covers(each.span, column)), None)


def _covers(span: Span, column: int) -> bool:
    return span.column <= column <= span.end_column


def names_in(text: str, file: str, line: int | None = None) -> Iterator[NameAt]:
    """Every part of every name outside of strings and comments; only those of a line, if one is given."""
    # Blanked and not cut out, so that lines and columns stay.
    plain = _STRING_OR_COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    for number, content in enumerate(plain.split("\n"), 1):
        if line is None or number == line:
            for found in _WORD.finditer(content):
                yield from _parts(found, file, number)


def _parts(found: re.Match[str], file: str, line: int) -> Iterator[NameAt]:
    parts, column = found.group().split("."), found.start() + 1
    for at, part in enumerate(parts, 1):
        yield NameAt(tuple(parts[:at]), Span(file, line, column, line, column + len(part)))
        column += len(part) + 1


def own_name(declared: Declaration) -> Name | None:
    """The name that a declaration declares; None for a block without one."""
    found = getattr(declared, "name", None)
    return found if isinstance(found, Name) else None


def declaration(document: Document, name: NameAt) -> Declared | None:
    """What a name in the document denotes; None if nothing of that name is declared."""
    unit = _unit_of(document, document.file)
    if unit is None:
        return None
    return _denoted(document, document.text, name, unit)


def _denoted(document: Document, text: str, name: NameAt, unit: Unit) -> Declared | None:
    # Its own name first: elsewhere in the text a local may be called as this property is.
    own = _property(document, name, unit)
    if own is not None and own.span == name.span:
        return _resolved(document, name, unit)
    # Locals by how they are written, since a text that is being edited has mistakes and no elaborated body.
    return _local(text, name, unit) or _resolved(document, name, unit)


def _unit_of(document: Document, file: str) -> Unit | None:
    return next((unit for unit in document.units if unit.module.file == file), None)


def _resolved(document: Document, name: NameAt, unit: Unit) -> Declared | None:
    entity = _entity(unit.scope, name.path)
    if entity is None:
        return _property(document, name, unit)
    span = span_of(entity)
    found = _declaration_at(document, span)
    own = None if found is None else own_name(found)
    if own is not None and own.text == name.last:
        span = own.span
    doc = getattr(found, "doc", None)
    return Declared(span, _KINDS[type(entity)], _text(document, span, entity), doc)


def _entity(scope: Scope, path: tuple[str, ...]) -> Entity | None:
    """The entity of a dotted name; the first of those of several modules."""
    entity: Entity | None = next(iter(scope.find(path[0])), None)
    for part in path[1:]:
        if not isinstance(entity, ModuleEntity):
            return None
        entity = next(iter(entity.scope.find(part)), None)
    return entity


def _property(document: Document, name: NameAt, unit: Unit) -> Declared | None:
    """A property, scenario or model: declarations that are no names of expressions."""
    for each in unit.module.tree.declarations:
        own = own_name(each)
        if own is not None and own.text == name.last and len(name.path) == 1:
            kind = getattr(each, "kind", type(each).__name__.lower())
            return Declared(own.span, str(kind), _line(document, own.span), getattr(each, "doc", None))
    return None


def _local(text: str, name: NameAt, unit: Unit) -> Declared | None:
    """A parameter, ``let``, ``pick`` or bound variable of the enclosing declaration, by how such names are written."""
    around = next((each for each in unit.module.tree.declarations if _encloses(each.span, name.span)), None)
    if around is None or len(name.path) != 1:
        return None
    lines = text.split("\n")
    # `x: T`, `x, y in S`, `let x = e`, and `x` within `is V(x, y)`.
    binding = re.compile(rf"(?<![\w.]){re.escape(name.last)}(?=\s*(?:,\s*\w+\s*)*(?::|\bin\b)|\s*=(?!=))|"
                         rf"\bis\b[^:]*\(\s*(?:[\w, ]*,\s*)?{re.escape(name.last)}(?=\s*[,)])")  # fmt: skip
    # Upwards from the name: of several bindings of one name the nearest above is meant.
    for number in range(name.span.line, around.span.line - 1, -1):
        line = lines[number - 1] if number <= len(lines) else ""
        found = binding.search(line)
        # In the first line, such as `action elect(b: Broker):`, what is not in brackets is the declaration's own name.
        if found is not None and (number > around.span.line or "(" in line[: found.start()] or " in " in line):
            column = line.index(name.last, found.start()) + 1
            span = Span(name.span.file, number, column, number, column + len(name.last))
            if not _is_declared(unit, name.last, span):
                return Declared(span, "local", line.strip(), None, is_local=True)
    return None


def _is_declared(unit: Unit, name: str, span: Span) -> bool:
    """Whether the place is the declaration of a name of the module, or an assignment to its variable."""
    entity = unit.own.get(name)
    return isinstance(entity, StateEntity) or (entity is not None and span_of(entity) == span)


def _encloses(outer: Span, inner: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) <= (outer.end_line, outer.end_column)


def _declaration_at(document: Document, span: Span) -> Declaration | None:
    unit = _unit_of(document, span.file)
    if unit is None:
        return None
    return next((each for each in unit.module.tree.declarations if _encloses(each.span, span)), None)


def _text(document: Document, span: Span, entity: Entity) -> str:
    line = _line(document, span)
    return f"{line}  # {type_text(entity.type)}" if isinstance(entity, StateEntity) else line


def _line(document: Document, span: Span) -> str:
    text = (
        document.text
        if span.file == document.file
        else (document.loaded.sources if document.loaded else {}).get(span.file, "")
    )
    lines = text.split("\n")
    return lines[span.line - 1].strip() if 0 < span.line <= len(lines) else ""


def references(document: Document, name: NameAt) -> list[Span]:
    """Every place where the same thing is named, in the document and in the modules that it uses."""
    wanted = declaration(document, name)
    if wanted is None or document.loaded is None:
        return []
    # A local is seen in its own file alone, however many modules have one of that name.
    files = [document.file] if wanted.is_local else [unit.module.file for unit in document.units]
    found: dict[Span, None] = {}
    # A module of which there are several instances has a unit for each, and one file.
    for file in dict.fromkeys(files):
        text = document.text if file == document.file else document.loaded.sources.get(file, "")
        unit = _unit_of(document, file)
        for each in names_in(text, file):
            if each.last == name.last and unit is not None:
                denoted = _denoted(document, text, each, unit)
                if denoted is not None and denoted.span == wanted.span:
                    found[each.span] = None
    return sorted(found)


def suggestions(document: Document, line: int, column: int) -> list[Suggestion]:
    """The names that could stand at a place: after ``module.`` those of the module, else all that are visible."""
    unit = _unit_of(document, document.file)
    if unit is None:
        return []
    before = (document.text.split("\n")[line - 1 : line] or [""])[0][: column - 1]
    path = tuple(re.search(r"((?:[A-Za-z_]\w*\.)*)\w*$", before)[1].split(".")[:-1])  # type: ignore[index] # matches ""
    scope = unit.scope
    if path:
        entity = _entity(unit.scope, path)
        if not isinstance(entity, ModuleEntity):
            return []
        scope = entity.scope
    # Behind a dot only what the module declares: what it sees itself is not reached through it.
    names = scope.own if path else dict.fromkeys(scope.names())
    return [_suggestion(scope, each) for each in names if scope.find(each)]


def _suggestion(scope: Scope, name: str) -> Suggestion:
    entity = scope.find(name)[0]
    kind = _KINDS[type(entity)]
    match entity:
        case StateEntity(type=type_):
            return Suggestion(name, kind, type_text(type_))
        case ActionEntity(parameters=parameters):
            return Suggestion(name, kind, f"({', '.join(f'{each}: {type_text(of)}' for each, of in parameters)})")
        case _:
            return Suggestion(name, kind, "")
