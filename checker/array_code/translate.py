"""Functions over arrays as LLVM text. They are written in a small part of Python, which this module defines.

A value is a word of 64 bits, an array, or nothing. Arithmetic is modulo 2^64; ``<`` and its kind compare words with a sign; ``>>`` and ``//``
take words without one. Elements of arrays are widened when they are read, by their sign if their type has one, and cut when they are written.
Statements are assignments, ``for`` over a ``range`` or over a list of values, ``while``, ``if``, ``break``, ``continue`` and ``return``;
expressions are arithmetic, comparisons, ``and``, ``or``, ``not``, ``x if c else y``, elements and rows of arrays, ``len``, ``a.shape[n]``,
``min``, ``np.empty`` of a constant size, constants of the module, and calls of other such functions. Conversions (``np.int64(x)``) are allowed
and do nothing, so that Python itself can run the text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from assay.checker.array_code.kinds import Array, ArrayKind, Element, Kind, Source, Value, WordKind

WORD = 64
OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "udiv", ast.LShift: "shl", ast.RShift: "lshr",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip
CONVERSIONS = {
    "int64": (WORD, True),
    "uint64": (WORD, False),
    "int32": (32, True),
    "uint32": (32, False),
    "uint8": (8, False),
}


class UntranslatableError(Exception):
    """The text uses something that the module's documentation does not list: a mistake of whoever wrote it."""


Find = Callable[[Any], Source | None]


def translate(source: Source, kinds: tuple[Kind, ...], find: Find) -> str:
    """A module with the function ``main`` for arguments of these kinds: for an array a pointer and its sizes, for a number a word.

    ``find`` gives the source of other functions that may be called. Raises ``UntranslatableError``.
    """
    module = _Module(find)
    name, gives = module.function(source, kinds)
    parameters, passed = [], []
    for at, kind in enumerate(kinds):
        for number, type_ in enumerate(_parameter_types(kind)):
            parameters.append(f"{type_} %a{at}_{number}")
            passed.append(f"{type_} %a{at}_{number}")
    call = f"call {'i64' if gives else 'void'} @{name}({', '.join(passed)})"
    body = f"  %result = {call}\n  ret i64 %result" if gives else f"  {call}\n  ret i64 0"
    main = f"define i64 @main({', '.join(parameters)}) {{\nentry:\n{body}\n}}\n"
    return "\n".join(['target triple = "@TRIPLE@"\n', *module.functions.values(), main])


def _parameter_types(kind: Kind) -> list[str]:
    return ["ptr"] + ["i64"] * kind.dimensions if isinstance(kind, ArrayKind) else ["i64"]


class _Module:
    def __init__(self, find: Find) -> None:
        self.find = find
        self.functions: dict[tuple[int, tuple[Kind, ...]], str] = {}
        self._names: dict[tuple[int, tuple[Kind, ...]], tuple[str, bool]] = {}

    def function(self, source: Source, kinds: tuple[Kind, ...]) -> tuple[str, bool]:
        """The name of a function for arguments of these kinds, and whether it gives a number."""
        key = id(source.tree), kinds
        if key not in self._names:
            gives = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(source.tree))
            self._names[key] = f"{source.tree.name}_{len(self._names)}", gives
            self.functions[key] = _Function(self, source, kinds).write(*self._names[key])
        return self._names[key]


