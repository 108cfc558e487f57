"""From a file to a kernel: reads a spec with the modules it uses, binds its parameters, and elaborates it.

``load_spec`` is what the command line calls; ``log_kernel`` makes the kernel of the same spec with sets and sizes taken
from a log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics, Span
from assay.grammar.elaborate.modules.library import Folders, Given, Library, UnreadModule, shown
from assay.grammar.loaded import Elements, Loaded, Outline, ParameterInfo, UnusableSpecError
from assay.grammar.spec_cache import kernel_with_names, remember_spec, remembered_spec

if TYPE_CHECKING:
    from assay.grammar.elaborate.modules.module_instance import Unit
    from assay.grammar.elaborate.modules.module_instances import Units
    from assay.grammar.elaborate.modules.module_tree import ModuleTree

__all__ = [
    "Loaded",
    "Outline",
    "ParameterInfo",
    "UnusableSpecError",
    "analyse_text",
    "bundled_specs",
    "load_spec",
    "load_text",
    "log_kernel",
    "model_names",
    "outline",
    "units_of",
]


def bundled_specs() -> tuple[Path, ...]:
    """The directory of the specs bundled with assay."""
    return (Path(str(resources.files("assay").joinpath("spec"))),)


def load_spec(
    path: Path | str,
    *,
    model: str | None = None,
    overrides: Mapping[str, str] | None = None,
    search: Sequence[Path] | None = None,
    added: Sequence[str] = (),
    text: str | None = None,
) -> Loaded:
    """Read a spec and make its kernel. Raises ``UnusableSpecError`` with every mistake found.

    ``added`` are declarations appended to it. ``text`` stands for what the file holds: that of an editor, for example.
    """
    folders = Folders(bundled_specs() if search is None else tuple(search))
    place = Path(path)
    # What is no file is left to the reader of modules, which says what is wrong with it.
    if added and place.is_file():
        # At the end, so that the lines of the file keep their numbers.
        text = "\n".join([place.read_text(encoding="utf-8") if text is None else text, *added, ""])
    return _load(UnreadModule(shown(place), place, text), folders, model, overrides or {})


def analyse_text(path: Path | str, text: str) -> tuple[Loaded, Units]:
    """The spec that an editor holds, and the units of its modules, with the scopes in which names are read. The top
    module's unit is the first. Nothing is kept on disk. Raises ``UnusableSpecError`` with every mistake found.
    """
    from assay.grammar.elaborate.elaborate_spec import analysed  # noqa: PLC0415 - as in `_load`

    place = Path(path)
    with nested_too_deeply(shown(place)):
        return analysed(UnreadModule(shown(place), place, text), Folders(bundled_specs()), None, {})


def load_text(
    text: str,
    *,
    file: str = "spec.assay",
    model: str | None = None,
    overrides: Mapping[str, str] | None = None,
    modules: Mapping[str, str] | None = None,
    search: Sequence[Path] | None = None,
) -> Loaded:
    """The same for a spec given as text; ``modules`` are texts of modules that it may use, by name."""
    folders = Folders(bundled_specs() if search is None else tuple(search))
    return _load(UnreadModule(file, None, text), Given(modules or {}, folders), model, overrides or {})


def log_kernel(loaded: Loaded, sorts: Mapping[str, Sequence[str]], sizes: Mapping[str, int]) -> kernel.Kernel:
    """The kernel of a spec for a log: set parameters get the elements, and size parameters the values, that the log
    needs.

    Everything else is bound as in ``loaded``, except by a model that was taken only because none was named. Elements
    may have any names, and scenarios are left out. Raises ``UnusableSpecError``.
    """

    def make(elements: Elements) -> kernel.Kernel:
        from assay.grammar.elaborate.elaborate_spec import sized_kernel  # noqa: PLC0415 - as in `_load`

        return sized_kernel(loaded, elements, sizes)

    return kernel_with_names(loaded, sorts, sizes, make)


def units_of(loaded: Loaded) -> tuple[Unit, ...]:
    """The modules of a loaded spec with the scopes in which their declarations are read; the top module is the first.

    They are bound as the kernel is.
    """
    from assay.grammar.elaborate.elaborate_spec import bound_units  # noqa: PLC0415 - as in `_load`

    return bound_units(loaded)


def outline(path: Path | str, *, search: Sequence[Path] | None = None) -> Outline:
    """The models and parameters of a spec. Raises ``UnusableSpecError`` if it cannot be read."""
    from assay.grammar.elaborate.elaborate_spec import outlined  # noqa: PLC0415 - as in `_load`

    folders = Folders(bundled_specs() if search is None else tuple(search))
    return outlined(UnreadModule(shown(Path(path)), Path(path)), folders)


def model_names(path: Path | str) -> tuple[str, ...]:
    """The names of the ``model`` blocks of a spec. Raises ``UnusableSpecError`` if it cannot be read."""
    return outline(path).models


def _load(top: UnreadModule, library: Library, model: str | None, overrides: Mapping[str, str]) -> Loaded:
    def modules() -> ModuleTree:
        from assay.grammar.elaborate.elaborate_spec import modules_of  # noqa: PLC0415 - a tenth of a second

        return modules_of(top, library, Diagnostics(), {})

    with nested_too_deeply(top.file):
        kept = remembered_spec(top, library, model, overrides, modules)
        if kept is not None:
            return kept
        from assay.grammar.elaborate.elaborate_spec import elaborated  # noqa: PLC0415 - a tenth of a second

        loaded, used = elaborated(top, library, model, overrides)
        # Modules that are no files, and what has remarks, are read anew each time: the cache knows neither.
        if not loaded.diagnostics and isinstance(library, Folders):
            remember_spec(loaded.tree, used, loaded.kernel, model, overrides)
        return loaded


@contextmanager
def nested_too_deeply(file: str) -> Iterator[None]:
    """Inside, what is nested too deeply for Python is a mistake of the file."""
    try:
        yield
    except RecursionError:
        message = "something in this file is nested too deeply"
        raise UnusableSpecError([Diagnostic("E017", Span(file, 1, 1, 1, 1), message)], {}) from None
