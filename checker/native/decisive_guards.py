"""Which false guards of an action's instance are decisive: the only obstacle of the instance.

Each action has one function for this. The action's code calls it for an instance that ended at a guard not known to be
decisive. It evaluates the whole prefix once. A guard is decisive if it is false, all guards before it hold, and nothing
behind it is an obstacle (``disabled_guards.rest_holds``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.checker.interpreter.expressions.traverse import locals_of, read_by
from assay.checker.layout.refinement_image import argument_layout
from assay.checker.layout.row import RowLayout
from assay.checker.lowering.expressions.binder_elements import (
    Choices,
    Powerset,
    RankedDomain,
    StoredSlots,
    choice,
    choices_of,
    elements,
    listed_items,
    looped_slots,
    positions,
)
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.expressions.loops import UnrollBudget, each, is_looped
from assay.checker.lowering.expressions.pack_unpack import RowWords
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar
from assay.checker.lowering.symbols.symbol import Bunch, Mask
from assay.checker.native.runtime import Runtime
from assay.checker.native.unroll_budget import Writing
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.lazy_dataclass import dataclass


@dataclass(slots=True)
class LabelPositions:
    """Names that become positions in arrays, in the order in which they were first used."""

    positions: dict[str, int]

    def position(self, name: str) -> int:
        """The position of a name."""
        return self.positions.setdefault(name, len(self.positions))


def prefix_of(action: k.Action) -> tuple[k.Guard | k.Let | k.Pick, ...]:
    """The guards, lets and picks before the first update of an action."""
    found: list[k.Guard | k.Let | k.Pick] = []
    for statement in action.body:
        if not isinstance(statement, k.Guard | k.Let | k.Pick):
            break
        found.append(statement)
    return tuple(found)


def has_obstacles(action: k.Action, start: int) -> bool:
    """Whether something in the prefix, from ``start`` on, can be an obstacle."""
    return any(isinstance(each, k.Guard | k.Pick) for each in prefix_of(action)[start:])


def instance_layout(action: k.Action) -> RowLayout | None:
    """The layout of an action's arguments as words; None if one does not fit."""
    try:
        return argument_layout(action)
    except SpecError:
        return None


def is_looped_pick(code: FunctionBuilder, domain: Choices, unrolling: UnrollBudget) -> bool:
    """Whether the elements of a pick's domain share code."""
    return isinstance(domain, RankedDomain | Powerset | StoredSlots) or (
        isinstance(domain, Mask) and is_looped(code, unrolling, "picks", elements(domain))
    )


def decisive_function(
    kernel: k.Kernel, layout: RowLayout, number: int, guards: LabelPositions, writing: Writing
) -> str:
    """The function ``@decisive_<number>`` of an action whose arguments have a layout. Raises ``UnsupportedError``."""
    action = kernel.action(kernel.next[number])
    arguments = instance_layout(action)
    assert arguments is not None
    code = writing.code()
    runtime = Runtime(code)
    state = StateSymbols(runtime.load_row(layout.words), layout, kernel.variables)
    # Sorted, so that the text and with it the key in the cache are the same in each run.
    for name in sorted(read_by(prefix_of(action))):
        state.read(name)
    lowering = Lowering(code, state, unrolling=writing.unrolling, strict=writing.strict)
    given = RowWords(code, [Scalar(64, f"%argument{at}") for at in range(arguments.words)])
    for parameter, place in zip(action.parameters, arguments.places, strict=True):
        lowering.bound[parameter.binder.name] = given.load(place.shape, place.shift)
    DecisiveGuards(action, lowering, runtime, guards).mark()
    body = "\n".join(code.lines)
    extra = "".join(f", {each.typed}" for each in given.words)
    head = f"define internal void @decisive_{number}(ptr %context, ptr %row{extra}) noinline"
    return f"{head} {{\nentry:\n{body}\n  ret void\n}}\n"


