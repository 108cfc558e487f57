"""Codes E3 to E5: modules and parameters, statements, properties and traces."""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code

MODULES = (
    Code(
        "E301",
        "name declared twice",
        "A module gives each name one meaning: parameters, their elements, types, variants, functions, variables, actions, instances "
        "and used modules share one table. Fields of one record, and variants of one enum, have different names too.",
    ),
    Code(
        "E302",
        "no such module",
        "A module `a.b` is the file `a/b.assay` in the directory of the file that uses it, in a directory above that, or among the "
        "specs that come with assay.",
    ),
    Code(
        "E303",
        "modules in a circle",
        "A module may not use itself, directly or through others. Move what both need into a third module.",
    ),
    Code(
        "E304",
        "module under another name",
        "The file that was found for a module declares another name in its `module` line. Use it by its own name, or change that.",
    ),
    Code("E305", "defined by itself", "A type, a parameter or a default depends on itself, so it has no meaning."),
    Code(
        "E306",
        "no such parameter",
        "A model, an instance or `--set` binds a parameter that the spec does not have. A used module's parameter is named plainly "
        "where the name is unique, otherwise as `module.P`.",
    ),
    Code("E307", "ambiguous parameter", "Several modules have a parameter of that name. Write `module.P`."),
    Code("E308", "no such model", "`--model` names a `model` block of the spec's top module."),
    Code("E309", "parameter bound twice", "A model or an instance binds each parameter once."),
    Code("E310", "not a value", "`--set P=V` takes `true`, `false`, an integer, a name, or a set `{a, b}`."),
    Code(
        "E311",
        "not a set of elements",
        "A set parameter is bound to names in braces, `{b1, b2}`, or to the number of its elements, from 1 to 1,000; in an instance, to "
        "a set parameter of the module that declares the instance.",
    ),
    Code("E312", "element listed twice", "The elements of a set parameter have different names."),
    Code(
        "E313",
        "parameter left unbound",
        "A parameter without a default must be bound by the chosen model, by `--set`, or by the instance.",
    ),
    Code(
        "E314",
        "parameter without a constant value",
        "The value of a parameter is computed before anything runs, from literals, elements and other parameters.",
    ),
    Code("E315", "parameter out of range", "The value that is bound to the parameter is not one of its type."),
    Code(
        "E316",
        "array inside an array",
        "The instances of an array cannot be arrays themselves. Make one array whose index has both parts.",
    ),
    Code(
        "E317",
        "type that cannot be an index",
        "Arrays of instances are indexed by the elements of a set parameter, by booleans, by a range of at most 10,000 integers that no "
        "size parameter decides, or by an enum without payload.",
    ),
    Code(
        "E318",
        "symmetric set bound to a parameter that is not",
        "A module whose set parameter is not `symmetric` may order or name its elements, which those of a symmetric set do not allow.",
    ),
    Code(
        "E319",
        "parameter that holds an element of a symmetric set",
        "All elements of a symmetric set are alike; a parameter that names one would tell it apart.",
    ),
    Code("E320", "assumption that does not hold", "The parameters as bound do not satisfy an `assume` of the spec."),
    Code(
        "E321",
        "assumption that cannot be computed",
        "An assumption speaks of parameters: of booleans, integers, elements, options, records, variants and sets of them.",
    ),
)

STATEMENTS = (
    Code("E401", "infinite domain", "The parameter of an action ranges over finitely many values: not over `int`."),
    Code(
        "E402",
        "domain that depends on the index",
        "Where the set that a parameter ranges over depends on the index of an array of instances and holds any integers, give the "
        "parameter a type and write the set into a guard.",
    ),
    Code(
        "E403",
        "label given twice",
        "The labels of one action, and of one property, are different: they say which line is meant.",
    ),
    Code(
        "E404",
        "place assigned twice",
        "A step assigns each variable as a whole once, or some of its elements, each once; every right side reads the state before "
        "the step. Assignments in exclusive branches of an `if` do not count as two.",
    ),
    Code(
        "E405",
        "guard in the wrong place",
        "`when`, `bound` and `pick` stand at the top level of an action's body, before all updates, because everything reads the "
        "state before the step.",
    ),
    Code(
        "E406",
        "variable of another module",
        "The variables of a module are assigned by its own actions only. Let one of them take part in a joint action: "
        "`action both(b: T) = mine(b) & other.theirs(b)`.",
    ),
    Code(
        "E407", "not a variable", "Only state variables are assigned: not parameters, locals, functions or constants."
    ),
    Code(
        "E408",
        "fairness of something else",
        "`fair per p` names parameters of the action, each once. `fair per p: a, b` is about steps that all have such a parameter, over the same "
        "values.",
    ),
    Code(
        "E409",
        "joint action inside itself",
        "The parts of a joint action may be joint actions, but not this one again.",
    ),
    Code(
        "E410",
        "arguments of a part",
        "Each part of a joint action is given all its arguments, and none of them is `_`.",
    ),
    Code(
        "E411",
        "variable without initial value",
        "A variable starts with `= value`, with `in set`, or is assigned in an `init:` block of its module.",
    ),
    Code("E412", "two initial values", "A variable that has a start in `state:` is not assigned in `init:` as well."),
    Code("E413", "step listed twice", "`next:` lists each action once."),
    Code(
        "E414",
        "next value that is not known yet",
        "`new(e)` reads what the lines above assign. What it reads is assigned above, and not again below or by other passes of a loop.",
    ),
    Code(
        "E415",
        "`enabled` without an answer",
        "Updates of ghosts may ask whether an action is enabled, but not in a circle: the ghosts are a part of the state that the action "
        "has to change.",
    ),
)

