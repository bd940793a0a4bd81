/* alloc_lines.c - see alloc_lines.h. */
#include "symbolize/records/alloc_lines.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MOST 16 /* told of a record */

struct lines {
    struct record_line line[LINES_MOST];
    size_t count;
    bool more; /* others had no room */
};

static bool is_same_line(const struct frame *a, const struct frame *b)
{
    return a->line == b->line &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

static void add(struct lines *lines, const struct frame *frame, uint64_t bytes, uint64_t blocks)
{
    size_t i = 0;

    if (!frame->line)
        return;
    while (i < lines->count && !is_same_line(lines->line[i].frame, frame))
        i++;
    if (i == LINES_MOST) {
        lines->more = true;
        return;
    }
    if (i == lines->count)
        lines->line[lines->count++] = (struct record_line){.frame = frame};
    lines->line[i].bytes = add_saturating(lines->line[i].bytes, bytes);
    lines->line[i].blocks = add_saturating(lines->line[i].blocks, blocks);
}

static int larger_first(const void *left, const void *right)
{
    const struct record_line *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->blocks != b->blocks)
        return a->blocks > b->blocks ? -1 : 1;
    return (a->frame->line > b->frame->line) - (a->frame->line < b->frame->line);
}

/* The frame of the same function in another stack with these names. */
static const struct frame *title_in(struct signatures *signatures, uint32_t node,
                                    const struct frame *title)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_trace(signatures, node, found, &ending);

    for (size_t i = 0; i < count; i++)
        if (found[i]->name_hash == title->name_hash)
            return found[i];
    return title;
}

/* Records with and without these flags are different ones. */
static bool is_of(const struct store_leak_check *look, const struct share *share,
                  const struct record *record)
{
    unsigned flags = share->found != STORE_NONE ? look->found[share->found].flags : 0;

    return share->verdict == record->verdict && !(flags & LEAK_FOUND_CYCLE) == !record->cycle &&
           !(flags & LEAK_FOUND_DROPPED) == !record->dropped &&
           !(flags & LEAK_FOUND_IGNORED) == !record->ignored;
}

static void collect(struct signatures *signatures, struct settling *settling,
                    struct site_list sites, const struct record *record, struct lines *lines)
{
    const struct store *store = signatures->store;

    for (uint32_t i = sites.first; i; i = sites.next[i - 1]) {
        const struct share *shares;
        size_t count = settle_site(settling, i - 1, &shares);
        const struct frame *title = NULL;

        for (size_t k = 0; k < count; k++) {
            if (!is_of(store->look, &shares[k], record))
                continue;
            if (!title)
                title =
                    title_in(signatures, store->sites[i - 1].node, record->frames[record->user]);
            add(lines, title, shares[k].bytes, shares[k].blocks);
        }
    }
}

void lines_tell(struct mem *mem, struct signatures *signatures, struct settling *settling,
                struct site_list sites, struct record *record)
{
    struct lines lines = {.count = 0};
    struct record_line *kept;

    if (record->stacks < 2 || record->user == record->frame_count ||
        record->verdict == VERDICT_RUNTIME || record->verdict == VERDICT_INDIRECT)
        return; /* what hangs under a record is told by function alone */
    collect(signatures, settling, sites, record, &lines);
    if (lines.count < 2)
        return;
    qsort(lines.line, lines.count, sizeof(*lines.line), larger_first);
    record->lines = kept = arena_alloc_array(mem, lines.count, sizeof(*kept));
    memcpy(kept, lines.line, lines.count * sizeof(*kept));
    record->line_count = lines.count;
    record->more_lines = lines.more;
}
