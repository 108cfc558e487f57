"""The explorer's server answers loopback with the right token, and nobody else."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from assay.checker.stepper.stepper import Stepper
from assay.explorer.page import explorer_page
from assay.explorer.server import TOKEN_HEADER, ExplorerServer
from assay.explorer.session import ExplorerSession
from assay.grammar.load import load_text

SPEC = "module light\nstate:\n    on: bool = false\naction press:\n    on := not on\n"


@pytest.fixture
def server() -> Iterator[ExplorerServer]:
    with ExplorerServer(ExplorerSession(Stepper(load_text(SPEC)))) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def ask(server: ExplorerServer, method: str, path: str, body: str = "{}", **headers: str) -> tuple[int, str, Any]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body if method == "POST" else None, sent)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), answer.headers
    connection.close()
    return found


def test_the_page_and_its_questions_need_the_token(server: ExplorerServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    status, page, headers = ask(server, "GET", f"/?token={server.token}")
    assert status == 200
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers
    assert page.count("<script") == page.count("<script nonce=") + 1
    status, text, _ = ask(server, "POST", "/api/start", **{TOKEN_HEADER: server.token})
    assert (status, json.loads(text)["module"]) == (200, "light")


def test_a_tab_that_is_closed_before_it_has_its_answer_is_no_error(
    server: ExplorerServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    closed, handled = threading.Event(), threading.Event()

    def slow(*_: object) -> dict[str, str]:
        closed.wait(30)
        return {"long": "x" * 20_000_000}

    def noted(*arguments: Any, handle: Callable[..., None] = server.handle_error) -> None:
        handle(*arguments)
        handled.set()

    monkeypatch.setattr(server, "handle_error", noted)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(server.session, "answer", slow)
        connection = HTTPConnection("127.0.0.1", server.server_port)
        connection.request("POST", "/api/start", "{}", {TOKEN_HEADER: server.token})
        connection.close()
        closed.set()
        assert handled.wait(30)
    assert capfd.readouterr().err == ""
    assert ask(server, "POST", "/api/start", **{TOKEN_HEADER: server.token})[0] == 200


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/?token=%FF", "/?other=1"])
def test_the_page_without_the_token_is_refused(server: ExplorerServer, path: str) -> None:
    status, text, _ = ask(server, "GET", path)
    assert status == 403
    assert "token" in json.loads(text)["error"]


def test_questions_of_others_are_refused(server: ExplorerServer) -> None:
    token = {TOKEN_HEADER: server.token}
    assert ask(server, "POST", "/api/start")[0] == 403
    assert ask(server, "POST", "/api/start", **{TOKEN_HEADER: "wrong"})[0] == 403
    assert ask(server, "POST", f"/api/start?token={server.token}")[0] == 403
    assert ask(server, "POST", "/api/start", **token, Origin="http://example.org")[0] == 403
    assert ask(server, "POST", "/api/start", **token, Origin="null")[0] == 403
    assert ask(server, "POST", "/api/start", **token, Host="example.org")[0] == 403
    assert ask(server, "GET", f"/?token={server.token}", Host=f"example.org:{server.server_port}")[0] == 403
    own = f"http://127.0.0.1:{server.server_port}"
    assert ask(server, "POST", "/api/start", **token, Origin=own)[0] == 200


@pytest.mark.parametrize("body", ["", "[]", "nonsense", "[" * 100_000, '{"node": 3}', "\x00"])
def test_nonsense_is_answered_with_a_message(server: ExplorerServer, body: str) -> None:
    status, text, _ = ask(server, "POST", "/api/view", body, **{TOKEN_HEADER: server.token})
    assert status == 400
    assert json.loads(text)["error"]


def test_other_paths_and_methods_and_long_bodies_are_refused(server: ExplorerServer) -> None:
    token = {TOKEN_HEADER: server.token}
    assert ask(server, "GET", f"/secret?token={server.token}")[0] == 404
    assert ask(server, "PUT", "/api/start", **token)[0] == 501
    assert ask(server, "OPTIONS", "/api/start", **token)[0] == 501
    assert ask(server, "POST", "/api/view", "{}", **token, Content_Length="99999999999")[0] == 413


def test_no_text_of_a_spec_is_markup_in_the_page() -> None:
    page = explorer_page(graph={"module": "</script><script>alert(1)</script>\u2028"})
    data = page.partition('id="data"')[2].partition("</script>")[0]
    assert "<" not in data
    assert "\u2028" not in data
