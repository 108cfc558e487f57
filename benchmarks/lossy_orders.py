"""The log of a shop with three nodes. Their clocks differ; some lines are lost, others are written twice."""

from __future__ import annotations

import json
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from random import Random

SPEC = Path(__file__).with_name("lossy_orders.assay")
NODES = "web", "bank", "store"
WORKERS = 4
PRICES = 8
AHEAD = {"web": 0, "bank": 2, "store": -2}
"""By how many milliseconds the clock of a node is ahead."""

Entry = dict[str, str | int]


@dataclass(frozen=True, slots=True)
class LossyLog:
    """The lines of each node, and the orders that break a rule."""

    lines: dict[str, list[Entry]]
    broken: frozenset[str]

    def write(self, folder: Path) -> None:
        """Write a file for each node."""
        for node, entries in self.lines.items():
            text = "".join(json.dumps(entry) + "\n" for entry in entries)
            (folder / f"{node}.jsonl").write_text(text, encoding="utf-8")


def lossy_log(events: int, broken: int, lost: float = 0.01, doubled: float = 0.01, seed: int = 1) -> LossyLog:
    """A log of about so many events. So many orders are broken: paid at another price, or shipped by a worker who did
    not pack them. Of these no line is lost.
    """
    choose, time, orders = Random(seed), 1_700_000_000_000, -(-events // 4)
    wrong = frozenset(choose.sample(range(orders), broken))
    found: list[Entry] = []
    for number in range(orders):
        time += 5
        found += _order(choose, number, time, lost, doubled, breaks=number in wrong)
    found.sort(key=itemgetter("time"))
    return LossyLog(
        {node: [each for each in found if each["node"] == node] for node in NODES},
        frozenset(f"A-{number}" for number in wrong),
    )


def _order(choose: Random, number: int, time: int, lost: float, doubled: float, *, breaks: bool) -> list[Entry]:
    price, worker = choose.randrange(PRICES), choose.randrange(WORKERS)
    paid, shipper = price, worker
    if breaks and choose.random() < 0.5:
        paid = (price + 1) % PRICES
    elif breaks:
        shipper = (worker + 1) % WORKERS
    steps: tuple[Entry, ...] = (
        {"event": "Placed", "node": "web", "price": price},
        {"event": "Paid", "node": "bank", "price": paid},
        {"event": "Packed", "node": "store", "worker": f"w{worker}"},
        {"event": "Shipped", "node": "store", "worker": f"w{shipper}"},
    )
    found: list[Entry] = []
    for step in steps:
        time += choose.randint(50, 500)
        entry: Entry = {**step, "time": time + AHEAD[str(step["node"])], "order": f"A-{number}"}
        if breaks or choose.random() >= lost:
            found += [entry, dict(entry)] if choose.random() < doubled else [entry]
    return found
