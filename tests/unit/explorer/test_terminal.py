"""The explorer in a terminal: steps are taken by keys, and what is refused says why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from assay.checker.stepper.stepper import Stepper
from assay.cli.main import invoke
from assay.explorer.session import ExplorerSession
from assay.explorer.terminal import ExplorerApp
from assay.grammar.load import load_text

LEASE = """module lease
param Client: set = {a, b}
state:
    holder: Client? = none
    notes: map[Client, bool] = [c -> false]
action acquire(c: Client):
    when free: holder == none
    holder := c
    notes[c] := true
action release(c: Client):
    when holds: holder == c
    holder := none
invariant b_never_holds: holder != b
"""

Play = Callable[[Pilot[None]], Awaitable[None]]


def play(keys: Play, text: str = LEASE) -> None:
    """Run the app without a terminal, and press keys in it."""

    async def run() -> None:
        session = ExplorerSession(Stepper(load_text(text)))
        async with ExplorerApp(session).run_test(size=(150, 40)) as pilot:
            await pilot.pause()
            await keys(pilot)

    asyncio.run(run())


def shown(pilot: Pilot[None], name: str) -> str:
    """What a column shows."""
    widget: Any = pilot.app.query_one(name)
    if isinstance(widget, OptionList):
        return "\n".join(str(option.prompt) for option in widget.options)
    assert isinstance(widget, Static)
    return str(widget.content)


def test_without_a_terminal_it_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explore", "classics/die_hard", "--tui"]) == 2
    assert "--tui needs a terminal" in capsys.readouterr().err


def test_a_step_is_taken_and_taken_back() -> None:
    async def keys(pilot: Pilot[None]) -> None:
        assert shown(pilot, "#steps").splitlines()[0] == "acquire(a)"
        await pilot.press("down", "enter")
        assert shown(pilot, "#walk").splitlines() == ["  0  initial state", "  1  acquire(b)"]
        assert "holder = b   was none" in shown(pilot, "#state")
        assert "✗ b_never_holds" in shown(pilot, "#state")
        assert shown(pilot, "#steps").startswith("release(b)")
        await pilot.press("u")
        assert "✓ b_never_holds" in shown(pilot, "#state")
        await pilot.press("enter")
        assert "  1  acquire(a)" in shown(pilot, "#walk")
        assert "acquire(b)" not in shown(pilot, "#walk")

    play(keys)


def test_what_is_refused_says_why_and_a_search_narrows_it() -> None:
    async def keys(pilot: Pilot[None]) -> None:
        await pilot.press("r")
        assert "release(a)\n    holds: holder == c" in shown(pilot, "#steps")
        await pilot.press("slash", *"(b)", "enter")
        assert "release(a)" not in shown(pilot, "#steps")
        assert "release(b)" in shown(pilot, "#steps")

    play(keys)


@pytest.mark.slow
def test_expressions_are_watched_and_mistakes_are_said() -> None:
    async def keys(pilot: Pilot[None]) -> None:
        await pilot.press("w")
        pilot.app.query_one(Input).value = "holder == a"
        await pilot.press("enter")
        assert "holder == a = false" in shown(pilot, "#state")
        await pilot.press("enter")
        assert "holder == a = true" in shown(pilot, "#state")
        await pilot.press("w", *"holer", "enter")
        assert "holer" not in shown(pilot, "#state")
        await pilot.press("s")
        assert "scenario walked:\n    acquire(a)" in shown(pilot, "#state")

    play(keys)


@pytest.mark.slow
def test_markup_in_a_spec_is_text() -> None:
    async def keys(pilot: Pilot[None]) -> None:
        assert "notes\n" not in shown(pilot, "#state")
        assert "[a] = false" in shown(pilot, "#state")

    play(keys)


@pytest.mark.slow
def test_several_initial_states_are_chosen_from() -> None:
    async def keys(pilot: Pilot[None]) -> None:
        assert shown(pilot, "#state") == "choose an initial state"
        await pilot.press("down", "enter")
        assert "n = 1" in shown(pilot, "#state")
        await pilot.press("u")
        assert shown(pilot, "#state") == "choose an initial state"

    play(keys, "state:\n    n: 0 .. 2 in 0 .. 1\naction grow:\n    when n < 2\n    n := n + 1\n")


@pytest.mark.slow
def test_the_controller_is_walked() -> None:
    async def keys(pilot: Pilot[None]) -> None:
        for _ in range(4):
            await pilot.press("enter")
        assert len(shown(pilot, "#walk").splitlines()) == 5

    from assay.api.spec import load  # noqa: PLC0415

    async def run() -> None:
        async with ExplorerApp(ExplorerSession(load("kafka/controller").stepper())).run_test() as pilot:
            await keys(pilot)

    asyncio.run(run())


@pytest.mark.slow
def test_of_a_long_run_the_end_is_shown_and_earlier_moments_on_demand() -> None:
    stepper = Stepper(load_text("module m\nstate:\n    x: 0 .. 1 = 0\naction flip:\n    x := 1 - x\n"))
    stepper.begin()
    for _ in range(600):
        stepper.take(next(stepper.possible()))
    session = ExplorerSession(stepper)
    session.opened(stepper.trace)

    async def run() -> None:
        async with ExplorerApp(session).run_test() as pilot:
            assert shown(pilot, "#walk").splitlines()[:2] == ["… 101 earlier", "101  flip"]
            pilot.app.query_one("#walk").focus()
            await pilot.press("home", "enter")
            assert shown(pilot, "#walk").splitlines()[0] == "  0  initial state"
            assert "x = 0" in shown(pilot, "#state")

    asyncio.run(run())


def test_a_set_that_was_empty_is_not_called_gone() -> None:
    async def keys(pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        assert shown(pilot, "#state").splitlines() == ["  held: Key(a)   is new"]

    play(
        keys,
        "module m\nparam C: set = {a}\nrecord Key: of: C\nstate:\n    held: set[Key] = {}\n"
        "action on(c: C):\n    held := held + {Key(c)}\n",
    )
