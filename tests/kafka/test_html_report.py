"""The HTML report: one page that needs nothing else, in which no text of a log is markup, and which holds what the answer holds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.synthetic import generate  # the benchmarks lie beside the package

from assay.cli.main import invoke
from assay.cli.settings import load
from assay.report.lines import clean
from assay.report.logs.html import html_report
from assay.report.logs.html.findings import page_findings
from assay.report.logs.remarks import remark_groups
from assay.traces.diagnosis.node_settings import overview
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import TraceVerdict, Validation
from assay.traces.samples import unpack_sample
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.spec_selection import validate_with_selection

from .recorded import archive, validate_paths, validated_run

VOID = {"meta", "input", "link", "br", "hr", "img"}
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>&amp;</script><!-- \x1b[31m\u202e\u2028 `${x}` {{ 7*7 }}"
)


class Page(HTMLParser):
    """The page's elements: checks that every one is closed, and keeps scripts, links to elsewhere and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.scripts: list[str] = []
        self.elsewhere: list[str] = []
        self.handlers: list[str] = []
        self.elements: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in {"src", "href"} and value != "#":
                self.elsewhere.append(f"{tag} {value}")
            if name.startswith("on"):
                self.handlers.append(name)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
        elif self.open[-1:] != ["style"]:
            self.text += data


def data_of(page: Page) -> Any:
    return json.loads(page.scripts[0])


def report(found: tuple[LogReading, Validation], title: str = "A1") -> Page:
    reading, validation = found
    return Page(html_report(validation, list(reading.events), title))


def answered(path: Path) -> tuple[LogReading, Validation]:
    """What `assay validate` says of logs if no spec is named."""
    reading = read_logs([path])
    return reading, validate_with_selection(reading, None, lambda spec: load(spec, None, {}))[1]


