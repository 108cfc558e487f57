from __future__ import annotations

from types import ModuleType
from typing import Any, get_args

from assay.grammar import kernel as k
from assay.grammar.kernel import node_unions
from assay.grammar.kernel import types as t


def classes_below(of: type, module: ModuleType) -> set[type]:
    found = (each for each in vars(module).values() if isinstance(each, type))
    return {each for each in found if issubclass(each, of) and each is not of}


def members(union: Any) -> set[type]:
    return set(get_args(union))


def test_every_expression_of_the_kernel_is_in_a_family() -> None:
    assert members(node_unions.AnyExpr) == classes_below(k.Expr, k)


def test_every_statement_of_the_kernel_is_in_the_union() -> None:
    assert members(node_unions.AnyStatement) == classes_below(k.Statement, k)


def test_every_type_of_the_kernel_is_in_the_union() -> None:
    assert members(node_unions.AnyType) == classes_below(t.Type, t)
