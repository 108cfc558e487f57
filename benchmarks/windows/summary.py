"""Tables of results: of parts of healthy recordings, and of windows that show a breach."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from .cases import APART, KINDS
from .runner import OVER_TIME, Result

COLUMNS = (
    "cases",
    "inconsistent",
    "inconclusive",
    "unexplained",
    "vacuous",
    "violated",
    "consistent",
    "traceback",
    OVER_TIME,
)
BREACH_COLUMNS = ("windows", "rejected", "named", "also healthy", "silent", "listed", "listed, named")
TITLES = KINDS | APART


def healthy_summary(results: Sequence[Result]) -> str:
    """How often each was said of parts of healthy recordings, what findings were about, why nothing was decided, and what took longest."""
    wrong = [each for each in results if each["verdict"] == "inconsistent"]
    undecided = [each for each in results if each["verdict"] == "inconclusive"]
    slow = sorted(results, key=lambda each: -each["cpu_s"])[:8]
    lines = [_table(results), "", "`unexplained`: of the inconclusive, those that list lines without an explanation"]
    lines += ["", "what inconsistent cases say:", *_frequent((rule for each in wrong for rule in each["rules"]), 25)]
    lines += ["", "lines without an explanation, by cases:"]
    lines += _frequent((rule for each in undecided for rule in each["rules"]), 15)
    lines += ["", "reasons of inconclusive cases:", *_frequent((each["reason_class"] for each in undecided), 12)]
    lines += ["", "slowest:"]
    lines += [
        f"  {each['cpu_s']:6.2f} s {each['rss_mb']:5} MB {each['lines']:6} lines {each['id']} {each['verdict']} ({each['detail']})"
        for each in slow
    ]
    return "\n".join(lines)


def _frequent(said: Iterable[str], most: int) -> list[str]:
    return [f"  {times:4} {text}" for text, times in Counter(said).most_common(most)]


def _table(results: Sequence[Result]) -> str:
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: dict[str, list[float]] = defaultdict(list)
    for each in results:
        for row in (each["kind"], "all"):
            rows[row]["cases"] += 1
            rows[row]["traceback" if each["traceback"] else each["verdict"]] += 1
            rows[row]["unexplained"] += each["verdict"] == "inconclusive" and each["unexplained"] > 0
            seconds[row].append(each["cpu_s"])
    lines = [f"{'kind':42}" + "".join(f"{name:>13}" for name in COLUMNS) + f"{'cpu median':>12}{'cpu max':>9}"]
    for row in [kind for kind in (*TITLES, "all") if kind in rows]:
        title = f"{row}  {TITLES[row]}" if row in TITLES else row
        other = rows[row]["cases"] - sum(rows[row][name] for name in COLUMNS if name not in ("cases", "unexplained"))
        times = sorted(seconds[row])
        cells = "".join(f"{rows[row][name]:>13}" for name in COLUMNS)
        more = f"  (other: {other})" if other else ""
        lines.append(f"{title:42}{cells}{times[len(times) // 2]:>12.2f}{times[-1]:>9.2f}{more}")
    return "\n".join(lines)


def breach_summary(results: Iterable[Result]) -> str:
    """Of windows that show a breach: rejected, with the same window without the breach not rejected, and named at one of its lines."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in results:
        rejected = each["verdict"] == "inconsistent"
        listed = each["verdict"] == "inconclusive" and each["unexplained"] > 0
        for row in ((each["breach"], each["kind"]), (each["breach"], "all"), ("all", each["kind"]), ("all", "all")):
            rows[row]["windows"] += 1
            rows[row]["rejected"] += rejected and each["twin"] != "inconsistent"
            rows[row]["named"] += rejected and each["named"]
            rows[row]["also healthy"] += rejected and each["twin"] == "inconsistent"
            rows[row]["silent"] += each["verdict"] in ("consistent", "vacuous")
            rows[row]["listed"] += listed
            rows[row]["listed, named"] += listed and each["named"]
    lines = [f"{'breach':22}{'kind':6}" + "".join(f"{name:>15}" for name in BREACH_COLUMNS)]
    for (breach, kind), counts in sorted(rows.items()):
        lines.append(f"{breach:22}{kind:6}" + "".join(f"{counts[name]:>15}" for name in BREACH_COLUMNS))
    return "\n".join(lines)
