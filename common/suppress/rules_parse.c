/* rules_parse.c - parses suppression rules in the three forms that rules.h describes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/suppress/rules.h"

/* Converts a LeakSanitizer pattern to a glob over the whole name. */
static const char *make_glob(struct arena *mem, const char *pattern)
{
    bool start = *pattern == '^', end;
    size_t length = strlen(pattern += start);

    end = length && pattern[length - 1] == '$';
    return arena_format(mem, "%s%.*s%s", start ? "" : "*", (int)(length - end), pattern,
                        end ? "" : "*");
}

/* ---- Lines ----------------------------------------------------------------------------------- */

struct rules_reader {
    struct arena *mem;
    const char *where, *at, *end;
    size_t number;    /* number of the line */
    const char *line; /* the line without blanks at its ends; NULL = end of text */
    struct rules rules;
    size_t capacity;
};

static void report_error(struct rules_reader *reading, size_t number, const char *words,
                         const char *what)
{
    if (!reading->rules.trouble)
        reading->rules.trouble =
            arena_format(reading->mem, "%s:%zu: %s%s%.80s%s", reading->where, number, words,
                         what ? " '" : "", what ? what : "", what ? "'" : "");
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Reads the next line that is neither empty nor a comment. False: end of text. */
static bool next_rule_line(struct rules_reader *reading)
{
    while (reading->at < reading->end) {
        const char *at = reading->at;
        const char *stop = memchr(at, '\n', (size_t)(reading->end - at));

        stop = stop ? stop : reading->end;
        reading->at = stop < reading->end ? stop + 1 : stop;
        reading->number++;
        while (at < stop && is_blank(*at))
            at++;
        while (stop > at && is_blank(stop[-1]))
            stop--;
        if (at == stop || *at == '#')
            continue;
        if (stop - at > RULES_LINE_MAX || memchr(at, 0, (size_t)(stop - at))) {
            report_error(reading, reading->number, "this line is too long, or no text", NULL);
            continue;
        }
        reading->line = arena_copy(reading->mem, at, (size_t)(stop - at));
        return true;
    }
    reading->line = NULL;
    return false;
}

static const char *skip_prefix(const char *line, const char *prefix)
{
    size_t length = strlen(prefix);

    if (strncmp(line, prefix, length) != 0)
        return NULL;
    line += length;
    return line + strspn(line, " \t");
}

static struct loaded_rule *begin_rule(struct rules_reader *reading, const char *text)
{
    struct loaded_rule *made = arena_alloc(reading->mem, sizeof(*made));

    made->rule.text = text;
    made->rule.where = arena_format(reading->mem, "%s:%zu", reading->where, reading->number);
    made->most_blocks = made->most_bytes = UINT64_MAX;
    return made;
}

static void add_rule(struct rules_reader *reading, struct loaded_rule *made)
{
    struct rules *rules = &reading->rules;

    rules->made =
        array_grow(rules->made, &reading->capacity, rules->count + 1, sizeof(*rules->made));
    rules->made[rules->count++] = made;
}

static void read_leak(struct rules_reader *reading)
{
    const char *pattern = skip_prefix(reading->line, "leak:");
    struct loaded_rule *made;

    if (!pattern) {
        report_error(reading, reading->number,
                     "neither leak:PATTERN nor a { of Valgrind's:", reading->line);
        return;
    }
    if (!*pattern) {
        report_error(reading, reading->number, "leak: without a pattern", NULL);
        return;
    }
    made = begin_rule(reading, reading->line);
    made->glob = make_glob(reading->mem, pattern);
    add_rule(reading, made);
}

/* ---- Rules in Valgrind's and libleak's form -------------------------------------------------- */

/* Parses the line "TOOL,TOOL:KIND" of a rule, such as "Memcheck,Other:Leak" or "libleak:Leak".
 * *ours: the rule is about leaks; *own: it has libleak's form. False: the line has another form. */
static bool read_kind(const char *line, bool *ours, bool *own)
{
    const char *colon = strchr(line, ':');

    *own = strncmp(line, "libleak:", 8) == 0;
    *ours = *own;
    if (!colon || colon == line)
        return false;
    for (const char *at = line; at < colon; at += strcspn(at, ",:") + 1)
        *ours |= strncmp(at, "Memcheck", 8) == 0 && strcspn(at, ",:") == 8;
    colon += 1 + strspn(colon + 1, " \t");
    *ours &= strcmp(colon, "Leak") == 0;
    return true;
}

static void accept_all_verdicts(struct loaded_rule *made)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        made->verdicts[v] = v != VERDICT_RUNTIME;
}

