/* diff.c - compares two reports; described in compare.h. The text looks like this:
 *
 *     new       480 bytes in 4 blocks lost                       0a1b2c3d4e5f6071
 *          parse_node() at src/tree.c:88
 *          under the tag mesh
 */
#include "symbolize/compare/compare.h"

#include <inttypes.h>
#include <stdlib.h>

#include "symbolize/json/json.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text.h"

#define CHANGE_COLUMNS 10 /* width of the longest word in change_word and a space */

const char *const change_word[CHANGE_MAX] = {[CHANGE_NEW] = "new",
                                             [CHANGE_GROWN] = "grown",
                                             [CHANGE_SHRUNK] = "shrunk",
                                             [CHANGE_FIXED] = "fixed",
                                             [CHANGE_UNCHANGED] = "unchanged"};

/* ---- Comparing two entries ------------------------------------------------------------------- */

static enum change change_of(const struct report_set_entry *old, const struct report_set_entry *new)
{
    if (!old || !new)
        return old ? CHANGE_FIXED : CHANGE_NEW;
    if (new->record.bytes != old->record.bytes)
        return new->record.bytes > old->record.bytes ? CHANGE_GROWN : CHANGE_SHRUNK;
    if (new->record.blocks != old->record.blocks)
        return new->record.blocks > old->record.blocks ? CHANGE_GROWN : CHANGE_SHRUNK;
    return CHANGE_UNCHANGED;
}

static void add_diff_line(struct diff *diff, const struct report_set_entry *old,
                          const struct report_set_entry *new)
{
    struct diff_line *line = &diff->lines[diff->count++];

    *line = (struct diff_line){change_of(old, new), old, new};
    diff->of[line->change]++;
}

/* Returns by how many bytes an entry changed; for a new or fixed entry, its size. */
static uint64_t change_size(const struct diff_line *line)
{
    uint64_t old = line->old ? line->old->record.bytes : 0;
    uint64_t new = line->new ? line->new->record.bytes : 0;

    return old > new ? old - new : new - old;
}

static int compare_descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int compare_diff_lines(const void *left, const void *right)
{
    const struct diff_line *a = left, *b = right;
    const struct report_set_entry *one = a->new ? a->new : a->old,
                                  *other = b->new ? b->new : b->old;
    int order = (int)a->change - (int)b->change;

    if (!order)
        order = one->rank - other->rank;
    if (!order)
        order = compare_descending(change_size(a), change_size(b));
    if (!order)
        order = compare_descending(one->record.blocks, other->record.blocks);
    return order ? order : compare_descending(other->record.signature, one->record.signature);
}

struct diff diff_make(struct arena *mem, struct report_set *old, struct report_set *new)
{
    struct diff diff = {.lines =
                            arena_alloc_array(mem, old->count + new->count, sizeof(*diff.lines))};

    for (size_t i = 0; i < new->count; i++) {
        struct report_set_entry *before =
            report_set_find(old, new->entries[i].class, new->entries[i].record.signature);

        if (before)
            before->matched = true;
        add_diff_line(&diff, before, &new->entries[i]);
    }
    for (size_t i = 0; i < old->count; i++)
        if (!old->entries[i].matched)
            add_diff_line(&diff, &old->entries[i], NULL);
    if (diff.count)
        qsort(diff.lines, diff.count, sizeof(*diff.lines), compare_diff_lines);
    return diff;
}

/* ---- Writing the comparison as text ---------------------------------------------------------- */

static int write_amount(const struct report_set_entry *entry, char *text, size_t size)
{
    struct term_text count = term_count(entry->record.blocks, entry->unit);

    if (entry->class == REPORT_SET_RECORD)
        return snprintf(text, size, "%.32s in %.40s %s", term_size(entry->record.bytes).text,
                        count.text, entry->words);
    return snprintf(text, size, "%.40s %s", count.text, entry->words);
}

