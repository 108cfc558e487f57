"""The rules of a trace clause as functions, for lines that determine which action happened and with which arguments.

What a line states is a row too, of the binders of its rule; all such rows have as many words as the longest. A step is
taken where each guard is true and each operation has a value; bounds do not restrict logs. Afterwards the rule's
condition and each property of states and steps must hold. Where something has no value, or exceeds a capacity, no step
is taken, and the caller asks the reference evaluator.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.checker.interpreter.property_meaning import OF_STEPS
from assay.checker.jit import object_cache
from assay.checker.layout.row import LAYOUT_VERSION, RowLayout, Rows, row_layout
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.expressions.pack_unpack import Packer, RowWords
from assay.checker.lowering.expressions.range_check import exceeds, fit
from assay.checker.lowering.expressions.updates import Updates
from assay.checker.lowering.llvm.function_builder import TRUE, FunctionBuilder, Scalar, constant
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols.symbol import Symbol
from assay.checker.native.program import GENERATOR_VERSION, PRELUDE
from assay.checker.native.runtime import Runtime, over_rows
from assay.checker.native.unroll_budget import Writing, written
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

LEVEL = 2

MOST_ALTERNATIVES = 100
"""Of how many actions a line may report one."""


@dataclass(frozen=True, slots=True)
class RuleProgram:
    """The text of a module with ``@follow`` and ``@applies``, the layout of a state, and for each rule the layout of
    what its lines state."""

    text: str
    layout: RowLayout
    logged: tuple[RowLayout, ...]

    @property
    def stated_words(self) -> int:
        """The number of words of what a line states."""
        return max((each.words for each in self.logged), default=1)


def rule_program(kernel: k.Kernel, rules: Sequence[k.TraceRule], properties: Sequence[k.Property]) -> RuleProgram:
    """The module of some rules and of the properties that must hold in states and on steps.

    Raises ``UnsupportedError`` for what cannot be compiled, and for a rule whose line is several steps;
    ``SpecError`` if a value does not fit a row.
    """
    layout = row_layout(kernel.variables)
    logged = tuple(row_layout(_binders(rule)) for rule in rules)
    functions = written(
        [
            *(
                partial(_rule, kernel, layout, rule, own, at)
                for at, (rule, own) in enumerate(zip(rules, logged, strict=True))
            ),
            *(partial(_condition, rule, own, at) for at, (rule, own) in enumerate(zip(rules, logged, strict=True))),
            partial(_kept, kernel, layout, properties),
        ]
    )
    program = RuleProgram("", layout, logged)
    words = program.stated_words
    loops = [_applies(len(rules), words), _follow(len(rules), layout.words, words), _follow_each(layout.words)]
    return RuleProgram("\n".join([PRELUDE, *functions, *loops]), layout, logged)


def _binders(rule: k.TraceRule) -> tuple[k.Variable, ...]:
    return tuple(k.Variable(each.binder.name, each.binder.type, False, span=rule.span) for each in rule.fields)


def _bind(lowering: Lowering, code: FunctionBuilder, rule: k.TraceRule, logged: RowLayout) -> None:
    """Read what a line states, for all expressions of its rule."""
    line = StateSymbols(Runtime(code).load_row(logged.words, "%logged"), logged, _binders(rule))
    for each in rule.fields:
        lowering.bound[each.binder.name] = line.read(each.binder.name)


def _true(lowering: Lowering, condition: k.Expr) -> Scalar:
    """Whether a condition is true and has a value."""
    value, undefined = lowering.apart(lambda: lowering.flag(condition))
    return lowering.code.both(value, lowering.code.invert(undefined))


def _function(name: str, pointers: str, code: FunctionBuilder, result: Scalar) -> str:
    """A function that writes its result to the byte at its last pointer when it comes to its end; before that the byte
    is 0."""
    code.do(f"store {code.resize(result, 8).typed}, ptr %said")
    body = "\n".join(code.lines)
    return f"define internal void @{name}({pointers}, ptr %said) {{\nentry:\n{body}\n  ret void\n}}\n"


def _condition(rule: k.TraceRule, logged: RowLayout, at: int, writing: Writing) -> str:
    """Whether a rule applies to a line, by its ``if``."""
    code = writing.code()
    # No state: an `if` reads the fields of the line alone.
    lowering = Lowering(code, None, unrolling=writing.unrolling, strict=writing.strict)
    result = TRUE
    if rule.condition is not None:
        _bind(lowering, code, rule, logged)
        result = _true(lowering, rule.condition)
    return _function(f"applies_{at}", "ptr %logged", code, result)


def _rule(kernel: k.Kernel, layout: RowLayout, rule: k.TraceRule, logged: RowLayout, at: int, writing: Writing) -> str:
    """The step of a line: which of its alternatives is taken, from 1 on (0: none can be), and the row after it.

    The first that can be taken is. Another one might be needed later; then the line that needs it is no step.
    """
    code = writing.code()
    before = _state(kernel, layout, Runtime(code).load_row(layout.words))
    lowering = Lowering(code, before, before, writing.unrolling, writing.strict)
    _bind(lowering, code, rule, logged)
    # A copy for each alternative: actions bind names of their own.
    given = dict(lowering.bound)
    condition = rule.then if rule.steps else rule.observe
    # From the last alternative to the first, so that the first that holds is chosen last and wins.
    which, words = constant(8, 0), before.row.words
    for number, call in reversed(list(enumerate(_calls(rule), 1))):
        held, now = TRUE, before
        if call is not None:
            held, row = _call(kernel, layout, call, before, given, code, writing)
            now = _state(kernel, layout, row)
        if condition is not None:
            after = Lowering(code, now, before, writing.unrolling, writing.strict)
            after.bound = dict(given)
            held = code.both(held, _true(after, condition))
        which = code.choose(held, constant(8, number), which)
        # Where no alternative holds the words mean nothing; the answer 0 says so.
        words = [code.choose(held, new, old) for new, old in zip(now.row.words, words, strict=True)]
    _store(code, words)
    return _function(f"rule_{at}", "ptr %row, ptr %logged, ptr %new", code, which)


def _calls(rule: k.TraceRule) -> list[k.ActionCall | None]:
    """The actions of which a line reports one; None if it reports none."""
    # An alternative is noted in seven bits of a byte.
    if len(rule.steps) > 1 or any(len(alternatives) > MOST_ALTERNATIVES for alternatives in rule.steps):
        raise UnsupportedError("a line that is several actions", rule.span)
    return [*rule.steps[0]] if rule.steps else [None]


def _state(kernel: k.Kernel, layout: RowLayout, row: RowWords) -> StateSymbols:
    """The state of a row. All variables are read before any branch, because a register defined in one branch could not
    be used in another."""
    state = StateSymbols(row, layout, kernel.variables)
    for variable in kernel.variables:
        state.read(variable.name)
    return state


def _call(
    kernel: k.Kernel,
    layout: RowLayout,
    call: k.ActionCall,
    now: StateSymbols,
    given: dict[str, Symbol],
    code: FunctionBuilder,
    writing: Writing,
) -> tuple[Scalar, RowWords]:
    """Whether an action can be taken in a state with the arguments of a call, and the row after it."""
    action = kernel.action(call.action)
    lowering = Lowering(code, now, None, writing.unrolling, writing.strict)
    lowering.bound = dict(given)
    held, arguments = TRUE, dict[str, Symbol]()
    for parameter, expr in zip(action.parameters, call.arguments, strict=True):
        # An open argument may be any of several, and a line would be several steps.
        if expr is None or not isinstance(parameter.domain, k.TypeDomain):
            raise UnsupportedError("an argument that the line does not give", call.span)
        symbol, undefined = lowering.apart(lambda expr=expr: lowering.lower(expr))  # type: ignore[misc]
        fits, fitted = fit(code, symbol, parameter.domain.of)
        arguments[parameter.binder.name] = fitted
        has_room = code.invert(exceeds(code, fitted, parameter.domain.of, None))
        held = code.all_of([held, code.invert(undefined), fits, has_room])
    # The body sees its parameters only: fields of the line may have names of the body.
    lowering.bound = arguments
    updates_begin = len(action.body)
    for at, each in enumerate(action.body):
        if isinstance(each, k.Assign | k.If | k.For):
            updates_begin = at
            break
        held = code.both(held, _prefix(each, lowering))
    updates = Updates(action.body[updates_begin:], now, {v.name: v.type for v in kernel.variables}, lowering)
    # A capacity is no bound: the row has no place for what exceeds it, so the search has to look at that line.
    room = [code.invert(exceeded) for _, exceeded in updates.exceeding()]
    held = code.all_of([held, code.invert(updates.undefined), *room])
    packer = Packer(now.row, layout)
    for variable, place in zip(kernel.variables, layout.places, strict=True):
        if variable.name in updates.after:
            packer.put(updates.after[variable.name], now.read(variable.name), place.shape, place.shift)
    return held, RowWords(code, packer.words())


def _prefix(each: k.Statement, lowering: Lowering) -> Scalar:
    """Whether a statement before the updates lets the action be taken."""
    match each:
        # A bound limits a search, and no step of a running system: what was logged happened.
        case k.Guard(kind="bound"):
            return TRUE
        case k.Guard():
            return _true(lowering, each.condition)
        case k.Let():
            symbol, undefined = lowering.apart(lambda: lowering.lower(each.value))
            lowering.bound[each.binder.name] = symbol
            return lowering.code.invert(undefined)
        case _:
            raise UnsupportedError("an action that chooses", each.span)


def _store(code: FunctionBuilder, words: Sequence[Scalar]) -> None:
    for at, value in enumerate(words):
        address = code.fresh(64, f"getelementptr i64, ptr %new, i64 {at}")
        code.do(f"store {value.typed}, ptr {address.text}")


def _kept(kernel: k.Kernel, layout: RowLayout, properties: Sequence[k.Property], writing: Writing) -> str:
    """Whether all properties hold in a new state and on the step to it."""
    code = writing.code()
    runtime = Runtime(code)
    before = _state(kernel, layout, runtime.load_row(layout.words))
    now = _state(kernel, layout, runtime.load_row(layout.words, "%new"))
    held = TRUE
    for prop in (each for each in properties if each.kind in OF_STEPS):
        # Without short-circuit: a conjunct without a value counts as false.
        for part in prop.conjuncts:
            lowering = Lowering(
                code, now, before if prop.kind == "transition" else now, writing.unrolling, writing.strict
            )
            held = code.both(held, _true(lowering, part.condition))
    return _function("kept", "ptr %row, ptr %new", code, held)


def _applies(rules: int, logged: int) -> str:
    """The function that says, for many lines of a rule, whether the rule applies to each."""
    body = f"""%said = getelementptr i8, ptr %out, i64 %i
  store i8 0, ptr %said
{_by_rule(rules, "applies", "ptr %row")}
asked:"""
    return over_rows("applies(i32 %rule, ptr %rows, i64 %n, ptr %out)", logged, body, last="asked")


def _by_rule(rules: int, name: str, pointers: str) -> str:
    """Call the function of the rule ``%rule``."""
    cases = " ".join(f"i32 {at}, label %ask_{at}" for at in range(rules))
    calls = (f"ask_{at}:\n  call void @{name}_{at}({pointers}, ptr %said)\n  br label %asked" for at in range(rules))
    return "\n".join([f"  switch i32 %rule, label %asked [ {cases} ]", *calls])


def _follow(rules: int, words: int, logged: int) -> str:
    """The function that takes the steps of one line after another as long as it can.

    Its result is the number of the first line that is no step. If a property fails after line n, the result is -1 - n.
    """
    # `%byte` is an entry of `EncodedLines.changes`: the alternative above, and whether the state changed in the lowest
    # bit. `%turned` is -1 - i, which differs from every line number, also for line 0.
    return f"""define i64 @follow(ptr %row, ptr %rules, ptr %logged, ptr %changes, i64 %begin, i64 %end) {{
entry:
  %new = alloca i64, i64 {words}
  %said = alloca i8
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %go ]
  %more = icmp ult i64 %i, %end
  br i1 %more, label %body, label %stop
body:
  %offset = mul i64 %i, {logged}
  %line = getelementptr i64, ptr %logged, i64 %offset
  %which = getelementptr i32, ptr %rules, i64 %i
  %rule = load i32, ptr %which
  store i8 0, ptr %said
{_by_rule(rules, "rule", "ptr %row, ptr %line, ptr %new")}
asked:
  %answer = load i8, ptr %said
  %taken = icmp ne i8 %answer, 0
  br i1 %taken, label %ask, label %stop
ask:
  store i8 0, ptr %said
  call void @kept(ptr %row, ptr %new, ptr %said)
  %judgement = load i8, ptr %said
  %kept = icmp ne i8 %judgement, 0
  br i1 %kept, label %go, label %broken
go:
{_moved(words)}
  %bit = zext i1 %changed to i8
  %which_one = sub i8 %answer, 1
  %above = shl i8 %which_one, 1
  %byte = or i8 %above, %bit
  %change = getelementptr i8, ptr %changes, i64 %i
  store i8 %byte, ptr %change
  %next = add i64 %i, 1
  br label %head
stop:
  ret i64 %i
broken:
  %turned = xor i64 %i, -1
  ret i64 %turned
}}
"""


def _follow_each(words: int) -> str:
    """The function that follows many parts of the lines, each from the same row. ``bounds`` are where they begin and,
    at last, where the last one ends. ``reached`` receives what ``@follow`` says of each.
    """
    copied = "\n".join(
        line
        for at in range(words)
        for line in (
            f"  %from_{at} = getelementptr i64, ptr %initial, i64 {at}",
            f"  %to_{at} = getelementptr i64, ptr %row, i64 {at}",
            f"  %word_{at} = load i64, ptr %from_{at}",
            f"  store i64 %word_{at}, ptr %to_{at}",
        )
    )
    return f"""define void @follow_each(ptr %initial, ptr %rules, ptr %logged, ptr %changes, ptr %bounds, i64 %n, ptr %reached) {{
entry:
  %row = alloca i64, i64 {words}
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
{copied}
  %next = add i64 %i, 1
  %begin_place = getelementptr i64, ptr %bounds, i64 %i
  %begin = load i64, ptr %begin_place
  %end_place = getelementptr i64, ptr %bounds, i64 %next
  %end = load i64, ptr %end_place
  %came = call i64 @follow(ptr %row, ptr %rules, ptr %logged, ptr %changes, i64 %begin, i64 %end)
  %out = getelementptr i64, ptr %reached, i64 %i
  store i64 %came, ptr %out
  br label %head
done:
  ret void
}}
"""


def _moved(words: int) -> str:
    """Copy the new row over the old one; gives whether they differ."""
    lines = ["  %differs_0 = add i64 0, 0"]
    for at in range(words):
        lines += [
            f"  %old_place_{at} = getelementptr i64, ptr %row, i64 {at}",
            f"  %new_place_{at} = getelementptr i64, ptr %new, i64 {at}",
            f"  %old_{at} = load i64, ptr %old_place_{at}",
            f"  %new_{at} = load i64, ptr %new_place_{at}",
            f"  %other_{at} = xor i64 %old_{at}, %new_{at}",
            f"  %differs_{at + 1} = or i64 %differs_{at}, %other_{at}",
            f"  store i64 %new_{at}, ptr %old_place_{at}",
        ]
    return "\n".join([*lines, f"  %changed = icmp ne i64 %differs_{words}, 0"])


class RuleSteps:
    """The machine code of a program."""

    def __init__(self, program: RuleProgram, folder: Path | None = None) -> None:
        self.program = program
        key = object_cache.cache_key(program.text, LAYOUT_VERSION, GENERATOR_VERSION)
        self._loaded = object_cache.LoadedObject(object_cache.kept(key, program.text, LEVEL, folder))
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self._applies: Callable[..., None] = self._loaded.function(
            "applies", None, ctypes.c_int32, pointer, number, pointer
        )
        self._follow: Callable[..., int] = self._loaded.function("follow", number, *(pointer,) * 4, number, number)
        self._follow_each: Callable[..., None] = self._loaded.function(
            "follow_each", None, *(pointer,) * 5, number, pointer
        )

    def applies(self, rule: int, logged: Rows) -> npt.NDArray[np.bool_]:
        """Whether a rule applies to each of the lines that state this."""
        applicable = np.zeros(len(logged), np.uint8)
        self._applies(rule, logged.ctypes.data, len(logged), applicable.ctypes.data)
        return applicable.astype(np.bool_)

    def follow(self, row: Rows, lines: EncodedLines, begin: int, end: int) -> int:
        """Take the steps of lines ``begin`` to ``end``, updating ``row`` in place. The result is that of the function
        ``@follow``."""
        arrays = row, lines.rules, lines.logged, lines.changes
        return self._follow(*(each.ctypes.data for each in arrays), begin, end)

    def follow_each(self, initial: Rows, lines: EncodedLines, bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Take the steps of each part of the lines from the same row: of part i those from ``bounds[i]`` to
        ``bounds[i + 1]``. The result for each is that of the function ``@follow``."""
        reached = np.empty(len(bounds) - 1, np.int64)
        arrays = initial, lines.rules, lines.logged, lines.changes, bounds
        self._follow_each(*(each.ctypes.data for each in arrays), len(reached), reached.ctypes.data)
        return reached


@dataclass(frozen=True, slots=True)
class EncodedLines:
    """Lines in the order in which they are followed. Each has its rule, what it states (an array of shape (n, words)),
    and notes on it.

    ``changes`` receives what became of each line. The lowest bit says whether it changed the state. The bits above say
    which alternative of its rule was taken, from 0 on.
    """

    rules: npt.NDArray[np.int32]
    logged: Rows
    changes: npt.NDArray[np.uint8]
