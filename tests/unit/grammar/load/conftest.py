"""Fixtures that load small specs and search them with the reference checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search
from assay.grammar.kernel import Kernel
from assay.grammar.load import UnusableSpecError, load_text


@pytest.fixture
def kernel_of() -> Callable[..., Kernel]:
    """The kernel of a text; keyword arguments are those of ``load_text``."""

    def make(text: str, **options: Any) -> Kernel:
        return load_text(text, **options).kernel

    return make


@pytest.fixture
def errors_of() -> Callable[..., list[str]]:
    """The codes and messages of a text that cannot be used, in order of place; empty if it can."""

    def find(text: str, modules: Mapping[str, str] | None = None, **options: Any) -> list[str]:
        try:
            load_text(text, modules=modules, **options)
        except UnusableSpecError as error:
            return [f"{d.code} {d.message}" for d in error.diagnostics]
        return []

    return find


@pytest.fixture
def codes_of(errors_of: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """The codes alone."""

    def find(text: str, **options: Any) -> list[str]:
        return [message.split()[0] for message in errors_of(text, **options)]

    return find


@pytest.fixture
def search() -> Callable[[Kernel], Search]:
    """A finished breadth-first search; deadlocks are not looked for."""

    def run(kernel: Kernel) -> Search:
        found = Search(Model(kernel), SearchOptions(check_deadlock=False, keep_going=True))
        found.run()
        return found

    return run
