"""What bounds and capacities cut off, as an action of TLA+ that prints a line for each such instance and takes no step.

Conditions stand in `IF`, which TLC evaluates once: of a disjunction that is a conjunct of an action it would follow each true part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.checker.interpreter.expressions.traverse import assignments
from assay.checker.tla.actions import parameters
from assay.checker.tla.expressions.dispatch import write
from assay.checker.tla.expressions.operators import STANDARD, closure
from assay.checker.tla.expressions.range_checks import within_capacity
from assay.checker.tla.expressions.scope import TlaScope, register
from assay.checker.tla.tlc_config import LENGTH
from assay.checker.tla.updates import Current, value_after
from assay.grammar import kernel as k

CUTS = ("Cuts ==", "    /\\ vars = vars", "    /\\")
"""Mentions a variable: TLC evaluates a definition that mentions none once for all states."""


def with_cuts(module: str, kernel: k.Kernel, number: int) -> str:
    """The module with a definition of `Cuts`; each line that it prints holds the number and the label of what cut the instance off."""
    scope = TlaScope(register(kernel), write)
    ways = [_action(kernel, kernel.action(name), number, scope) for name in kernel.next]
    operators, _ = closure(scope.parts.used)
    needed = [f"LOCAL INSTANCE {each}" for each in STANDARD]
    needed += [operator.text for operator in operators if operator.text not in module]
    declared = re.search(r"^(CONSTANTS|VARIABLES) ", module, re.MULTILINE)
    assert declared is not None
    head, end, _ = module[declared.start() :].rpartition("=" * LENGTH)
    return "\n".join(
        [module[: declared.start()], *needed, head, *CUTS, *(f"        \\/ {way}" for way in ways), end, ""]
    )


def _action(kernel: k.Kernel, action: k.Action, number: int, scope: TlaScope) -> str:
    names, inner = parameters(action, scope)
    made = _Walk(kernel, number).cut(list(action.body), inner, None)
    for parameter, name in reversed(list(zip(action.parameters, names, strict=True))):
        made = f"\\E {name} \\in {scope.formula(parameter.domain).text} : {made}"
    return f"({made})"


class _Walk:
    def __init__(self, kernel: k.Kernel, number: int) -> None:
        self.kernel = kernel
        self.number = number

    def cut(self, body: Sequence[k.Statement], scope: TlaScope, label: str | None) -> str:
        """How the rest of an instance is cut off; `label` is that of the first bound that was false, if one was."""
        match body:
            case [k.Guard("when", _, condition), *rest]:
                return f"(IF {scope.formula(condition).text} THEN {self.cut(rest, scope, label)} ELSE FALSE)"
            case [k.Guard(_, own, condition), *rest] if label is None:
                holds, fails = self.cut(rest, scope, None), self.cut(rest, scope, own)
                return f"(IF {scope.formula(condition).text} THEN {holds} ELSE {fails})"
            case [k.Guard(), *rest]:
                return self.cut(rest, scope, label)
            case [k.Let(binder, value), *rest]:
                name, inner = scope.bind(binder, fits=False)
                return f"(LET {name} == {scope.formula(value).text} IN {self.cut(rest, inner, label)})"
            case [k.Pick(binder, domain), *rest]:
                name, inner = scope.bind(binder, fits=False)
                return f"(\\E {name} \\in {scope.formula(domain).text} : {self.cut(rest, inner, label)})"
            case _ if label is not None:
                return self._hit(label)
            case _:
                return self._exceeding(body, scope)

    def _hit(self, label: str) -> str:
        return f'(PrintT(<<"cut", {self.number}, "{label}">>) /\\ FALSE)'

    def _exceeding(self, body: Sequence[k.Statement], scope: TlaScope) -> str:
        """The values after the step, and the first variable that is written and exceeds its capacity."""
        variables = {variable.name: variable for variable in self.kernel.variables}
        touched = [variables[name] for name in dict.fromkeys(assign.variable for assign in assignments(body))]
        made, after = "FALSE", scope.after()
        for variable in reversed(touched):
            within = within_capacity(after.variable(variable.name), variable.type, after)
            if within is not None:
                made = f"(IF {within.text} THEN {made} ELSE {self._hit(f'capacity of {variable.name}')})"
        if made == "FALSE":
            return made
        values = []
        for variable in touched:
            value = value_after(variable, body, Current(scope.variable(variable.name)), scope).formula
            values.append(f"{after.variable(variable.name).text} = ({value.text})")
        return "(" + " /\\ ".join([*values, made]) + ")"
