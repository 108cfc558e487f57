"""A hook of mkdocs: what pages link to outside of ``docs/``, such as a spec or a package's README, becomes a page too."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

CHECKOUT = Path(__file__).resolve().parents[2]
FIRST = "README.md"
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#:]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^```(\w+) ([\w.-]+)$", re.MULTILINE)
LANGUAGES = {".md": "", ".assay": "text", ".toml": "toml", ".py": "python", ".js": "javascript"}


def address(path: str) -> str | None:
    """The source name of the page for a file of the repository; None if there is none."""
    if (CHECKOUT / path).is_dir():
        path = f"{path}/README.md"
    if path == FIRST:
        return "index.md"
    if not (CHECKOUT / path).is_file() or Path(path).suffix not in {*LANGUAGES, ".png"}:
        return None
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.md"


def source(path: str, text: str) -> str:
    """The Markdown of the page for a file: its own, or the file as a listing."""
    if path.endswith(".md"):
        return text
    return f"# {path}\n\n````{LANGUAGES[Path(path).suffix]}\n{text}````\n"


def linked(path: str, text: str) -> list[str]:
    """The files of the repository that a Markdown file links to."""
    found = [normpath(PurePosixPath(path).parent / match[2]) for match in LINK.finditer(text)]
    return [f"{each}/README.md" if (CHECKOUT / each).is_dir() else each for each in found]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in ``docs/``, following links from page to page."""
    todo = [FIRST, *(f"docs/{each.src_uri}" for each in files.documentation_pages())]
    seen = set(todo)
    for path in todo:
        text = (CHECKOUT / path).read_text(encoding="utf-8")
        name = address(path)
        if name is not None and not path.startswith("docs/"):
            files.append(File.generated(config, name, content=source(path, text)))
        if path.endswith(".md"):
            new = [each for each in dict.fromkeys(linked(path, text)) if each not in seen]
            todo += [each for each in new if address(each) and not each.endswith(".png")]
            seen.update(new)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links to the pages that there are (what has none stays as text), and put the names of files above them."""
    here = page.file.src_uri
    path = (
        FIRST if here == "index.md" else here.removeprefix("repository/") if "repository/" in here else f"docs/{here}"
    )

    def replaced(match: re.Match[str]) -> str:
        target = address(normpath(PurePosixPath(path).parent / match[2]))
        if target is None:
            return match[1].strip("![]")
        return f"{match[1]}({relpath(target, PurePosixPath(here).parent)}{match[3] or ''})"

    return FENCE.sub(r'```\1 title="\2"', LINK.sub(replaced, markdown))
