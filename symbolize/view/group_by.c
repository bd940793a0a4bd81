/* group_by.c - see group_by.h. */
#include "symbolize/view/group_by.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hashmap.h"
#include "common/base/arena.h"

const char *const by_word[BY_MAX] = {NULL,
#define K(name, word, head) word,
                                     BY_TABLE(K)
#undef K
};

const char *const by_head[BY_MAX] = {NULL,
#define K(name, word, head) head,
                                     BY_TABLE(K)
#undef K
};

bool by_shows(const struct view *view, enum verdict verdict)
{
    return view->show[verdict] || (verdict == VERDICT_INDIRECT && view->show[VERDICT_LOST]);
}

/* ---- Names of rows -------------------------------------------------------------------------- */

static const char *function_of(struct mem *mem, const struct frame *frame)
{
    char buffer[FRAME_NAME_SIZE];
    const char *name = frame ? frame_name(frame, buffer) : "[no stack]";

    return arena_copy(mem, name, strlen(name));
}

static const char *file_of(struct mem *mem, const struct frame *frame)
{
    if (frame && frame->file)
        return frame->file;
    return frame && frame->module ? arena_format(mem, "[no line known] in %s", frame->module)
                                  : "[no line known]";
}

static const char *size_of(struct mem *mem, const struct record *record)
{
    uint64_t size = record->blocks ? record->bytes / record->blocks : 0;
    uint64_t least = size ? 1ull << (63 - __builtin_clzll(size)) : 0;

    return least < 2 ? arena_format(mem, "%" PRIu64, least)
                     : arena_format(mem, "%" PRIu64 "-%" PRIu64, least, 2 * (least - 1) + 1);
}

static const char *threads_of(struct mem *mem, const struct record *record)
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

static const char *name_of(struct mem *mem, enum by_key key, const struct record *record)
{
    const struct frame *frame = record_title_frame(record);

    switch (key) {
    case BY_FILE:
        return file_of(mem, frame);
    case BY_MODULE:
        return frame && frame->module ? frame->module : "[no module]";
    case BY_SIZE:
        return size_of(mem, record);
    case BY_KIND:
        return kind_word[record->kind];
    case BY_THREAD:
        return threads_of(mem, record);
    default:
        return function_of(mem, frame);
    }
}

/* ---- Adding up ------------------------------------------------------------------------------ */

static int larger(const void *left, const void *right)
{
    const struct by_row *a = left, *b = right;

    if (a->sum.bytes != b->sum.bytes)
        return a->sum.bytes > b->sum.bytes ? -1 : 1;
    if (a->sum.blocks != b->sum.blocks)
        return a->sum.blocks > b->sum.blocks ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* A record is in one row, or by tag in several. */
struct part {
    size_t record, row;
};

struct adding {
    const struct process *process;
    const struct view *view;
    struct by_table table;
    struct part *parts;
    size_t count, part_capacity, row_capacity;
    struct map by_name;
};

static void add_part(struct adding *adding, size_t record, size_t row)
{
    adding->parts =
        array_grow(adding->parts, &adding->part_capacity, adding->count + 1, sizeof(*adding->parts));
    adding->parts[adding->count++] = (struct part){record, row};
}

static void add_to_row(struct adding *adding, const char *name, size_t index, uint64_t bytes,
                       uint64_t blocks)
{
    const struct record *record = &adding->process->records[index];
    struct by_table *table = &adding->table;
    struct verdict_total one = {bytes, blocks, 1};
    bool fresh;
    uint64_t *at = hashmap_put(&adding->by_name,
                           adding->view->by == BY_SITE ? hash_mix(record->signature, record->kind)
                                                       : hash_text(1, name, strlen(name)),
                           &fresh);

    if (fresh) {
        *at = table->count++;
        table->rows =
            array_grow(table->rows, &adding->row_capacity, table->count, sizeof(*table->rows));
        table->rows[*at] = (struct by_row){.name = name, .first = record, .number = *at};
    }
    verdict_total_add(&table->rows[*at].sum, &one);
    add_part(adding, index, *at);
}

/* Its blocks tag by tag; what is left was under none. */
static void add_tags(struct adding *adding, size_t index)
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

static void add_records(struct adding *adding)
{
    const struct process *process = adding->process;

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];
        struct verdict_total one = {record->bytes, record->blocks, 1};

        if (record->suppressed_by || !by_shows(adding->view, record->verdict))
            continue;
        verdict_total_add(&adding->table.all, &one);
        if (adding->view->by == BY_TAG)
            add_tags(adding, i);
        else
            add_to_row(adding, name_of(adding->table.mem, adding->view->by, record), i,
                       record->bytes, record->blocks);
    }
}

/* How many records are in none of the rows that are shown. */
static uint64_t left_out(const struct adding *adding)
{
    const struct by_table *table = &adding->table;
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

struct by_table by_make(const struct process *process, const struct view *view)
{
    struct adding adding = {.process = process, .view = view, .table.mem = arena_begin()};
    struct by_table *table = &adding.table;

    add_records(&adding);
    if (table->count)
        qsort(table->rows, table->count, sizeof(*table->rows), larger);
    table->shown = view->quiet                             ? 0
                   : view->top && view->top < table->count ? view->top
                                                           : table->count;
    for (size_t i = table->shown; i < table->count; i++)
        verdict_total_add(&table->rest, &table->rows[i].sum);
    table->rest.records = left_out(&adding);
    hashmap_end(&adding.by_name);
    free(adding.parts);
    return *table;
}

void by_end(struct by_table *table)
{
    free(table->rows);
    arena_end(table->mem);
}

double by_share(const struct by_table *table, const struct by_row *row)
{
    return table->all.bytes ? (double)row->sum.bytes / (double)table->all.bytes : 0;
}
