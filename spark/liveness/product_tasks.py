"""What tasks do to decide a temporal property: each builds its part of the state graph, then trims its part of the
product in rounds.

A task holds nothing in memory between two jobs. Its part of the graph, and of the product with an automaton, are files
of the work directory, each written once. A file counts once the driver knows its name: one of a failed attempt is never
read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from itertools import chain

import numpy as np

from assay.checker.explicit.expansion.outgoing_batches import owner_ranges
from assay.checker.explicit.liveness.distributed_trimming import IncomingSteps, Region, Rules, Trimming, TrimmingMessage
from assay.checker.explicit.liveness.scc_kernels import NOWHERE, look_up, remember
from assay.checker.explicit.liveness.state_graph import BLOCK, SLACK, BehaviourReader
from assay.checker.explicit.store.hash_kernels import OWNER_SHIFT
from assay.checker.jit.array_ops import distinct
from assay.checker.layout.row import Rows
from assay.checker.liveness.nnf import StateCondition
from assay.checker.liveness.plan import Plan
from assay.checker.liveness.state_graph import Kind, Numbers
from assay.checker.report import EnginesDisagreeError
from assay.grammar import kernel as k
from assay.grammar.kernel.types import BOOL
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.session.ship_bitcode import load
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.storage.manifest import rows, unpack

STEP = np.dtype([("print", "<u8"), ("source", "<u4"), ("label", "<u4")])
"""A step, in the packet to the task that owns its target: the target's fingerprint, the source's number, and the
label.
"""
ShuffleBatch = tuple[int, bytes]
"""The task that receives it, and its bytes."""
Send = Callable[[int], Iterable[ShuffleBatch]]
Receive = Callable[[int, Iterable[bytes]], str]
Rounds = Callable[[Send, Receive], list[str]]
"""Runs a job of as many tasks as there are parts. It takes what each sends to the others, and what it answers to what
it receives. It gives the answers in the order of the tasks.
"""


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """What every task knows of the graph: the work directory, the manifest, the number of parts, and the code that
    evaluates conditions.
    """

    workdir: str
    manifest: str
    program: str
    parts: int
    plan: Plan


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """What a task reports of its part of the graph: how many states and initial states it has, and its files. Kinds and
    labels are in its own numbering.
    """

    states: int
    initial: int
    kinds: tuple[Kind, ...]
    labels: tuple[frozenset[int], ...]
    file_of_kinds: str
    file_of_steps: str = ""


def without_expressions(plan: Plan) -> Plan:
    """The plan without the expressions of its conditions: tasks have compiled code for them, and expressions cost
    time to send.
    """
    true = StateCondition(k.Const(BOOL, True))
    return replace(
        plan, claims=(), letters=tuple(true if isinstance(each, StateCondition) else each for each in plan.letters)
    )


# ----------------------------------------------------------------------------------------------------- drawing


def own_rows(graph: GraphInfo, part: int) -> Iterator[tuple[int, Rows]]:
    """The rows of the states that a task owns, and the level of each block of rows.

    The order is that of the files, which never change. So a position in it is a number for a state that all later jobs
    agree on.
    """
    storage = Storage(graph.workdir)
    manifest = unpack(storage.read(graph.manifest))
    compiled = load(graph.workdir, manifest.kernel)
    own = owner_ranges(graph.parts)[part]
    for level, files in enumerate(manifest.levels):
        for some in chain.from_iterable(
            rows(storage, each, level, compiled, own) for each in files if each.within(*own)
        ):
            for at in range(0, len(some), BLOCK):
                yield level, np.ascontiguousarray(some[at : at + BLOCK])


def explore_part(graph: GraphInfo, part: int) -> Iterator[ShuffleBatch]:
    """The steps from the states of a task, in packets for the tasks that own their targets; at the end the summary,
    for itself.
    """
    looking = BehaviourReader(graph.plan, load(graph.workdir, graph.program))
    firsts = np.array([first for first, _ in owner_ranges(graph.parts)[1:]], np.uint64)
    kinds: list[Numbers] = []
    states = initial = 0
    for level, some in own_rows(graph, part):
        prints: list[Rows] = []

        def number(found: Rows, prints: list[Rows] = prints) -> Numbers:
            distinct, which = np.unique(found, return_inverse=True)
            prints.append(distinct)
            return which.reshape(-1)

        seen = looking.at(some, number)
        steps = np.empty(len(seen.targets), STEP)
        # `at` asks for numbers once a block, so that the first entry has the fingerprints of all its targets.
        steps["print"], steps["label"] = prints[0][seen.targets], seen.labels
        steps["source"] = np.repeat(np.arange(states, states + len(some)), seen.degrees)
        of = np.searchsorted(firsts, steps["print"] >> OWNER_SHIFT, "right")
        for owner in distinct(of).tolist():
            yield owner, np.int64(part).tobytes() + steps[of == owner].tobytes()
        kinds.append(seen.kinds)
        states += len(some)
        initial += len(some) if level == 0 else 0
    name = write(graph, "kinds", [np.concatenate([np.zeros(0, np.uint32), *kinds])])
    summary = GraphSummary(states, initial, looking.kinds.kinds, looking.labels.events, name)
    # The sender is below 0, which tells the summary from packets of steps.
    yield part, np.int64(-1).tobytes() + _to_json(summary).encode()


def index_incoming_steps(graph: GraphInfo, part: int, packets: Iterable[bytes]) -> str:
    """Sort the steps that lead to the states of a task by their targets, and write them to a file; returns the summary
    as text.

    Steps to states that the search did not keep, because it ended at a limit, are left out.
    """
    summary, blocks, parts = None, [np.zeros(0, STEP)], [np.zeros(0, np.uint32)]
    for packet in packets:
        sender = int(np.frombuffer(packet, np.int64, 1)[0])
        if sender < 0:
            summary = from_json(packet[8:].decode())
        else:
            blocks.append(np.frombuffer(packet, STEP, offset=8))
            # A step names its source by a number of the sender, so the sender is kept beside it.
            parts.append(np.full(len(blocks[-1]), sender, np.uint32))
    assert summary is not None, "a stage without its own summary"
    steps, senders = np.concatenate(blocks), np.concatenate(parts)
    numbers = _numbers(graph, part, summary.states, np.ascontiguousarray(steps["print"]))

    # A limit of the search may have left out the state to which a step leads.
    known = numbers != NOWHERE
    # By target: trimming asks which steps lead to a state that changed.
    order = np.argsort(numbers[known], kind="stable")
    degrees = np.bincount(numbers[known], minlength=summary.states)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(degrees)]).astype(np.int64)
    columns = (senders, steps["source"], steps["label"])
    own = (np.ascontiguousarray(column[known][order]) for column in columns)
    name = write(graph, "steps", [starts, *own])
    return _to_json(replace(summary, file_of_steps=name))


def _numbers(graph: GraphInfo, part: int, states: int, wanted: Rows) -> Numbers:
    """The numbers of the states of a task that have these fingerprints; ``NOWHERE`` for fingerprints of no state."""
    cap = int(SLACK * states) + 8
    prints, numbers, first = np.zeros(cap, np.uint64), np.zeros(cap, np.uint32), 0
    machine = load(graph.workdir, graph.program).machine
    for _, some in own_rows(graph, part):
        if remember(prints, numbers, machine.prints(some), first):
            raise EnginesDisagreeError("two states have one fingerprint: their behaviours cannot be distinguished")
        first += len(some)
    found = np.empty(len(wanted), np.uint32)
    look_up(prints, numbers, wanted, found)
    return found


def write(graph: GraphInfo, what: str, arrays: list[Numbers]) -> str:
    """Write arrays into a new file of the work directory; returns its name."""
    name = f"{what}-{new_name()}"
    Storage(graph.workdir).write(name, b"".join(each.tobytes() for each in arrays))
    return name


def _to_json(summary: GraphSummary) -> str:
    kinds = [[sorted(each) for each in (kind.true, kind.undefined, kind.enabled, kind.cut)] for kind in summary.kinds]
    labels = [sorted(label) for label in summary.labels]
    return json.dumps([summary.states, summary.initial, kinds, labels, summary.file_of_kinds, summary.file_of_steps])


def from_json(text: str) -> GraphSummary:
    """The summary that ``_to_json`` wrote."""
    states, initial, kinds, labels, *files = json.loads(text)
    known = tuple(Kind(*(frozenset(each) for each in kind)) for kind in kinds)
    return GraphSummary(states, initial, known, tuple(map(frozenset, labels)), *files)


# ---------------------------------------------------------------------------------------------------- trimming


@dataclass(frozen=True, slots=True)
class GraphPart:
    """The part of one task. ``kinds`` and ``labels`` translate the task's numbers of kinds and labels into those of
    the whole graph.
    """

    summary: GraphSummary
    kinds: Numbers
    labels: Numbers


@dataclass(frozen=True, slots=True)
class ProductInfo:
    """The product with one automaton: its rules, the parts of the graph, and the files in which the last round left
    each part.

    With ``stopping`` the executions meant are those that stay in one state forever.
    """

    graph: GraphInfo
    rules: Rules
    parts: tuple[GraphPart, ...]
    files: tuple[str, ...] = ()
    stopping: bool = False

    def trimming(self, part: int) -> Trimming:
        """What a task trims its part with."""
        return Trimming(self.rules, *self.graph_part(part), stopping=self.stopping)

    def graph_part(self, part: int) -> tuple[Numbers, IncomingSteps]:
        """The kinds of the states of a task, and the steps that lead to them."""
        own, storage = self.parts[part], Storage(self.graph.workdir)
        kinds = own.kinds[np.frombuffer(storage.read(own.summary.file_of_kinds), np.uint32)]
        content = storage.read(own.summary.file_of_steps)
        starts = np.frombuffer(content, np.int64, own.summary.states + 1)
        parts, sources, labels = np.frombuffer(content, np.uint32, offset=starts.nbytes).reshape(3, -1)
        # Labels in a file have the numbers of the task that sent the step, so each sender's translation lies at its
        # offset.
        offsets = np.cumsum([0, *(len(each.labels) for each in self.parts)])
        every = np.concatenate([each.labels for each in self.parts])
        return kinds, IncomingSteps(starts, parts, sources, every[offsets[parts] + labels])

    def shape(self, part: int) -> tuple[int, int]:
        """How many states a task has, and how many the automaton has."""
        return self.parts[part].summary.states, self.rules.states

    def region(self, part: int) -> Region:
        """A part as the last round left it: three flags a node, then the marks."""
        shape = self.shape(part)
        content = np.frombuffer(Storage(self.graph.workdir).read(self.files[part]), np.uint8)
        flags = 3 * shape[0] * shape[1]
        marks = content[flags:].view(np.uint64).reshape(*shape, self.rules.words).copy()
        # `astype` copies: bytes that were read cannot be changed.
        alive, going, fresh = content[:flags].reshape(3, *shape).astype(bool)
        return Region(alive, going, fresh, marks)

    def keep(self, region: Region) -> str:
        """Write a part as it is now, and return the reply to the driver as text."""
        name = write(self.graph, "product", [region.alive, region.going, region.fresh, region.marks])
        return json.dumps(asdict(RoundReply(name, int(region.alive.sum()), int(region.fresh.sum()))))


@dataclass(frozen=True, slots=True)
class RoundReply:
    """A task's reply after a round: its file, how many nodes are left, and how many of them have messages to send."""

    file: str
    left: int
    fresh: int


