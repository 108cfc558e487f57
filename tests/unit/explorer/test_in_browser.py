"""The explorer's page in a browser, with clicks: steps, reasons, branches, watches, a counterexample, markup in names."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.chromium import Tab, browser

from assay.checker.stepper.stepper import Stepper
from assay.cli.main import invoke
from assay.explorer.server import ExplorerServer
from assay.explorer.session import ExplorerSession
from assay.grammar.load import load_text
from assay.stepper import open_spec

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@contextmanager
def served(stepper: Stepper, session: ExplorerSession | None = None) -> Iterator[ExplorerServer]:
    with ExplorerServer(session or ExplorerSession(stepper)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser(tmp_path_factory.mktemp("chromium")) as found:
        yield found


def opened(tab: Tab, url: str) -> None:
    tab.open(url)
    tab.errors.clear()  # the page of the test before asked a server that has ended
    tab.wait("document.body && document.body.dataset.ready === 'true'")


def take(tab: Tab, step: str) -> None:
    tab.click(f'[data-step="{step}"]')
    tab.wait(f"document.querySelector('#here').textContent === 'State after ' + {json.dumps(step)}")
    tab.wait("document.querySelector('#error').hidden")


def row(number: int) -> str:
    return f"#lanes rect[data-row='{number}']"


def lanes(tab: Tab) -> list[str]:
    return [
        str(each)
        for each in tab.value("[...document.querySelectorAll('#lanes .head .lane')].map((e) => e.textContent)")
    ]


def arrows(tab: Tab) -> list[str]:
    return [
        str(each)
        for each in tab.value("[...document.querySelectorAll('#lanes .arrow title')].map((e) => e.textContent)")
    ]


def test_two_phase_commit_is_walked_branched_and_exported(tab: Tab) -> None:
    with served(open_spec("classics/two_phase", settings={"WaitForAll": "false"})) as server:
        opened(tab, server.url)
        for step in ("prepare(r1)", "receive_ready(r1)", "decide_commit", "choose_to_abort(r2)"):
            take(tab, step)
        assert lanes(tab) == ["r1", "r2", "r3", "shared"]
        assert arrows(tab) == ["Ready(r1)"]
        tab.type("#expression", "count(messages)", enter=True)
        tab.wait("document.querySelector('#watched').innerText.includes('count(messages) = 2')")
        take(tab, "obey_commit(r1)")
        tab.wait("document.querySelector('[data-property=consistent]').innerText.includes('is false')")
        assert "a = r2, b = r1" in tab.text("#properties")
        assert arrows(tab) == ["Ready(r1)", "Commit"]
        tab.click("#refused summary")
        tab.wait("""Boolean(document.querySelector('[data-refused="prepare(r2)"]'))""")
        assert "working: vote[r] == Working two_phase.assay:40" in tab.text('[data-refused="prepare(r2)"]')
        tab.click(row(2))
        tab.wait("document.querySelector('#here').textContent === 'State after receive_ready(r1)'")
        take(tab, "decide_abort")
        tab.click(row(2))
        tab.wait("document.querySelector('#branches button') !== null")
        assert tab.text("#branches").startswith("other branches from here: decide_commit")
        tab.click("#branches button")
        tab.wait("document.querySelector('#here').textContent === 'State after decide_commit'")
        tab.click("#scenario")
        tab.wait("!document.querySelector('#scenario-text').hidden")
        assert "    receive_ready(r1)\n    decide_commit\n    expect decided == true" in tab.text("#scenario-text")
    tab.click("#back")
    tab.wait("document.querySelector('#error').innerText.includes('it has ended')")


def test_the_controller_of_kafka_is_walked_to_an_election(tab: Tab) -> None:
    with served(open_spec("kafka/controller")) as server:
        opened(tab, server.url)
        steps = ("start(p1, b1)", "membership.connect(p1, s1)")
        for step in steps:
            take(tab, step)
        tab.type("#search", "elect(p1)")
        tab.wait("document.querySelector('#steps').innerText.includes('no step fits')")
        tab.click("#refused summary")
        tab.wait("""Boolean(document.querySelector('[data-refused="elect(p1)"]'))""")
        assert "member" in tab.text('[data-refused="elect(p1)"]')
        tab.value("document.querySelector('#search').select()")
        tab.type("#search", "register")
        tab.wait("document.querySelectorAll('#steps button').length > 0")
        assert not tab.errors


def test_raft_is_walked_to_a_leader(tab: Tab) -> None:
    with served(open_spec("kafka/kraft/quorum")) as server:
        opened(tab, server.url)
        for step in ("stand(n1)", "vote(n2, n1)", "win(n1)"):
            take(tab, step)
        assert lanes(tab) == ["n1", "n2", "n3"]
        assert tab.value("document.querySelectorAll('#lanes .reads').length") == 1
        assert tab.text("#state .changed")
        assert "role[n1]: Candidate -> Leader" in tab.text("#changes")
        assert not tab.errors


def test_a_counterexample_is_opened_and_left_for_what_else_could_have_happened(
    tab: Tab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "early.json"
    settings = ["--set", "WaitForAll=false", "--property", "consistent"]
    assert invoke(["check", "classics/two_phase", *settings, "--trace-out", str(trace)]) == 1
    capsys.readouterr()
    stepper = open_spec("classics/two_phase", settings={"WaitForAll": "false"})
    session = ExplorerSession(stepper)
    stepper.load(trace)
    session.opened(stepper.trace)
    with ExplorerServer(session) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        opened(tab, server.url)
        assert "is false" in tab.text("#properties")
        tab.click(row(1))
        tab.wait("document.querySelector('#here').textContent === 'State after decide_commit'")
        take(tab, "prepare(r3)")
        assert "consistent holds" in tab.text("#properties")
        server.shutdown()
        thread.join()


def test_a_page_without_a_server_is_walked(tab: Tab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert invoke(["explore", "classics/two_phase", "--set", "ResourceManager=2", "--html", str(page)]) == 0
    assert page.stat().st_size < 500_000
    capsys.readouterr()
    opened(tab, page.as_uri())
    for step in ("prepare(r2)", "receive_ready(r2)", "decide_abort", "obey_abort(r1)"):
        take(tab, step)
    assert arrows(tab) == ["Ready(r2)", "Abort"]
    assert "vote[r1]: Working -> Aborted" in tab.text("#changes")
    assert not tab.errors


FLIP = "module flip\nstate:\n    x: 0 .. 1 = 0\naction flip:\n    x := 1 - x\n"
MANY = "module many\nstate:\n    x: 0 .. 99 in 0 .. 99\naction stay:\n    x := x\n"


def test_of_a_long_run_only_what_is_seen_is_loaded(tab: Tab) -> None:
    stepper = Stepper(load_text(FLIP))
    stepper.begin()
    for _ in range(3000):
        stepper.take(next(stepper.possible()))
    session = ExplorerSession(stepper)
    session.opened(stepper.trace)
    with served(stepper, session) as server:
        opened(tab, server.url)
        assert tab.value(f'Boolean(document.querySelector("{row(3000)}"))')
        tab.value("document.querySelector('#lanes').scrollTop = 1000 * 28")
        tab.wait(f"document.querySelector(\"{row(1000)} title\")?.textContent === 'flip\\nx: 1 -> 0'")
        # not by the mouse: the scrolling that comes before a click draws the rows again under it
        tab.value(f"document.querySelector(\"{row(1003)}\").dispatchEvent(new MouseEvent('click'))")
        tab.wait("document.querySelector('#changes').innerText.includes('x: 0 -> 1')")
        assert 27_000 < tab.value("document.querySelector('#lanes').scrollTop") < 29_000
        tab.click("#back")
        tab.wait("document.querySelector('#changes').innerText.includes('x: 1 -> 0')")
        assert not tab.errors


def test_initial_states_are_paged_and_searched(tab: Tab) -> None:
    with served(Stepper(load_text(MANY))) as server:
        opened(tab, server.url)
        assert tab.text("#steps-title") == "100 initial states"
        tab.click("#more")
        tab.wait("Boolean(document.querySelector('[data-initial=\"99\"]'))")
        tab.type("#search", "x = 42")
        tab.wait("document.querySelectorAll('[data-initial]').length === 1")
        tab.click("[data-initial]")
        tab.wait("document.querySelector('#state').innerText.includes('x 42')")
        assert not tab.errors
