"""The HTML report: one page that needs nothing else, in which no text of a log is markup, and which holds what the answer holds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import invoke
from assay.cli.settings import load
from assay.report.logs.html import html_report
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
    measured = {(each.slice or "shared", each.measure.replace("_", " ")) for each in validation.impact if each.spells}
    assert set(alarms) == measured
    assert all(begin < end for band in alarms.values() for begin, end, _ in band["segments"])


@pytest.mark.slow
def test_the_gravest_stands_before_the_timeline_though_the_answer_is_consistent(tmp_path: Path) -> None:
    reading, validation = answered(unpack_sample("duplicate-broker", tmp_path))
    text = html_report(validation, list(reading.events), "A2", overview(reading))
    assert validation.verdict is TraceVerdict.CONSISTENT
    assert text.index("is started with id 1, under which broker-1 is running") < text.index('id="timeline"')
    assert (
        text.index('id="screen"') < text.index('id="remarks"') < text.index('id="impact"') < text.index('id="notices"')
    )


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
    assert code == 3
    assert "inconclusive" in Page((tmp_path / "report.html").read_text()).text
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
    command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--dump-dom"]
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
        assert set(bands["isr"]) > {"none"}
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
    events = [replace(event) for _ in range(32) for event in reading.events]
    path = tmp_path / "report.html"
    path.write_text(html_report(validation, events, "many"), encoding="utf-8")
    assert path.stat().st_size < 20_000_000
    shown = dom(path, tmp_path / "profile", "#event=90000")
    assert f"{len(events):,} of {len(events):,}" in shown
    assert len(re.findall(r"<tr class=\"s\d", shown)) < 60
