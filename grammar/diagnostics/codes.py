"""The closed table of diagnostic codes: every code that assay can print, with its title and one paragraph of
explanation.

The first digit is the stage that finds the mistake. E0 syntax, E1 names, E2 types, E3 modules and parameters. E4
statements, E5 properties and traces, E6 input files, E7 logs, E8 engines. A code never gets a second meaning.
``docs/errors.md`` is generated from this table.
"""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code
from assay.grammar.diagnostics.codes_expressions import NAMES, TYPES
from assay.grammar.diagnostics.codes_liveness import LIVENESS
from assay.grammar.diagnostics.codes_model import MODULES, PROPERTIES, STATEMENTS
from assay.grammar.diagnostics.codes_search import SEARCH
from assay.grammar.diagnostics.codes_spark import SPARK

__all__ = ["CODES", "TABLE", "Code"]

SYNTAX = (
    Code(
        "E001",
        "unexpected text",
        "The line does not have the form that the language gives to a declaration, a statement or an expression. The message "
        "names what was found and what could stand there instead.",
    ),
    Code(
        "E002",
        "unknown declaration",
        "A line in the first column begins a declaration and starts with one of its keywords, such as `action` or `invariant`. "
        "This line starts with something else, perhaps a misspelt keyword.",
    ),
    Code(
        "E003",
        "`=` or `==` where `:=` is meant",
        "An action or an `init:` block assigns with `:=`. `==` compares two values, and `=` only gives names to things: in "
        "declarations, in `let`, and in named arguments.",
    ),
    Code(
        "E004",
        "`=` or `:=` where `==` is meant",
        "Two values are compared with `==`. `:=` assigns and stands only as a line of its own in an action or in `init:`.",
    ),
    Code(
        "E005",
        "`:=` or `==` where `=` is meant",
        "A declaration, a `let` and a named argument are written with a plain `=`.",
    ),
    Code(
        "E006",
        "operator of another language",
        "The logical operators are words: `and`, `or`, `not`, `implies`. Inequality is `!=`, integer division is `//`. Signs "
        "such as `&&`, `||`, `!`, `=>`, `->` between two conditions or `/\\` belong to other languages, as do words such as `\\in`, `union` and "
        "`mod`; the message says what is written here.",
    ),
    Code(
        "E007",
        "missing colon",
        "The head of a block, a quantifier, a `let` expression and the name of a property end in `:`.",
    ),
    Code(
        "E008",
        "tab in the indentation",
        "Indentation is made of blanks only, because a tab has no agreed width. Replace every tab by four blanks.",
    ),
    Code(
        "E009",
        "indentation that matches no block",
        "The line is indented less than the lines before it, but to a depth at which no enclosing block is; or it is indented "
        "more although no block was opened. All lines of one block start in the same column.",
    ),
    Code(
        "E010",
        "missing block",
        "A line that ends in `:` opens a block: at least one line that is indented more must follow.",
    ),
    Code(
        "E011",
        "unclosed bracket",
        "A bracket was opened and not closed before the next declaration begins. The place is that of the opening bracket.",
    ),
    Code(
        "E012",
        "closing bracket without partner",
        "A closing bracket has no opening bracket, or closes one of another shape.",
    ),
    Code(
        "E013",
        "keyword used as a name",
        "The words of the language are reserved everywhere. Choose another name, for instance with a suffix.",
    ),
    Code(
        "E014",
        "chained comparison",
        "Comparisons do not chain: write `a < b and b < c` instead of `a < b < c`.",
    ),
    Code(
        "E015",
        "unterminated string",
        'A string ends with the quote that began it: `"` on the same line, `"""` on the same or a later line.',
    ),
    Code(
        "E016",
        "character outside the language",
        "The character has no meaning in a spec outside comments and strings. Names are made of letters, digits and `_`; "
        "strings stand in double quotes.",
    ),
    Code(
        "E017",
        "nested too deeply",
        "Brackets or expressions are nested deeper than the language allows. Give names to parts with `def` or `let`.",
    ),
    Code(
        "E018",
        "number too long",
        "An integer literal may have at most 1,000 digits.",
    ),
    Code(
        "E019",
        "not a comprehension",
        "What stands before `if` in `{x in S if P}`, and before `->` in `[b -> e]` and `[b in S -> e]`, is a new name, or a new "
        "name with the set it ranges over.",
    ),
    Code(
        "E020",
        "not a type",
        "A type is `bool`, `int`, a range `a .. b`, a name, `T?`, `set[T]`, `map[K, V]`, `seq[T, max n]` or `bag[T, max n]`.",
    ),
    Code(
        "E021",
        "not a place to assign to",
        "The left side of `:=` is a variable, one of its fields or one of its entries: `x`, `x.f`, `x[k]`, `x[k].f`.",
    ),
    Code(
        "E022",
        "not an action",
        "A step is written as an action with its arguments: `elect(b1)`, `tick`, `membership.expire(b1)`, `replica[p].fetch(b)`.",
    ),
    Code(
        "E023",
        "clause given twice, or missing",
        "The clauses of `order:` may each occur once, and one of `file` and `thread` must occur; `module` stands once, as the "
        "first declaration.",
    ),
    Code(
        "E024",
        "declaration that does not start in the first column",
        "Only the lines of a block are indented. A declaration starts in the first column.",
    ),
    Code(
        "E025",
        "block without a value",
        "A block ends in a line that is its value: a `let` names something for the lines below it. In a `match`, `else` is the last case.",
    ),
)

