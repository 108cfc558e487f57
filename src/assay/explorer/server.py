"""The explorer's page and its answers over HTTP, on loopback alone and for who knows the token.

A request is refused without the token, with another host than loopback (a page elsewhere whose name was bound to
loopback), and from another origin. The page gets no permission to load anything from anywhere.
"""

from __future__ import annotations

import json
import secrets
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from assay.explorer.page import explorer_page
from assay.explorer.session import ExplorerError, ExplorerSession

LOOPBACK = "127.0.0.1"
TOKEN_HEADER = "X-Assay-Token"
LARGEST_QUESTION = 64 * 1024 * 1024
"""Bytes of a question: a saved trace of 100,000 steps fits."""


class ExplorerServer(ThreadingHTTPServer):
    """Serves one session. ``url`` has the token in it. Raises ``OSError`` if the port is taken."""

    daemon_threads = True

    def __init__(self, session: ExplorerSession, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.session = session
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.server_port}/?token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a tab was closed before it had its answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def hosts(self) -> set[str]:
        """What the header ``Host`` may be."""
        return {f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")}


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: ExplorerServer
    server_version = "assay"
    sys_version = ""
    timeout = 120

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the signature is the standard library's
        """Say nothing: only the command line prints."""

    def do_GET(self) -> None:
        """The page itself."""
        asked = urlsplit(self.path)
        token = parse_qs(asked.query).get("token", [""])[0]
        if asked.path != "/":
            self._refuse(HTTPStatus.NOT_FOUND, "there is only one page")
        elif self._may(token):
            nonce = secrets.token_urlsafe(16)
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", explorer_page(self.server.token, nonce), nonce)

    def do_POST(self) -> None:
        """A question of the page, as JSON."""
        body = self._body()
        if body is None or not self._may(self.headers.get(TOKEN_HEADER, "")):
            return
        try:
            data = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            self._answer(data)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, "a question is a JSON object")

    def _answer(self, data: dict[str, Any]) -> None:
        try:
            answer = self.server.session.answer(urlsplit(self.path).path.removeprefix("/api/"), data)
        except ExplorerError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        else:
            self._send(HTTPStatus.OK, "application/json", json.dumps(answer, ensure_ascii=False))

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST_QUESTION:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the question has no length, or is too long")
            return None
        return self.rfile.read(int(length))

    def _may(self, token: str) -> bool:
        """Whether the request is from the page; answers it if not."""
        origin = self.headers.get("Origin")
        # DNS rebinding: a page elsewhere may have its own name resolve to loopback, but its requests still carry that
        # name.
        if self.headers.get("Host") not in self.server.hosts():
            self._refuse(HTTPStatus.FORBIDDEN, "only this machine is answered")
        elif origin is not None and origin not in {f"http://{host}" for host in self.server.hosts()}:
            self._refuse(HTTPStatus.FORBIDDEN, "pages of other origins are not answered")
        # In a time that does not depend on how much of the token is right.
        elif not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "the token is missing or wrong: open the address that assay printed")
        else:
            return True
        return False

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self._send(status, "application/json", json.dumps({"error": message}, ensure_ascii=False))

    def _send(self, status: HTTPStatus, kind: str, text: str, nonce: str = "") -> None:
        body = text.encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        inline = f"script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; " * bool(
            nonce
        )
        policy = f"default-src 'none'; {inline}base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(body)
