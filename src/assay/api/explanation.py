"""``explain``: what a diagnostic code means."""

from __future__ import annotations

import difflib

from assay.api.codes import ALL_CODES
from assay.api.input_error import raises_input_error
from assay.grammar.diagnostics.code import Code
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError


@raises_input_error
def explain(code: str) -> Code:
    """The title of a diagnostic code such as ``E003``, and a paragraph about it. Raises ``InputError`` (E904) for a code
    that does not exist.
    """
    known = ALL_CODES.get(code.upper())
    if known is None:
        near = difflib.get_close_matches(code.upper(), ALL_CODES, n=3)
        notes = (Note(f"did you mean {', '.join(near)}?"),) if near else ()
        raise SpecError([Diagnostic("E904", NOWHERE, f"there is no diagnostic code `{code}`", notes)])
    return known