INPUT_FILES = (
    Code("E601", "no such file", "The path names nothing. A path is taken relative to the current directory."),
    Code(
        "E602",
        "a directory where a file is wanted",
        "A spec is one file, `name.assay`. Name the file inside the directory.",
    ),
    Code(
        "E603",
        "not a text file",
        "A spec is UTF-8 text. The file has bytes that are not, or a zero byte; it may be compressed, an archive, or text in another "
        "encoding.",
    ),
    Code("E604", "file cannot be read", "The operating system refuses to read the file; the message is its own."),
    Code(
        "E605",
        "line or file too long",
        "A line of a spec may have 10,000 characters, and a spec 10 million bytes. Something longer is most likely not a spec.",
    ),
)

LOGS = (
    Code(
        "E701",
        "shape file cannot be read",
        "A shape file is UTF-8 text in TOML with `[[shape]]` tables; the message says where it is not. The shape files that come "
        "with the product, in `traces/patterns/`, are examples.",
    ),
    Code(
        "E702",
        "shape that cannot be used",
        "A `[[shape]]` has a name of its own, `kind`, `loggers`, `pattern`, `meaning` and `example`. Each named group of its pattern "
        "has a conversion in `fields`. For text logs of other systems `kind`, `pattern` and `example` are enough; the pattern describes "
        "its example, and not any line (docs/events.md, Text logs).",
    ),
    Code(
        "E710",
        "no such trace clause",
        "A spec validates logs by its `trace` clause. Where there are several, `--clause NAME` chooses one (`clause=` in Python); "
        "the message lists them.",
    ),
    Code(
        "E711",
        "step that leaves open a value as large as the log",
        "An argument that neither the event nor the action determines is tried with every value of its type. Where the log decides how "
        "many there are, that has no end: name the value in the event's fields, or `pick` it inside the action.",
    ),
    Code(
        "E712",
        "spec that cannot be sliced",
        "Each slice of a log is validated by itself. That is sound only if an action of one slice neither changes what is shared nor reads "
        "or changes what belongs to another slice, and if what is shared does not depend on slices. A guard that reads across slices is left "
        "out, and the answer says so; anything else of the kind is an error.",
    ),
)

ENGINES = (
    Code(
        "E801",
        "too many values to list",
        "An explicit search lists the values of parameters, picks and quantifiers one by one, up to ten million of them. Choose a "
        "smaller model, a smaller range, or a smaller set than that of all subsets.",
    ),
    Code(
        "E802",
        "expression too deep to evaluate",
        "The definitions that an expression uses, put in place of their names, nest deeper than evaluation goes.",
    ),
    Code(
        "E803",
        "temporal operator where one state is looked at",
        "`always`, `eventually`, `until`, `leads_to`, `enabled` and `occurs` speak of behaviours. They stand in a `property`, not in "
        "an `invariant`, a guard or another condition on one state.",
    ),
    Code(
        "E804",
        "no such property",
        "The name is not that of a property or scenario of the spec, nor `deadlock` or `defined`.",
    ),
    Code(
        "E805",
        "not a saved trace",
        "A trace is a JSON object that `assay check` wrote. The message says which part of it is missing, or is no value of its type.",
    ),
    Code(
        "E806",
        "type too wide for a packed row",
        "The fast engines keep a state in a few machine words. A set or a map without a capacity may have at most 4,096 possible elements or "
        "keys, an integer at most 62 bits. Give the collection a capacity (`max n`), choose smaller parameters, or use `--engine reference`.",
    ),
    Code(
        "E807",
        "not supported by the native engine",
        "The native engine compiles most of the language, and says where it meets something that it does not compile. The reference engine "
        "checks every construct: with `--engine auto`, the default, it is used instead.",
    ),
    Code(
        "E808",
        "no counterpart in TLA+",
        "`assay export --to tla` writes what TLA+ can say and TLC can check. A property, scenario or trace clause for which that is not so is "
        "left out, with a warning that says why; anything else of the kind is an error, and nothing is written.",
    ),
    Code(
        "E809",
        "not symmetric",
        "With `--symmetry on` one state stands for all that differ from it by a permutation of the elements of `symmetric` parameters. That is "
        "sound only where nothing in the system or in the properties that are checked tells these elements apart, and not for temporal properties. "
        "Search without it, or select other properties with `--property`.",
    ),
    Code(
        "E810",
        "no partial-order reduction",
        "With `--reduce on` steps are left out where no checked property can tell in which order they happen. That is sound for invariants, "
        "lemmas, `reachable` properties, deadlocks and what has no value, not for properties of steps or of behaviours. Search without it, or "
        "select other properties with `--property`.",
    ),
    Code(
        "E824",
        "not supported by the symbolic engines",
        "The symbolic engines (`--engine bmc`, `assay prove`) translate a spec to conditions over the bits of a state. The message says which "
        "construct has no such form, or is too large for it. The explicit engines check it.",
    ),
    Code(
        "E825",
        "not an invariant or lemma",
        "`assay prove --inductive NAME` asks whether a condition on single states is kept by every step. Only invariants and lemmas are such "
        "conditions.",
    ),
    Code(
        "E826",
        "no proof for any size here",
        "`assay prove --any Set` leaves the number of elements of a symmetric set open. The message says why it cannot be: the set is none "
        "of the spec's symmetric parameters, or the construct at the place has no form that is independent of the size.",
    ),
)

TABLE: tuple[Code, ...] = (
    *SYNTAX,
    *NAMES,
    *TYPES,
    *MODULES,
    *STATEMENTS,
    *PROPERTIES,
    *INPUT_FILES,
    *LOGS,
    *ENGINES,
    *SEARCH,
    *SPARK,
    *LIVENESS,
)

# A test holds that no code stands in the table twice: here the last one would win without a word.
CODES: dict[str, Code] = {code.code: code for code in TABLE}
