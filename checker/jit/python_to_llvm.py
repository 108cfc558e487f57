"""The compiled subset of Python: functions over arrays as LLVM text.

A value is a 64-bit word, an array, or a tuple of values. Arithmetic is modulo 2^64; ``<`` and its kind compare signed
words; ``>>``, ``//`` and ``%`` treat words as unsigned. Array elements are sign- or zero-extended by their type when
read, and truncated when written. Statements are assignments, ``for`` over a ``range`` or over a list of values,
``while``, ``if``, ``break``, ``continue`` and ``return`` of nothing, a word or words. Expressions are arithmetic,
comparisons, ``and``, ``or``, ``not`` and ``x if c else y``. Of arrays there are elements, rows, slices, ``len``,
``a.shape[n]``, and ``np.empty`` of a constant size. Besides, there are ``min``, constants of the module, calls of other
such functions, ``call_machine`` and ``prefetch``. Conversions (``np.int64(x)``, ``int(x)``) are allowed and do nothing,
so that Python itself can run the function. A tuple that has a name is unpacked into new names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from assay.checker.jit.argument_types import Array, FunctionSource, Kind, Value, operands, parameter
from assay.checker.jit.expressions import LlvmWriter
from assay.checker.jit.machine_call import call_machine, prefetch
from assay.grammar.identity_memo import IdentityTupleMemo

Find = Callable[[Any], FunctionSource | None]


def results(source: FunctionSource) -> int:
    """How many words a function returns."""
    given = (node.value for node in ast.walk(source.tree) if isinstance(node, ast.Return) and node.value is not None)
    # The most of any return; `leave` refuses a return that gives another number.
    return max((len(each.elts) if isinstance(each, ast.Tuple) else 1 for each in given), default=0)


def translate(source: FunctionSource, kinds: tuple[Kind, ...], find: Find, *, checked: bool = False) -> str:
    """A module with the function ``main``, whose parameters are a pointer to memory for its results, and the operands
    of its arguments.

    ``find`` gives the source of other functions that may be called. With ``checked`` an index out of bounds aborts the
    process. Raises ``UntranslatableError``.
    """
    module = _Module(find, checked=checked)
    name, given = module.function(source, kinds)
    passed = [each for at, kind in enumerate(kinds) for each in operands(parameter(kind, f"a{at}"))]
    lines = [f"{'%got = ' if given else ''}call {_type(given)} @{name}({', '.join(passed)})"]
    for at in range(given):
        lines.append(f"%to{at} = getelementptr i64, ptr %out, i64 {at}")
        lines += [f"%part{at} = extractvalue {_type(given)} %got, {at}"] if given > 1 else []
        lines.append(f"store i64 {f'%part{at}' if given > 1 else '%got'}, ptr %to{at}")
    body = "\n".join(f"  {line}" for line in [*lines, "ret void"])
    main = f"define void @main({', '.join(['ptr %out', *passed])}) {{\nentry:\n{body}\n}}\n"
    known = ["declare void @llvm.trap()", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"]
    return "\n".join(['target triple = "@TRIPLE@"\n', *known, *module.functions, main])


def _type(given: int) -> str:
    """LLVM's type of a function's result."""
    if given > 1:
        return f"{{ {', '.join(['i64'] * given)} }}"
    return "i64" if given else "void"


class _Module:
    def __init__(self, find: Find, *, checked: bool) -> None:
        self.find = find
        self.checked = checked
        self.functions: list[str] = []
        self._names: IdentityTupleMemo[tuple[str, int]] = IdentityTupleMemo()

    def function(self, source: FunctionSource, kinds: tuple[Kind, ...]) -> tuple[str, int]:
        """The name of a function for arguments of these kinds, and how many words it returns."""
        known = self._names.get((source.tree,), kinds)
        if known is None:
            # Before its text is written, so that a function may call itself.
            known = self._names.put((source.tree,), kinds, (f"{source.tree.name}_{len(self._names)}", results(source)))
            at = len(self.functions)
            self.functions.append("")  # reserve its position before those of the functions that it calls
            self.functions[at] = _Function(self, source).write(*known, kinds)
        return known


class _Function(LlvmWriter):
    """One function, statement after statement."""

    def __init__(self, module: _Module, source: FunctionSource) -> None:
        super().__init__(source, checked=module.checked)
        self.module = module
        self.loops: list[tuple[str, str]] = []
        self.given = 0

    def write(self, name: str, given: int, kinds: tuple[Kind, ...]) -> str:
        """The text of the function."""
        self.given = given
        passed: list[str] = []
        for argument, kind in zip(self.source.tree.args.args, kinds, strict=True):
            value = parameter(kind, f"arg.{argument.arg}")
            passed += operands(value)
            self.bind(argument, argument.arg, value)
        self.block(self.source.tree.body)
        if not self.ended:
            # Python would return None here, which no word can be.
            self.do(f"ret {_type(given)} {'0' if given == 1 else 'zeroinitializer'}" if given else "ret void")
        body = "\n".join([*self.entry, *self.lines])
        return f"define internal {_type(given)} @{name}({', '.join(passed)}) {{\n{body}\n}}\n"

    def call_named(self, node: ast.Call, name: str) -> Value:
        """The result of another function; no result is an empty tuple."""
        if self.source.names.get(name) is call_machine:
            return self._machine_call([self.value(argument) for argument in node.args])
        if self.source.names.get(name) is prefetch:
            array, place = node.args
            return self._prefetch(self.array(array), self.word(place))
        called = self.module.find(self.source.names.get(name))
        if called is None or node.keywords:
            raise self.refused(node)
        arguments = [self.value(argument) for argument in node.args]
        function, given = self.module.function(called, tuple(map(self.kind, arguments)))
        call = f"call {_type(given)} @{function}({', '.join(each for value in arguments for each in operands(value))})"
        if given == 0:
            self.do(call)
            return ()
        found = self.fresh(call)
        if given == 1:
            return found
        return tuple(self.fresh(f"extractvalue {_type(given)} {found}, {at}") for at in range(given))

    def _machine_call(self, values: list[Value]) -> Value:
        """The result of the machine code at an address; arrays are passed as pointers."""
        words = [f"ptr {each.pointer}" if isinstance(each, Array) else f"i64 {each}" for each in values]
        target = self.fresh(f"inttoptr {words[0]} to ptr")
        return self.fresh(f"call i64 {target}({', '.join(words[1:])})")

    def _prefetch(self, array: Array, place: str) -> Value:
        for size in array.sizes[1:]:
            place = self.fresh(f"mul i64 {place}, {size}")
        # To be written, kept in all caches, as data.
        self.do(f"call void @llvm.prefetch.p0(ptr {self.address(array, place)}, i32 1, i32 3, i32 1)")
        return ()

    # --------------------------------------------------------------------------------------------------- statements

    def block(self, statements: list[ast.stmt]) -> None:
        """Statements one after the other."""
        for statement in statements:
            if self.ended:
                # Code behind a `return`, `break` or `continue` is a mistake, and LLVM allows none there.
                raise self.refused(statement)
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        match node:
            case ast.Expr(ast.Constant(str())):
                pass
            case ast.Expr(ast.Call() as call):
                self.value(call)
            case ast.Assign(targets, value):
                found = self.value(value)
                # Words are stored in slots, and may be assigned in a loop. Arrays and tuples are names of what was
                # passed, fixed when the text is written.
                if isinstance(value, ast.Name) and isinstance(found, tuple) and self.rebinds(targets):
                    raise self.refused(node)
                for target in targets:
                    self.put(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.put(target, self.value(value))
            case ast.AugAssign(target, operator, value):
                self.put(target, self.operation(node, operator, self.word(target), self.word(value)))
            case ast.For(
                target=ast.Name(name), iter=ast.Call(func=ast.Name("range"), args=bounds), body=body, orelse=[]
            ):
                self.counted(name, bounds, body)
            case ast.For(target=target, iter=ast.Tuple(values), body=body, orelse=[]):
                self.unrolled(target, values, body)
            case ast.While(test, body, []):
                self.repeated(test, body)
            case ast.If(test, then, otherwise):
                self.choice(test, then, otherwise)
            case ast.Break() | ast.Continue() if self.loops:
                self.jump(self.loops[-1][isinstance(node, ast.Break)])
            case ast.Return(value):
                self.leave(node, () if value is None else self.value(value))
            case _:
                raise self.refused(node)

    def rebinds(self, targets: list[ast.expr]) -> bool:
        """Whether targets have a name that means something already. Two arguments whose parts have one name would
        silently become one."""
        names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        return not names.isdisjoint(self.slots.keys() | self.others.keys() - {"_"})

    def leave(self, node: ast.Return, found: Value) -> None:
        """A return statement."""
        words = found if isinstance(found, tuple) else (found,)
        if len(words) != self.given or not all(isinstance(each, str) for each in words):
            raise self.refused(node)
        result = "zeroinitializer"
        if self.given == 1:
            result = str(words[0])
        for at, each in enumerate(words if self.given > 1 else ()):
            # LLVM builds a structure by inserting one field after another into an undefined one.
            start = "undef" if at == 0 else result
            result = self.fresh(f"insertvalue {_type(self.given)} {start}, i64 {each}, {at}")
        self.do(f"ret {_type(self.given)} {result}" if self.given else "ret void")
        self.ended = True

    def put(self, target: ast.expr, found: Value) -> None:
        """An assignment to a target."""
        match target:
            case ast.Name(name):
                self.bind(target, name, found)
            case ast.Tuple(parts) if isinstance(found, tuple) and len(parts) == len(found):
                for part, value in zip(parts, found, strict=True):
                    self.put(part, value)
            case ast.Subscript(of, ast.Slice(None, None, None)) if isinstance(found, str):
                self.fill(target, self.array(of), found)
            case ast.Subscript() if isinstance(found, str):
                place = self.element(target)
                if isinstance(place, Array):
                    raise self.refused(target)
                self.write_element(*place, found)
            case _:
                raise self.refused(target)

    def fill(self, node: ast.AST, array: Array, value: str) -> None:
        """Set all elements of an array of one dimension."""
        if len(array.sizes) != 1:
            raise self.refused(node)
        at = self.label("fill")
        with self.loop(at, "0", array.sizes[0], "slt", "1"):
            place = self.fresh(f"load i64, ptr {self.slot(at)}")
            self.write_element(array.element, self.address(array, place), value)

    @contextmanager
    def loop(self, name: str, first: str, last: str, order: str, step: str) -> Iterator[None]:
        """A loop that counts a variable from ``first`` while it compares to ``last`` by ``order``."""
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
        """A loop over a range."""
        # Unlike in Python, `name` has reached `last` afterwards, and the count goes on from what the body assigns.
        first = "0" if len(bounds) == 1 else self.word(bounds[0])
        # Both ends once, before the loop, as Python does.
        last = self.word(bounds[min(1, len(bounds) - 1)])
        step = self.constant(bounds[2]) if len(bounds) == 3 else 1
        with self.loop(name, first, last, "slt" if step > 0 else "sgt", str(step)):
            self.block(body)

    def unrolled(self, target: ast.expr, values: list[ast.expr], body: list[ast.stmt]) -> None:
        """A loop over a tuple, written out: its parts may be of different kinds."""
        # All values first, as in Python: the body may assign what a later one reads.
        found, done = [self.value(value) for value in values], self.label("done")
        for each in found:
            following = self.label("next")
            self.put(target, each)
            self.loops.append((following, done))
            self.block(body)
            self.loops.pop()
            self.at(following)
        self.at(done)

    def repeated(self, test: ast.expr, body: list[ast.stmt]) -> None:
        """A loop while a condition is true."""
        head, inside, done = map(self.label, ("while", "inside", "done"))
        self.at(head)
        self.branch(self.condition(test), inside, done)
        self.at(inside)
        # `continue` goes to the test, as there is nothing to count.
        self.loops.append((head, done))
        self.block(body)
        self.loops.pop()
        self.jump(head)
        self.at(done)

    def choice(self, test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        """One of two blocks."""
        yes, no, done = map(self.label, ("then", "else", "done"))
        self.branch(self.condition(test), yes, no)
        ends = []
        for label, body in ((yes, then), (no, otherwise)):
            self.at(label)
            self.block(body)
            ends.append(self.ended)
            self.jump(done)
        # If both branches left, nothing follows, and a block without a predecessor would hide that.
        if not all(ends):
            self.at(done)
