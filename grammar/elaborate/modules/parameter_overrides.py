"""The bindings of the chosen model and of ``--set``: from the text of both to one expression for each parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostics, Note, Span
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.modules.find_parameters import FreeParameter, Slots
from assay.grammar.elaborate.modules.library import COMMAND_LINE
from assay.grammar.elaborate.modules.module_tree import ModuleFile
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.parsing.split_declarations import MAX_DIGITS

# `{b1, b2}` is `{`, `b1`, `,`, `b2`, `}`.
_TOKEN = re.compile(r"\s*(?:(?P<int>-?\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[{},]))")


@dataclass(frozen=True, slots=True)
class Supplied:
    """A value given to a parameter, and the scope in which it is read."""

    value: syntax.Expr
    scope: Scope


@dataclass(frozen=True, slots=True)
class Bindings:
    """Values by the qualified name of the parameter. Those of ``from_model`` are read in the top module's scope."""

    values: Mapping[str, syntax.Expr] = field(default_factory=dict)
    from_model: frozenset[str] = frozenset()
    sorts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Elements that a log gives to set parameters."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Values that a log gives to size parameters."""
    supplied: Mapping[str, Supplied] = field(default_factory=dict)
    """What a spec gives to the parameters of a module that it refines, as an instance would."""

    @property
    def from_log(self) -> bool:
        """Whether a log determines the size of the kernel."""
        return bool(self.sorts or self.sizes)


def models_of(module: ModuleFile) -> tuple[syntax.ModelBlock, ...]:
    """The ``model`` blocks of a file."""
    return tuple(d for d in module.tree.declarations if isinstance(d, syntax.ModelBlock))


def chosen_model(module: ModuleFile, name: str | None, diagnostics: Diagnostics) -> syntax.ModelBlock | None:
    """The model of that name. Reports that there is none."""
    if name is None:
        return None
    models = {model.name.text: model for model in models_of(module)}
    if name not in models:
        guess = did_you_mean(name, models)
        known = f"the models are {', '.join(models)}" if models else "this spec has no models"
        diagnostics.error(
            "E308", start_of(module), f"there is no model `{name}`", f"did you mean `{guess}`?" if guess else known
        )
    return models.get(name)


def default_model(module: ModuleFile) -> str | None:
    """The model used if none is named: the one called ``default``, if there is one."""
    return next((model.name.text for model in models_of(module) if model.name.text == "default"), None)


def start_of(module: ModuleFile) -> Span:
    """The place of the module's name, or the start of its file."""
    return module.tree.name.span if module.tree.name else Span(module.file, 1, 1, 1, 1)


def collect(
    slots: Slots,
    models: Sequence[syntax.ModelBlock],
    model: syntax.ModelBlock | None,
    overrides: Mapping[str, str],
    diagnostics: Diagnostics,
) -> Bindings:
    """The bindings from outside. The names in every model are checked, the chosen model is used, and ``--set``
    overrides it."""
    # By identity: a spec may declare two models alike, and each is checked at its own place.
    of_models = IdentityMemo((other, _of_model(other, slots, diagnostics)) for other in models)
    of_model = of_models[model] if model is not None else {}
    given: dict[str, syntax.Expr] = {}
    for line, (name, text) in enumerate(overrides.items(), start=1):
        span = Span(COMMAND_LINE, line, 1, line, 1 + len(name))
        slot = slots.named(name, span, diagnostics)
        value = parse_value(text, line, len(name) + 2, diagnostics)
        if slot is not None and value is not None:
            given[slot.qualified] = value
    return Bindings({**of_model, **given}, frozenset(of_model) - frozenset(given))


def _of_model(model: syntax.ModelBlock, slots: Slots, diagnostics: Diagnostics) -> dict[str, syntax.Expr]:
    found: dict[str, syntax.Expr] = {}
    places: dict[str, Span] = {}
    for binding in model.bindings:
        slot = slots.named(str(binding.name), binding.name.span, diagnostics)
        if slot is None:
            continue
        # By its qualified name: `P` and `module.P` may be one parameter.
        if slot.qualified in found:
            first = Note("first bound here", places[slot.qualified])
            diagnostics.error("E309", binding.name.span, f"`{slot.shown}` is bound twice in this model", first)
            continue
        found[slot.qualified], places[slot.qualified] = binding.value, binding.name.span
        _check_shape(slot, binding.value, diagnostics)
    return found


def _check_shape(slot: FreeParameter, value: syntax.Expr, diagnostics: Diagnostics) -> None:
    """Check a binding of a model that is not chosen as far as possible: a set parameter needs a set."""
    if slot.declaration.type is None and not slot.declaration.size:
        element_names(slot.declaration, value, diagnostics)


