"""The arguments of a call in the order of the parameters."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar import syntax
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.scopes.context import Context


def arranged(name: str, parameters: Sequence[str], expr: syntax.Call, cx: Context) -> list[syntax.Expr] | None:
    """The arguments in the order of the parameters, positional ones first. Reports missing and superfluous
    ones (E205)."""
    found: dict[str, syntax.Expr] = {}
    fine = True
    for position, argument in enumerate(expr.arguments):
        parameter = _parameter(name, parameters, argument, position, cx)
        if parameter is None:
            fine = False
        elif parameter in found:
            cx.error("E205", argument.span, f"`{parameter}` is given twice")
            fine = False
        else:
            found[parameter] = argument.value
    missing = [parameter for parameter in parameters if parameter not in found]
    # After a superfluous or misspelt argument another one is missing too, which would be said of the same mistake.
    if missing and fine:
        wanted = f"{name}({', '.join(parameters)})"
        cx.error("E205", expr.span, f"{wanted} lacks {', '.join(f'`{parameter}`' for parameter in missing)}")
    return [found[parameter] for parameter in parameters] if fine and not missing else None


def _parameter(name: str, parameters: Sequence[str], argument: syntax.Arg, position: int, cx: Context) -> str | None:
    if argument.name is None:
        if position < len(parameters):
            return parameters[position]
        takes = f"{len(parameters)} argument{'' if len(parameters) == 1 else 's'}"
        cx.error("E205", argument.value.span, f"{name} takes {takes}")
        return None
    if argument.name.text in parameters:
        return argument.name.text
    guess = did_you_mean(argument.name.text, parameters)
    advice = [f"did you mean `{guess}`?"] if guess else []
    cx.error("E205", argument.name.span, f"{name} has no `{argument.name.text}`", *advice)
    return None
