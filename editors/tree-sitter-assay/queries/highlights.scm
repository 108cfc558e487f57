; Colours for Assay. Of two captures of one node the later counts.
; Every keyword of `grammar/assay.lark` is here: a test compares the words.

(identifier) @variable
(comment) @comment
(string) @string
(integer) @number
(boolean) @boolean
[(none) (wildcard)] @constant.builtin

((identifier) @constant
  (#match? @constant "^[A-Z]"))
((identifier) @type.builtin
  (#any-of? @type.builtin "bool" "int"))

(attribute field: (identifier) @property)
(field_update name: (identifier) @property)
(field name: (identifier) @variable.parameter)
(parameter name: (identifier) @variable.parameter)
(param name: (identifier) @variable.parameter)
(argument name: (identifier) @variable.parameter)
(binder (identifier) @variable.parameter)
(variable name: (identifier) @variable)

(call function: (identifier) @function.call)
(call function: (attribute field: (identifier) @function.call))
((call function: (identifier) @function.builtin)
  (#any-of? @function.builtin
    "count" "drop" "elements" "first" "keys" "last" "max" "min" "subsets" "sum" "take" "times" "values" "without"
    "enabled" "new" "occurs" "old" "some"))

(module (path) @module)
(use (path) @module)
(instance name: (identifier) @module)
(type_alias name: (identifier) @type)
(enum name: (identifier) @type)
(record name: (identifier) @type)
(variant name: (identifier) @constant)
(def name: (identifier) @function)
(action name: (identifier) @function)
(joint_action name: (identifier) @function)
(property name: (identifier) @function)
(scenario name: (identifier) @function)
(model name: (identifier) @function)
(trace name: (identifier) @function)
(measure name: (identifier) @function)
(conjunct label: (identifier) @label)
(block_conjunct label: (identifier) @label)
(guard label: (identifier) @label)
(block_guard label: (identifier) @label)

[
  "accept" "action" "assume" "def" "enum" "fair" "init" "instance" "invariant" "lemma" "model" "module" "next" "param"
  "property" "reachable" "record" "refines" "scenario" "show" "size" "state" "strong" "terminal" "trace" "transition"
  "type" "use" "view" "ghost" "symmetric" "per" "extends" "as"
] @keyword

["if" "then" "elif" "else" "match"] @keyword.conditional

["for" "forall" "exists" "choose" "fold" "of"] @keyword.repeat

["and" "or" "not" "implies" "in" "is" "with" "always" "eventually" "until" "leads_to"] @keyword.operator

["let" "when" "bound" "pick" "refuse" "expect" "by" "bounds" "capacity" "stutter" "any"] @keyword

(folding_of ["all" "any" "argmax" "argmin" "count" "max" "min" "sum"] @function.builtin)

(collection_type ["bag" "map" "seq" "set"] @type.builtin)
(collection_type "max" @keyword)
(bag_display "bag" @type.builtin)

; Rules for logs.
[
  "anywhere" "at" "before" "begins" "between" "call" "causal" "commit" "ends" "events" "fails" "field" "file" "from" "hidden"
  "ignore" "line" "lines" "measure" "most" "ms" "new" "note" "numbered" "observe" "on" "order" "pinned" "report"
  "returns" "rounded" "sequence" "since" "skew" "slice" "thread" "to" "two" "within"
] @keyword

["=" ":=" "==" "!=" "<" "<=" ">" ">=" "+" "-" "*" "//" "%" "&" ".." "->" "?"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" ";" "."] @punctuation.delimiter
