"""How fast are logs of a user's own service validated? There are two services. In logs of a lock with tokens
(`lock.assay`) each line names its action, and none is about a slice. In logs of a shop (`orders.assay`) each order is a
slice.

`python -m benchmarks service [COUNT…]`

COUNT is the number of events of each log (2,000, 20,000 and 100,000 by default). Of the lock there are three logs. One
is healthy, one is the same under a clause that bounds no delay, and one has a stale write in its middle. Of the shop
there are two: in one it is always open, in the other it closes each day. The figures are processor seconds of one
process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import process_time

from assay.grammar.load import Loaded, load_spec
from assay.traces.log_reader import read_logs
from assay.traces.validate import validate

Line = dict[str, object]
Entry = dict[str, str | int]

SPEC = Path(__file__).with_name("lock.assay")
SHOP = Path(__file__).with_name("orders.assay")
COUNTS = 2_000, 20_000, 100_000
CLIENTS = 8
APART = 20
"""Milliseconds between two lines."""
A_DAY = 1_000
"""Orders between two times at which the shop closes."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """Five lines for each number of events."""
    if wrong := [each for each in arguments if not each.isdigit()]:
        raise ValueError(f"no number of events: {', '.join(wrong)}")
    loaded, shop = load_spec(SPEC), load_spec(SHOP)
    for count in map(int, arguments or map(str, COUNTS)):
        healthy = written(count)
        yield _measured(loaded, "right", healthy, "near")
        yield _measured(loaded, "right, no bound", healthy, "anywhere")
        yield _measured(loaded, "a stale write", with_stale_write(healthy), "near")
        yield _measured(shop, "orders", orders(count, closes=False), "shop_log")
        yield _measured(shop, "orders, placed while the shop is open", orders(count, closes=True), "shop_log")


def written(count: int) -> list[Entry]:
    """What the clients say of some turns, of at least so many lines."""
    random, entries, token, time = Random(1), list[Entry](), 0, 1_700_000_000_000
    while len(entries) < count:
        token += 1
        node = f"c{random.randrange(CLIENTS)}"
        kinds = ["Acquired", *["Written"] * random.randint(1, 6), "Released"]
        for kind in kinds:
            time += APART
            entries.append({"event": kind, "time": time, "node": node, "token": token})
    return entries


def orders(count: int, *, closes: bool) -> list[Entry]:
    """What is said of orders, of which some are under way at each time, in so many lines or a few more."""
    random, entries, time = Random(1), list[Entry](), 1_700_000_000_000
    for number in range(-(-count // 4)):
        time += APART
        if closes and number % A_DAY == A_DAY - 1:
            entries += [{"event": "SignTurned", "time": time + more, "node": "door"} for more in (0, 3_600_000)]
            time += 3_600_000 + APART
        at, worker = time, f"w{random.randrange(CLIENTS)}"
        for kind, node in (("Placed", "web"), ("Paid", "bank"), ("Packed", worker), ("Shipped", worker)):
            entries.append({"event": kind, "time": at, "node": node, "order": f"A-{number}"})
            at += random.randint(50, 500)
    return sorted(entries, key=itemgetter("time"))


def with_stale_write(entries: Sequence[Entry]) -> list[Entry]:
    """The same with the token of before in a write in the middle, after one with the right token."""
    middle = range(len(entries) // 2, len(entries))
    at = next(at for at in middle if entries[at - 1]["event"] == entries[at]["event"] == "Written")
    return [*entries[:at], {**entries[at], "token": int(entries[at]["token"]) - 1}, *entries[at + 1 :]]


def measured(what: str, entries: Sequence[Entry]) -> Line:
    """What it takes to validate a log of the lock by the clause that bounds delays."""
    return _measured(load_spec(SPEC), what, entries, "near")


def _measured(loaded: Loaded, what: str, entries: Sequence[Entry], clause: str) -> Line:
    load = os.getloadavg()[0]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "lock.jsonl"
        file.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        begun = process_time()
        events = read_logs([str(file)]).events
        read = process_time()
        found = validate(loaded, events, clause=clause)
    taken = process_time() - read
    return {
        "benchmark": "service",
        "log": what,
        "events": len(entries),
        "verdict": found.verdict.value,
        "mismatches": len(found.violations),
        "cpu_seconds_reading": round(read - begun, 2),
        "cpu_seconds_validating": round(taken, 2),
        "events_a_cpu_second": round(len(entries) / taken),
        "load_before": round(load, 2),
    }
