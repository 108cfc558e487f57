/**
 * The Assay language for tree-sitter, after `grammar/assay.lark`. Indentation is read by `src/scanner.c`.
 *
 * It accepts more than the language does: types are expressions, and the checker refuses what makes no sense.
 * A word that is a keyword only at some places is a name everywhere else, as in the language. `SOFT` lists the words
 * that may be either at one place.
 */

const PREC = {
  open: -1, // a quantifier, `let`, `if`, `choose`, `fold`: as far to the right as possible
  implies: 1,
  temporal: 2,
  or: 3,
  and: 4,
  not: 5,
  comparison: 6,
  range: 7,
  sum: 8,
  product: 9,
  minus: 10,
  postfix: 11,
};

const FOLDS = ["sum", "min", "max", "all", "any", "count", "argmin", "argmax"];
const COLLECTIONS = ["set", "map", "seq", "bag"];
const SOFT = [
  ...FOLDS, ...COLLECTIONS, "when", "bound", "pick", "choose", "fold", "match", "ghost", "accept", "capacity",
  "refuse", "action", "observe",
];

const commas = (rule) => seq(rule, repeat(seq(",", rule)), optional(","));
const optionalCommas = (rule) => optional(commas(rule));
const listed = (rule) => seq(rule, repeat(seq(",", rule)));
const lines = ($, rule) => choice(seq(rule, $._newline), seq($._indent, repeat1(seq(rule, $._newline)), $._dedent));
const semicolons = (rule) => seq(rule, repeat(seq(";", rule)));