@pytest.fixture(scope="module")
def a1() -> Page:
    return report(validated_run("A1"))


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A1 in which a controller says a wrong epoch, and a line of another program is made by an enemy."""
    logs = unpack_sample("elections", tmp_path)
    path = logs / "broker-1" / "controller.log"
    lines = path.read_text().splitlines(keepends=True)
    lines[31] = lines[31].replace("with epoch 2", "with epoch 4")
    hostile = f"[2026-11-21 01:46:00,000] INFO [Controller id=1] {HOSTILE} (kafka.controller.KafkaController)\n"
    path.write_text("".join([*lines, hostile]), encoding="utf-8")
    return logs


def test_the_page_is_whole_and_needs_nothing_else(a1: Page) -> None:
    assert not a1.open
    assert not a1.elsewhere
    assert not a1.handlers
    assert len(a1.ids) == len(set(a1.ids))
    assert len(a1.scripts) == 2
    wanted = set(re.findall(r'byId\("([\w-]+)"\)', a1.scripts[1]))
    assert wanted
    assert wanted <= set(a1.ids)


def test_the_page_holds_every_event_and_every_step(a1: Page) -> None:
    reading, validation = validated_run("A1")
    data = data_of(a1)
    (history,) = data["histories"]
    assert validation.execution is not None
    assert len(data["events"]["kind"]) == validation.counts.read
    assert len(history["steps"]) == len(validation.execution.steps)
    assert sum(state > 0 for state in data["events"]["state"]) == validation.counts.used
    hidden = [step for step in history["steps"] if step[0] < 0]
    assert len(hidden) == sum(validation.hidden.values())
    texts = data["texts"]
    events = list(reading.events)
    for number in (0, 1000, 3000):
        assert texts[data["events"]["file"][number]] == events[number].record.place.file
        assert data["events"]["line"][number] == events[number].record.place.line


@pytest.mark.slow
def test_outages_are_bands_of_their_own_in_the_lanes_that_they_concern(tmp_path: Path) -> None:
    reading, validation = answered(unpack_sample("elections", tmp_path))
    data = data_of(Page(html_report(validation, list(reading.events), "A1", overview(reading))))
    texts = data["texts"]
    alarms = {(texts[lane["name"]], texts[band["name"]]): band for lane in data["lanes"] for band in lane["alarms"]}
    measured = {
        (each.slice or "controller", each.measure.replace("_", " ")) for each in validation.impact if each.spells
    }
    assert set(alarms) == measured
    assert all(begin < end for band in alarms.values() for begin, end, _ in band["segments"])


@pytest.mark.slow
def test_the_gravest_stands_before_the_timeline_though_the_answer_is_consistent(tmp_path: Path) -> None:
    reading, validation = answered(unpack_sample("duplicate-broker", tmp_path))
    text = html_report(validation, list(reading.events), "A2", overview(reading))
    assert validation.verdict is TraceVerdict.CONSISTENT
    assert text.index("is started with id 1, under which broker-1 is running") < text.index('id="timeline"')
    order = ("screen", "findings", "timeline", "impact", "notices")
    places = [text.index(f'id="{name}"') for name in order]
    assert places == sorted(places)
    assert "broker-1-duplicate cannot start" in text
    assert "broker 1 cannot start" not in text
    assert "and on, the cluster is shut down" in text
    tones = data_of(Page(text))["tones"]
    assert tones["Active"] == "good"
    assert tones["Fenced"] == "bad"


@pytest.mark.slow
def test_every_finding_is_on_the_page_and_the_gravest_is_the_first(tmp_path: Path) -> None:
    reading, validation = answered(unpack_sample("duplicate-broker", tmp_path))
    found = page_findings(validation, overview(reading))
    assert [each.rank for each in found] == sorted(each.rank for each in found)
    assert {each.text for each in validation.trouble.findings} <= {each.text for each in found}
    others = [each for each in remark_groups(validation) if not each.is_reported(validation.trouble.findings)]
    assert {each.text for each in others} <= {each.heading for each in found} | {each.text for each in found}
    page = Page(html_report(validation, list(reading.events), "A2", overview(reading)))
    told = " ".join(page.text.split())
    assert all(" ".join(clean(each.heading).split()) in told for each in found)


@pytest.mark.slow
def test_a_lane_has_the_terms_of_the_controllers_and_internals_of_the_model_are_folded_away(tmp_path: Path) -> None:
    reading, validation = answered(unpack_sample("elections", tmp_path))
    data = data_of(Page(html_report(validation, list(reading.events), "A1", overview(reading))))
    texts = data["texts"]
    first = data["lanes"][0]
    (terms,) = first["bands"]
    assert texts[first["name"]] == "controller"
    assert [texts[value] for _, _, value in terms["segments"]] == [
        "2, epoch 1",
        "1, epoch 2",
        "3, epoch 3",
        "2, epoch 4",
        "3, epoch 5",
    ]
    open_ = {texts[band["name"]] for lane in data["lanes"] for band in lane["bands"] if not band["internal"]}
    assert open_ == {"term", "life", "role", "leader", "in sync"}


@pytest.mark.slow
def test_requests_lead_from_the_lane_of_one_node_to_that_of_another(tmp_path: Path) -> None:
    reading, validation = answered(unpack_sample("elections", tmp_path))
    data = data_of(Page(html_report(validation, list(reading.events), "A1", overview(reading))))
    events = list(reading.events)
    assert data["requests"]
    for number, other, received in data["requests"]:
        own = data["events"]["lane"][number]
        assert own != other
        if received and events[number].kind == "RequestFromController":
            name = data["texts"][data["lanes"][other]["name"]]
            assert name == f"broker-{events[number].fields['controller']}"


def test_lanes_show_who_was_controller_when(a1: Page) -> None:
    data = data_of(a1)
    lanes = {data["texts"][lane["name"]]: lane for lane in data["lanes"]}
    assert [name for name in lanes if name.startswith("broker")] == ["broker-1", "broker-2", "broker-3"]
    reigns: list[tuple[int, str, str]] = []
    for name, lane in lanes.items():
        for band in lane["bands"]:
            values = [(begin, name, data["texts"][value]) for begin, _, value in band["segments"]]
            reigns += [
                each for each in values if data["texts"][band["name"]] == "role" and each[2].startswith("Active")
            ]
    assert [(name, value) for _, name, value in sorted(reigns)] == [
        ("broker-2", "Active(1)"),
        ("broker-1", "Active(2)"),
        ("broker-3", "Active(3)"),
        ("broker-2", "Active(4)"),
        ("broker-3", "Active(5)"),
    ]
    for lane in data["lanes"]:
        for band in lane["bands"]:
            ends = [end for _, end, _ in band["segments"]]
            assert [begin for begin, _, _ in band["segments"]][1:] == ends[:-1]
            assert ends[-1] <= data["end"] - data["begin"]


def test_the_changes_of_all_steps_lead_from_the_first_state_to_the_last(a1: Page) -> None:
    data = data_of(a1)
    (history,) = data["histories"]
    state = dict(map(tuple, history["initial"]))
    for _, _, _, changes in history["steps"]:
        for cell, before, after in zip(changes[::3], changes[1::3], changes[2::3], strict=True):
            assert state[cell] == before
            state[cell] = after
    texts = data["texts"]
    assert {texts[cell]: texts[value] for cell, value in state.items()}["controller_epoch"] == "5"


@pytest.mark.slow
def test_a_mismatch_stands_on_the_page_with_both_values_and_no_text_of_a_log_is_markup(broken: Path) -> None:
    page = report(validate_paths([broken]), title=HOSTILE)
    assert not page.open
    assert not page.handlers
    assert "img" not in page.elements
    assert len(page.scripts) == 2
    assert "\x1b" not in page.text
    assert "epoch = 4" in page.text
    assert "controller.log:32" in page.text
    assert "<script>alert(1)</script>" in page.text
    data = data_of(page)
    assert data["events"]["state"].count(2) == 1
    assert page.scripts[0].count("<") == 0


@pytest.mark.slow
def test_the_command_writes_the_page_and_says_where_it_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = unpack_sample("elections", tmp_path)
    for path in logs.rglob("broker-*"):
        if path.name != "broker-2":
            shutil.rmtree(path)
    code = invoke(["validate", str(logs), "--spec", "kafka/controller", "--html", str(tmp_path / "report.html")])
    assert code == 0
    assert "consistent" in Page((tmp_path / "report.html").read_text()).text
    assert (
        invoke(["validate", str(logs), "--spec", "kafka/controller", "--html", str(tmp_path / "no" / "report.html")])
        == 2
    )
    assert "cannot be written" in capsys.readouterr().err


def chromium() -> str:
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


def dom(page: Path, folder: Path, fragment: str = "") -> str:
    """The page as the browser has it after its script ran."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--dump-dom")
    command = [chromium(), *options, f"--user-data-dir={folder}"]
    done = subprocess.run(
        [*command, f"file://{page}{fragment}"], capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout


@pytest.mark.slow
def test_each_partition_has_a_lane_with_its_leaders_and_its_in_sync_replicas() -> None:
    """What the slices of a log were found to have done is drawn under the names of the partitions."""
    reading = read_logs([archive("A1")])
    validation = validate_in_scope(load("kafka/cluster", None, {}), reading, DEFAULT_OPTIONS)
    page = report((reading, validation))
    assert f"{len(validation.slices)} partitions" in page.text
    data = data_of(page)
    texts = data["texts"]
    lanes = {texts[lane["name"]]: lane for lane in data["lanes"]}
    for part in validation.slices:
        bands = {
            texts[band["name"]]: [texts[value] for _, _, value in band["segments"]]
            for band in lanes[part.name]["bands"]
        }
        assert bands["leader"][0] == "none"
        assert len(bands["leader"]) > 1
        assert set(bands["in sync"]) > {"none"}
    assert len(data["histories"]) == 1 + len(validation.slices)


@pytest.mark.slow
@pytest.mark.browser
def test_in_a_browser_an_event_shows_its_line_and_the_state_before_and_after(tmp_path: Path) -> None:
    reading, validation = validated_run("A1")
    events = list(reading.events)
    number = next(at for at, event in enumerate(events) if event.kind == "ControllerElected")
    path = tmp_path / "report.html"
    path.write_text(html_report(validation, events, "A1"), encoding="utf-8")
    shown = dom(path, tmp_path / "profile", f"#event={number}")
    place = events[number].record.place
    assert f"{place.file}:{place.line}</h3>" in shown
    assert f"elect({events[number].run})" in shown
    assert "controller_epoch" in shown
    assert f"{len(events):,} of {len(events):,}" in shown


@pytest.mark.slow
@pytest.mark.browser
def test_in_a_browser_a_hundred_thousand_events_are_drawn_and_listed(tmp_path: Path) -> None:
    reading, validation = validated_run("A1")
    events = [
        replace(event, record=replace(event.record, message=f"{event.record.message} {copy * 7919}"))
        for copy in range(32)
        for event in reading.events
    ]
    path = tmp_path / "report.html"
    path.write_text(html_report(validation, events, "many"), encoding="utf-8")
    assert path.stat().st_size < 8_000_000
    shown = dom(path, tmp_path / "profile", "#event=90000")
    assert f"{len(events):,} of {len(events):,}" in shown
    assert len(re.findall(r"<tr class=\"s\d", shown)) < 60


CLICKS = """<script>
addEventListener("load", () => {
  const byId = (id) => document.getElementById(id), found = {}, canvas = byId("canvas"), root = document.documentElement;
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key })), redraw = () => canvas.dispatchEvent(new Event("redraw"));
  const type = (id, text) => { byId(id).value = text; byId(id).dispatchEvent(new Event("input")); };
  const height = () => parseInt(byId("all-lanes").style.height);
  const wait = () => {
    if (!root.dataset.drawn) return setTimeout(wait, 20);
    found.folded = height();
    byId("fold").click(); found.unfolded = height();
    type("lane-filter", "t-7"); found.filtered = height(); type("lane-filter", "");
    found.whole = byId("range").textContent;
    press("+"); redraw(); found.zoomed = byId("range").textContent;
    byId("requests").click(); found.requests = byId("shown-requests").textContent;
    byId("internals").click(); found.internals = height();
    type("search", "leader"); found.hits = byId("found").textContent;
    byId("visible").rows[0].click(); found.place = byId("detail-place").textContent;
    root.dataset.clicks = JSON.stringify(found);
  };
  wait();
});
</script>"""


@pytest.mark.slow
@pytest.mark.browser
def test_in_a_browser_fifty_partitions_on_five_brokers_fold_filter_zoom_and_lead_to_their_lines(tmp_path: Path) -> None:
    generate(tmp_path / "logs", 400_000, brokers=5, partitions=50, violations=0, seed=1)
    reading, validation = answered(tmp_path / "logs")
    assert len(validation.slices) == 50
    path = tmp_path / "report.html"
    text = html_report(validation, list(reading.events), "fifty", overview(reading))
    path.write_text(text.replace("</body>", f"{CLICKS}</body>"), encoding="utf-8")
    shown = dom(path, tmp_path / "profile")
    written = re.search(r'data-clicks="([^"]*)"', shown)
    assert written is not None
    found = json.loads(unescape(written[1]))
    assert found["folded"] < found["unfolded"] < found["internals"]
    assert found["filtered"] < found["unfolded"]
    assert found["whole"] != found["zoomed"]
    assert re.match(r"[1-9][\d,]* of [\d,]+ requests", found["requests"])
    assert re.match(r"[1-9][\d,]* of ", found["hits"])
    assert re.match(r".+\.log:\d+$", found["place"])
