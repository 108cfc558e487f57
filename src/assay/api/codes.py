"""The diagnostic codes of the command line itself, in the same form as those of the language."""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code
from assay.grammar.diagnostics.codes import CODES

COMMAND_LINE = (
    Code(
        "E901",
        "wrong usage of the command line",
        "An option or an argument is unknown, is missing, or has a value of another kind than the command takes. "
        "`assay COMMAND --help` lists what each command takes.",
    ),
    Code(
        "E902",
        "result cannot be written",
        "The file that an option names for a result, or one below `--out`, cannot be written; the message is the operating system's own. "
        "The answer itself was still printed.",
    ),
    Code(
        "E903",
        "no such bundled spec",
        "Where no file of that name exists, a spec is looked up among those that come with assay. The message lists them.",
    ),
    Code(
        "E904",
        "no such diagnostic code",
        "Codes look like `E001`. Every message of assay shows the code it belongs to, and docs/errors.md lists all of them.",
    ),
    Code(
        "E905",
        "mutants of a spec that does not hold",
        "`assay mutate` asks which properties notice a mistake, so there must be none to begin with, and the search must have come to its end. "
        "`assay check` with the same options shows what is wrong. Bounds may be hit. A model that `--scenarios` names must have scenarios, and all that it "
        "can run must hold.",
    ),
    Code(
        "E906",
        "no such slice or topic",
        "`assay validate --story` tells the history of a slice of the log, named as the answer names it: `orders-0`, and `orders-0#2` for the second "
        "topic of that name. There is none of a slice whose lines were not used, or where no execution was found. `--topic` names a topic of which a line tells.",
    ),
    Code(
        "E907",
        "coverage that cannot be added up",
        "`assay coverage` adds up files that it has written itself (`--into`), all of one spec. The message says what this file is instead.",
    ),
    Code(
        "E860",
        "graph too large to draw",
        "A picture of so many nodes shows nothing. Collapse the states by `--view`, or choose a smaller model; GraphML, DOT and JSON have no limit.",
    ),
    Code(
        "E861",
        "what is asked of a graph",
        "`--view`, `--from`, `--to` and `--dominators` take an expression over the state, as it may stand in an invariant, or the name of a property "
        "that speaks of states.",
    ),
)

ALL_CODES: dict[str, Code] = CODES | {code.code: code for code in COMMAND_LINE}
"""Every code that assay can print."""
