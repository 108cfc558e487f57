"""Sizes of memory as people write them: ``800M``, ``4G``, ``1.5 GiB``."""

from __future__ import annotations

import re

import click

UNITS = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 1 << 10,
    "MI": 1 << 20,
    "GI": 1 << 30,
    "TI": 1 << 40,
}
LONGEST = 30
"""Digits of a size. One of more than 308 is infinite as a float."""
FORM = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?")


def size_in_bytes(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """The value of an option as a number of bytes; raises ``click.BadParameter``."""
    if text is None:
        return None
    # `kB` and `KB` are the same thousand bytes. Only an `i` makes 1,024 of them.
    found = FORM.fullmatch(text.strip().upper())
    if found is None or found[2] not in UNITS or len(found[1]) > LONGEST:
        raise click.BadParameter(f"{text!r} is no size: write for example 800M or 4G")
    size = int(float(found[1]) * UNITS[found[2]])
    if not size:
        raise click.BadParameter("nothing can be searched in no memory at all")
    return size
