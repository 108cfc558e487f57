"""The codes of mistakes in expressions and types: E1 names, E2 types."""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code

NAMES = (
    Code(
        "E101",
        "unknown name",
        "Nothing of that name is declared in this module or in the modules it uses, or the local variable is not in scope here. A pattern "
        "variable is in scope only where its match is certain: to the right in `and` and `implies`, in the `then` part, in the `if` "
        "branch, in later guards and in updates, never after `or` or outside a `not`.",
    ),
    Code(
        "E102",
        "ambiguous name",
        "Several used modules offer the name, or several enums have a variant of that name and nothing tells which is meant. Write the "
        "module's name and a dot before it, or use it where a value of one of the enums is wanted.",
    ),
    Code(
        "E103",
        "name of another kind",
        "The name denotes something that cannot stand here: an action or a module is no value, a variable is no type, and only functions, "
        "records, variants and built-in functions are called.",
    ),
    Code(
        "E104",
        "name already in use",
        "A local name (a bound variable, a parameter, a pattern variable, a `let`) must differ from every other name that is visible, so "
        "that a name means one thing. Choose another one.",
    ),
    Code(
        "E105",
        "no such field",
        "Fields belong to records. The payload of a variant is read with a pattern, as in `x is Active(epoch)`.",
    ),
    Code(
        "E106",
        "element of a symmetric set named",
        "The elements of a `symmetric` set are interchangeable: outside scenarios and bindings none of them can be named. Quantify over "
        "the set, or declare it without `symmetric`.",
    ),
    Code(
        "E107",
        "recursion without an end",
        "Functions are expanded where they are called. One that calls itself does so at most 64 times in a row: its arguments, apart from those "
        "that stay the same, have no more values, as a range, a small set that shrinks or grows, or `drop(s, 1)`. It states the type of its "
        "result.",
    ),
    Code(
        "E108",
        "state read where there is none",
        "Parameters, types, capacities and initial values are known before there is a state, so they cannot depend on one.",
    ),
    Code(
        "E109",
        "ghost variable read",
        "A ghost variable records something for properties. Guards and updates of ordinary variables may not depend on it, so that leaving "
        "it out would change nothing.",
    ),
    Code(
        "E110",
        "size parameter read",
        "A size parameter limits the search and grows with the log that is validated, so the protocol may not depend on it. It may occur in "
        "type ranges and `bound` lines; the same holds for the set of values of a type that depends on it.",
    ),
    Code(
        "E111",
        "`old` where there is no step",
        "`old(e)` is the value of e before a step. It may stand in `transition` properties and in the `then` clauses of traces, and not "
        "inside another `old`.",
    ),
    Code(
        "E112",
        "pattern variable of a negated pattern",
        "`x is not Active(e)` says that there is no match, so e would have no value. Write `_`, or turn the condition around.",
    ),
    Code(
        "E113",
        "`_` where a value is wanted",
        "`_` means any value as an argument of an action, and no name in a pattern. It has no value of its own.",
    ),
    Code(
        "E114",
        "temporal operator out of place",
        "`always`, `eventually`, `until`, `leads_to`, `enabled` and `occurs` speak about behaviours. They may stand only in a `property`, "
        "under logical operators, quantifiers, `let`, `if` and each other. `enabled` may also stand in conditions on states, in `show`, "
        "and where an action updates ghosts; a guard states the condition itself.",
    ),
    Code(
        "E115",
        "function written out too often",
        "A call stands for the body of its function, and the calls in it for theirs: at most 4,000 in one declaration. Functions that call "
        "each other twice double the text at every level; `let` gives a name to a value that is used twice.",
    ),
)

TYPES = (
    Code(
        "E201",
        "value of the wrong type",
        "The place wants a value of one type and the expression has another. A value of T is accepted where T? is wanted, not the other way "
        "round: what may be none is tested first, with `x != none` or `x is some(v)`.",
    ),
    Code(
        "E202",
        "types with nothing in common",
        "Both sides of a comparison or of a set operator, both branches of an `if`, and all items of a display have one type. All integers "
        "are one type here, whatever their ranges.",
    ),
    Code("E203", "operation that does not apply", "The operator or function is not defined for values of this type."),
    Code(
        "E204",
        "type that cannot be known",
        "`none`, `{}`, `[]` and `[b -> e]` take their type from the place in which they stand. Here nothing tells what it is. For a map, "
        "write the keys: `[b in S -> e]`.",
    ),
    Code(
        "E205",
        "wrong arguments",
        "A function, record, variant or action takes each of its parameters once, positional ones first, or by name as in "
        "`Vote(voter = b, epoch = 1)`.",
    ),
    Code(
        "E206",
        "pattern that cannot match",
        "A pattern names a variant of the value's own enum, with one name or `_` for each field of its payload or no parentheses at all; "
        "`some(v)` and `none` are the patterns of an optional value.",
    ),
    Code(
        "E207",
        "order of a symmetric set",
        "The elements of a `symmetric` set are interchangeable, so none is less than another. Declare the set without `symmetric` if their "
        "order matters.",
    ),
    Code(
        "E208", "empty range", "The low end of a range is at most its high end; check the parameters that occur in it."
    ),
    Code(
        "E209",
        "not known before anything runs",
        "The ends of a range and the number after `max` are made of numbers and parameters, with operators and functions that have a value "
        "for them.",
    ),
    Code(
        "E210",
        "domain too large to enumerate",
        "A comprehension, `pick` or total map goes through every element of its set. Use a smaller type, go through what is in the state, or "
        "give the map a capacity. A `forall` or `exists` may go through any range and through all subsets of a set, as far as it needs.",
    ),
    Code(
        "E211",
        "domain whose size a log decides",
        "A range with a size parameter in it is as large as a log needs, millions perhaps, so nothing may go through all of it: no "
        "quantifier, comprehension, `pick` or total map. Go through what is in the state, or use `map[K, V, max n]`.",
    ),
    Code(
        "E212",
        "not a set, or not a sequence, to go through",
        "Quantifiers, `pick`, `for` and comprehensions in braces go through a set; a comprehension in brackets goes through one sequence. "
        "`elements(s)` is the set of a sequence's elements, `keys(m)` that of a map's keys.",
    ),
    Code("E213", "impossible capacity", "The number after `max` is at least 0."),
    Code(
        "E214",
        "type that state cannot hold",
        "State is finite: integers have a range, sequences and bags a capacity (`max n`). `int` and unbounded sequences are for functions, "
        "parameters and `let`.",
    ),
    Code(
        "E215",
        "match that does not cover every value",
        "A `match` has a case for every value of what it looks at, or an `else`. The message names a value without a case. A part `==e` "
        "is compared in the state, so it covers nothing for certain.",
    ),
    Code(
        "E216",
        "pattern that nothing fits",
        "No value comes to this case or pattern: those before it take all that would fit, or the number is outside the range of the type. "
        "Delete the case, or put it before the more general one.",
    ),
    Code(
        "E217",
        "value of many elements",
        "`choose x in S if P` is the only element of S that fulfils P; `fold a = e for x in s: f` and `bag{e for x in s}` go through a sequence, or a set of "
        "few ordered values; `sum`, `min`, `max`, `count`, `all`, `any`, `argmin` and `argmax` take `e for x in S`. Where any element will do, "
        "an action has `pick x in S`.",
    ),
    Code(
        "E218",
        "function as an argument",
        "A parameter `p: def(A, B): R` of a `def` takes another `def` by its name, or a call of one with `_` for each argument that is left "
        "open: `every(live, newer(_, epoch))`. Its parameters and result have the types that the parameter states.",
    ),
)
