"""Codes of search options: memory, and checkpoints."""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code

SEARCH = (
    Code(
        "E821",
        "too little memory for a search",
        "`--memory` is a budget for the whole process: the program itself, room to expand states in, and the table of states seen. The "
        "message says how much is the least. Levels of the search and visited states that do not fit go to files, and do not count.",
    ),
    Code(
        "E822",
        "checkpoint cannot be used",
        "`--checkpoint DIR` begins a search that writes into DIR what it needs to go on; `--resume DIR` goes on. A checkpoint is of one "
        "spec, model and selection of properties, of one version of assay, and of one choice of `--fingerprints`. A file that is cut off, "
        "damaged or foreign is refused, as is a folder that another process is using. docs/level-files.md describes the files.",
    ),
    Code(
        "E823",
        "the engine or search has no use for an option",
        "Checkpoints, the memory budget and the choice of fingerprints belong to the native engine, and to searches by levels: the message "
        "says what keeps it from this spec, or that another engine or another search was asked for.",
    ),
    Code(
        "E846",
        "something sees through the view",
        "States that are equal in the variables of `view:` are taken for one. That is right only if the other variables decide nothing: no guard, "
        "`pick`, initial condition, update of a variable of the view, `terminal`, scenario and no property asked for may read them, and no "
        "temporal property is asked for. `--view off` checks without the view.",
    ),
)
