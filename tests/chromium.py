"""A headless Chromium that tests click in: the DevTools protocol over a pipe (https://chromedevtools.github.io/devtools-protocol/)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 20.0
"""Seconds after which a page that does not come to what a test waits for has failed."""
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--remote-debugging-pipe",
    "--window-size=1500,950",
)


class Tab:
    """A page in the browser."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._rest = b""
        self._number = 0
        self.errors: list[str] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol, and its result. Exceptions of the page's scripts that are reported meanwhile are kept."""
        self._number += 1
        question = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            question["sessionId"] = self._session
        os.write(self._write, json.dumps(question).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"]["exceptionDetails"]))
            elif message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
                self.errors.append(json.dumps(message["params"]["entry"]))

    def _message(self) -> Any:
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 16)
            assert more, "the browser has ended"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def open(self, url: str) -> None:
        """Load a page."""
        self.call("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, expression: str, patience: float = PATIENCE) -> None:
        """Wait until an expression is true in the page."""
        end = time.monotonic() + patience
        while not self.value(expression):
            assert time.monotonic() < end, f"{expression} stays false: {self.errors} {self.text()[:2000]}"
            self.value("new Promise((done) => setTimeout(done, 20))")

    def click(self, selector: str) -> None:
        """Click the element as a user does, in its middle."""
        find = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"Boolean({find} && !{find}.disabled)")
        self.value(f"{find}.scrollIntoView({{block: 'center'}})")
        x, y = self.value(
            f"(() => {{ const box = {find}.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector: str, text: str, *, enter: bool = False) -> None:
        """Write into a field."""
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)
        if enter:
            for kind in ("keyDown", "keyUp"):
                self.call(
                    "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13
                )

    def text(self, selector: str = "body") -> str:
        """The text that is visible in an element."""
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def screenshot(self, path: Path) -> None:
        """A picture of what is visible."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browser(folder: Path) -> Iterator[Tab]:
    """A browser with its profile in this folder. The test is skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((path for name in names if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    to_browser, from_browser = os.pipe(), os.pipe()
    command = [program, *SWITCHES, f"--user-data-dir={folder / 'profile'}"]
    shell = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
    process = subprocess.Popen(
        ["bash", "-c", shell, str(to_browser[0]), str(from_browser[1]), *command],
        pass_fds=(to_browser[0], from_browser[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    try:
        yield Tab(from_browser[0], to_browser[1])
    finally:
        process.terminate()
        process.wait()
        os.close(to_browser[1])
        os.close(from_browser[0])
