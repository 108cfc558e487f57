"""Pages for readers: their prose is at most 120 columns wide, their links lead somewhere, and the index of design pages lists all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
WIDTH = 120
PACKAGES = ("grammar", "checker", "traces", "spark", "src/assay", "spec")
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:[\w*-]+/)*[\w*-]+(?:\.(?:py|md|toml|lark)|/))`")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """The pages at the top, those of the packages, and all of docs/."""
    top = [CHECKOUT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")]
    rooms = [page for name in PACKAGES if (page := CHECKOUT / name / "README.md").exists()]
    return [*top, *rooms, *sorted((CHECKOUT / "docs").rglob("*.md"))]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without tables and without what stands in fences."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("|"):
            yield number, line


def anchors(text: str) -> set[str]:
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", re.sub(r"[`*]", "", heading)).lower().replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    """Links of a page to files or headings that are not there."""
    found = []
    for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        if not other.exists() or (heading and heading not in anchors(other.read_text(encoding="utf-8"))):
            found.append(target)
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_prose_is_at_most_120_columns_wide(page: Path) -> None:
    lines = prose(page.read_text(encoding="utf-8"))
    assert [(number, len(line)) for number, line in lines if len(line) > WIDTH] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_the_index_of_design_pages_lists_each_of_them() -> None:
    folder = CHECKOUT / "docs" / "design"
    listed = set(LINK.findall((folder / "README.md").read_text(encoding="utf-8")))
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= listed


PARTS = ["Question", "Answer", "What was measured", "What was tried and dropped"]


@pytest.mark.parametrize("page", sorted((CHECKOUT / "docs" / "design").glob("[!R]*.md")), ids=lambda page: page.stem)
def test_a_design_page_has_its_four_parts_in_order(page: Path) -> None:
    assert re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE) == PARTS


def rooms() -> list[Path]:
    """The page of the whole, and those of the packages."""
    return [CHECKOUT / "ARCHITECTURE.md", *(CHECKOUT / name / "README.md" for name in PACKAGES if name != "spec")]


@pytest.mark.parametrize("page", rooms(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_files_and_folders_that_a_page_names_exist(page: Path) -> None:
    """A name without its folder is in a folder that was named before it in the same row or paragraph."""
    missing = []
    for block in re.split(r"\n(?=\||\n)", page.read_text(encoding="utf-8")):
        folders = [page.parent, CHECKOUT]
        for name in PATH.findall(block):
            found = [path for folder in folders for path in folder.glob(name)]
            folders += [path if path.is_dir() else path.parent for path in found]
            missing += [] if found else [name]
    assert missing == []
