"""Specs that an earlier run has loaded from the same files, from the user's cache.

Reading a spec and making its kernel takes longer than a short log needs otherwise, and most runs ask for the same few
specs. Which files a spec consists of is looked up anew each time. What has mistakes or warnings is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.grammar.data_cache import MARK, entry, remember, remembered
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.modules.library import Folders, Library, UnreadModule, command_line_source
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import Kernel
from assay.grammar.loaded import Elements, Loaded
from assay.grammar.parsing.spec_text import normalized, read_text

if TYPE_CHECKING:
    from assay.grammar.elaborate.modules.module_tree import ModuleTree

_entries: IdentityMemo[Kernel, str] = IdentityMemo(limit=16)
"""Kernels that were read or kept, with the names of their entries."""


def entry_of(kernel: Kernel) -> str | None:
    """The name under which this kernel is kept, which is a hash of all that it was made from. None for a kernel that is
    not kept, and for one that was made from another kernel.
    """
    return _entries.get(kernel)


def remembered_spec(
    top: UnreadModule,
    library: Library,
    model: str | None,
    overrides: Mapping[str, str],
    read: Callable[[], ModuleTree],
) -> Loaded | None:
    """The spec, if an earlier run has loaded it in the same way and had no remark; ``read`` reads its modules anew."""
    sources = _sources(top, library)
    if sources is None:
        return None
    name = _kernel_entry(sources, model, overrides)
    kernel = remembered(name)
    if name is None or not isinstance(kernel, Kernel):
        return None
    _entries[kernel] = name

    @cache
    def tree() -> ModuleTree:
        return remembered(_tree_entry(sources)) or read()

    return Loaded(kernel, tree, {**sources, **command_line_source(overrides)}, (), model, dict(overrides))


def remember_spec(
    tree: ModuleTree,
    used: Mapping[str, Sequence[str]],
    kernel: Kernel,
    model: str | None,
    overrides: Mapping[str, str],
) -> None:
    """Keep a spec without mistakes; ``used`` are the names of the modules that each file uses."""
    for file, names in used.items():
        remember(_names_entry(file, tree.sources[file]), tuple(names))
    remember(_tree_entry(tree.sources), tree)
    name = _kernel_entry(tree.sources, model, overrides)
    if name is not None and remember(name, kernel) is not None:
        _entries[kernel] = name


def declared_models(loaded: Loaded) -> tuple[str, ...]:
    """The names of the ``model`` blocks of a spec. Its modules are read where no earlier run has asked this of the same
    files. Reading takes a third of a second for the large ones.
    """
    name = entry("models", sorted(loaded.sources.items()))
    found = remembered(name)
    if isinstance(found, tuple):
        return found
    from assay.grammar.elaborate.modules.parameter_overrides import models_of  # noqa: PLC0415 - a tenth of a second

    models = tuple(model.name.text for model in models_of(loaded.tree.top))
    remember(name, models)
    return models


def kernel_with_names(
    loaded: Loaded, elements: Elements, sizes: Mapping[str, int], make: Callable[[Elements], Kernel]
) -> Kernel:
    """The kernel whose set parameters have these elements; ``make`` makes it if none like it is kept.

    A kernel depends on the number of the elements, and not on their names, unless the spec can write them. So it is
    made with stand-ins, and the names are put in when it is read: logs with as many brokers share an entry.
    """
    # A spec that holds the mark could spell a stand-in.
    if any(MARK in text for text in loaded.sources.values()):
        return make(elements)
    placed = {param: _stand_ins(param, names) for param, names in elements.items()}
    meaning = {
        stand_in: name for param, names in elements.items() for stand_in, name in zip(placed[param], names, strict=True)
    }
    binding = "log", sorted(sizes.items()), sorted(placed.items())
    name = _kernel_entry(loaded.sources, loaded.model, loaded.overrides, *binding)
    found = remembered(name, meaning)
    if not isinstance(found, Kernel):
        found = remember(name, make(placed), meaning)
    return found if isinstance(found, Kernel) else make(elements)


def _stand_ins(param: str, names: Sequence[str]) -> tuple[str, ...]:
    """A stand-in for each name that the spec cannot write, and the names themselves if it can write one of them."""
    # `b1` could be written in an expression of the spec, and `1001`, as most logs have it, cannot.
    if any(name.isidentifier() for name in names):
        return tuple(names)
    return tuple(f"{MARK}{param} {position}" for position in range(len(names)))


def _sources(top: UnreadModule, library: Library) -> Mapping[str, str] | None:
    """The texts of a spec's files as ``ModuleTree.sources`` has them, found without parsing any. None if one of them
    was never read before, or cannot be.
    """
    found: dict[str, str] = {}
    waiting = [top]
    while waiting and isinstance(library, Folders):
        module = waiting.pop()
        if module.file in found:
            continue
        text = read_text(Path(module.file), Diagnostics()) if module.text is None else normalized(module.text)
        names = None if text is None else remembered(_names_entry(module.file, text))
        if text is None or names is None:
            return None
        found[module.file] = text
        for name in reversed(names):
            # A module is looked for anew: a file nearer to the one that uses it may have appeared since the last run.
            below = library.find(name, module)
            if below is None:
                return None
            waiting.append(below)
    return found or None


def _names_entry(file: str, text: str) -> str | None:
    return entry("imports", file, text)


def _tree_entry(sources: Mapping[str, str]) -> str | None:
    return entry("tree", sorted(sources.items()))


def _kernel_entry(
    sources: Mapping[str, str], model: str | None, overrides: Mapping[str, str], *more: object
) -> str | None:
    return entry("kernel", sorted(sources.items()), model, list(overrides.items()), *more)
