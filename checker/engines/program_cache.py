"""Programs that an earlier run has translated from the same kernel, from the user's cache.

Translating a large spec takes seconds, and machine code is found by the text that comes of it. So the text is kept
under the name of the kernel's own entry, which is a hash of all that the kernel was made from. What else the text
depends on is part of its name: the options, and the text of the packages that translate.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from assay.checker.layout.call_frame import Starts
from assay.checker.native.program import Program
from assay.grammar.data_cache import code_text, entry, remember, remembered
from assay.grammar.kernel import Kernel
from assay.grammar.spec_cache import entry_of

TRANSLATORS = ("aig", "engines", "interpreter", "layout", "liveness", "lowering", "native", "partial_order", "symmetry")
"""The packages beside this one's that decide what a program's text is; a test compares them with what is imported."""
_FAST = 1
"""Of zlib's levels: the text shrinks to a tenth at any."""


def kept_program(
    kernel: Kernel,
    options: Sequence[object],
    folder: Path | None,
    outline: Callable[[], Program],
    translate: Callable[[], Program],
) -> Program:
    """The program of a kernel under options, by ``translate`` where none like it is kept.

    ``outline`` makes it without its text, and without the names that are found during translation. Raises as
    ``translate`` does, of which nothing is kept then.
    """
    name = _entry(kernel, options)
    kept = remembered(name, folder=folder)
    if isinstance(kept, tuple):
        text, hits, guards, starts = kept
        begun = None if starts is None else Starts(*starts)
        return replace(outline(), text=zlib.decompress(text).decode(), hits=hits, guards=guards, starts=begun)
    made = translate()
    starts = None if made.starts is None else (made.starts.picks, made.starts.words)
    remember(name, (zlib.compress(made.text.encode(), _FAST), made.hits, made.guards, starts), folder=folder)
    return made


def _entry(kernel: Kernel, options: Sequence[object]) -> str | None:
    origin = entry_of(kernel)
    codes = [code_text(Path(__file__).parent.parent / each) for each in TRANSLATORS]
    return None if origin is None or None in codes else entry("program", origin, codes, *options)
