"""The playground: the reference engine in the browser, without any library but lark."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.chromium import browser

ALONE = """
import json, sys
for name in ("numpy", "llvmlite", "networkx", "z3", "pysat", "orjson", "rich", "click", "jinja2", "prompt_toolkit"):
    sys.modules[name] = None
sys.path.insert(0, sys.argv[1])
from answer import answered
print(json.dumps([json.loads(answered(text, settings)) for text, settings in json.load(sys.stdin)]))
"""
LAMP = "module lamp\nstate:\n    on: bool = false\naction press fair:\n    on := not on\n"


def test_it_answers_without_libraries(checkout: Path) -> None:
    lease = (checkout / "src/assay/agents/skill/examples/lease.assay").read_text()
    asked = [
        (lease, "Fence=false; MaxToken=2"),
        (LAMP + "invariant dark: on == false\nproperty lit: always eventually on\n", ""),
        (LAMP + "invariant dark: onn == false # <b>\n", ""),
        (LAMP, "Fence"),
        (LAMP, "Fence=true"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(checkout / "docs/site/playground")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    violated, temporal, typo, no_setting, unknown = json.loads(done.stdout)
    assert violated["verdict"] == "violated"
    assert "highest_written: 2 -&gt; 1" in violated["html"]
    assert temporal["verdict"] == "violated"
    assert "not asked: `lit`" in temporal["html"]
    assert [each["verdict"] for each in (typo, no_setting, unknown)] == ["error"] * 3
    assert "unknown name `onn`" in typo["html"]
    assert "&lt;b&gt;" in typo["html"]
    assert "`Fence` is no setting" in no_setting["html"]
    assert "Fence" in unknown["html"]


@pytest.mark.browser
def test_a_reader_checks_a_spec_in_the_browser(checkout: Path, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm, from which Python for the browser comes, is not installed")
    site = tmp_path / "site"
    subprocess.run([sys.executable, str(checkout / "docs/site/playground/build.py"), str(site)], check=True)
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, browser(tmp_path) as tab:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            tab.open(f"http://127.0.0.1:{server.server_port}/index.html")
            ready = "document.querySelector('#check')?.disabled === false"
            tab.wait(ready, patience=300)
            tab.value("document.querySelector('#spec').value = EXAMPLES.lease")
            tab.type("#settings", "Fence=false")
            tab.click("#check")
            tab.wait("document.querySelector('#answer').dataset.verdict === 'violated'", patience=300)
            assert "highest_written: 2 -> 1" in tab.text("#answer")
            tab.value("document.querySelector('#spec').value = EXAMPLES.lease.replace('holder := c', 'holder := <b>')")
            tab.click("#check")
            tab.wait("document.querySelector('#answer').dataset.verdict === 'error'", patience=300)
            assert "holder := <b>" in tab.text("#answer")
            tab.value("document.querySelector('#settings').value = ''")
            tab.value(
                "document.querySelector('#spec').value = 'module m\\nstate:\\n    x: 0 .. 9999999 = 0\\n"
                "action a:\\n    x := x + 1\\n'"
            )
            tab.click("#check")
            tab.click("#stop")
            tab.wait(ready, patience=300)
            assert tab.text("#answer") == "stopped"
            fetched = tab.value("performance.getEntriesByType('resource').map((each) => new URL(each.name).host)")
            assert set(fetched) == {f"127.0.0.1:{server.server_port}"}
            assert tab.errors == []
        finally:
            server.shutdown()