class _Function:
    """One function, statement after statement. Numbers live in slots of the stack, which LLVM makes into registers."""

    def __init__(self, module: _Module, source: Source, kinds: tuple[Kind, ...]) -> None:
        self.module, self.source, self.kinds = module, source, kinds
        self.slots: dict[str, str] = {}
        self.arrays: dict[str, Array] = {}
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.loops: list[tuple[str, str]] = []
        self.fresh_number = 0
        self.ended = False

    def write(self, name: str, gives: bool) -> str:
        parameters = []
        for argument, kind in zip(self.source.tree.args.args, self.kinds, strict=True):
            types = _parameter_types(kind)
            names = [f"%arg.{argument.arg}.{number}" for number in range(len(types))]
            parameters += [f"{type_} {text}" for type_, text in zip(types, names, strict=True)]
            if isinstance(kind, ArrayKind):
                self.arrays[argument.arg] = Array(kind.element, names[0], tuple(names[1:]))
            else:
                self.store(argument.arg, names[0])
        self.block(self.source.tree.body)
        if not self.ended:
            self.do("ret i64 0" if gives else "ret void")
        body = "\n".join([*self.entry, *self.lines])
        head = f"define internal {'i64' if gives else 'void'} @{name}({', '.join(parameters)})"
        return f"{head} {{\n{body}\n}}\n"

    # ----------------------------------------------------------------------------------------------- writing lines

    def do(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def fresh(self, line: str) -> str:
        self.fresh_number += 1
        self.do(f"%t{self.fresh_number} = {line}")
        return f"%t{self.fresh_number}"

    def label(self, stem: str) -> str:
        self.fresh_number += 1
        return f"{stem}{self.fresh_number}"

    def at(self, label: str) -> None:
        """Go on behind a label; what was before it falls through."""
        if not self.ended:
            self.do(f"br label %{label}")
        self.lines.append(f"{label}:")
        self.ended = False

    def jump(self, label: str) -> None:
        if not self.ended:
            self.do(f"br label %{label}")
        self.ended = True

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.ended = True

    def slot(self, name: str) -> str:
        if name not in self.slots:
            self.slots[name] = f"%v.{name}"
            self.entry.append(f"  %v.{name} = alloca i64")
        return self.slots[name]

    def store(self, name: str, value: str) -> None:
        self.do(f"store i64 {value}, ptr {self.slot(name)}")

    # --------------------------------------------------------------------------------------------------- statements

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.ended:
                raise self.refused(statement)
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(ast.Constant(str())):
                pass
            case ast.Expr(ast.Call() as call):
                self.call(call)
            case ast.Assign(targets, ast.Tuple(values)):
                found = [self.word(value) for value in values]
                for target in targets:
                    if not isinstance(target, ast.Tuple) or len(target.elts) != len(found):
                        raise self.refused(node)
                    for part, number in zip(target.elts, found, strict=True):
                        self.put(part, number)
            case ast.Assign(targets, value):
                self.assign(targets, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign([target], value)
            case ast.AugAssign(target, operator, value):
                self.put(target, self.operation(node, operator, self.word(target), self.word(value)))
            case ast.For(
                target=ast.Name(name), iter=ast.Call(func=ast.Name("range"), args=bounds), body=body, orelse=[]
            ):
                self.counted(name, bounds, body)
            case ast.For(target=ast.Name(name), iter=ast.Tuple(values), body=body, orelse=[]):
                for value in values:
                    self.store(name, self.word(value))
                    self.block(body)
            case ast.While(test, body, []):
                self.repeated(test, body)
            case ast.If(test, then, otherwise):
                self.choice(test, then, otherwise)
            case ast.Break() | ast.Continue() if self.loops:
                self.jump(self.loops[-1][isinstance(node, ast.Break)])
            case ast.Return(None):
                self.leave("ret void")
            case ast.Return(value) if value is not None:
                self.leave(f"ret i64 {self.word(value)}")
            case _:
                raise self.refused(node)

    def leave(self, line: str) -> None:
        self.do(line)
        self.ended = True

    def assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        found = self.value(value)
        for target in targets:
            match target:
                case ast.Name(name) if isinstance(found, Array):
                    if name in self.arrays or name in self.slots:
                        raise self.refused(target)
                    self.arrays[name] = found
                case ast.Subscript(ast.Name(name), ast.Slice(None, None, None)) if isinstance(found, str):
                    self.fill(self.arrays[name], found)
                case _ if isinstance(found, str):
                    self.put(target, found)
                case _:
                    raise self.refused(target)

    def put(self, target: ast.expr, value: str) -> None:
        match target:
            case ast.Name(name) if name not in self.arrays:
                self.store(name, value)
            case ast.Subscript():
                place = self.element(target)
                if not isinstance(place, tuple):
                    raise self.refused(target)
                self.write_element(*place, value)
            case _:
                raise self.refused(target)

    def write_element(self, element: Element, address: str, value: str) -> None:
        if element.bits < WORD:
            value = self.fresh(f"trunc i64 {value} to i{element.bits}")
        self.do(f"store i{element.bits} {value}, ptr {address}")

    def fill(self, array: Array, value: str) -> None:
        if len(array.sizes) != 1:
            raise UntranslatableError(f"only arrays of one dimension are filled, in {self.source.tree.name}")
        at = self.label("fill")
        with self.loop(at, "0", array.sizes[0], "slt", "1"):
            place = self.fresh(f"load i64, ptr {self.slot(at)}")
            self.write_element(array.element, self.address(array, place), value)

    @contextmanager
    def loop(self, name: str, first: str, last: str, order: str, step: str) -> Iterator[None]:
        """The body of a loop that counts a variable from ``first`` on, as long as it stands in this order to ``last``."""
        head, body, following, done = map(self.label, ("head", "body", "next", "done"))
        self.store(name, first)
        self.at(head)
        now = self.fresh(f"load i64, ptr {self.slot(name)}")
        self.branch(self.fresh(f"icmp {order} i64 {now}, {last}"), body, done)
        self.at(body)
        self.loops.append((following, done))
        yield
        self.loops.pop()
        self.at(following)
        now = self.fresh(f"load i64, ptr {self.slot(name)}")
        self.store(name, self.fresh(f"add i64 {now}, {step}"))
        self.jump(head)
        self.at(done)

    def counted(self, name: str, bounds: list[ast.expr], body: list[ast.stmt]) -> None:
        first = "0" if len(bounds) == 1 else self.word(bounds[0])
        last = self.word(bounds[min(1, len(bounds) - 1)])
        step = self.constant(bounds[2]) if len(bounds) == 3 else 1
        with self.loop(name, first, last, "slt" if step > 0 else "sgt", str(step)):
            self.block(body)

    def repeated(self, test: ast.expr, body: list[ast.stmt]) -> None:
        head, inside, done = map(self.label, ("while", "inside", "done"))
        self.at(head)
        self.branch(self.condition(test), inside, done)
        self.at(inside)
        self.loops.append((head, done))
        self.block(body)
        self.loops.pop()
        self.jump(head)
        self.at(done)

    def choice(self, test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        yes, no, done = map(self.label, ("then", "else", "done"))
        self.branch(self.condition(test), yes, no)
        ends = []
        for label, body in ((yes, then), (no, otherwise)):
            self.at(label)
            self.block(body)
            ends.append(self.ended)
            self.jump(done)
        if all(ends):
            return
        self.at(done)

    # -------------------------------------------------------------------------------------------------- expressions

    def word(self, node: ast.expr) -> str:
        found = self.value(node)
        if isinstance(found, Array):
            raise self.refused(node)
        return found

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(bool() | int() as number):
                return str(int(number))
            case ast.Name(name):
                return self.named(node, name)
            case ast.UnaryOp(ast.USub(), operand):
                return self.fresh(f"sub i64 0, {self.word(operand)}")
            case ast.BinOp(left, operator, right):
                return self.operation(node, operator, self.word(left), self.word(right))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
                return self.fresh(f"zext i1 {self.condition(node)} to i64")
            case ast.IfExp(test, then, otherwise):
                return self.chosen(test, then, otherwise)
            case ast.Call():
                found = self.call(node)
                if found is None:
                    raise self.refused(node)
                return found
            case ast.Subscript(ast.Attribute(of, "shape"), at):
                array = self.array(of)
                return array.sizes[self.constant(at)]
            case ast.Subscript():
                place = self.element(node)
                return self.read_element(*place) if isinstance(place, tuple) else place
            case _:
                raise self.refused(node)

    def named(self, node: ast.expr, name: str) -> Value:
        if name in self.arrays:
            return self.arrays[name]
        if name in self.slots:
            return self.fresh(f"load i64, ptr {self.slots[name]}")
        return str(self.constant(node))

    def constant(self, node: ast.expr) -> int:
        """A number that is known before the code runs."""
        match node:
            case ast.Constant(int() as number):
                return number
            case ast.UnaryOp(ast.USub(), operand):
                return -self.constant(operand)
            case ast.Name(name) if name in self.source.names:
                number = int(self.source.names[name])
                return number - (1 << WORD) if number >> (WORD - 1) else number
            case _:
                raise self.refused(node)

    def operation(self, node: ast.AST, operator: ast.operator, left: str, right: str) -> str:
        if type(operator) not in OPERATORS:
            raise self.refused(node)
        return self.fresh(f"{OPERATORS[type(operator)]} i64 {left}, {right}")

    def chosen(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> str:
        """Only the side that is wanted is computed: the other may be an element that is not there."""
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
        """``and`` and ``or``: what follows the first value that decides is not computed."""
        name, done = self.label("joined"), self.label("decided")
        for value in values[:-1]:
            following = self.label("following")
            self.store(name, str(int(stop_at)))
            condition = self.condition(value)
            self.branch(condition, *((done, following) if stop_at else (following, done)))
            self.at(following)
        last = self.condition(values[-1])
        self.store(name, self.fresh(f"zext i1 {last} to i64"))
        self.at(done)
        return self.fresh(f"icmp ne i64 {self.fresh(f'load i64, ptr {self.slot(name)}')}, 0")

    def array(self, node: ast.expr) -> Array:
        found = self.value(node)
        if isinstance(found, str):
            raise self.refused(node)
        return found

    def element(self, node: ast.Subscript) -> tuple[Element, str] | Array:
        """The address of an element; a part of the array where there are fewer indexes than dimensions."""
        array = self.array(node.value)
        indexes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indexes) > len(array.sizes):
            raise self.refused(node)
        place = self.word(indexes[0])
        for size, index in zip(array.sizes[1:], indexes[1:], strict=False):
            place = self.fresh(f"add i64 {self.fresh(f'mul i64 {place}, {size}')}, {self.word(index)}")
        rest = array.sizes[len(indexes) :]
        for size in rest:
            place = self.fresh(f"mul i64 {place}, {size}")
        address = self.address(array, place)
        return Array(array.element, address, rest) if rest else (array.element, address)

    def address(self, array: Array, place: str) -> str:
        return self.fresh(f"getelementptr i{array.element.bits}, ptr {array.pointer}, i64 {place}")

    def read_element(self, element: Element, address: str) -> str:
        found = self.fresh(f"load i{element.bits}, ptr {address}")
        if element.bits == WORD:
            return found
        return self.fresh(f"{'sext' if element.signed else 'zext'} i{element.bits} {found} to i64")

    # --------------------------------------------------------------------------------------------------------- calls

    def call(self, node: ast.Call) -> Value | None:
        match node:
            case ast.Call(ast.Name("len"), [of], []):
                return self.array(of).sizes[0]
            case ast.Call(ast.Name("min"), [one, other], []):
                first, second = self.word(one), self.word(other)
                less = self.fresh(f"icmp slt i64 {first}, {second}")
                return self.fresh(f"select i1 {less}, i64 {first}, i64 {second}")
            case ast.Call(ast.Attribute(ast.Name("np"), "empty"), [size, ast.Attribute(ast.Name("np"), type_)], []):
                return self.room(self.constant(size), Element(*CONVERSIONS[type_]))
            case ast.Call(ast.Attribute(ast.Name("np"), name), [of], []) if name in CONVERSIONS:
                return self.word(of)
            case ast.Call(ast.Name(name), arguments, []):
                called = self.module.find(self.source.names.get(name))
                if called is None:
                    raise self.refused(node)
                return self.call_function(called, [self.value(argument) for argument in arguments])
            case _:
                raise self.refused(node)

    def room(self, size: int, element: Element) -> Array:
        name = f"%{self.label('room')}"
        self.entry.append(f"  {name} = alloca [{size} x i{element.bits}]")
        return Array(element, name, (str(size),))

    def call_function(self, called: Source, arguments: list[Value]) -> str | None:
        kinds = tuple(each.kind if isinstance(each, Array) else WordKind() for each in arguments)
        name, gives = self.module.function(called, kinds)
        passed: list[str] = []
        for each in arguments:
            passed += (
                [f"ptr {each.pointer}", *(f"i64 {size}" for size in each.sizes)]
                if isinstance(each, Array)
                else [f"i64 {each}"]
            )
        if gives:
            return self.fresh(f"call i64 @{name}({', '.join(passed)})")
        self.do(f"call void @{name}({', '.join(passed)})")
        return None

    def refused(self, node: ast.AST) -> UntranslatableError:
        line = getattr(node, "lineno", 1) + self.source.tree.lineno - 1
        return UntranslatableError(
            f"{self.source.tree.name}, line {line}: `{ast.unparse(node)}` is outside the language"
        )