class DecisiveGuards:
    """Writes the code that marks the decisive guards of an instance, whose arguments are bound already."""

    def __init__(self, action: k.Action, lowering: Lowering, runtime: Runtime, guards: LabelPositions) -> None:
        self._action = action
        self._prefix = prefix_of(action)
        self._lowering = lowering
        self._code = lowering.code
        self._runtime = runtime
        self._guards = guards

    def mark(self) -> None:
        """Write it."""
        self._rest(0, TRUE, {})

    def _rest(self, start: int, reached: Scalar, lost: Mapping[str, Scalar]) -> Scalar:
        """Whether nothing from ``start`` on is an obstacle; marks the guards that are decisive where ``reached``.

        ``lost`` has for each let and pick that may lack a value the condition when it does.
        """
        code, behind = self._code, TRUE
        asked: list[tuple[str, Scalar, Scalar]] = []
        for at in range(start, len(self._prefix)):
            node = self._prefix[at]
            without = code.any_of([lost[name] for name in sorted(locals_of(node) & lost.keys())]) if lost else FALSE
            if isinstance(node, k.Guard):
                value, undefined = self._condition(node, without)
                fails = code.both(reached, code.invert(code.either(undefined, value)))
                asked.append((node.label, fails, code.any_of([without, undefined, value])))
                reached = code.all_of([reached, value, code.invert(undefined)])
            elif isinstance(node, k.Let):
                missing = code.either(without, self._let(node, without))
                # A new dictionary: other branches of picks have names of their own.
                lost = lost if missing.known == 0 else {**lost, node.binder.name: missing}
                reached = code.both(reached, code.invert(missing))
            else:
                behind = self._some_pick(node, at, reached, without, lost)
                break
        return self._mark(asked, behind)

    def _mark(self, asked: Sequence[tuple[str, Scalar, Scalar]], behind: Scalar) -> Scalar:
        """Mark guards, of each its label, whether it alone fails so far, and whether it is no obstacle."""
        # From behind, so that `behind` says of all later guards whether they are obstacles.
        for label, fails, free in reversed(asked):
            position = self._guards.position(f"{self._action.name}\0{label}")
            self._runtime.mark(position, self._code.both(fails, behind))
            behind = self._code.both(free, behind)
        return behind

    def _condition(self, guard: k.Guard, without: Scalar) -> tuple[Scalar, Scalar]:
        """The value of a guard, and whether it has none; where something that it mentions certainly has none, both are
        no matter."""
        if without.known == 1:
            return TRUE, TRUE
        return self._lowering.apart(lambda: self._lowering.flag(guard.condition))

    def _let(self, let: k.Let, without: Scalar) -> Scalar:
        if without.known == 1:
            return TRUE
        symbol, undefined = self._lowering.apart(lambda: self._lowering.lower(let.value))
        self._lowering.bound[let.binder.name] = symbol
        return undefined

    def _some_pick(self, pick: k.Pick, at: int, reached: Scalar, without: Scalar, lost: Mapping[str, Scalar]) -> Scalar:
        code, lowering, name, found = self._code, self._lowering, pick.binder.name, FALSE
        if without.known != 1:
            domain, undefined = lowering.apart(lambda: choices_of(pick.domain, lowering, lowering.unrolling))
            domain = looped_slots(code, domain, lowering.unrolling, "picks") or domain
            without = code.either(without, undefined)
            found = self._some_item(name, domain, at, code.both(reached, code.invert(undefined)), lost)
        if without.known == 0:
            return found
        # Without a domain, what mentions the pick is lost; the rest may still be an obstacle, but marks nothing.
        return code.choose(without, self._rest(at + 1, FALSE, {**lost, name: TRUE}), found)

    def _some_item(self, name: str, domain: Choices, at: int, reached: Scalar, lost: Mapping[str, Scalar]) -> Scalar:
        """All items are looked at, for each may show that another guard is decisive."""
        code, bound = self._code, self._lowering.bound
        if not is_looped_pick(code, domain, self._lowering.unrolling):
            found = FALSE
            for there, item in listed_items(code, domain):
                bound[name] = item
                found = code.either(found, code.both(there, self._rest(at + 1, code.both(reached, there), lost)))
            return found
        assert not isinstance(domain, Bunch)
        # A loop has no value, so the answer is collected on the stack.
        place = code.reserve(1)
        code.do(f"store i64 0, ptr {place}")

        def body(position: Scalar) -> None:
            bound[name] = choice(code, domain, position)
            holds = code.resize(self._rest(at + 1, reached, lost), 64)
            before = code.fresh(64, f"load i64, ptr {place}")
            code.do(f"store {code.fresh(64, f'or {before.typed}, {holds.text}').typed}, ptr {place}")

        each(code, positions(domain), body)
        return code.fresh(1, f"icmp ne i64 {code.fresh(64, f'load i64, ptr {place}').text}, 0")
