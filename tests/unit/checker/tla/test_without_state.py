"""What only declares parameters, types and functions for others is no system that TLC could check."""

from __future__ import annotations

import pytest

from assay.checker.tla.module import export
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text


def test_a_spec_without_state_is_not_exported() -> None:
    with pytest.raises(SpecError, match="this spec has no `state:`"):
        export(load_text("module names\nparam Node: set = {a, b}\nenum Message: Ask(of: Node)\n").kernel)
