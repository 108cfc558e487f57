"""The order of the house, in figures: `python -m benchmarks house [CHECKOUT]`, some ten seconds; one line of JSON a figure.

The figures are of `grammar/`, `checker/`, `traces/`, `spark/` and `src/assay/`. CHECKOUT is another checkout, such as
an older one, for a table of before and after. A room is a folder of a package, or a file beside its folders.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import networkx
from grimp import ImportGraph, build_graph

Line = dict[str, object]

PACKAGES = ("grammar", "checker", "traces", "spark", "src/assay")
LONG_FUNCTION = 40
LONG_SENTENCE = 25
STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""', re.DOTALL)
CODE = re.compile(r"``[^`]*``|`[^`]*`")
"""A piece of code counts as one word of a sentence."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The figures of this checkout, or of the one that is named; raises ValueError where more are named."""
    if len(arguments) > 1:
        raise ValueError("one checkout at most")
    checkout = Path(arguments[0]).resolve() if arguments else Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(checkout / "src"))
    graph = build_graph("assay", exclude_type_checking_imports=True, cache_dir=None)
    texts = {path: path.read_text(encoding="utf-8") for name in PACKAGES for path in _files(checkout / name)}
    for name in PACKAGES:
        yield {"house": "lines", "package": name, "value": sum(map(_length, _of(texts, checkout / name)))}
    yield {"house": "lines", "package": "all", "value": sum(map(_length, texts.values()))}
    yield _most_files(texts, checkout)
    for name in PACKAGES[:-1]:
        yield from _imports(graph, f"assay.{name}")
    yield from _names_and_functions(texts, checkout)
    yield from _prose(texts, checkout)


def _files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, without those behind links."""
    return (path for path in sorted(folder.rglob("*.py")) if path.resolve() == path)


def _of(texts: dict[Path, str], folder: Path) -> list[str]:
    return [text for path, text in texts.items() if path.is_relative_to(folder)]


def _length(text: str) -> int:
    return text.count("\n")


def _most_files(texts: dict[Path, str], checkout: Path) -> Line:
    folders = Counter(path.parent for path in texts if path.name != "__init__.py")
    [(folder, count)] = folders.most_common(1)
    return {"house": "files in one folder, at most", "value": count, "where": str(folder.relative_to(checkout))}


def _imports(graph: ImportGraph, package: str) -> Iterator[Line]:
    """The chains of files, and the rooms: how many storeys and arrows they have, and which import each other."""
    modules = {name for name in graph.modules if name == package or name.startswith(f"{package}.")}
    files = networkx.DiGraph((name, to) for name in modules for to in _imported(graph, name) & modules)
    rooms = networkx.DiGraph((a, b) for a, b in ((_room(x), _room(y)) for x, y in files.edges) if a != b)
    rooms.remove_nodes_from([""])
    circles = [sorted(each) for each in networkx.strongly_connected_components(rooms) if len(each) > 1]
    yield {"house": "files in the longest chain of imports", "package": package, "value": _storeys(files)}
    yield {"house": "storeys of rooms", "package": package, "value": _storeys(rooms)}
    yield {"house": "arrows between rooms", "package": package, "value": rooms.number_of_edges()}
    yield {"house": "circles of rooms", "package": package, "value": len(circles), "where": circles}


def _imported(graph: ImportGraph, name: str) -> set[str]:
    return set(graph.find_modules_directly_imported_by(name))


def _room(module: str) -> str:
    return next(iter(module.split(".")[2:]), "")


def _storeys(graph: networkx.DiGraph[str]) -> int:
    """The nodes of the longest way through a graph; those that import each other in a circle count as one."""
    return int(networkx.dag_longest_path_length(networkx.condensation(graph))) + 1


def _names_and_functions(texts: dict[Path, str], checkout: Path) -> Iterator[Line]:
    """Public classes of one name in several files (a syntax node may be called as its kernel node); long functions."""
    places: dict[str, list[str]] = defaultdict(list)
    lengths: dict[str, int] = {}
    for path, text in texts.items():
        where, lines = str(path.relative_to(checkout)), text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                own = [each for each in lines[node.lineno - 1 : node.end_lineno] if not each.lstrip().startswith("#")]
                lengths[f"{where}:{node.name}:{node.lineno}"] = len(own)
        for name in re.findall(r"^class ([A-Z]\w*)", STRING.sub("", text), re.MULTILINE):
            places[name].append(str(path.relative_to(checkout).parent))
    pair = ["grammar/kernel", "grammar/syntax"]
    shared = sorted(name for name, where in places.items() if len(where) > 1 and sorted(where) != pair)
    long = sorted(((length, name) for name, length in lengths.items() if length > LONG_FUNCTION), reverse=True)
    yield {"house": "class names that mean several things", "value": len(shared), "where": shared}
    yield {"house": f"functions over {LONG_FUNCTION} lines", "value": len(long), "where": [name for _, name in long]}


def _prose(texts: dict[Path, str], checkout: Path) -> Iterator[Line]:
    """Lines to one comment; sentences of docstrings that are too long, and of how many."""
    comments = sum(len(re.findall(r"^ *#(?! noqa|!)", text, re.MULTILINE)) for text in texts.values())
    length = sum(map(_length, texts.values()))
    yield {"house": "lines to one line of comment", "value": length // comments, "of": comments}
    found = [(path, sentence) for path, text in texts.items() for sentence in _sentences(text)]
    long = [(path, words) for path, words in found if len(CODE.sub("it", words).split()) > LONG_SENTENCE]
    yield {
        "house": f"sentences of docstrings over {LONG_SENTENCE} words",
        "value": len(long),
        "of": len(found),
        "where": [f"{path.relative_to(checkout)}: {words}" for path, words in long],
    }


def _sentences(text: str) -> Iterator[str]:
    """The sentences of the docstrings of a file, those below constants too; lists and examples are not prose."""
    for node in ast.walk(ast.parse(text)):
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.Expr(ast.Constant(str(docstring))):
                    yield from _parts(docstring)
                case _:
                    pass


def _parts(docstring: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", docstring):
        if not re.match(r"\s*([=\b{]|Exit code:)|\n? {8}", paragraph):
            yield from re.split(r"(?<=[.?!])\s+", " ".join(paragraph.split()))
