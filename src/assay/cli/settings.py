"""The arguments SPEC, ``--model`` and ``--set``, and the kernel that they denote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from assay.api.spec import read_spec as load
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError

__all__ = ["load", "model_options", "parse_settings"]


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options ``--model`` and ``--set``, for every command that builds a kernel."""
    set_option = click.option(
        "--set", "settings", multiple=True, metavar="P=V", help="Bind a parameter; repeatable; goes before --model."
    )
    model = click.option("--model", metavar="NAME", help="The named configuration of the spec to use.")
    return model(set_option(command))


def parse_settings(settings: tuple[str, ...]) -> dict[str, str]:
    """The text of each value by parameter. Raises SpecError if a setting is not of the form P=V, or binds a
    parameter twice.
    """
    bound: dict[str, str] = {}
    wrong: list[Diagnostic] = []
    for setting in settings:
        name, mark, value = (part.strip() for part in setting.partition("="))
        if not (name and mark and value):
            wrong.append(
                Diagnostic("E901", NOWHERE, f"`--set {setting}` does not have the form `--set Parameter=value`")
            )
        elif name in bound:
            wrong.append(Diagnostic("E901", NOWHERE, f"`--set` binds {name} twice"))
        else:
            bound[name] = value
    if wrong:
        raise SpecError(wrong)
    return bound
