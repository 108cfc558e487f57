"""The nodes of the kernel by family, as closed unions: a ``match`` over one of them can end in ``assert_never``."""

from __future__ import annotations

from typing import cast

from assay.grammar import kernel as k
from assay.grammar.kernel import types as t

Leaf = k.Const | k.StateVar | k.Local | k.TypeDomain | k.Old
Condition = k.Not | k.Logic | k.Equal | k.Compare | k.Quantified | k.Member | k.Subset | k.IsVariant | k.IsSome
Control = k.IfThenElse | k.LetIn
Integer = k.Negate | k.Arithmetic | k.Count | k.Times | k.Aggregate
Making = k.Checked | k.MakeSome | k.MakeSet | k.MakeSeq | k.MakeBag | k.MakeMap | k.MakeRecord | k.MakeVariant
Collecting = (
    k.Filter | k.Image | k.Tabulate | k.Interval | k.Combine | k.Subsets | k.Keys | k.Values | k.Elements | k.Slice
)
Access = k.Lookup | k.Endpoint | k.ReadField | k.Payload | k.Unwrap
Changing = k.UpdateEntry | k.UpdateField | k.Without
InTime = k.Temporal | k.ActionAtom

AnyExpr = Leaf | Condition | Control | Integer | Making | Collecting | Access | Changing | InTime
AnyStatement = k.Guard | k.Let | k.Pick | k.Assign | k.If | k.For
AnyType = (
    t.BoolType
    | t.IntType
    | t.RangeType
    | t.AtomType
    | t.EnumType
    | t.RecordType
    | t.OptionType
    | t.SetType
    | t.MapType
    | t.SeqType
    | t.BagType
)


def expression(node: k.Expr) -> AnyExpr:
    """The node, typed as one of the closed union; a test compares the union with the kernel's classes."""
    return cast(AnyExpr, node)


def statement(node: k.Statement) -> AnyStatement:
    """The statement, typed as one of the closed union."""
    return cast(AnyStatement, node)


def kind(type_: t.Type) -> AnyType:
    """The type, typed as one of the closed union."""
    return cast(AnyType, type_)
