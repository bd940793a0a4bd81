/* group_by.c - sums up the records of a process by function, file, size …; described in view.h. */
#include "symbolize/view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hashmap.h"
#include "common/base/arena.h"

const char *const group_by_word[BY_MAX] = {NULL,
#define K(name, word, head) word,
                                           BY_TABLE(K)
#undef K
};

const char *const group_by_heading[BY_MAX] = {NULL,
#define K(name, word, head) head,
                                              BY_TABLE(K)
#undef K
};

bool group_by_includes(const struct view *view, enum verdict verdict)
{
    return view->show[verdict] || (verdict == VERDICT_INDIRECT && view->show[VERDICT_LOST]);
}

/* ---- The names of rows ----------------------------------------------------------------------- */

static const char *function_row_name(struct arena *mem, const struct frame *frame)
{
    char buffer[FRAME_NAME_SIZE];
    const char *name = frame ? frame_name(frame, buffer) : "[no stack]";

    return arena_copy(mem, name, strlen(name));
}

static const char *file_row_name(struct arena *mem, const struct frame *frame)
{
    if (frame && frame->file)
        return frame->file;
    return frame && frame->module ? arena_format(mem, "[no line known] in %s", frame->module)
                                  : "[no line known]";
}

static const char *size_row_name(struct arena *mem, const struct record *record)
{
    uint64_t size = record->blocks ? record->bytes / record->blocks : 0;
    uint64_t least = size ? 1ull << (63 - __builtin_clzll(size)) : 0;

    return least < 2 ? arena_format(mem, "%" PRIu64, least)
                     : arena_format(mem, "%" PRIu64 "-%" PRIu64, least, 2 * (least - 1) + 1);
}

static const char *thread_row_name(struct arena *mem, const struct record *record)
{
    const char *names = NULL;

    for (size_t i = 0; i < record->thread_count; i++) {
        const struct thread_ref *thread = &record->threads[i];
        bool named = thread->name && *thread->name;

        names = arena_format(mem, "%s%sT%" PRIu32 "%s%s%s", names ? names : "", names ? ", " : "",
                             thread->serial, named ? " (" : "", named ? thread->name : "",
                             named ? ")" : "");
    }
    if (!names)
        return "[not known]";
    return record->more_threads ? arena_format(mem, "%s and others", names) : names;
}

static const char *row_name(struct arena *mem, enum by_key key, const struct record *record)
{
    const struct frame *frame = record_title_frame(record);

    switch (key) {
    case BY_FILE:
        return file_row_name(mem, frame);
    case BY_MODULE:
        return frame && frame->module ? frame->module : "[no module]";
    case BY_SIZE:
        return size_row_name(mem, record);
    case BY_KIND:
        return kind_word[record->kind];
    case BY_THREAD:
        return thread_row_name(mem, record);
    default:
        return function_row_name(mem, frame);
    }
}

/* ---- Adding records to the rows of the table ------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
    const struct group_by_row *a = left, *b = right;

    if (a->sum.bytes != b->sum.bytes)
        return a->sum.bytes > b->sum.bytes ? -1 : 1;
    if (a->sum.blocks != b->sum.blocks)
        return a->sum.blocks > b->sum.blocks ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Says that a record is part of a row. By tag and by type a record may be part of several rows. */
struct row_part {
    size_t record, row;
};

struct grouping {
    const struct process *process;
    const struct view *view;
    struct group_by_table table;
    struct row_part *parts;
    size_t count, part_capacity, row_capacity;
    struct hashmap by_name;
};

static void add_row_part(struct grouping *adding, size_t record, size_t row)
{
    adding->parts = array_grow(adding->parts, &adding->part_capacity, adding->count + 1,
                               sizeof(*adding->parts));
    adding->parts[adding->count++] = (struct row_part){record, row};
}

static void add_to_row(struct grouping *adding, const char *name, size_t index, uint64_t bytes,
                       uint64_t blocks)
{
    const struct record *record = &adding->process->records[index];
    struct group_by_table *table = &adding->table;
    struct verdict_total one = {bytes, blocks, 1};
    bool fresh;
    uint64_t *at =
        hashmap_put(&adding->by_name,
                    adding->view->by == BY_SITE ? hash_mix(record->signature, record->kind)
                                                : hash_text(1, name, strlen(name)),
                    &fresh);

    if (fresh) {
        *at = table->count++;
        table->rows =
            array_grow(table->rows, &adding->row_capacity, table->count, sizeof(*table->rows));
        table->rows[*at] = (struct group_by_row){.name = name, .first = record, .number = *at};
    }
    verdict_total_add(&table->rows[*at].sum, &one);
    add_row_part(adding, index, *at);
}

