"""Codes of search options: memory, and checkpoints."""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code

SEARCH = (
    Code(
        "E821",
        "too little memory for a search",
        "`--memory` is a budget for the whole process: the program itself, room to expand states in, and the table of states seen. The "
        "message says how much is the least. Levels of the search that do not fit go to files, and do not count.",
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
)
