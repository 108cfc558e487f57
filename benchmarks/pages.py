"""The page of an answer in a headless browser: its bytes, the time until it is drawn, and the time to zoom.

`python -m benchmarks pages [EVENTS…]` simulates clusters of 5 brokers and 50 partitions with as many events (default
10,000 and 100,000).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.chromium import browser

from assay.cli.settings import load
from assay.report.logs.html import html_report
from assay.traces.diagnosis.node_settings import overview
from assay.traces.log_reader import read_logs
from assay.traces.spec_selection import validate_with_selection
from benchmarks.synthetic import generate

Line = dict[str, object]

BYTES_AN_EVENT = 132
"""How long a line of the simulated cluster is."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PROBE = """<script>
(() => {
  const root = document.documentElement, press = (key) => document.getElementById("canvas").dispatchEvent(new KeyboardEvent("keydown", { key }));
  const found = {}, begun = performance.now();
  const poll = () => {
    if (!root.dataset.drawn) return setTimeout(poll, 5);
    found.drawn = Number(root.dataset.drawn);
    const at = performance.now();
    for (let i = 0; i < 10; i++) { press("+"); document.getElementById("canvas").dispatchEvent(new Event("redraw")); }
    found.zoom = (performance.now() - at) / 10;
    const paint = performance.getEntriesByName("first-contentful-paint")[0];
    found.paint = paint ? paint.startTime : null;
    root.dataset.found = JSON.stringify(found);
  };
  poll();
})();
</script>"""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line for each number of events."""
    if not any(map(shutil.which, BROWSERS)):
        raise ValueError(f"no browser: {', '.join(BROWSERS)}")
    for count in map(int, arguments or ("10000", "100000")):
        with TemporaryDirectory() as folder:
            yield _measure(count, Path(folder))


def _measure(count: int, folder: Path) -> Line:
    logs = folder / "logs"
    generate(logs, count * BYTES_AN_EVENT, brokers=5, partitions=50, violations=0, seed=1)
    reading = read_logs([logs])
    _, validation = validate_with_selection(reading, None, lambda name: load(name, None, {}))
    text = html_report(validation, list(reading.events), "simulated", overview(reading))
    page = folder / "page.html"
    page.write_text(text.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    found = _in_browser(page, folder)
    return {
        "benchmark": "pages",
        "events": len(reading.events),
        "partitions": len(validation.slices),
        "verdict": validation.verdict.value,
        "bytes": len(text.encode()),
        "first_paint_ms": found["paint"] and round(found["paint"]),
        "drawn_ms": round(found["drawn"]),
        "zoom_ms": round(found["zoom"], 1),
    }


def _in_browser(page: Path, profile: Path) -> dict[str, float]:
    """What the probe found. The time is that of the clock: a browser that only dumps the page has a virtual one."""
    with browser(profile) as tab:
        tab.call("Page.bringToFront")
        tab.open(f"file://{page}")
        tab.wait("Boolean(document.documentElement && document.documentElement.dataset.found)")
        measured: dict[str, float] = json.loads(tab.value("document.documentElement.dataset.found"))
    return measured
