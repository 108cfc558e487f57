"""The server for coding agents, asked by the client of the official SDK: in the same process, and over its pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

if TYPE_CHECKING:
    from mcp import Client

SPEC = """\
module light
param Safe: bool = true
state:
    on: bool = false
    broken: bool = false
action press:
    on := not on
action overload:
    when lit: on
    when unsafe: not Safe
    broken := true
invariant whole: not broken
"""
ENDLESS = "module m\nstate:\n    x: 0 .. 999999999 = 0\n    y: 0 .. 999999999 = 0\naction a:\n    x := (x * 7 + 3) % 99999989\naction b:\n    y := (y * 5 + 1) % 99999989\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "work"
    inside.mkdir()
    (inside / "light.assay").write_text(SPEC)
    (inside / "endless.assay").write_text(ENDLESS)
    (tmp_path / "outside.assay").write_text(SPEC)
    return inside


def asked(folder: Path, talk: Callable[[Client], Awaitable[None]]) -> None:
    from mcp import Client  # noqa: PLC0415 - three seconds, which every worker would pay to collect tests

    from assay.agents.server import AgentServer  # noqa: PLC0415 - likewise

    async def run() -> None:
        async with Client(AgentServer(folder).server) as client:
            await talk(client)

    anyio.run(run)


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    return found.structured_content


@pytest.mark.slow
def test_a_spec_is_checked_walked_and_read_by_reference(folder: Path) -> None:
    async def talk(client: Client) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"check", "validate", "walk", "explain", "list_specs", "manual", "read_answer"}
        found = await answer(client, "check", spec="light.assay", settings={"Safe": "false"}, trace_file="t.json")
        assert (found["verdict"], found["exit_code"]) == ("violated", 1)
        assert "overload" in found["found"]
        assert len(json.dumps(found)) < 4000
        lost = await answer(client, "check", spec="light.assay", trace_file="no/t.json")
        assert lost["verdict"] == "holds"
        assert lost["not_written"].endswith("no/t.json: No such file or directory")
        part = await answer(client, "read_answer", reference=found["reference"])
        assert json.loads(part["text"])["properties"] == json.loads((folder / "t.json").read_text())["properties"]
        walked = await answer(client, "walk", spec="light.assay", steps=["press"], expressions=["on"], why="overload")
        assert (walked["possible"], walked["values"]) == (["press"], {"on": "true"})
        assert [guard["label"] for guard in walked["refused"][0]["guards"]] == ["unsafe"]

    asked(folder, talk)


@pytest.mark.slow
def test_a_proof_proposes_lemmas_and_says_what_is_not_inductive(folder: Path) -> None:
    async def talk(client: Client) -> None:
        proved = await answer(client, "check", spec="light.assay", how="prove")
        assert proved["verdict"] == "holds"
        assert "lemma whole_is_inductive:\n    not broken" in proved["lemmas"]
        named = {"how": "inductive", "properties": ["whole"]}
        held = await answer(client, "check", spec="light.assay", **named)
        assert (held["verdict"], held["not_inductive"]) == ("holds", "")
        open_ = await answer(client, "check", spec="light.assay", settings={"Safe": "false"}, **named)
        assert "whole is not inductive" in open_["not_inductive"]
        assert "broken: false -> true" in open_["not_inductive"]

    asked(folder, talk)


@pytest.mark.slow
def test_mistakes_and_nonsense_are_answered_with_diagnostics(folder: Path) -> None:
    (folder / "bad.assay").write_text(SPEC.replace("broken := true", "brokn := true"))

    async def talk(client: Client) -> None:
        found = await answer(client, "check", spec="bad.assay")
        assert found["diagnostics"][0]["code"] == "E101"
        assert "^" in found["text"]
        found = await answer(client, "check", spec="light.assay", properties=["hole"])
        assert "no property `hole`" in found["message"]
        found = await answer(client, "walk", spec="light.assay", steps=["overload"])
        assert "is not possible: lit" in found["message"]
        for tool, arguments in (
            ("check", {"spec": 3}),
            ("check", {"spec": "light.assay", "timeout": -1}),
            ("check", {"spec": "no_such"}),
            ("check", {}),
            ("read_answer", {"reference": "answer-9"}),
            ("manual", {"page": "langage"}),
        ):
            assert (await client.call_tool(tool, arguments)).is_error
        assert (await answer(client, "explain", code="E101"))["title"] == "unknown name"
        assert "no diagnostic code" in json.dumps(await answer(client, "explain", code="nonsense"))

    asked(folder, talk)


def test_nothing_outside_of_the_folder_is_read_or_written(folder: Path) -> None:
    (folder / "link.assay").symlink_to(folder.parent / "outside.assay")
    (folder / "linked").symlink_to(folder.parent)
    outside = str(folder.parent / "outside.assay")

    async def talk(client: Client) -> None:
        for spec in ("../outside.assay", outside, "link.assay", "linked/outside.assay"):
            assert (await client.call_tool("check", {"spec": spec})).is_error, spec
        for target in ("../t.json", "/tmp/t.json", "linked/t.json"):
            assert (await client.call_tool("check", {"spec": "light.assay", "trace_file": target})).is_error, target
        assert (await client.call_tool("validate", {"logs": ["../"]})).is_error

    asked(folder, talk)
    assert not (folder.parent / "t.json").exists()


def test_the_manual_and_the_specs_are_listed(folder: Path) -> None:
    async def talk(client: Client) -> None:
        listed = await answer(client, "list_specs")
        assert "light.assay" in listed["folder"]
        assert "classics/two_phase" in listed["bundled"]
        index = (await answer(client, "manual"))["result"].splitlines()
        assert "examples/lease.assay" in index
        assert "# The language" in (await answer(client, "manual", page="language"))["result"]

    asked(folder, talk)


def workers(folder: Path) -> list[int]:
    """The processes that answer for this folder."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            is_worker = each.name.isdigit() and b"assay.agents.worker" in (each / "cmdline").read_bytes()
            if is_worker and (each / "cwd").readlink() == folder:
                found.append(int(each.name))
        except OSError:
            continue
    return found


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(60):
        while not true():
            await anyio.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_a_question_that_is_cancelled_ends_its_work(folder: Path) -> None:
    async def talk(client: Client) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "check", {"spec": "endless.assay", "timeout": 300})
            await until(lambda: bool(workers(folder)))
            group.cancel_scope.cancel()
        await until(lambda: not workers(folder))
        assert (await answer(client, "check", spec="light.assay"))["verdict"] == "holds"

    asked(folder, talk)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
@pytest.mark.slow
def test_work_ends_when_the_agent_leaves_or_the_server_is_killed(folder: Path) -> None:
    command = [sys.executable, "-m", "assay", "mcp", "--folder", str(folder)]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "check", "arguments": {"spec": "endless.assay", "timeout": 300}}},
    ]  # fmt: skip
    text = "".join(json.dumps(each) + "\n" for each in messages).encode()
    for leave in (lambda process: process.stdin.close(), lambda process: os.killpg(process.pid, 9)):
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            assert process.stdin is not None
            process.stdin.write(text)
            process.stdin.flush()
            anyio.run(until, lambda: bool(workers(folder)))
            leave(process)
            anyio.run(until, lambda: not workers(folder))
            process.kill()


@pytest.mark.slow
def test_the_command_answers_over_its_pipes(folder: Path) -> None:
    from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415 - as above

    async def run() -> None:
        server = StdioServerParameters(command=sys.executable, args=["-m", "assay", "mcp", "--folder", str(folder)],
                                       env=dict(os.environ))  # fmt: skip
        async with Client(stdio_client(server)) as client:
            assert (await answer(client, "check", spec="light.assay"))["verdict"] == "holds"

    anyio.run(run)