def reply_from_json(text: str) -> RoundReply:
    """The reply of a task."""
    return RoundReply(**json.loads(text))


def send_nothing(part: int) -> list[ShuffleBatch]:
    """An empty packet of a task to itself. Each task has to receive something, or Spark would not run it in the
    second stage.
    """
    return [(part, b"")]


def begin_trimming(product: ProductInfo, part: int, _: Iterable[bytes]) -> str:
    """Begin with all nodes of the product, or with those that earlier rounds left."""
    work = product.trimming(part)
    return product.keep(work.begin(work.left(product.region(part)) if product.files else work.everything()))


def send_messages(product: ProductInfo, part: int) -> Iterator[ShuffleBatch]:
    """What a task sends to the others in a round, and an empty packet to itself, so that every task receives
    something.
    """
    for each in product.trimming(part).messages(product.region(part)):
        head = np.array([each.way, len(each.states)], np.int64)
        yield each.part, head.tobytes() + each.states.tobytes() + each.marks.tobytes()
    yield part, b""


def receive_messages(product: ProductInfo, part: int, packets: Iterable[bytes]) -> str:
    """Apply the messages of a round to a part; returns the reply as text."""
    work, region = product.trimming(part), product.region(part)
    # Others know of these nodes by now. What messages change is fresh in the next round.
    region.fresh[:] = False
    for packet in packets:
        # An empty packet is only there to make Spark run this task.
        if packet:
            way, n = np.frombuffer(packet, np.int64, 2).tolist()
            states = np.frombuffer(packet, np.uint32, n, offset=16)
            marks = np.frombuffer(packet[16 + 4 * n :], np.uint64).reshape(n, -1)
            work.receive(region, TrimmingMessage(part, way, states, marks))
    work.settle(region)
    return product.keep(region)
