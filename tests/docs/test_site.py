"""The site is built without a network: every link leads to a page of it, nothing is fetched from elsewhere, and it can be searched."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.chromium import browser

FETCHED = re.compile(r"<(?:script|link|img|iframe)[^>]*\s(?:src|href)=\"?(?:https?:)?//[^>]*>")


@pytest.fixture(scope="module")
def site(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; a link without a page, or to a heading that there is not, ends the build."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=checkout,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_has_every_page_and_fetches_nothing_from_elsewhere(site: Path, checkout: Path) -> None:
    pages = {path.relative_to(site).with_suffix("").as_posix(): path.read_text() for path in site.rglob("*.html")}
    documents = {
        path.relative_to(checkout / "docs").with_suffix("").as_posix() for path in (checkout / "docs").rglob("*.md")
    }
    assert documents - pages.keys() == {"design/README"}  # which is its folder's index
    assert "repository/spec/README" in pages or "repository/spec/index" in pages
    assert [name for name, text in pages.items() if re.search("<p>```", text)] == []
    assert {name: found for name, text in pages.items() if (found := FETCHED.findall(text))} == {}


@pytest.mark.slow
def test_the_search_knows_what_the_pages_say(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    assert any("Peterson" in each["text"] and "tutorial/" in each["location"] for each in index)
    assert any("FenceWrites" in each["title"] and each["location"].startswith("kafka-bugs") for each in index)


@pytest.mark.slow
def test_findings_are_pages_of_the_site(site: Path) -> None:
    linked = re.findall(r'href="(live/\w+\.html)"', (site / "live-pages.html").read_text())
    assert linked == [f"live/{name}.html" for name in ("early", "starved", "walk", "cluster")]
    assert "obey_commit" in (site / "live" / "early.html").read_text()


@pytest.mark.browser
def test_a_reader_finds_a_lesson_by_a_word_of_it(site: Path, tmp_path: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, browser(tmp_path) as tab:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab.open(f"http://127.0.0.1:{server.server_address[1]}/index.html")
        tab.wait("Boolean(document.querySelector('.md-search__input'))")
        tab.type(".md-search__input", "Peterson")
        tab.wait("document.querySelectorAll('.md-search-result__link').length > 0")
        assert "one at a time" in tab.text(".md-search-result__list").lower()
        server.shutdown()
