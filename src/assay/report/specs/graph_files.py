"""Pictures of state graphs as files: GraphML, DOT, JSON, and SVG in layers from the initial states downwards."""

from __future__ import annotations

import json
from html import escape
from io import BytesIO
from typing import Literal

import networkx as nx

from assay.checker.stategraph.view import Picture

Format = Literal["graphml", "dot", "json", "svg"]
MOST_DRAWN = 300
"""A picture of more nodes shows nothing."""
CHARACTER, HEIGHT, GAP, LAYER = 7, 24, 24, 90
"""Sizes of a drawing in pixels: of a character, of a node, between nodes, and from layer to layer."""
SWEEPS = 6
"""How often nodes are ordered by the places of their neighbours."""


def picture_file(picture: Picture, form: Format) -> str:
    """The text of a file with the picture."""
    match form:
        case "graphml":
            made = BytesIO()
            nx.write_graphml(picture.networkx(), made, encoding="utf-8")
            return made.getvalue().decode("utf-8") + "\n"
        case "dot":
            return dot(picture)
        case "json":
            # The key is named because networkx before 3.6 calls it `links`.
            return json.dumps(nx.node_link_data(picture.networkx(), edges="edges"), ensure_ascii=False, indent=1) + "\n"
        case "svg":
            return svg(picture)


def dot(picture: Picture) -> str:
    """The picture in Graphviz's language; initial nodes have a double border."""
    lines = [f"digraph {_quoted(picture.name)} {{", "  node [shape=box, style=rounded];"]
    for number, node in enumerate(picture.nodes):
        double = ", peripheries=2" if node.initial else ""
        lines.append(f"  n{number} [label={_quoted(node.label)}, tooltip={_quoted(node.title)}{double}];")
    for (source, target), actions in picture.edges.items():
        lines.append(f"  n{source} -> n{target} [label={_quoted(', '.join(actions))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# ----------------------------------------------------------------------------------------------------- drawing


def svg(picture: Picture) -> str:
    """A drawing in layers by level. A node is below the nodes that reach it first; layers are ordered to keep edges
    short.
    """
    layers = _layers(picture)
    places = _places(picture, layers)
    width = max((x + _width(picture, at) / 2 for at, (x, _) in places.items()), default=0) + GAP
    height = LAYER * max(1, len(layers)) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" font-family="monospace" font-size="12">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#777"/></marker></defs>',
        # Before the nodes, which lie above them.
        *(_edge(places, source, target, actions) for (source, target), actions in picture.edges.items()),
        *(_node(picture, places, at) for at in range(len(picture.nodes))),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _layers(picture: Picture) -> list[list[int]]:
    layers: dict[int, list[int]] = {}
    for at, node in enumerate(picture.nodes):
        layers.setdefault(node.level, []).append(at)
    ordered = [layers[level] for level in sorted(layers)]
    neighbours: dict[int, list[int]] = {at: [] for at in range(len(picture.nodes))}
    for source, target in picture.edges:
        neighbours[source].append(target)
        neighbours[target].append(source)
    # The barycentre heuristic of layered drawings (Sugiyama, Tagawa and Toda, 1981): each node moves to the mean place
    # of its neighbours, which leaves few crossings.
    for _ in range(SWEEPS):
        order = {at: place / max(1, len(layer)) for layer in ordered for place, at in enumerate(layer)}
        for layer in ordered:
            mean = {at: sum(order[x] for x in neighbours[at]) / max(1, len(neighbours[at])) for at in layer}
            # By number where the mean is the same: the drawing is the same in each run.
            layer.sort(key=lambda at: (mean[at], at))
    return ordered


def _width(picture: Picture, at: int) -> float:
    return len(picture.nodes[at].label) * CHARACTER + 16


def _places(picture: Picture, layers: list[list[int]]) -> dict[int, tuple[float, float]]:
    """The centre of each node; layers are centred."""
    widths = [sum(_width(picture, at) + GAP for at in layer) for layer in layers]
    whole = max(widths, default=0)
    places = {}
    for row, (layer, width) in enumerate(zip(layers, widths, strict=True)):
        x = GAP + (whole - width) / 2
        for at in layer:
            places[at] = (x + _width(picture, at) / 2, GAP + HEIGHT / 2 + row * LAYER)
            x += _width(picture, at) + GAP
    return places


def _edge(places: dict[int, tuple[float, float]], source: int, target: int, actions: tuple[str, ...]) -> str:
    (x, y), (u, v) = places[source], places[target]
    title = f"<title>{escape(', '.join(actions))}</title>"
    style = 'fill="none" stroke="#777" marker-end="url(#arrow)"'
    half = HEIGHT / 2
    if source == target:
        return f'<path d="M{x:.0f} {y - half:.0f} c-18 -22 18 -22 2 0" {style}>{title}</path>'
    if v > y:
        return f'<path d="M{x:.0f} {y + half:.0f} L{u:.0f} {v - half:.0f}" {style}>{title}</path>'
    # Upwards, or within a layer, a straight line would lie on other nodes: it is bent to the right.
    bend = (x + u) / 2 + 40, (y + v) / 2 - 20
    return (
        f'<path d="M{x:.0f} {y - half:.0f} Q{bend[0]:.0f} {bend[1]:.0f} {u:.0f} {v + half:.0f}" {style}>{title}</path>'
    )


def _node(picture: Picture, places: dict[int, tuple[float, float]], at: int) -> str:
    node, (x, y), width = picture.nodes[at], places[at], _width(picture, at)
    line = 2.5 if node.initial else 1
    box = f'<rect x="{x - width / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="6" fill="#fff" stroke="#333" stroke-width="{line}"/>'
    text = f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{escape(node.label)}</text>'
    return f"<g><title>{escape(node.title)}</title>{box}{text}</g>"