def parse_value(text: str, line: int, column: int, diagnostics: Diagnostics) -> syntax.Expr | None:
    """The expression of ``--set P=text``: ``true``, an integer, a name, or ``{a, b}``."""
    # Not by the parser of specs: few forms are taken here, and the message names them all.
    tokens = list(_tokens(text, line, column))
    whole = Span(COMMAND_LINE, line, column, line, column + max(1, len(text)))
    match [token[:2] for token in tokens]:
        case [("int", number)] if len(number) > MAX_DIGITS:
            diagnostics.error("E018", whole, f"a number of {len(number):,} digits; at most {MAX_DIGITS:,} are allowed")
            return None
        case [("int", number)]:
            return syntax.IntLit(int(number), span=whole)
        case [("name", "true" | "false" as word)]:
            return syntax.BoolLit(word == "true", span=whole)
        case [("name", _)]:
            return _reference(tokens[0])
        case [("sign", "{"), *inner, ("sign", "}")] if _is_list(inner):
            items = tuple(_reference(token) for token in tokens[1:-1:2])
            return syntax.SetDisplay(items, span=whole)
        case _:
            diagnostics.error(
                "E310", whole, f"`{text}` is not a value", "a value is `true`, `false`, an integer, a name, or `{a, b}`"
            )
            return None


def _is_list(tokens: list[tuple[str, str]]) -> bool:
    """Whether these are names with commas between them."""
    kinds = ["name" if kind == "name" else text for kind, text in tokens]
    return kinds == (["name", ","] * len(kinds))[: len(kinds)] and (not kinds or kinds[-1] == "name")


def _tokens(text: str, line: int, column: int) -> Iterator[tuple[str, str, Span]]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            yield "other", text[at:], Span(COMMAND_LINE, line, column + at, line, column + len(text))
            return
        kind = found.lastgroup or "other"
        yield kind, found[kind], Span(COMMAND_LINE, line, column + found.start(kind), line, column + found.end(kind))
        at = found.end()


def _reference(token: tuple[str, str, Span]) -> syntax.Ref:
    _, text, span = token
    return syntax.Ref(syntax.Name(text, span=span), span=span)


def generated_names(param: str, count: int) -> tuple[str, ...]:
    """The elements of a set parameter bound to a number: ``b1``, ``b2``, … for ``Broker``."""
    return tuple(f"{param[0].lower()}{number}" for number in range(1, count + 1))


LARGEST_SET = 1000
"""More elements than this in a set parameter are a mistake: nothing could be done with such a model."""


def element_names(param: syntax.Param, value: syntax.Expr, diagnostics: Diagnostics) -> tuple[syntax.Name, ...] | None:
    """The elements that ``{a, b}`` or a number gives to a set parameter; None after an error."""
    match value:
        case syntax.IntLit(count) if 1 <= count <= LARGEST_SET:
            return tuple(syntax.Name(name, span=value.span) for name in generated_names(param.name.text, count))
        case syntax.IntLit() | syntax.SetDisplay(()):
            count = value.value if isinstance(value, syntax.IntLit) else 0
            limit = f"a set parameter has from 1 to {LARGEST_SET} elements"
            diagnostics.error("E311", value.span, f"`{param.name.text}` cannot have {count} elements", limit)
            return None
        case syntax.SetDisplay(items) if items and all(isinstance(item, syntax.Ref) for item in items):
            return _distinct(param, [item.name for item in items if isinstance(item, syntax.Ref)], diagnostics)
        case _:
            advice = "write the elements as `{a, b, c}`, or how many there are"
            diagnostics.error(
                "E311", value.span, f"`{param.name.text}` is a set parameter, and this is not a set of names", advice
            )
            return None


def _distinct(
    param: syntax.Param, names: list[syntax.Name], diagnostics: Diagnostics
) -> tuple[syntax.Name, ...] | None:
    seen: dict[str, syntax.Name] = {}
    for name in names:
        if name.text in seen:
            diagnostics.error(
                "E312", name.span, f"`{name.text}` is listed twice among the elements of `{param.name.text}`"
            )
            return None
        seen[name.text] = name
    return tuple(names)


def from_log(
    bindings: Bindings,
    slots: Slots,
    sorts: Mapping[str, Sequence[str]],
    sizes: Mapping[str, int],
    diagnostics: Diagnostics,
) -> Bindings:
    """The bindings with those that a log gives."""

    # What a refinement supplies is left out: for a log no refinement is followed.
    def qualified(name: str) -> str:
        slot = slots.named(name, NOWHERE, diagnostics)
        return slot.qualified if slot else name

    return Bindings(
        bindings.values,
        bindings.from_model,
        {qualified(name): elements for name, elements in sorts.items()},
        {qualified(name): value for name, value in sizes.items()},
    )
