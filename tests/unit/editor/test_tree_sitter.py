"""The tree-sitter grammar knows every word of the language, and reads what the parser reads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.editor.textmate import contextual_words
from assay.grammar.elaborate.expressions.builtins import TABLE
from assay.grammar.elaborate.expressions.dispatch import NAMED_OPERATORS
from assay.grammar.parsing.split_declarations import DECLARATION_WORDS
from assay.grammar.syntax import RESERVED

CHECKOUT = Path(__file__).resolve().parents[3]
GRAMMAR = CHECKOUT / "editors" / "tree-sitter-assay"
GOLDENS = CHECKOUT / "tests" / "unit" / "grammar" / "goldens"
WORD = re.compile(r'"([a-z_]+)"')
NODES = {"true", "false", "none", "_"}
"""Words that are nodes of their own, with a name."""


def test_every_word_is_a_keyword_of_the_grammar_and_has_a_colour() -> None:
    words = (RESERVED | contextual_words() | DECLARATION_WORDS) - {"_"}
    assert words - set(WORD.findall((GRAMMAR / "grammar.js").read_text(encoding="utf-8"))) == set()
    colours = (GRAMMAR / "queries" / "highlights.scm").read_text(encoding="utf-8")
    assert words - NODES - set(WORD.findall(colours)) == set()
    (builtins,) = re.findall(r"\(#any-of\? @function\.builtin([^)]*)\)", colours)
    assert set(WORD.findall(builtins)) == {*TABLE, *NAMED_OPERATORS}


@pytest.mark.slow
def test_it_reads_every_bundled_spec(tmp_path: Path) -> None:
    program = shutil.which("tree-sitter")
    if program is None:
        pytest.skip("`tree-sitter` is not on the path; `cargo install tree-sitter-cli --no-default-features` builds it")
    folder = shutil.copytree(GRAMMAR, tmp_path / "grammar")
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def ran(*words: str, status: int = 0) -> str:
        done = subprocess.run([program, *words], cwd=folder, env=home, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    ran("generate")
    ran("test")
    expressions = [each for each in (GOLDENS / "expressions.txt").read_text(encoding="utf-8").splitlines() if each]
    alone = tmp_path / "expressions.assay"
    alone.write_text("".join(f"assume {each}\n" for each in expressions), encoding="utf-8")
    specs = [alone, GOLDENS / "canonical.assay", *sorted((CHECKOUT / "spec").rglob("*.assay"))]
    (tmp_path / "paths").write_text("\n".join(map(str, specs)), encoding="utf-8")
    assert ran("parse", "--quiet", "--paths", str(tmp_path / "paths")) == ""
    damaged = tmp_path / "damaged.assay"
    damaged.write_text("invariant x:\n    a and and b\n", encoding="utf-8")
    assert "ERROR" in ran("parse", "--quiet", str(damaged), status=1)
    assert "keyword.conditional" in ran("query", "queries/highlights.scm", str(specs[-1]))