static bool add_leak_kind(const char *word, size_t length, struct loaded_rule *made)
{
    static const struct {
        const char *word;
        enum verdict verdict, other; /* other: a second verdict that Valgrind's kind includes */
    } kinds[] = {{"definite", VERDICT_LOST, VERDICT_HIDDEN},
                 {"indirect", VERDICT_INDIRECT, VERDICT_INDIRECT},
                 {"possible", VERDICT_POSSIBLE, VERDICT_POSSIBLE},
                 {"reachable", VERDICT_REACHABLE, VERDICT_REACHABLE}};

    if (length == 3 && memcmp(word, "all", 3) == 0) {
        accept_all_verdicts(made);
        return true;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strlen(kinds[i].word) == length && memcmp(kinds[i].word, word, length) == 0) {
            made->verdicts[kinds[i].verdict] = made->verdicts[kinds[i].other] = true;
            return made->verdicts[VERDICT_UNFREED] = true;
        }
    return length == 4 && memcmp(word, "none", 4) == 0;
}

static bool read_leak_kinds(const char *list, struct loaded_rule *made)
{
    memset(made->verdicts, 0, sizeof(made->verdicts));
    for (const char *at = list;;) {
        size_t length = strcspn(at, ", \t");

        if (!add_leak_kind(at, length, made))
            return false;
        at += length + strspn(at + length, ", \t");
        if (!*at)
            return true;
    }
}

/* Splits the line number off a pattern "file.c:12". */
static void split_source(struct rules_reader *reading, struct rule_frame *frame)
{
    const char *colon = strrchr(frame->pattern, ':');

    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return;
    frame->line = (uint32_t)strtoul(colon + 1, NULL, 10);
    frame->pattern = arena_copy(reading->mem, frame->pattern, (size_t)(colon - frame->pattern));
}

static bool read_frame(struct rules_reader *reading, struct rule_frame *frame)
{
    const char *line = reading->line;

    *frame = (struct rule_frame){.what = RULE_FRAMES};
    if (strcmp(line, "...") == 0)
        return true;
    if ((frame->pattern = skip_prefix(line, "fun:")))
        frame->what = RULE_FUNCTION;
    else if ((frame->pattern = skip_prefix(line, "obj:")))
        frame->what = RULE_OBJECT;
    else if ((frame->pattern = skip_prefix(line, "src:")))
        frame->what = RULE_SOURCE;
    else
        return false;
    if (frame->what == RULE_SOURCE)
        split_source(reading, frame);
    return *frame->pattern != 0;
}

/* ---- Conditions that only libleak's own form of a rule has ----------------------------------- */

static bool read_number(const char *text, uint64_t *number)
{
    char *end;

    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && strlen(text) < 20;
}

static bool read_signature(const char *text, struct loaded_rule *made)
{
    made->has_signature = strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
    made->signature = strtoull(text, NULL, 16);
    return made->has_signature;
}

/* Parses the last day of a rule. "2027-01-31" is valid until it has ended in every time zone, the
 * last of which is UTC-12. False: the text is no date. */
static bool read_day(const char *text, struct loaded_rule *made)
{
    struct tm day = {0};
    char *end = strptime(text, "%Y-%m-%d", &day);

    if (!end || *end || strlen(text) != 10)
        return false;
    made->rule.expires = text;
    made->expired = timegm(&day) + (24 + 12) * 3600 <= time(NULL);
    return true;
}

/* Parses a line as a condition, and says in *good whether the value is valid. False: the line is
 * no condition. */