PROPERTIES = (
    Code("E501", "property name used twice", "Properties and scenarios of one module have different names."),
    Code(
        "E502",
        "no such bound",
        "`accept bounds:` names labels of `bound` lines, or variables whose type has a capacity. A line without a label cannot be named.",
    ),
    Code(
        "E503",
        "not a step of the system",
        "A scenario is a run of the system, so its actions are among the steps: those of `next:`, or by default all of the top module.",
    ),
    Code(
        "E504", "arguments of a step", "The action of a scenario is given all its arguments; `_` stands for any value."
    ),
    Code(
        "E505",
        "refused by what",
        "`refuse a by label` names a `when` line of the action. A bound is a limit of the model and refuses nothing.",
    ),
    Code(
        "E506",
        "events of unknown origin",
        "A trace clause says with `from` which catalogue of line shapes makes its events.",
    ),
    Code(
        "E507",
        "trace line given twice",
        "`from`, `slice`, `numbered`, `hidden` and `order:` stand once in a trace clause. One line names all hidden actions, each once: "
        "`hidden expire, give_up; at most 2 between two pinned events`.",
    ),
    Code(
        "E508",
        "event ignored and used",
        "An event is ignored once, and not at all if a rule without a condition takes every event of that name.",
    ),
    Code(
        "E509",
        "limit of hidden steps",
        "The limit is an integer that is known when the parameters are bound, and not negative.",
    ),
    Code(
        "E510",
        "mapping of something else",
        "A refinement maps variables of the abstract module, and actions of this module with a new name for each parameter to actions "
        "of the abstract one with all their arguments.",
    ),
    Code("E511", "mapped twice", "A refinement says once what an abstract variable is, and what an action is."),
    Code(
        "E512",
        "abstract variable without mapping",
        "A refinement says what every variable of the abstract module is, except its ghosts and the variables of modules that both sides use.",
    ),
    Code(
        "E513",
        "observed action that is no step",
        "A warning: a trace clause lets an action happen that is not among the steps of the system, and does not `report` it. A log may show it, but "
        "no answer of `assay check` accounts for it.",
    ),
    Code(
        "E514",
        "trace clause to extend",
        "`extends` names a trace clause of this module or of one that it uses, as `module.clause`; none extends itself.",
    ),
    Code(
        "E515",
        "slices of a log",
        "`slice` names a set parameter, whose elements the log's slices are; `at` stands only in a clause that has slices.",
    ),
    Code(
        "E517",
        "how an event is read",
        "The block of `from events:` names keys of a line: `event`, `time`, `node`, `run`, `thread`, `sequence`, `clock`, `sends`, `receives`, `message`, `level`, each once; "
        '`field name = "key"` reads any other key as a field, one key a field. A time has a unit (`ns`, `us`, `ms`, `s`), is `iso`, or has a format. '
        "`zone` is that of times without one. A field without a type in `on` has the type that `field … as T` gives.",
    ),
    Code(
        "E525",
        "abstract parameter without value",
        "A parameter of the abstract module without a default is bound by the refinement, as by an instance, or is a parameter of this module too.",
    ),
    Code(
        "E526",
        "mapped to what is no step",
        "An action is mapped to a step of the abstract module: one of its `next:` list, or by default any action of its file.",
    ),
    Code(
        "E527",
        "a view names state variables",
        "`view: x, y` names the variables by which `assay check` tells states apart; the others are left out. Part of a variable, or a value "
        "computed from one, has to be a variable of its own.",
    ),
    Code(
        "E516",
        "what is reported",
        "`report` names an action, `note` an event, and each says whether it is a `risk` or `known`. An action that `ends` a process run has one parameter: "
        "the run. "
        "A `note`, and a `measure` with fields, is said of a slice; the text of a note may name its fields in braces.",
    ),
)