static void write_diff_line(const struct diff_line *line, const struct view *view, FILE *stream)
{
    const struct report_set_entry *entry = line->new ? line->new : line->old;
    char amount[128];
    int width = write_amount(entry, amount, sizeof(amount)) + CHANGE_COLUMNS;
    const struct frame *title = record_title_frame(&entry->record);
    struct term_text place = {0};

    text_style(view, stream, STYLE_BOLD);
    fprintf(stream, "%-*s%s", CHANGE_COLUMNS, change_word[line->change], amount);
    text_signature(entry->record.signature, width, view, stream);
    if (line->old && line->new && line->change != CHANGE_UNCHANGED) {
        write_amount(line->old, amount, sizeof(amount));
        fprintf(stream, "%*swas %s\n", CHANGE_COLUMNS, "", amount);
    }
    if (title)
        place = text_place(title, view);
    fprintf(stream, "%*s%s%s%s\n", CHANGE_COLUMNS, "", text_call(title, view, 0).text,
            place.columns ? title->file ? " at " : " " : "", place.text);
    text_tags(&entry->tags, &entry->record, CHANGE_COLUMNS, view, stream);
}

void diff_write_text(const struct diff *diff, const struct view *view, FILE *stream)
{
    size_t hidden[CHANGE_MAX] = {0}, listed = 0;

    for (size_t i = 0; i < diff->count && !view->quiet; i++) {
        const struct diff_line *line = &diff->lines[i];
        bool dull = line->change == CHANGE_UNCHANGED && !view->verbose;

        if (!dull && view->top && listed >= view->top) {
            hidden[line->change]++;
            continue;
        }
        listed += !dull;
        if (!dull)
            write_diff_line(line, view, stream);
    }
    for (int c = 0; c < CHANGE_MAX; c++)
        if (hidden[c])
            fprintf(stream, "... and %zu more %s (--top=0)\n", hidden[c], change_word[c]);
    fputs("libleak: diff", stream);
    for (int c = 0; c < CHANGE_MAX; c++)
        fprintf(stream, " %s=%" PRIu64, change_word[c], diff->of[c]);
    putc('\n', stream);
}

/* ---- Writing the comparison as JSON ---------------------------------------------------------- */

static bool is_record(const struct json_writer *json, const void *entry)
{
    (void)json;
    return ((const struct report_set_entry *)entry)->class == REPORT_SET_RECORD;
}

static const struct json_field amount_fields[] = {
    JSON_TEXT(report_set_entry, "type", sort),
    JSON_COUNT(report_set_entry, "bytes", record.bytes),
    JSON_COUNT(report_set_entry, "count", record.blocks),
    JSON_TAGS(report_set_entry, record.tags, record.tag_count, JSON_KNOWN_IF(is_record),
              JSON_OPTIONAL),
};

static const struct json_table amount_table = JSON_TABLE(NULL, amount_fields);

static const struct json_field sides_fields[] = {
    JSON_POINTER(diff_line, "old", old, amount_table, JSON_MAY_BE_NULL),
    JSON_POINTER(diff_line, "new", new, amount_table, JSON_MAY_BE_NULL),
};

static const struct json_table sides_table = JSON_TABLE(NULL, sides_fields);

static const struct json_field title_fields[] = {
    JSON_TEXT(frame, "function", function, JSON_MAY_BE_NULL),
    JSON_TEXT(frame, "file", file, JSON_MAY_BE_NULL),
    JSON_COUNT(frame, "line", line, JSON_NULL_IF_0),
    JSON_TEXT(frame, "module", module, JSON_MAY_BE_NULL),
};

static const struct json_table title_table = JSON_TABLE(NULL, title_fields);

static void emit_diff_line(struct json_writer *json, const struct diff_line *line)
{
    const struct report_set_entry *entry = line->new ? line->new : line->old;

    json_open(json, NULL, '{');
    json_put_text(json, "change", change_word[line->change]);
    json_put_id(json, "signature", entry->record.signature);
    json_write_fields(json, &title_table, record_title_frame(&entry->record));
    json_write_fields(json, &sides_table, line);
    json_close(json, '}');
}

void diff_write_json(const struct diff *diff, FILE *stream)
{
    struct json_writer json = {.stream = stream};

    json_open(&json, NULL, '{');
    json_put_text(&json, "format", "libleak-diff");
    json_put_number(&json, "version", 1);
    json_open(&json, "summary", '{');
    for (int c = 0; c < CHANGE_MAX; c++)
        json_put_number(&json, change_word[c], diff->of[c]);
    json_close(&json, '}');
    json_open(&json, "changes", '[');
    for (size_t i = 0; i < diff->count; i++)
        emit_diff_line(&json, &diff->lines[i]);
    json_close(&json, ']');
    json_put_bool(&json, "bytes_escaped", json.bytes_escaped);
    json_close(&json, '}');
}
