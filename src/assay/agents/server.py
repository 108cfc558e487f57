"""The tools of ``assay mcp``. The protocol: https://modelcontextprotocol.io; the server is that of the official SDK."""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib.resources import files
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Annotated, Any, Literal

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from assay import __version__
from assay.agents.answers import is_inside
from assay.api.bundled import bundled_specs, locate_spec
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.diagnostics.suggest import did_you_mean

MOST_KEPT = 100
LONGEST_PART = 16_000
"""Characters of a long answer that are read at once."""
LONGEST_TIMEOUT = 600.0

INSTRUCTIONS = (
    "Assay checks formal models of distributed protocols, and logs against the same models. Read the manual page "
    "`SKILL` first, then `language` before you write a spec. Write specs as files in the folder, and check them by their path."
)

Spec = Annotated[
    str, Field(description="A file in the folder, or the name of a bundled spec such as classics/two_phase.")
]
Settings = Annotated[dict[str, str], Field(description="Values of parameters by name, such as {'Broker': '{b1, b2}'}.")]
Model = Annotated[str | None, Field(description="The named configuration of the spec.")]


class AgentServer:
    """The tools, the folder to which files are restricted, and the long answers that can be read by reference."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._kept: dict[str, str] = {}
        self._count = 0
        self.server = MCPServer("assay", instructions=INSTRUCTIONS, version=__version__)
        for tool in (
            self.check,
            self.validate,
            self.walk,
            self.explain,
            self.list_specs,
            self.manual,
            self.read_answer,
        ):
            self.server.tool()(tool)

    async def check(  # noqa: PLR0913, PLR0917 - a tool takes each of its options as an argument
        self,
        spec: Spec,
        properties: Annotated[list[str], Field(description="Only these; all by default.")] = [],  # noqa: B006 - a schema
        how: Literal["search", "simulate", "prove", "inductive"] = "search",
        model: Model = None,
        settings: Settings = {},  # noqa: B006 - likewise
        timeout: Annotated[float, Field(gt=0, le=LONGEST_TIMEOUT, description="Seconds.")] = 60,
        keep_going: Annotated[bool, Field(description="Search on after a violation.")] = False,
        trace_file: Annotated[str | None, Field(description="Save the whole answer here, in the folder.")] = None,
    ) -> dict[str, Any]:
        """Check a spec: every property with its verdict, the shortest run that violates one, and why it does.

        `prove` also proposes lemmas; `inductive` says whether the named invariants and lemmas are inductive together.
        """
        question = {"spec": self._path(spec), "properties": properties, "how": how, "model": model}
        more = {"settings": settings, "timeout": timeout, "keep_going": keep_going}
        target = None if trace_file is None else self._inside(trace_file)
        # Half a minute for loading and for the answer, which the search's own time does not include.
        return await self._ask("check", question | more, timeout + 30, target)

    async def validate(
        self,
        logs: Annotated[list[str], Field(min_length=1, description="Files, directories or archives in the folder.")],
        spec: Annotated[str | None, Field(description="The spec; without it the lines decide.")] = None,
        model: Model = None,
        settings: Settings = {},  # noqa: B006 - a schema
    ) -> dict[str, Any]:
        """Hold logs against a spec: whether some execution of the model explains all lines, and which line does not fit."""
        paths = [str(self._inside(each)) for each in logs]
        question = {"logs": paths, "spec": None if spec is None else self._path(spec)}
        return await self._ask("validate", question | {"model": model, "settings": settings}, LONGEST_TIMEOUT)

    async def walk(
        self,
        spec: Spec,
        steps: Annotated[
            list[str], Field(description="Steps from the initial state: `elect(b1)`, `_` is any argument.")
        ] = [],  # noqa: B006
        expressions: Annotated[list[str], Field(description="Evaluated in the state reached.")] = [],  # noqa: B006 - a schema
        why: Annotated[str, Field(description="A step, or an action: which guards refuse it here.")] = "",
        initial: Annotated[int, Field(ge=0, description="The number of the initial state.")] = 0,
        model: Model = None,
        settings: Settings = {},  # noqa: B006 - likewise
    ) -> dict[str, Any]:
        """Walk a model step by step: the state reached, what is possible there, why a step is refused, values."""
        question = {"spec": self._path(spec), "steps": steps, "expressions": expressions, "why": why}
        return await self._ask("walk", question | {"initial": initial, "model": model, "settings": settings}, 120)

    async def explain(self, code: Annotated[str, Field(description="Such as E003.")]) -> dict[str, Any]:
        """Explain the code of a diagnostic."""
        return await self._ask("explain", {"code": code}, 60)

    async def list_specs(self) -> dict[str, Any]:
        """The specs in the folder, and those that come with assay."""
        own = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.assay"))
        return {"folder": own[:500], "bundled": bundled_specs()}

    async def manual(self, page: Annotated[str, Field(description="`index` lists the pages.")] = "index") -> str:
        """Read a page of the manual, or an example spec."""
        known = manual_pages()
        if page == "index":
            return "\n".join(known)
        if page not in known:
            guess = did_you_mean(page, known)
            raise ToolError(
                f"there is no page `{page}`; {f'did you mean `{guess}`?' if guess else '`index` lists them'}"
            )
        return known[page]

    async def read_answer(self, reference: str, offset: Annotated[int, Field(ge=0)] = 0) -> dict[str, Any]:
        """Read a long answer, as JSON, from its reference, a part at a time."""
        if reference not in self._kept:
            raise ToolError(f"there is no answer `{reference}`: the last {MOST_KEPT} are kept")
        text = self._kept[reference]
        end = offset + LONGEST_PART
        return {"text": text[offset:end], "next": end if end < len(text) else None, "length": len(text)}

    # ------------------------------------------------------------------------------------------------- answers

    async def _ask(
        self, kind: str, question: dict[str, Any], limit: float, target: Path | None = None
    ) -> dict[str, Any]:
        """The short answer; the whole one is kept, and written to the target."""
        try:
            with anyio.fail_after(limit):
                found = await _answered(kind, question, self.folder)
        except TimeoutError:
            return {"verdict": "error", "message": f"no answer within {limit:.0f} s: ask for less, or with a timeout"}
        short: dict[str, Any] = found["short"]
        if "whole" not in found:
            return short
        whole = json.dumps(found["whole"], ensure_ascii=False)
        kept = short | {"reference": self._keep(whole)}
        if target is not None:
            try:
                target.write_text(whole + "\n", encoding="utf-8")
            except OSError as error:
                return kept | {"not_written": f"{target}: {error.strerror}"}
        return kept

    def _keep(self, text: str) -> str:
        if len(self._kept) == MOST_KEPT:
            # The oldest: a dictionary is in the order of insertion.
            del self._kept[next(iter(self._kept))]
        self._count += 1
        reference = f"answer-{self._count}"
        self._kept[reference] = text
        return reference

    def _path(self, spec: str) -> str:
        """A spec in the folder, or a bundled one."""
        # A path that leaves the folder, by `..` or by a link, would let an agent read files that its user has not
        # offered.
        inside = self.folder / spec
        try:
            if inside.is_file() and is_inside(self.folder, inside):
                return str(inside)
            bundled = locate_spec(spec)
        except SpecError as error:
            raise ToolError(error.diagnostics[0].message) from error
        except OSError as error:
            raise ToolError(f"the file cannot be read: {error.strerror}") from error
        if spec.removeprefix("spec/").removesuffix(".assay").replace(".", "/") not in bundled_specs():
            raise ToolError(f"`{bundled}` is outside of the folder {self.folder}")
        return spec

    def _inside(self, path: str) -> Path:
        found = self.folder / path
        if not is_inside(self.folder, found):
            raise ToolError(f"`{path}` is outside of the folder {self.folder}")
        return found


def manual_pages() -> dict[str, str]:
    """The pages of the skill, and its examples, by name."""
    skill = files("assay.agents") / "skill"
    pages = {each.name.removesuffix(".md"): each for each in skill.iterdir() if each.name.endswith(".md")}
    examples = {
        f"examples/{each.name}": each for each in (skill / "examples").iterdir() if each.name.endswith(".assay")
    }
    return {name: each.read_text(encoding="utf-8") for name, each in sorted({**pages, **examples}.items())}


async def _answered(kind: str, question: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a process of its own answers. Its group is killed when nobody waits any more."""
    command = [sys.executable, "-m", "assay.agents.worker"]
    # Nobody reads the errors: a full pipe would stop the process. Its folder is that of the agent, whose paths are
    # relative. PYTHONSAFEPATH, which `start` sets, keeps Python files in it from being imported.
    # In a session of its own, so that the solvers that it starts are killed with it.
    process = await anyio.open_process(
        command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=folder, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        await process.stdin.send(json.dumps({"kind": kind, "question": question}).encode() + b"\n")
        parts = [part async for part in process.stdout]
        code = await process.wait()
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            with anyio.CancelScope(shield=True):
                await process.aclose()
    if code != 0 or not parts:
        raise ToolError(f"the process that answers has ended (code {code}); was there too little memory?")
    found: dict[str, Any] = json.loads(b"".join(parts))
    return found