module.exports = grammar({
  name: "assay",

  externals: ($) => [$._newline, $._indent, $._dedent, $._error_sentinel],
  extras: ($) => [/[ \t\r\n]/, $.comment],
  word: ($) => $._word,
  inline: ($) => [$._type],
  supertypes: ($) => [$.expression, $.declaration],
  // A soft word before a bracket is a keyword or a name: what follows tells.
  conflicts: ($) => [
    [$.identifier, $.match],
    [$.identifier, $.choose],
    [$.identifier, $.fold],
    [$.identifier, $.guard],
    [$.identifier, $.pick],
    [$.identifier, $.refuse],
    [$.identifier, $.observe],
    [$.identifier, $._counterpart],
    [$.identifier, $.match, $.block_match],
    [$.identifier, $.match, $.action_match],
  ],

  rules: {
    source_file: ($) => repeat(choice($.declaration, seq($.string, $._newline))),

    declaration: ($) =>
      choice(
        $.module, $.use, $.instance, $.param, $.assume, $.type_alias, $.enum, $.record, $.def, $.state, $.init,
        $.action, $.joint_action, $.next, $.fair_group, $.property, $.accept_declaration, $.show, $.view, $.scenario,
        $.model, $.refines, $.trace,
      ),

    // ------------------------------------------------------------------------------------------ names and types

    comment: () => token(seq("#", /[^\n]*/)),
    integer: () => /[0-9]+/,
    string: () => token(choice(/"""([^\\"]|\\[\s\S]|"[^"]|""[^"])*"""/, /"([^"\\\n]|\\[^\n])*"/)),
    _word: () => /[A-Za-z_][A-Za-z0-9_]*/,
    quoted: () => /`[A-Za-z_][A-Za-z0-9_]*`/,
    identifier: ($) => choice($._word, $.quoted, ...SOFT.map((word) => alias(word, "name"))),
    path: ($) => prec.left(seq($.identifier, repeat(seq(".", $.identifier)))),
    field: ($) => seq(field("name", $.identifier), ":", field("type", choice($._type, $.function_type))),

    _type: ($) => $.expression,
    option_type: ($) => prec(PREC.postfix, seq($.expression, "?")),
    collection_type: ($) =>
      prec(
        1,
        seq(
          choice(...COLLECTIONS),
          "[",
          $._type,
          optional(seq(",", $._type)),
          optional(seq(",", "max", $.expression)),
          "]",
        ),
      ),
    function_type: ($) => seq("def", "(", commas($._type), ")", ":", $._type),

    // ---------------------------------------------------------------------------------------------- expressions

    expression: ($) =>
      choice(
        $._postfix, $.unary, $.binary, $.membership, $.is, $.quantified, $.let_in, $.if_then_else, $.fold, $.choose,
        $.folding_of, $.option_type,
      ),

    _postfix: ($) =>
      choice(
        $.identifier, $.integer, $.boolean, $.none, $.wildcard, $.parenthesized, $.tuple, $.set_display,
        $.sequence_display, $.bag_display, $.map_display, $.comprehension, $.tabulation, $.match, $.collection_type,
        $.attribute, $.index, $.call, $.with,
      ),

    boolean: () => choice("true", "false"),
    none: () => "none",
    wildcard: () => "_",
    parenthesized: ($) => seq("(", $.expression, ")"),
    tuple: ($) => seq("(", $.expression, ",", optionalCommas($.expression), ")"),
    set_display: ($) => seq("{", optionalCommas($.expression), "}"),
    sequence_display: ($) => seq("[", optionalCommas($.expression), "]"),
    bag_display: ($) => prec(1, seq("bag", "{", optionalCommas($.expression), "}")),
    map_display: ($) => seq("{", commas($.entry), "}"),
    entry: ($) => seq(field("key", $.expression), "->", field("value", $.expression)),
    tabulation: ($) => seq("[", $.expression, "->", $.expression, "]"),
    comprehension: ($) =>
      choice(
        seq("{", $._comprehended, "}"), seq("[", $._comprehended, "]"),
        prec(1, seq("bag", "{", $._comprehended, "}")),
      ),
    _comprehended: ($) => choice(seq($.expression, $._if), seq($.expression, "for", $._binders, optional($._if))),
    _if: ($) => seq("if", $.expression),

    attribute: ($) => prec(PREC.postfix, seq(field("object", $._postfix), ".", field("field", $.identifier))),
    index: ($) => prec(PREC.postfix, seq(field("object", $._postfix), "[", $.expression, "]")),
    call: ($) => prec(PREC.postfix, seq(field("function", $._postfix), field("arguments", $.arguments))),
    arguments: ($) =>
      seq("(", choice(optionalCommas($.argument), seq($.expression, "for", $._binders, optional($._if))), ")"),
    argument: ($) => seq(optional(seq(field("name", $.identifier), "=")), $.expression),
    with: ($) => prec(PREC.postfix, seq($._postfix, "with", "{", commas(choice($.entry, $.field_update)), "}")),
    field_update: ($) => seq(field("name", $.identifier), "=", $.expression),

    unary: ($) =>
      choice(
        prec(PREC.minus, seq("-", $.expression)),
        prec(PREC.not, seq(choice("not", "always", "eventually"), $.expression)),
      ),
    binary: ($) =>
      choice(
        ...[
          [prec.right, PREC.implies, ["implies"]],
          [prec.left, PREC.temporal, ["until", "leads_to"]],
          [prec.left, PREC.or, ["or"]],
          [prec.left, PREC.and, ["and"]],
          [prec.left, PREC.comparison, ["==", "!=", "<", "<=", ">", ">="]],
          [prec.left, PREC.range, [".."]],
          [prec.left, PREC.sum, ["+", "-"]],
          [prec.left, PREC.product, ["*", "//", "%", "&"]],
        ].map(([side, level, signs]) =>
          side(
            level,
            seq(
              field("left", $.expression),
              field("operator", signs.length > 1 ? choice(...signs) : signs[0]),
              field("right", $.expression),
            ),
          ),
        ),
      ),
    membership: ($) => prec.left(PREC.comparison, seq($.expression, optional("not"), "in", $.expression)),
    is: ($) => prec.left(PREC.comparison, seq($.expression, "is", optional("not"), $._pattern)),

    quantified: ($) => prec.right(PREC.open, seq(choice("forall", "exists"), $._binders, ":", $.expression)),
    let_in: ($) => prec.right(PREC.open, seq("let", $._bound, "=", $.expression, ":", $.expression)),
    if_then_else: ($) => prec.right(PREC.open, seq("if", $.expression, "then", $.expression, "else", $.expression)),
    fold: ($) => seq("fold", $._folded),
    _folded: ($) =>
      prec.right(PREC.open, seq($._bound, "=", $.expression, "for", $._bound, "in", $.expression, ":", $.expression)),
    choose: ($) => seq("choose", $._chosen),
    _chosen: ($) => prec.right(PREC.open, seq($._bound, "in", $.expression, "if", $.expression)),
    folding_of: ($) => prec.right(PREC.open, seq(choice(...FOLDS), "of", $.expression, "for", $.binder)),

    _bound: ($) => choice($.identifier, $.tuple_pattern),
    binder: ($) => prec.right(seq(listed($._bound), "in", field("range", $.expression))),
    _binders: ($) => prec.right(listed($.binder)),

    _pattern: ($) => choice($.variant_pattern, $.tuple_pattern),
    variant_pattern: ($) => prec.right(seq(choice($.path, $.none), optional(seq("(", commas($._part), ")")))),
    tuple_pattern: ($) => seq("(", $._part, ",", optionalCommas($._part), ")"),
    _part: ($) => choice($._case_pattern, $.wildcard),
    _case_pattern: ($) => choice($._pattern, $.same_pattern, $.literal_pattern),
    same_pattern: ($) =>
      choice(prec.right(PREC.comparison, seq("==", $.expression)), seq("(", "==", $.expression, ")")),
    literal_pattern: ($) => choice(seq(optional("-"), $.integer), $.boolean),
    _case_patterns: ($) => seq($._case_pattern, repeat(seq("or", $._case_pattern))),

    match: ($) => seq("match", field("subject", $.expression), "{", commas($.inline_case), "}"),
    inline_case: ($) => seq(choice($._case_patterns, "else"), "->", $.expression),

    // -------------------------------------------------------------------------------------- blocks with a value

    block: ($) => seq($._indent, optional(seq($.string, $._newline)), repeat1($._block_line), $._dedent),
    _block_line: ($) => choice(seq($.conjunct, $._newline), seq($.let, $._newline), $.block_conjunct),
    conjunct: ($) => seq(optional($._label), $.expression),
    _label: ($) => seq(field("label", $.identifier), ":"),
    block_conjunct: ($) => choice(seq(optional($._label), $._block_form), seq($._label, $.block)),
    _block_form: ($) => choice($.block_if, $.block_match, $.block_quantified),
    block_if: ($) =>
      seq(
        "if", $.expression,
        ":",
        $._branch,
        repeat(seq("elif", $.expression, ":", $._branch)),
        optional($._block_else),
      ),
    _block_else: ($) => seq("else", ":", $._branch),
    _branch: ($) => choice(seq($.expression, $._newline), $.block),
    block_match: ($) =>
      seq(
        "match",
        field("subject", $.expression),
        ":",
        $._indent,
        repeat($.block_case),
        optional($._block_else),
        $._dedent,
      ),
    block_case: ($) => seq($._case_patterns, ":", $._branch),
    block_quantified: ($) => seq(choice("forall", "exists"), $._binders, ":", choice($.block, $._block_form)),

    // ----------------------------------------------------------------------------------------------- statements

    _body: ($) => choice($.body, seq($._simple, $._newline)),
    body: ($) => seq($._indent, optional(seq($.string, $._newline)), repeat($._statement), $._dedent),
    _statement: ($) => choice(seq($._simple, $._newline), $.if, $.for, $.action_match, $.block_guard),
    _simple: ($) => choice($.guard, $.let, $.pick, $.assign),
    guard: ($) => prec.dynamic(1, seq(choice("when", "bound"), optional($._label), $.expression)),
    block_guard: ($) =>
      seq(
        choice("when", "bound"),
        choice(seq(optional(field("label", $.identifier)), ":", $.block), seq(optional($._label), $._block_form)),
      ),
    let: ($) => seq("let", $._bound, "=", $.expression),
    pick: ($) => seq("pick", $.binder),
    assign: ($) => seq(field("target", $._postfix), ":=", $.expression),
    if: ($) =>
      seq(
        "if", $.expression,
        ":",
        $._body,
        repeat(seq("elif", $.expression, ":", $._body)),
        optional(seq("else", ":", $._body)),
      ),
    for: ($) => seq("for", $.binder, ":", $._body),
    action_match: ($) =>
      seq(
        "match",
        field("subject", $.expression),
        ":",
        $._indent,
        repeat($.action_case),
        optional(seq("else", ":", $._body)),
        $._dedent,
      ),
    action_case: ($) => seq($._case_patterns, ":", $._body),

    // --------------------------------------------------------------------------------------------- declarations

    module: ($) => seq("module", $.path, $._newline),
    use: ($) => seq("use", $.path, optional(seq("as", $.identifier)), $._newline),
    instance: ($) =>
      seq(
        "instance",
        field("name", $.identifier),
        optional(seq("[", $.field, "]")),
        "=",
        $.path,
        optional(seq("(", optionalCommas($.binding), ")")),
        $._newline,
      ),
    binding: ($) => seq($.path, "=", $.expression),
    param: ($) =>
      seq(
        optional("size"),
        "param",
        field("name", $.identifier),
        ":",
        field("type", $._type),
        optional(seq("=", $.expression)),
        optional("symmetric"),
        choice($._newline, seq($._indent, $.string, $._newline, $._dedent)),
      ),
    assume: ($) => seq("assume", $.expression, $._newline),
    type_alias: ($) => seq("type", field("name", $.identifier), "=", $._type, $._newline),
    enum: ($) => seq("enum", field("name", $.identifier), ":", $._variants),
    _variants: ($) => lines($, listed($.variant)),
    variant: ($) => seq(field("name", $.identifier), optional(seq("(", commas($.field), ")"))),
    record: ($) => seq("record", field("name", $.identifier), ":", lines($, listed($.field))),
    def: ($) =>
      seq(
        "def",
        field("name", $.identifier),
        "(",
        optionalCommas($.field),
        ")",
        optional(seq(":", field("type", $._type))),
        choice(seq("=", $.expression, $._newline), seq(":", choice($.block, $._block_form))),
      ),

    state: ($) => seq("state", ":", $._indent, repeat1(seq($.variable, $._newline)), $._dedent),
    variable: ($) =>
      seq(
        optional("ghost"),
        field("name", $.identifier),
        ":",
        field("type", alias($._starting_type, $.type)),
        optional(seq(choice("=", "in"), $.expression)),
      ),
    _starting_type: ($) => prec(PREC.comparison + 1, $.expression),
    init: ($) => seq("init", ":", $._body),

    action: ($) =>
      seq("action", field("name", $.identifier), optional($.parameters), optional($._fairness), ":", $._body),
    joint_action: ($) =>
      seq(
        "action",
        field("name", $.identifier),
        optional($.parameters),
        optional($._fairness),
        "=",
        $.expression, $._newline,
      ),
    parameters: ($) => seq("(", optionalCommas($.parameter), ")"),
    parameter: ($) => seq(field("name", $.identifier), choice(":", "in"), $.expression),
    _fairness: ($) => seq(optional("strong"), "fair", optional(seq("per", listed($.identifier)))),
    next: ($) => seq("next", ":", $._paths),
    fair_group: ($) => seq($._fairness, ":", $._paths),
    _paths: ($) => lines($, listed($.path)),

    property: ($) =>
      seq(
        choice(
          seq(choice("invariant", "transition", "reachable", "lemma", "property"), field("name", $.identifier)),
          seq("terminal", optional(field("name", $.identifier))),
        ),
        ":",
        choice(seq($.expression, $._newline), $._block_form, $.block),
      ),

    accept_declaration: ($) => seq($.accept, $._newline),
    accept: ($) => seq("accept", "bounds", ":", listed(choice($.path, $.capacity))),
    capacity: ($) => seq("capacity", "of", $.path),
    show: ($) => seq("show", ":", $._shown),
    view: ($) => seq("view", ":", $._shown),
    _shown: ($) => lines($, listed($.expression)),

    scenario: ($) =>
      seq(
        "scenario",
        field("name", $.identifier),
        ":",
        choice(
          seq($._steps, $._newline),
          seq($._indent, optional(seq($.string, $._newline)), repeat1(seq($._steps, $._newline)), $._dedent),
        ),
      ),
    _steps: ($) => semicolons($._step),
    _step: ($) => choice($.do, $.refuse, $.expect),
    do: ($) => $._postfix,
    refuse: ($) => prec.dynamic(1, seq("refuse", $._postfix, optional(seq("by", $.path)))),
    expect: ($) => seq("expect", $.expression),

    model: ($) => seq("model", field("name", $.identifier), ":", lines($, $._settings)),
    _settings: ($) => semicolons(choice($.binding, $.accept)),

    refines: ($) =>
      seq(
        "refines", $.path, "with",
        ":",
        $._indent,
        repeat1(seq(choice($.binding, $.action_mapping), $._newline)),
        $._dedent,
      ),
    action_mapping: ($) => seq("action", $._postfix, "=", $._counterpart, repeat(seq("or", $._counterpart))),
    _counterpart: ($) => choice("stutter", "any", $._postfix),

    // --------------------------------------------------------------------------------------------------- traces

    trace: ($) =>
      seq(
        "trace",
        field("name", $.identifier),
        optional(seq("extends", $.path)),
        ":",
        $._indent,
        repeat1($._trace_line),
        $._dedent,
      ),
    _trace_line: ($) =>
      choice(
        seq(
          choice($.from, $.ignore, $.hidden, $.order, $.slice, $.numbered, $.together, $.report, $.ends, $.begins),
          $._newline,
        ),
        $.from_block, $.on, $.call_line, $.measure, $.note,
      ),
    from: ($) => seq("from", $.path, optional($.string)),
    from_block: ($) =>
      seq(
        "from", $.path,
        optional($.string),
        ":",
        $._indent,
        repeat1(seq(semicolons($._source_item), $._newline)),
        $._dedent,
      ),
    _source_item: ($) => choice($.source_key, $.source_field),
    source_key: ($) => seq(field("name", $.identifier), "=", $.string, optional(seq("in", $._event_name))),
    source_field: ($) =>
      seq(
        "field",
        field("name", $.identifier),
        "=",
        $.string,
        optional(seq("*", $.integer)),
        optional(seq("//", $.integer)),
        optional(seq("rounded", optional($.identifier))),
        optional(seq("as", $._type)),
        optional(seq("else", $.source_value)),
      ),
    source_value: ($) => choice(seq(optional("-"), $.integer), $.string, $.boolean, $.none, seq("[", "]")),
    _event_name: ($) => choice($.identifier, $.string),
    _events: ($) => listed(field("event", $._event_name)),
    event_fields: ($) => seq("(", optionalCommas($.event_field), ")"),
    event_field: ($) => seq(field("name", $.identifier), optional(seq(":", $._type))),
    on: ($) =>
      seq(
        "on", $._events,
        optional($.event_fields),
        optional(seq("at", $.expression)),
        optional($._if),
        ":",
        $._reactions,
      ),
    call_line: ($) =>
      seq(
        "call", $._events,
        optional($.event_fields),
        optional(seq("returns", $.event_fields)),
        optional("fails"),
        optional(seq("from", $.identifier, "to", $.identifier)),
        optional($._if),
        ":",
        $._reactions,
      ),
    _reactions: ($) => choice(seq($._reaction, $._newline), seq($._indent, $._reaction, $._newline, $._dedent)),
    _reaction: ($) => choice($.happens, $.observe),
    happens: ($) => seq(semicolons($._alternatives), optional(seq("then", $.expression))),
    _alternatives: ($) => seq($._postfix, repeat(seq("or", $._postfix))),
    observe: ($) => prec.dynamic(1, seq("observe", $.expression)),
    ignore: ($) => seq("ignore", $._events, $.string),
    hidden: ($) => seq("hidden", listed($.path), ";", "at", "most", $.expression, "between", "two", "pinned", "events"),
    slice: ($) =>
      seq("slice", $.identifier, "by", listed($.identifier), optional(seq("since", optional("new"), $._event_name))),
    numbered: ($) => seq("numbered", listed($.path)),
    together: ($) => seq("thread", $._events, $.string),
    report: ($) =>
      seq(
        "report", $.path, "as", $.identifier,
        optional(seq("since", $.string)),
        optional(seq("before", $.string)),
        $.string,
      ),
    ends: ($) => seq("ends", listed($.path)),
    begins: () => seq("begins", "anywhere"),
    measure: ($) => seq("measure", field("name", $.identifier), optional($._note_fields), $.string, ":", $._note_body),
    note: ($) => seq("note", $._event_name, optional($._note_fields), "as", $.identifier, $.string, ":", $._note_body),
    _note_fields: ($) => seq("(", optionalCommas($.field), ")"),
    _note_body: ($) => choice(seq($.expression, $._newline), seq($._indent, $.expression, $._newline, $._dedent)),
    order: ($) => seq("order", ":", semicolons($.order_clause)),
    order_clause: ($) =>
      choice(
        "file", "thread", "lines", "sequence", "causal",
        seq("commit", "before", "line", "within", $.integer, "ms"),
        seq("skew", $.integer, "ms"),
      ),
  },
});
