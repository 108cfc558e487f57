"""The expressions of the compiled subset of Python, and the writer of LLVM text that all of it uses."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping

from assay.checker.jit.argument_types import Array, Element, FunctionSource, Kind, Value, kind_of

WORD = 64
OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "udiv", ast.Mod: "urem", ast.LShift: "shl", ast.RShift: "lshr",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip
ELEMENTS = {
    "int64": Element(WORD, signed=True), "uint64": Element(WORD, signed=False), "int32": Element(32, signed=True),
    "uint32": Element(32, signed=False), "uint8": Element(8, signed=False),
}  # fmt: skip


class UntranslatableError(Exception):
    """The function uses something outside the subset that ``python_to_llvm`` defines: a mistake of its author."""


class LlvmWriter(ABC):
    """Writes the lines of one function. Numbers live in stack slots, which LLVM turns into registers; arrays and tuples
    have none."""

    def __init__(self, source: FunctionSource, *, checked: bool) -> None:
        self.source = source
        self.checked = checked
        self.slots: dict[str, str] = {}
        self.others: dict[str, Value] = {}
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.fresh_number = 0
        self.ended = False

    @abstractmethod
    def call_named(self, node: ast.Call, name: str) -> Value:
        """The value of a call of another function of the module."""

    def refused(self, node: ast.AST) -> UntranslatableError:
        """The error to raise about a part of the source."""
        line = getattr(node, "lineno", 1) + self.source.tree.lineno - 1
        return UntranslatableError(
            f"{self.source.tree.name}, line {line}: `{ast.unparse(node)}` is outside the language"
        )

    # ----------------------------------------------------------------------------------------------- writing lines

    def do(self, line: str) -> None:
        """Write an instruction."""
        self.lines.append(f"  {line}")

    def fresh(self, line: str) -> str:
        """Write an instruction and return the name of its result."""
        self.fresh_number += 1
        self.do(f"%t{self.fresh_number} = {line}")
        return f"%t{self.fresh_number}"

    def label(self, stem: str) -> str:
        """A fresh label."""
        # One count for names and labels: LLVM keeps both in one namespace.
        self.fresh_number += 1
        return f"{stem}.{self.fresh_number}"

    def at(self, label: str) -> None:
        """Begin a block; the block before falls through to it."""
        self.jump(label)
        self.lines.append(f"{label}:")
        self.ended = False

    def jump(self, label: str) -> None:
        """End the block, unless it has ended."""
        if not self.ended:
            self.do(f"br label %{label}")
        self.ended = True

    def branch(self, condition: str, yes: str, no: str) -> None:
        """End the block with a conditional branch."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.ended = True

    def slot(self, name: str) -> str:
        """The stack slot of a number."""
        if name not in self.slots:
            # In the entry block: LLVM promotes only those slots to registers, and one in a loop would grow the stack.
            self.slots[name] = f"%v.{name}"
            self.entry.append(f"  %v.{name} = alloca i64")
        return self.slots[name]

    def store(self, name: str, value: str) -> None:
        """Assign a number to a name."""
        self.do(f"store i64 {value}, ptr {self.slot(name)}")

    def bind(self, node: ast.AST, name: str, value: Value) -> None:
        """Bind a name to a value. An array or a tuple cannot be rebound: what the name means would depend on the path
        taken."""
        if isinstance(value, str) and name not in self.others:
            self.store(name, value)
        elif not isinstance(value, str) and name not in self.slots and (name == "_" or name not in self.others):
            self.others[name] = value
        else:
            raise self.refused(node)

    def require(self, index: str, size: str, *, end: bool = False) -> None:
        """Where indexes are checked, abort the process unless one is below a size, or at most that if it is the ``end``
        of a slice."""
        if not self.checked:
            return
        inside, outside = self.label("inside"), self.label("outside")
        self.branch(self.fresh(f"icmp {'ule' if end else 'ult'} i64 {index}, {size}"), inside, outside)
        self.at(outside)
        self.do("call void @llvm.trap()")
        self.do("unreachable")
        self.ended = True
        self.at(inside)

    # -------------------------------------------------------------------------------------------------- expressions

    def word(self, node: ast.expr) -> str:
        """The value of an expression that must be a word."""
        found = self.value(node)
        if not isinstance(found, str):
            raise self.refused(node)
        return found

    def array(self, node: ast.expr) -> Array:
        """The value of an expression that must be an array."""
        found = self.value(node)
        if not isinstance(found, Array):
            raise self.refused(node)
        return found

    def kind(self, value: Value) -> Kind:
        """The type of a value."""
        return kind_of(value)

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        match node:
            case ast.Constant(bool() | int() as number):
                return str(int(number))
            case ast.Name(name):
                return self.named(node, name)
            case ast.Tuple(parts):
                return tuple(self.value(part) for part in parts)
            case ast.UnaryOp(ast.USub(), operand):
                return self.fresh(f"sub i64 0, {self.word(operand)}")
            case ast.UnaryOp(ast.Invert(), operand):
                return self.fresh(f"xor i64 {self.word(operand)}, -1")
            case ast.BinOp(left, operator, right):
                return self.operation(node, operator, self.word(left), self.word(right))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
                # `and` and `or` are conditions: 0 or 1, and not one of their operands as in Python.
                return self.fresh(f"zext i1 {self.condition(node)} to i64")
            case ast.IfExp(test, then, otherwise):
                return self.chosen(test, then, otherwise)
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self.part(node)
            case _:
                raise self.refused(node)

    def part(self, node: ast.Subscript) -> Value:
        """A size, a tuple item, a slice, a row or an element of an array."""
        match node:
            case ast.Subscript(ast.Attribute(of, "shape"), at):
                return self.array(of).sizes[self.constant(at)]
            case ast.Subscript(ast.Name(name), at) if isinstance(self.others.get(name), tuple):
                return self.others[name][self.constant(at)]  # type: ignore[index]
            case ast.Subscript(of, ast.Slice(ast.expr() as first, ast.expr() as last, None)):
                array, begin = self.array(of), self.word(first)
                if len(array.sizes) > 1:
                    raise self.refused(node)
                end = self.word(last)
                self.require(end, array.sizes[0], end=True)
                self.require(begin, end, end=True)
                size = self.fresh(f"sub i64 {end}, {begin}")
                return Array(array.element, self.address(array, begin), (size,))
            case _:
                place = self.element(node)
                return place if isinstance(place, Array) else self.read_element(*place)

    def named(self, node: ast.expr, name: str) -> Value:
        """The value of a name."""
        if name in self.others:
            return self.others[name]
        if name in self.slots:
            return self.fresh(f"load i64, ptr {self.slots[name]}")
        # Otherwise a constant of the module, whose value is fixed when the text is written.
        return str(self.constant(node))

    def constant(self, node: ast.expr) -> int:
        """A number known at compile time."""
        match node:
            case ast.Constant(int() as number):
                return number
            case ast.UnaryOp(ast.USub(), operand):
                return -self.constant(operand)
            case ast.Name(name) if name in self.source.names:
                number = int(self.source.names[name])
                # The same bits as a signed number, so that a loop with a negative step is seen as one.
                return number - (1 << WORD) if number >> (WORD - 1) else number
            case _:
                raise self.refused(node)

    def operation(self, node: ast.AST, operator: ast.operator, left: str, right: str) -> str:
        """An operation on two words."""
        if type(operator) not in OPERATORS:
            raise self.refused(node)
        return self.fresh(f"{OPERATORS[type(operator)]} i64 {left}, {right}")

    def chosen(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> str:
        """A conditional expression. Only the chosen side is computed: the other may be an element out of bounds."""
        name = self.label("chosen")
        yes, no, done = map(self.label, ("then", "else", "done"))
        self.branch(self.condition(test), yes, no)
        for label, value in ((yes, then), (no, otherwise)):
            self.at(label)
            self.store(name, self.word(value))
            self.jump(done)
        self.at(done)
        return self.fresh(f"load i64, ptr {self.slot(name)}")

    def condition(self, node: ast.expr) -> str:
        """The truth of an expression."""
        match node:
            case ast.Compare(left, [operator], [right]) if type(operator) in COMPARISONS:
                one, other = self.word(left), self.word(right)
                return self.fresh(f"icmp {COMPARISONS[type(operator)]} i64 {one}, {other}")
            case ast.UnaryOp(ast.Not(), operand):
                return self.fresh(f"xor i1 {self.condition(operand)}, true")
            case ast.BoolOp(operator, values):
                return self.joined(values, stop_at=isinstance(operator, ast.Or))
            case _:
                return self.fresh(f"icmp ne i64 {self.word(node)}, 0")

    def joined(self, values: list[ast.expr], *, stop_at: bool) -> str:
        """``and`` and ``or`` with short-circuit evaluation."""
        name, done = self.label("joined"), self.label("decided")
        for value in values[:-1]:
            following = self.label("following")
            # What holds if this operand decides. The slot is written before the branch, which leaves the block.
            self.store(name, str(int(stop_at)))
            condition = self.condition(value)
            self.branch(condition, *((done, following) if stop_at else (following, done)))
            self.at(following)
        last = self.condition(values[-1])
        self.store(name, self.fresh(f"zext i1 {last} to i64"))
        self.at(done)
        return self.fresh(f"icmp ne i64 {self.fresh(f'load i64, ptr {self.slot(name)}')}, 0")

    def element(self, node: ast.Subscript) -> tuple[Element, str] | Array:
        """The address of an element, or a sub-array if there are fewer indexes than dimensions."""
        array = self.array(node.value)
        indexes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indexes) > len(array.sizes):
            raise self.refused(node)
        place = self.word(indexes[0])
        self.require(place, array.sizes[0])
        # Row-major: each further index adds to the one before, times the size of its dimension.
        for size, index in zip(array.sizes[1:], indexes[1:], strict=False):
            within = self.word(index)
            self.require(within, size)
            place = self.fresh(f"add i64 {self.fresh(f'mul i64 {place}, {size}')}, {within}")
        rest = array.sizes[len(indexes) :]
        for size in rest:
            place = self.fresh(f"mul i64 {place}, {size}")
        address = self.address(array, place)
        return Array(array.element, address, rest) if rest else (array.element, address)

    def address(self, array: Array, place: str) -> str:
        """The address of the element at a flat index."""
        return self.fresh(f"getelementptr i{array.element.bits}, ptr {array.pointer}, i64 {place}")

    def read_element(self, element: Element, address: str) -> str:
        """An element as a word."""
        found = self.fresh(f"load i{element.bits}, ptr {address}")
        if element.bits == WORD:
            return found
        return self.fresh(f"{'sext' if element.signed else 'zext'} i{element.bits} {found} to i64")

    def write_element(self, element: Element, address: str, value: str) -> None:
        """Store a word as an element."""
        if element.bits < WORD:
            value = self.fresh(f"trunc i64 {value} to i{element.bits}")
        self.do(f"store i{element.bits} {value}, ptr {address}")

    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        match node:
            case ast.Call(ast.Name("len"), [of], []):
                return self.array(of).sizes[0]
            case ast.Call(ast.Name("int" | "bool"), [of], []):
                return self.word(of)
            case ast.Call(ast.Name("min"), [one, other], []):
                first, second = self.word(one), self.word(other)
                # Signed, as `<` is.
                less = self.fresh(f"icmp slt i64 {first}, {second}")
                return self.fresh(f"select i1 {less}, i64 {first}, i64 {second}")
            case ast.Call(ast.Attribute(ast.Name("np"), "empty"), [size, ast.Attribute(ast.Name("np"), type_)], []):
                return self.room(self.constant(size), ELEMENTS[type_])
            case ast.Call(ast.Attribute(ast.Name("np"), name), [of], []) if name in ELEMENTS:
                return self.word(of)
            case ast.Call(ast.Name(name)):
                return self.call_named(node, name)
            case _:
                raise self.refused(node)

    def room(self, size: int, element: Element) -> Array:
        """A local array on the stack."""
        name = f"%{self.label('room')}"
        self.entry.append(f"  {name} = alloca [{size} x i{element.bits}]")
        return Array(element, name, (str(size),))
