/* by.c - see by.h. */
#include "symbolize/by.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/map.h"
#include "symbolize/mem.h"

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

    return mem_copy(mem, name, strlen(name));
}

static const char *file_of(struct mem *mem, const struct frame *frame)
{
    if (frame && frame->file)
        return frame->file;
    return frame && frame->module ? mem_format(mem, "[no line known] in %s", frame->module)
                                  : "[no line known]";
}

static const char *size_of(struct mem *mem, const struct record *record)
{
    uint64_t size = record->blocks ? record->bytes / record->blocks : 0;
    uint64_t least = size ? 1ull << (63 - __builtin_clzll(size)) : 0;

    return least < 2 ? mem_format(mem, "%" PRIu64, least)
                     : mem_format(mem, "%" PRIu64 "-%" PRIu64, least, 2 * (least - 1) + 1);
}

static const char *threads_of(struct mem *mem, const struct record *record)
{
    const char *names = NULL;

    for (size_t i = 0; i < record->thread_count; i++) {
        const struct thread_ref *thread = &record->threads[i];
        bool named = thread->name && *thread->name;

        names = mem_format(mem, "%s%sT%" PRIu32 "%s%s%s", names ? names : "", names ? ", " : "",
                           thread->serial, named ? " (" : "", named ? thread->name : "",
                           named ? ")" : "");
    }
    if (!names)
        return "[not known]";
    return record->more_threads ? mem_format(mem, "%s and others", names) : names;
}

static const char *name_of(struct mem *mem, enum by_key key, const struct record *record)
{
    const struct frame *frame = record_title(record);

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

struct by_table by_make(const struct process *process, const struct view *view)
{
    struct by_table table = {.mem = mem_begin()};
    struct map by_name = {0};

    table.rows = mem_take_array(table.mem, process->record_count, sizeof(*table.rows));
    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];
        struct verdict_total one = {record->bytes, record->blocks, 1};
        const char *name;
        bool fresh;
        uint64_t *at;

        if (record->suppressed_by || !by_shows(view, record->verdict))
            continue;
        name = name_of(table.mem, view->by, record);
        at = map_put(&by_name,
                     view->by == BY_SITE ? hash_mix(record->signature, record->kind)
                                         : hash_text(1, name, strlen(name)),
                     &fresh);
        if (fresh) {
            *at = table.count++;
            table.rows[*at] = (struct by_row){.name = name, .first = record};
        }
        total_add(&table.rows[*at].sum, &one);
        total_add(&table.all, &one);
    }
    map_end(&by_name);
    if (table.count)
        qsort(table.rows, table.count, sizeof(*table.rows), larger);
    table.shown = view->quiet ? 0 : view->top && view->top < table.count ? view->top : table.count;
    for (size_t i = table.shown; i < table.count; i++)
        total_add(&table.rest, &table.rows[i].sum);
    return table;
}

void by_end(struct by_table *table)
{
    mem_end(table->mem);
}

double by_share(const struct by_table *table, const struct by_row *row)
{
    return table->all.bytes ? (double)row->sum.bytes / (double)table->all.bytes : 0;
}
