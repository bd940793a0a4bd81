/* find_query.c - parses a condition into a tree by recursive descent; described in find_query.h. */
#include "graph/verbs/find_query.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/arena.h"

#define TERMS_MOST 256
#define DEPTH_MOST 64
#define WORD_MOST 256

enum find_form { FORM_AND, FORM_OR, FORM_NOT, FORM_COMPARE };
enum find_operator { IS_LESS, IS_AT_MOST, IS_MORE, IS_AT_LEAST, IS_EQUAL, IS_OTHER, CONTAINS };

struct find_term {
    enum find_form form;
    int left, right; /* indices of the two operands in the tree */
    enum find_field field;
    enum find_operator test;
    uint64_t number;
    char word[WORD_MOST];
};

struct find_query {
    struct find_term term[TERMS_MOST];
    int count, top;
};

static const struct {
    const char *word;
    bool is_text;
} fields[] = {
#define F(name, word, is_text, help) {word, is_text},
    FIND_FIELD_TABLE(F)
#undef F
};

struct parser {
    struct find_query *query;
    const char *at;
    char *wrong;
    int depth;
};

static int complain(struct parser *parser, const char *what)
{
    if (!*parser->wrong)
        snprintf(parser->wrong, FIND_WRONG_SIZE, "%s at '%.40s'", what, parser->at);
    return -1;
}

