"""The inner loops for temporal properties, as machine code: numbering of states, components of the product, paths in
it.

The product is never built: its edges are those of the state graph, followed once for each transition of the automaton
(``checker.liveness.product`` defines it). The argument ``product`` is ``starts, targets, labels, kinds`` of the graph
and ``first, dest, admits, passes`` of the automaton; ``marks`` is ``of_way, of_label, of_kind, asked, needed``, as
bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.checker.explicit.store.hash_kernels import home
from assay.checker.jit.jit_function import ArrayFunction

NOWHERE = (1 << 32) - 1
"""Stands for the number of an unknown state."""
TO_FAIR, TO_MARK, TO_NODE, TO_KIND = range(4)
"""What ``shortest`` looks for."""


@ArrayFunction
def remember(prints: Any, numbers: Any, marks: Any, first: int) -> int:
    """Number the states with these fingerprints from ``first`` on; returns how many of the fingerprints were there
    before."""
    cap, known = len(prints), 0
    for i in range(len(marks)):
        at = home(marks[i], cap)
        while prints[at] != 0 and prints[at] != marks[i]:
            at = at + 1 if at + 1 < cap else 0
        known += prints[at] != 0
        prints[at] = marks[i]
        numbers[at] = first + i
    return known


@ArrayFunction
def look_up(prints: Any, numbers: Any, marks: Any, found: Any) -> None:
    """The numbers of the states with these fingerprints, or ``NOWHERE``."""
    cap = len(prints)
    for i in range(len(marks)):
        at = home(marks[i], cap)
        while prints[at] != 0 and prints[at] != marks[i]:
            at = at + 1 if at + 1 < cap else 0
        found[i] = numbers[at] if prints[at] != 0 else NOWHERE


@ArrayFunction
def advance(node: Any, place: Any, part: Any, index: Any, product: Any, stopping: bool) -> tuple[int, int]:
    """Follow the edges of a node from ``place`` on, up to one to an unvisited node. Returns the place after it and that
    node, else -1.

    On the way the index of the node is lowered to those of the nodes that it leads to.
    """
    starts, targets, labels, kinds, first, dest, admits, passes = product
    states = len(first) - 1
    state = node // states
    q = node - state * states
    kind, begin = kinds[state], np.int64(starts[state])
    edges = np.int64(1) if stopping else np.int64(starts[state + 1]) - begin + 1
    # Edges of a product node: each transition of the automaton with each step of the graph. Edge 0 is to stay for ever
    # in the state, which is all there is where only `stopping` runs are asked about.
    last = (first[q + 1] - first[q]) * edges
    while place < last:
        way = first[q] + place // edges
        edge = place % edges
        # Where a transition's literals are false, all its edges are skipped. A call that goes on in the midst of them
        # has asked this before.
        if edge == 0 and not admits[kind, way]:
            place += edges
            continue
        place += 1
        target = state if edge == 0 else np.int64(targets[begin + edge - 1])
        label = np.int64(0) if edge == 0 else np.int64(labels[begin + edge - 1])
        to = target * states + dest[way]
        if not passes[label, way] or part[to] != part[node]:
            continue
        if index[to] == 0:
            return place, to
        index[node] = min(index[node], index[to])
    return place, -1


@ArrayFunction
def sweep(  # noqa: PLR0913, PLR0917 - one loop over arrays
    roots: Any, part: Any, index: Any, stack: Any, places: Any, numbers: Any, met: Any, product: Any, marks: Any, stopping: bool
) -> None:  # fmt: skip
    """Find the strongly connected components of all regions that contain a root, and classify each.

    A region is a set of nodes with one positive number in ``part``. There, nodes without a fair cycle get 0, and those
    of a fair component its negative number. Nodes to examine again get the number of a new region. ``index`` is 0 for
    nodes not visited yet. ``numbers`` are the last numbers used for components and regions; ``met`` is scratch space
    for the marks of a component.

    This is D. J. Pearce's algorithm ("A space-efficient algorithm for finding strongly connected components", 2016),
    without recursion. Open calls grow from the end of ``stack``, nodes of incomplete components from its beginning, so
    that both share one array of nodes. ``places`` of calls known not to be roots of a component are stored as negative
    numbers.
    """
    next_index, component, top, end = 1, len(part) + 1, 0, len(stack)
    for r in range(len(roots)):
        if index[roots[r]] != 0 or part[roots[r]] <= 0:
            continue
        depth = 1
        stack[end - 1], places[0] = roots[r], 0
        index[roots[r]] = next_index
        next_index += 1
        while depth > 0:
            # The newest open call goes on where it paused.
            node = np.int64(stack[end - depth])
            own, begun = index[node], np.int64(places[depth - 1])
            rooted = begun >= 0
            place, to = advance(node, begun if rooted else -1 - begun, part, index, product, stopping)
            rooted = rooted and index[node] >= own
            if to >= 0:
                places[depth - 1] = place if rooted else -1 - place
                depth += 1
                stack[end - depth], places[depth - 1] = to, 0
                index[to] = next_index
                next_index += 1
                continue
            depth -= 1
            # It reaches no incomplete node that was visited earlier, so it is a component with what lies above
            # `bottom`.
            if rooted:
                component -= 1
                bottom = top
                while bottom > 0 and index[node] <= index[stack[bottom - 1]]:
                    bottom -= 1
                stack[top] = node
                # Indices of a complete component are used again. So they stay below `component`, which counts down from
                # above.
                next_index -= top - bottom + 1
                for at in range(bottom, top + 1):
                    index[stack[at]] = component
                members = stack[bottom : top + 1]
                judge(members, component, part, index, numbers, met, product, marks, stopping)
                top = bottom
            else:
                stack[top] = node
                top += 1
                # It belongs to the component of a call below, which learns the lowest index that was reached.
                above = stack[end - depth]
                if index[node] < index[above]:
                    index[above] = index[node]
                    if places[depth - 1] >= 0:
                        places[depth - 1] = -1 - places[depth - 1]


@ArrayFunction
def judge(  # noqa: PLR0913, PLR0917 - as above
    members: Any, component: int, part: Any, index: Any, numbers: Any, met: Any, product: Any, marks: Any, stopping: bool
) -> None:  # fmt: skip
    """Say what becomes of the nodes of a component."""
    starts, targets, labels, kinds, first, dest, admits, passes = product
    of_way, of_label, of_kind, asked, needed = marks
    states, words = len(first) - 1, len(needed)
    region, goes_on = part[members[0]], False
    met[:] = 0
    for at in range(len(members)):
        node = np.int64(members[at])
        state = node // states
        q = node - state * states
        kind, begin = kinds[state], np.int64(starts[state])
        edges = np.int64(1) if stopping else np.int64(starts[state + 1]) - begin + 1
        for word in range(words):
            met[word] |= of_kind[kind, word]
        for way in range(first[q], first[q + 1]):
            if not admits[kind, way]:
                continue
            for edge in range(edges):
                target = state if edge == 0 else np.int64(targets[begin + edge - 1])
                label = np.int64(0) if edge == 0 else np.int64(labels[begin + edge - 1])
                to = target * states + dest[way]
                if passes[label, way] and part[to] == region and index[to] == component:
                    goes_on = True
                    for word in range(words):
                        met[word] |= of_way[way, word] | of_label[label, word]
    for word in range(words):
        # `needed` are the marks that every fair cycle meets, such as those of weak fairness. What a kind of states asks
        # for more (strong fairness) is compared below: its states are left out, and the rest is examined again.
        goes_on = goes_on and needed[word] & ~met[word] == 0
    kept = 0
    for at in range(len(members)):
        # A single node without an edge to itself is a component too, and no cycle: there `goes_on` is false.
        kept += goes_on and is_within(asked, kinds[members[at] // states], met)
    fair = kept == len(members)
    if kept:
        numbers[0 if fair else 1] += 1
    for at in range(len(members)):
        node = members[at]
        if fair:
            part[node] = -numbers[0]
        elif kept and is_within(asked, kinds[node // states], met):
            part[node], index[node] = numbers[1], 0
        else:
            part[node] = 0


@ArrayFunction
def is_within(asked: Any, kind: int, met: Any) -> bool:
    """Whether all marks that a kind of states asks for were met."""
    for word in range(len(met)):  # noqa: SIM110 - a generator would not compile
        if asked[kind, word] & ~met[word] != 0:
            return False
    return True


@ArrayFunction
def shortest(  # noqa: PLR0913, PLR0917 - as above
    before: Any, queue: Any, count: int, part: Any, inside: int, aim: Any, product: Any, marks: Any, stopping: bool
) -> tuple[int, int]:  # fmt: skip
    """The last step of a shortest path from the first ``count`` nodes in ``queue`` to the aim; -1 twice if there is
    none.

    ``aim`` is one of the numbers above, the node, the marks, and a flag for each kind and automaton state. The path has
    at least one step, and stays on nodes whose part is ``inside`` unless that is 0. ``before`` of a node is the one
    from which it was reached, of a source itself, and -1 for all others.
    """
    sort, goal, wanted, wanted_kinds = aim
    starts, targets, labels, kinds, first, dest, admits, passes = product
    of_way, of_label, of_kind, _, _ = marks
    states, words = len(first) - 1, len(wanted)
    done = 0
    while done < count:
        node = np.int64(queue[done])
        done += 1
        state = node // states
        q = node - state * states
        kind, begin = kinds[state], np.int64(starts[state])
        edges = np.int64(1) if stopping else np.int64(starts[state + 1]) - begin + 1
        for way in range(first[q], first[q + 1]):
            if not admits[kind, way]:
                continue
            for edge in range(edges):
                target = state if edge == 0 else np.int64(targets[begin + edge - 1])
                label = np.int64(0) if edge == 0 else np.int64(labels[begin + edge - 1])
                to = target * states + dest[way]
                if not passes[label, way] or (inside != 0 and part[to] != inside):
                    continue
                found = (
                    (sort == TO_FAIR and part[to] < 0)
                    or (sort == TO_NODE and to == goal)
                    or (sort == TO_KIND and wanted_kinds[kinds[target], dest[way]])
                )
                if sort == TO_MARK:
                    for word in range(words):
                        have = of_way[way, word] | of_label[label, word] | of_kind[kinds[target], word]
                        found = found or wanted[word] & have != 0
                if found:
                    return int(node), int(to)
                if before[to] < 0:
                    before[to] = node
                    queue[count] = to
                    count += 1
    return -1, -1
