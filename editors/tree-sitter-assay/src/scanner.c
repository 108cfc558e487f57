/* Line ends and the blocks that indentation makes, as docs/language.md, section 2, says.
 *
 * A line goes on after what cannot end one (there the parser asks for no line end), and before a word or sign that
 * cannot begin one. The tokens have no width: they stand before the line end, the blanks and the comments that they
 * come from. */

#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum Token { NEWLINE, INDENT, DEDENT, ERROR_SENTINEL };

#define MOST_BLOCKS 200

typedef struct {
    uint16_t columns[MOST_BLOCKS]; /* of the blocks that are open, the outermost, in column 0, not among them */
    uint8_t open;
} Blocks;

void *tree_sitter_assay_external_scanner_create(void) { return ts_calloc(1, sizeof(Blocks)); }

void tree_sitter_assay_external_scanner_destroy(void *payload) { ts_free(payload); }

unsigned tree_sitter_assay_external_scanner_serialize(void *payload, char *buffer) {
    Blocks *blocks = payload;
    unsigned bytes = blocks->open * sizeof(uint16_t);
    memcpy(buffer, blocks->columns, bytes);
    return bytes;
}

void tree_sitter_assay_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
    Blocks *blocks = payload;
    blocks->open = (uint8_t)(length / sizeof(uint16_t));
    if (length > 0) memcpy(blocks->columns, buffer, length);
}

static bool is_letter(int32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r'; }

static void skip_blanks(TSLexer *lexer) {
    while (is_blank(lexer->lookahead)) lexer->advance(lexer, false);
}

/* Reads the next word of at most 15 letters; a longer one is told by its first 15. */
static void read_word(TSLexer *lexer, char *word) {
    unsigned length = 0;
    for (; is_letter(lexer->lookahead); lexer->advance(lexer, false))
        if (length < 15) word[length++] = (char)lexer->lookahead;
    word[length] = 0;
}

static bool next_word_is(TSLexer *lexer, const char *wanted) {
    char word[16];
    skip_blanks(lexer);
    read_word(lexer, word);
    return strcmp(word, wanted) == 0;
}

/* Whether what comes next cannot begin a line, so that it belongs to the line before. */
static bool goes_on(TSLexer *lexer) {
    static const char *const words[] = {"and", "or", "implies", "until", "leads_to", "then", "in", "is"};
    int32_t c = lexer->lookahead;
    if (is_letter(c)) {
        char word[16];
        read_word(lexer, word);
        for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
            if (strcmp(word, words[i]) == 0) return true;
        if (strcmp(word, "not") == 0) return next_word_is(lexer, "in");
        if (strcmp(word, "else") == 0) {
            skip_blanks(lexer);
            return lexer->lookahead != ':';
        }
        return false;
    }
    if (c == '<' || c == '>' || c == '+' || c == '*' || c == '%' || c == '&') return true;
    if (c == '=' || c == '!' || c == '/' || c == '.') {
        lexer->advance(lexer, false);
        return lexer->lookahead == (c == '!' ? '=' : c);
    }
    return false;
}

/* Goes to where the next line begins that has more than blanks and a comment; false where no line ends here. */
static bool to_next_line(TSLexer *lexer, uint16_t *column) {
    bool ended = false;
    *column = 0;
    for (;;) {
        if (lexer->lookahead == '\n') {
            ended = true;
            *column = 0;
        } else if (is_blank(lexer->lookahead)) {
            ++*column;
        } else if (lexer->lookahead == '#') {
            while (!lexer->eof(lexer) && lexer->lookahead != '\n') lexer->advance(lexer, false);
            continue;
        } else {
            break;
        }
        lexer->advance(lexer, false);
    }
    if (lexer->eof(lexer)) *column = 0;
    return ended || lexer->eof(lexer);
}

static bool found(TSLexer *lexer, enum Token token) {
    lexer->result_symbol = token;
    return true;
}

bool tree_sitter_assay_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
    Blocks *blocks = payload;
    uint16_t column, here = blocks->open ? blocks->columns[blocks->open - 1] : 0;
    if (valid[ERROR_SENTINEL]) return false;
    lexer->mark_end(lexer);
    if (!to_next_line(lexer, &column)) return false;
    bool end = lexer->eof(lexer);
    if (valid[INDENT] && !end && column > here && blocks->open < MOST_BLOCKS) {
        if (goes_on(lexer)) return false;
        blocks->columns[blocks->open++] = column;
        return found(lexer, INDENT);
    }
    if (valid[NEWLINE]) return (end || !goes_on(lexer)) && found(lexer, NEWLINE);
    if (valid[DEDENT] && blocks->open && (end || column < here)) {
        blocks->open--;
        return found(lexer, DEDENT);
    }
    return false;
}