static bool read_condition(const char *line, struct loaded_rule *made, bool *good)
{
    const char *text;

    if ((text = skip_prefix(line, "signature=")))
        *good = read_signature(text, made);
    else if ((text = skip_prefix(line, "count<=")))
        *good = read_number(text, &made->most_blocks);
    else if ((text = skip_prefix(line, "bytes<=")))
        *good = read_number(text, &made->most_bytes);
    else if ((text = skip_prefix(line, "expires=")))
        *good = read_day(text, made);
    else if ((text = skip_prefix(line, "reason=")))
        made->rule.reason = text;
    else if ((text = skip_prefix(line, "managed_by=")))
        *good = *(made->rule.managed = text) != 0;
    return text != NULL;
}

/* ---- The lines of a rule between { and } ----------------------------------------------------- */

/* The frames of a rule while it is parsed. */
struct block_frames {
    struct rule_frame *frame;
    size_t count, capacity, named; /* named: number of frames other than "..." */
    bool own;                      /* the rule has libleak's form, which allows conditions */
};

static bool read_block_line(struct rules_reader *reading, struct loaded_rule *made,
                            struct block_frames *frames)
{
    const char *kinds = skip_prefix(reading->line, "match-leak-kinds:");
    bool good = true;

    if (frames->own && read_condition(reading->line, made, &good))
        return good;
    if (kinds && !frames->count)
        return read_leak_kinds(kinds, made);
    frames->frame =
        array_grow(frames->frame, &frames->capacity, frames->count + 1, sizeof(*frames->frame));
    if (!read_frame(reading, &frames->frame[frames->count]))
        return false;
    frames->named += frames->frame[frames->count++].what != RULE_FRAMES;
    return true;
}

/* Parses a rule up to its }. made NULL: skips the rule. False: the lines are no valid rule. */
static bool read_frames(struct rules_reader *reading, struct loaded_rule *made, size_t first,
                        bool own)
{
    struct block_frames frames = {.own = own};
    bool good = true;

    while (next_rule_line(reading) && strcmp(reading->line, "}") != 0)
        if (made && good && !(good = read_block_line(reading, made, &frames)))
            report_error(reading, reading->number, "no line of a suppression:", reading->line);
    if (!reading->line)
        report_error(reading, first, "this { has no }", NULL);
    else if (made && good && !frames.named && !made->has_signature)
        report_error(reading, first,
                     own ? "a suppression without signature= that names no frame"
                         : "a suppression that names no frame",
                     NULL);
    if (frames.count) {
        made->frame_count = frames.count;
        made->frames = arena_alloc_array(reading->mem, frames.count, sizeof(*made->frames));
        memcpy(made->frames, frames.frame, frames.count * sizeof(*made->frames));
    }
    free(frames.frame);
    return good && reading->line && made && (frames.named || made->has_signature);
}

static void read_block(struct rules_reader *reading)
{
    size_t first = reading->number;
    struct loaded_rule *made;
    bool ours = false, own = false, good;

    if (!next_rule_line(reading) || strcmp(reading->line, "}") == 0) {
        report_error(reading, first, "a suppression without a name", NULL);
        return;
    }
    made = begin_rule(reading, reading->line);
    if (!next_rule_line(reading) || strcmp(reading->line, "}") == 0) {
        report_error(reading, first, "a suppression that does not say of what (Memcheck:Leak)",
                     NULL);
        return;
    }
    good = read_kind(reading->line, &ours, &own);
    if (!good)
        report_error(reading, reading->number, "not TOOL:KIND:", reading->line);
    accept_all_verdicts(made);
    if (read_frames(reading, good && ours ? made : NULL, first, own) && ours)
        add_rule(reading, made);
}

struct rules rules_parse(struct arena *mem, const char *where, const char *text, size_t length)
{
    struct rules_reader reading = {.mem = mem, .where = where, .at = text, .end = text + length};
    struct loaded_rule **made;

    while (next_rule_line(&reading))
        if (strcmp(reading.line, "{") == 0)
            read_block(&reading);
        else
            read_leak(&reading);
    made = arena_alloc_array(mem, reading.rules.count, sizeof(*made));
    if (reading.rules.count)
        memcpy(made, reading.rules.made, reading.rules.count * sizeof(*made));
    free(reading.rules.made);
    reading.rules.made = made;
    return reading.rules;
}
