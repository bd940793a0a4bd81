/* text_types.c - writes the types of the blocks of a record or entry; described in text.h. It looks
 * like this:
 *
 *     50 × struct cJSON, 64 B
 *     7 × int[1,024], 4,096 B
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/term_text.h"
#include "symbolize/records/sampling_error.h"

#define NAME_COLUMNS 48
#define VIA_COLUMNS 40
#define TYPES_SHOWN 2 /* types that are shown without -v */

/* ---- The types of several records ------------------------------------------------------------ */

struct type_list {
    struct type_sum *sums;
    size_t count, capacity;
    uint64_t conflicts;
};

static bool is_same(const struct block_type *a, const struct block_type *b)
{
    return a == b || (a->layout == b->layout && a->at == b->at && strcmp(a->name, b->name) == 0);
}

static void add_type(struct type_list *list, const struct type_sum *one)
{
    size_t i = 0;

    while (i < list->count && !is_same(list->sums[i].type, one->type))
        i++;
    if (i == list->count) {
        list->sums = array_grow(list->sums, &list->capacity, list->count + 1, sizeof(*list->sums));
        list->sums[list->count++] = *one;
        return;
    }
    list->sums[i].bytes = add_saturating(list->sums[i].bytes, one->bytes);
    list->sums[i].blocks = add_saturating(list->sums[i].blocks, one->blocks);
    if (list->sums[i].block_size != one->block_size)
        list->sums[i].block_size = 0;
}

/* Says whether the type is shown. A report that must fit a screen leaves out arrays of characters,
 * and at the last level all types. */
static bool is_shown(const struct type_sum *sum, const struct view *view)
{
    return view->terse < TEXT_BRIEF || (view->terse < TEXT_TERSEST && sum->type->size != 1);
}

static void add_record(struct type_list *list, const struct record *record, const struct view *view)
{
    for (size_t i = 0; i < record->type_count; i++)
        if (is_shown(&record->types[i], view))
            add_type(list, &record->types[i]);
    list->conflicts = add_saturating(list->conflicts, record->type_conflicts);
}

/* ---- Writing a type -------------------------------------------------------------------------- */

static struct term_text type_name(const struct block_type *type, const struct view *view)
{
    bool whole = view->verbose || view->full_names;
    size_t length = strlen(type->name);
    char *name;
    struct term_text text;

    if (whole || length > CXX_SHORTEN_MAX)
        return term_text(type->name, length, whole ? 0 : NAME_COLUMNS);
    name = strdup(type->name);
    if (!name)
        return term_text(type->name, length, NAME_COLUMNS);
    length = cxx_shorten_name(name);
    text = term_text(name, length, NAME_COLUMNS);
    free(name);
    return text;
}

static void write_evidence(const struct block_type *type, const struct view *view, FILE *stream)
{
    const char *via = type->via ? type->via : "";

    if (type->source == TYPE_BY_POINTER && !*via)
        fputs(" (from a pointer)", stream);
    else if (view->verbose)
        fprintf(stream, " (%s%s%s)", type_source_words[type->source], *via ? " " : "",
                term_text(via, strlen(via), VIA_COLUMNS).text);
    else if (type->source == TYPE_BY_POINTER)
        fprintf(stream, " (from %s)", term_text(via, strlen(via), VIA_COLUMNS).text);
    else if (type->confidence < TYPE_DOUBTFUL)
        fputs(", or a class derived from it", stream);
}

void text_type_layout(const struct type_sum *sum, char text[TEXT_LAYOUT_SIZE])
{
    const struct block_type *type = sum->type;
    uint64_t elements = type->size ? sum->block_size / type->size : 0;

    *text = 0;
    if (type->layout == TYPE_ARRAY)
        snprintf(text, TEXT_LAYOUT_SIZE, "[%.24s]", elements ? term_number(elements).text : "");
    else if (type->layout == TYPE_PART)
        snprintf(text, TEXT_LAYOUT_SIZE, " at +%.24s", term_number(type->at).text);
    else if (type->layout == TYPE_HEAD && sum->block_size)
        snprintf(text, TEXT_LAYOUT_SIZE, " + %.24s B",
                 term_number(sum->block_size - type->size).text);
    else if (type->layout == TYPE_HEAD)
        snprintf(text, TEXT_LAYOUT_SIZE, " + data");
}

static void write_type(const struct type_sum *sum, const struct record *all,
                       const struct view *view, FILE *stream)
{
    const struct block_type *type = sum->type;
    char layout[TEXT_LAYOUT_SIZE];

    text_type_layout(sum, layout);
    fprintf(stream, "%*s%s × %s%s", TEXT_INDENT, "",
            estimate_number(sum->blocks, all->error.blocks).text, type_name(type, view).text,
            layout);
    if (sum->block_size)
        fprintf(stream, ", %s B", term_number(sum->block_size).text);
    write_evidence(type, view, stream);
    putc('\n', stream);
}

void text_types(const struct process *process, const size_t *parts, size_t count,
                const struct record *record, const struct view *view, FILE *stream)
{
    struct type_list list = {.count = 0};
    size_t shown;

    if (!parts)
        add_record(&list, record, view);
    for (size_t i = 0; i < count; i++)
        add_record(&list, &process->records[parts[i]], view);
    shown = view->verbose || list.count <= TYPES_SHOWN + 1 ? list.count : TYPES_SHOWN;
    for (size_t i = 0; i < shown; i++)
        write_type(&list.sums[i], record, view, stream);
    if (shown < list.count)
        fprintf(stream, "%*sand %s (-v lists them)\n", TEXT_INDENT, "",
                term_count(list.count - shown, "more type").text);
    if (list.conflicts && view->verbose)
        fprintf(stream, "%*sno type for %s: the evidence contradicts itself\n", TEXT_INDENT, "",
                term_count(list.conflicts, "block").text);
    free(list.sums);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

void text_fields(const struct sample *sample, int indent, FILE *stream)
{
    for (size_t i = 0; i < sample->field_count; i++) {
        const struct field_value *field = &sample->fields[i];

        fprintf(stream, "%*s%s = %s\n", indent, "",
                term_text(field->name, strlen(field->name), NAME_COLUMNS).text,
                term_text(field->value, strlen(field->value), 0).text);
    }
}
