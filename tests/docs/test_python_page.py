"""Every example of the pages about Python gives what the page shows. Its `pycon` blocks are run with doctest, in a
folder with the page's files.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from tests.docs.test_console import CHECKOUT, FILE

PAGES = ("python.md", "testing-code.md")
BLOCK = re.compile(r"^```pycon\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_examples_give_what_the_page_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (CHECKOUT / "docs" / name).read_text(encoding="utf-8")
    for file, content in FILE.findall(text):
        (tmp_path / file).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = [(text.count("\n", 0, each.start()) + 1, each[1]) for each in BLOCK.finditer(text)]
    assert blocks
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner, shown = doctest.DocTestRunner(optionflags=flags), {"__name__": "page"}
    wrong: list[str] = []
    for line, block in blocks:
        test = doctest.DocTestParser().get_doctest(block, shown, name, name, line)
        runner.run(test, out=wrong.append, clear_globs=False)
        shown = test.globs
    assert not wrong, "".join(wrong)
