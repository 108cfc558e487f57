"""The abstract images of rows under a refinement, as functions of a module."""

from __future__ import annotations

from collections.abc import Mapping

from assay.checker.layout.refinement_image import BEYOND, OUTSIDE, UNDEFINED, ImageLayout
from assay.checker.layout.row import RowLayout
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.expressions.pack_unpack import Packer, RowWords
from assay.checker.lowering.expressions.range_check import exceeds, fit
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.symbols.symbol import Symbol
from assay.checker.native.runtime import Runtime, over_rows
from assay.checker.native.unroll_budget import Writing
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.type_relations import is_sized


def image_function(
    kernel: k.Kernel, layout: RowLayout, refinement: k.Refinement, into: ImageLayout, number: int, writing: Writing
) -> str:
    """The function ``@image_<number>``: from a row to the words of its image, and flags where it has none."""
    code = writing.code()
    state = StateSymbols(Runtime(code).load_row(layout.words), layout, kernel.variables)
    # Before any branch, for a register defined in one branch could not be used in another.
    for variable in kernel.variables:
        state.read(variable.name)
    lowering = Lowering(code, state, unrolling=writing.unrolling, strict=writing.strict)
    packer = Packer(_blank(code, into.abstract), into.abstract)
    flag = constant(8, 0)
    for value, variable, place in zip(
        refinement.values, refinement.abstract.variables, into.abstract.places, strict=True
    ):
        symbol, undefined = lowering.apart(lambda value=value: lowering.lower(value))  # type: ignore[misc]
        fitted, trouble = _fitted(code, symbol, undefined, variable)
        # The first variable in trouble counts, as in the reference evaluator.
        flag = code.choose(code.compare("eq", flag, constant(8, 0)), trouble, flag)
        packer.put(fitted, None, place.shape, place.shift)
    words = [*packer.words(), *_beside(code, state, into)]
    for at, each in enumerate(words):
        address = code.fresh(64, f"getelementptr i64, ptr %out, i64 {at}")
        code.do(f"store {each.typed}, ptr {address.text}")
    code.do(f"store {flag.typed}, ptr %flag")
    body = "\n".join(code.lines)
    head = f"define internal void @image_{number}(ptr %row, ptr %out, ptr %flag)"
    return f"{head} {{\nentry:\n{body}\n  ret void\n}}\n{_over_rows(number, layout.words, into.words)}"


def _blank(code: FunctionBuilder, layout: RowLayout) -> RowWords:
    return RowWords(code, [word(0)] * layout.words)


def _fitted(code: FunctionBuilder, symbol: Symbol, undefined: Scalar, variable: k.Variable) -> tuple[Symbol, Scalar]:
    """The symbol as its variable keeps it, and the first reason why it is no value of it, in the reference evaluator's
    order."""
    fits, fitted = fit(code, symbol, variable.type)
    out_of_range = BEYOND if is_sized(variable.type) else OUTSIDE
    ways = (
        (undefined, UNDEFINED),
        (code.invert(fits), out_of_range),
        (exceeds(code, fitted, variable.type, None), BEYOND),
    )
    flag = constant(8, 0)
    # From the last to the first, so that the first reason is chosen last and wins.
    for when, bit in reversed(ways):
        flag = code.choose(when, constant(8, bit), flag)
    return fitted, flag


def _beside(code: FunctionBuilder, state: StateSymbols, into: ImageLayout) -> list[Scalar]:
    if not into.read:
        return []
    packer = Packer(_blank(code, into.beside), into.beside)
    for variable, place in zip(into.read, into.beside.places, strict=True):
        packer.put(state.read(variable.name), None, place.shape, place.shift)
    return packer.words()


def _over_rows(number: int, words: int, image: int) -> str:
    body = f"""%place = mul i64 %i, {image}
  %target = getelementptr i64, ptr %out, i64 %place
  %flag = getelementptr i8, ptr %flags, i64 %i
  call void @image_{number}(ptr %row, ptr %target, ptr %flag)"""
    return over_rows(f"images_{number}(ptr %rows, i64 %n, ptr %out, ptr %flags)", words, body)


def argument_words(
    code: FunctionBuilder, layout: RowLayout, action: k.Action, bound: Mapping[str, Symbol]
) -> list[Scalar]:
    """The arguments of an action's instance, packed into the words of their layout."""
    packer = Packer(_blank(code, layout), layout)
    for parameter, place in zip(action.parameters, layout.places, strict=True):
        packer.put(bound[parameter.binder.name], None, place.shape, place.shift)
    return packer.words()