/* Adds the blocks of a record to the rows of their tags, and its other blocks to the row "no
 * tag". */
static void add_record_tags(struct grouping *adding, size_t index)
{
    const struct record *record = &adding->process->records[index];
    uint64_t bytes = record->bytes, blocks = record->blocks;

    for (size_t i = 0; i < record->tag_count; i++) {
        const struct tag_sum *tag = &record->tags[i];

        add_to_row(adding, tag->name, index, tag->bytes, tag->blocks);
        bytes -= tag->bytes < bytes ? tag->bytes : bytes;
        blocks -= tag->blocks < blocks ? tag->blocks : blocks;
    }
    if (bytes || blocks || !record->tag_count)
        add_to_row(adding, "[no tag]", index, bytes, blocks);
}

/* Adds the blocks of a record to the rows of their types. An array of a type and a single object of
 * that type are in one row. */
static void add_record_types(struct grouping *adding, size_t index)
{
    const struct record *record = &adding->process->records[index];
    struct type_coverage *types = &adding->table.types;
    uint64_t bytes = record->bytes, blocks = record->blocks;

    for (size_t i = 0; i < record->type_count; i++) {
        const struct type_sum *sum = &record->types[i];

        add_to_row(adding, sum->type->name, index, sum->bytes, sum->blocks);
        types->typed = add_saturating(types->typed, sum->bytes);
        if (sum->type->confidence < TYPE_DOUBTFUL)
            types->doubtful = add_saturating(types->doubtful, sum->bytes);
        bytes -= sum->bytes < bytes ? sum->bytes : bytes;
        blocks -= sum->blocks < blocks ? sum->blocks : blocks;
    }
    types->conflicts = add_saturating(types->conflicts, record->type_conflicts);
    if (bytes || blocks || !record->type_count)
        add_to_row(adding, "[no type known]", index, bytes, blocks);
}

static void add_records(struct grouping *adding)
{
    const struct process *process = adding->process;

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];
        struct verdict_total one = {record->bytes, record->blocks, 1};

        if (record->suppressed_by || !group_by_includes(adding->view, record->verdict))
            continue;
        verdict_total_add(&adding->table.all, &one);
        if (adding->view->by == BY_TAG)
            add_record_tags(adding, i);
        else if (adding->view->by == BY_TYPE)
            add_record_types(adding, i);
        else
            add_to_row(adding, row_name(adding->table.mem, adding->view->by, record), i,
                       record->bytes, record->blocks);
    }
}

/* Counts the records that are in none of the rows to list. */
static uint64_t count_hidden_records(const struct grouping *adding)
{
    const struct group_by_table *table = &adding->table;
    bool *row_shown = arena_alloc_array(table->mem, table->count, sizeof(bool));
    bool *shown = arena_alloc_array(table->mem, adding->process->record_count, sizeof(bool));
    uint64_t records = table->all.records;

    for (size_t i = 0; i < table->shown; i++)
        row_shown[table->rows[i].number] = true;
    for (size_t i = 0; i < adding->count; i++)
        if (row_shown[adding->parts[i].row] && !shown[adding->parts[i].record]) {
            shown[adding->parts[i].record] = true;
            records--;
        }
    return records;
}

struct group_by_table group_by_make(const struct process *process, const struct view *view)
{
    struct grouping adding = {.process = process, .view = view, .table.mem = arena_begin()};
    struct group_by_table *table = &adding.table;

    add_records(&adding);
    if (table->count)
        qsort(table->rows, table->count, sizeof(*table->rows), compare_rows);
    table->shown = view->quiet                             ? 0
                   : view->top && view->top < table->count ? view->top
                                                           : table->count;
    for (size_t i = table->shown; i < table->count; i++)
        verdict_total_add(&table->rest, &table->rows[i].sum);
    table->rest.records = count_hidden_records(&adding);
    hashmap_end(&adding.by_name);
    free(adding.parts);
    return *table;
}

void group_by_end(struct group_by_table *table)
{
    free(table->rows);
    arena_end(table->mem);
}

double group_by_share(const struct group_by_table *table, const struct group_by_row *row)
{
    return table->all.bytes ? (double)row->sum.bytes / (double)table->all.bytes : 0;
}
