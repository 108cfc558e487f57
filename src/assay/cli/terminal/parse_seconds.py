"""Times as options give them: a number of seconds above zero."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click


class Seconds(click.FloatRange):
    """Seconds above zero. ``nan`` and ``inf`` are floats, too, and no times."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; raises ``click.BadParameter``."""
        seconds = float(super().convert(value, param, ctx))
        if not isfinite(seconds):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return seconds


SECONDS = Seconds()