static void skip_space(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool take_sign(struct parser *parser, const char *sign)
{
    skip_space(parser);
    if (strncmp(parser->at, sign, strlen(sign)) != 0)
        return false;
    parser->at += strlen(sign);
    return true;
}

static size_t word_length(const char *at)
{
    size_t length = 0;

    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.:-/*", at[length])))
        length++;
    return length;
}

static bool take_word(struct parser *parser, const char *word)
{
    skip_space(parser);
    if (word_length(parser->at) != strlen(word) || strncasecmp(parser->at, word, strlen(word)) != 0)
        return false;
    parser->at += strlen(word);
    return true;
}

static int add_term(struct parser *parser, struct find_term term)
{
    struct find_query *query = parser->query;

    if (query->count == TERMS_MOST)
        return complain(parser, "too long");
    query->term[query->count] = term;
    return query->count++;
}

static bool take_field(struct parser *parser, enum find_field *field)
{
    for (int i = 0; i < FIND_FIELDS; i++)
        if (take_word(parser, fields[i].word)) {
            *field = (enum find_field)i;
            return true;
        }
    return false;
}

static bool take_operator(struct parser *parser, enum find_operator *test)
{
    static const struct {
        const char *sign;
        enum find_operator test;
    } signs[] = {{"<=", IS_AT_MOST}, {">=", IS_AT_LEAST}, {"!=", IS_OTHER}, {"==", IS_EQUAL},
                 {"<", IS_LESS},     {">", IS_MORE},      {"=", IS_EQUAL},  {"~", CONTAINS}};

    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (take_sign(parser, signs[i].sign)) {
            *test = signs[i].test;
            return true;
        }
    return false;
}

static bool take_number(struct parser *parser, uint64_t *number)
{
    static const char units[] = "kmgt";
    char *end;
    double fraction;
    const char *unit;

    skip_space(parser);
    if (!isdigit((unsigned char)*parser->at))
        return false;
    if (parser->at[0] == '0' && (parser->at[1] | 32) == 'x') {
        *number = strtoull(parser->at, &end, 16);
        parser->at = end;
        return true;
    }
    fraction = strtod(parser->at, &end);
    unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    for (const char *each = units; unit && each <= unit; each++)
        fraction *= 1024;
    parser->at = end + (unit != NULL);
    *number = fraction < 1.8e19 ? (uint64_t)fraction : UINT64_MAX;
    return word_length(parser->at) == 0;
}

static bool take_text(struct parser *parser, char word[WORD_MOST])
{
    const char *begin;
    size_t length;

    skip_space(parser);
    begin = parser->at;
    if (*begin == '"' || *begin == '\'') {
        const char *end = strchr(begin + 1, *begin);

        if (!end)
            return false;
        length = (size_t)(end - ++begin);
        parser->at = end + 1;
    } else {
        length = word_length(begin);
        parser->at += length;
    }
    if (!length || length >= WORD_MOST)
        return false;
    memcpy(word, begin, length);
    word[length] = '\0';
    return true;
}

static int parse_comparison(struct parser *parser)
{
    struct find_term term = {.form = FORM_COMPARE};

    if (!take_field(parser, &term.field))
        return complain(parser,
                        "no field (address, size, retained, held, refs, pointers, distance, "
                        "word, thread, site, type, stack, verdict)");
    if (!take_operator(parser, &term.test))
        return complain(parser, "no operator (< <= > >= = != ~)");
    if (fields[term.field].is_text) {
        if (term.test < IS_EQUAL)
            return complain(parser, "a text is compared with =, != or ~");
        return take_text(parser, term.word) ? add_term(parser, term) : complain(parser, "no text");
    }
    if (term.test == CONTAINS)
        return complain(parser, "a number is compared with < <= > >= = !=");
    return take_number(parser, &term.number) ? add_term(parser, term)
                                             : complain(parser, "no number");
}

static int parse_or(struct parser *parser);

static int parse_single(struct parser *parser)
{
    int inner;

    if (parser->depth >= DEPTH_MOST)
        return complain(parser, "nested too deep");
    parser->depth++;
    if (take_word(parser, "not") || take_sign(parser, "!")) {
        inner = parse_single(parser);
        inner = inner < 0 ? inner
                          : add_term(parser, (struct find_term){.form = FORM_NOT, .left = inner});
    } else if (take_sign(parser, "(")) {
        inner = parse_or(parser);
        if (inner >= 0 && !take_sign(parser, ")"))
            inner = complain(parser, "no )");
    } else {
        inner = parse_comparison(parser);
    }
    parser->depth--;
    return inner;
}

static int parse_and(struct parser *parser)
{
    int left = parse_single(parser);

    while (left >= 0 && (take_word(parser, "and") || take_sign(parser, "&&"))) {
        int right = parse_single(parser);

        left = right < 0
                   ? right
                   : add_term(parser,
                              (struct find_term){.form = FORM_AND, .left = left, .right = right});
    }
    return left;
}

static int parse_or(struct parser *parser)
{
    int left = parse_and(parser);

    while (left >= 0 && (take_word(parser, "or") || take_sign(parser, "||"))) {
        int right = parse_and(parser);

        left = right < 0
                   ? right
                   : add_term(parser,
                              (struct find_term){.form = FORM_OR, .left = left, .right = right});
    }
    return left;
}

struct find_query *find_query_parse(const char *text, char wrong[FIND_WRONG_SIZE])
{
    struct find_query *query = array_grow(NULL, &(size_t){0}, 1, sizeof(*query));
    struct parser parser = {.query = query, .at = text, .wrong = wrong};

    query->count = 0;
    *wrong = '\0';
    query->top = parse_or(&parser);
    skip_space(&parser);
    if (query->top >= 0 && !*parser.at)
        return query;
    complain(&parser, "not understood");
    free(query);
    return NULL;
}

void find_query_end(struct find_query *query)
{
    free(query);
}

bool find_query_has(const struct find_query *query, enum find_field field)
{
    for (int i = 0; i < query->count; i++)
        if (query->term[i].form == FORM_COMPARE && query->term[i].field == field)
            return true;
    return false;
}

static bool compare(const struct find_term *term, const struct find_source *source, uint32_t block)
{
    uint64_t number;

    if (fields[term->field].is_text)
        return source->text(source->context, block, term->field, term->word,
                            term->test == CONTAINS) == (term->test != IS_OTHER);
    number = source->number(source->context, block, term->field);
    switch (term->test) {
    case IS_LESS:
        return number < term->number;
    case IS_AT_MOST:
        return number <= term->number;
    case IS_MORE:
        return number > term->number;
    case IS_AT_LEAST:
        return number >= term->number;
    case IS_OTHER:
        return number != term->number;
    default:
        return number == term->number;
    }
}

/* Says whether a block fulfils the term at index `at`. The recursion is at most TERMS_MOST deep,
 * because a chain of "and" grows to the left. */
static bool matches(const struct find_query *query, int at, const struct find_source *source,
                    uint32_t block)
{
    const struct find_term *term = &query->term[at];

    switch (term->form) {
    case FORM_AND:
        return matches(query, term->left, source, block) &&
               matches(query, term->right, source, block);
    case FORM_OR:
        return matches(query, term->left, source, block) ||
               matches(query, term->right, source, block);
    case FORM_NOT:
        return !matches(query, term->left, source, block);
    default:
        return compare(term, source, block);
    }
}

bool find_query_matches(const struct find_query *query, const struct find_source *source,
                        uint32_t block)
{
    return matches(query, query->top, source, block);
}
