"""The explorer's page: the parts that pictures of runs have too, and what asks a server or a whole graph."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from assay.report.specs.picture.page import as_script_data, asset, template


def explorer_page(token: str = "", nonce: str = "", graph: dict[str, Any] | None = None) -> str:
    """The page of a server, or with a ``graph`` a page that needs no server."""
    text = (files("assay.explorer") / "explorer.html.jinja").read_text(encoding="utf-8")
    script = (files("assay.explorer") / "explorer.js").read_text(encoding="utf-8")
    style = (files("assay.explorer") / "explorer.css").read_text(encoding="utf-8")
    return template(text).render(
        nonce=nonce,
        style=asset("picture.css", style),
        script=asset("picture.js", script),
        data=as_script_data({"token": token, "graph": graph}),
    )
