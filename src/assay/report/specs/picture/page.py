"""What pages are made of: templates, style sheets and scripts, and data for scripts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup


def template(text: str) -> Template:
    """A template in which every inserted text is escaped, and a misspelt name is an error."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - most answers are no page

    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(
        text
    )


def text_of(name: str) -> str:
    """A file of this room."""
    return (files("assay.report.specs.picture") / name).read_text(encoding="utf-8")


def asset(name: str, added: str = "") -> Markup:
    """A style sheet or script of this room, and what is ``added`` to it, as it stands in a page."""
    from markupsafe import Markup  # noqa: PLC0415 - as above

    return Markup(f"{text_of(name)}\n{added}")


def as_script_data(data: Any) -> Markup:
    """An object as text for a ``script`` element; nothing in it can end the element."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # `</script>` and `<!--` would be markup. The two separators ended lines in older scripts.
    safe = plain.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    from markupsafe import Markup  # noqa: PLC0415 - as above

    return Markup(safe)
