/* alloc_lines.c - lists the lines of a function that allocate, or call what allocates; described in
 * records.h. */
#include "symbolize/records/records.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MOST 16 /* limit of lines for each record */
/* most callers of the user frame whose lines are compared; outer ones say little */
#define CALLERS_MOST 5

struct line_sums {
    struct record_line line[LINES_MOST];
    size_t count;
    bool more; /* there were more than LINES_MOST lines */
};

static bool is_same_line(const struct frame *a, const struct frame *b)
{
    return a->line == b->line &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

static void add_alloc_line(struct line_sums *lines, const struct frame *frame, uint64_t bytes,
                           uint64_t blocks)
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

static int compare_lines(const void *left, const void *right)
{
    const struct record_line *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->blocks != b->blocks)
        return a->blocks > b->blocks ? -1 : 1;
    return (a->frame->line > b->frame->line) - (a->frame->line < b->frame->line);
}

/* Returns frame `at` of another stack with the record's signature if it has another line; else that
 * of the record. */
static const struct frame *frame_in(struct signatures *signatures, uint32_t node,
                                    const struct record *record, size_t at)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_node_frames(signatures, node, found, &ending);
    const struct frame *own = record->frames[at];

    return at < count && found[at]->name_hash == own->name_hash && !is_same_line(found[at], own)
               ? found[at]
               : own;
}

/* Returns the index of the innermost user frame, from the record's user frame outwards, that has
 * another line in another stack with the record's signature; not more than `most`. */
static size_t find_difference(struct signatures *signatures, uint32_t node,
                              const struct record *record, size_t most)
{
    const struct frame *found[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_node_frames(signatures, node, found, &ending), users = 0;

    for (size_t i = record->user; i < most && i < count; i++) {
        const struct frame *own = record->frames[i];

        if (found[i]->name_hash != own->name_hash)
            break;
        if (own->role != FRAME_USER)
            continue;
        if (own->line && !is_same_line(found[i], own))
            return i;
        if (users++ == CALLERS_MOST)
            break;
    }
    return most;
}

/* Says whether the share belongs to this record: it must have the record's verdict, and from the
 * leak check the record's flags. */
static bool is_share_of_record(const struct store_leak_check *look, const struct share *share,
                               const struct record *record)
{
    unsigned flags = share->found != STORE_NONE ? look->found[share->found].flags : 0;

    return share->verdict == record->verdict && !(flags & LEAK_FOUND_CYCLE) == !record->cycle &&
           !(flags & LEAK_FOUND_DROPPED) == !record->dropped &&
           !(flags & LEAK_FOUND_IGNORED) == !record->ignored;
}

/* Returns the index of the innermost user frame in which the stacks of the record's blocks have
 * several lines; frame_count = none. */
static size_t find_frame_with_lines(struct signatures *signatures,
                                    struct reconciliation *reconciliation, struct site_list sites,
                                    const struct record *record)
{
    const struct store *store = signatures->store;
    size_t at = record->frame_count;

    for (uint32_t i = sites.first; i && at > record->user; i = sites.next[i - 1]) {
        const struct share *shares;
        size_t count = reconcile_site(reconciliation, i - 1, &shares), k = 0;

        while (k < count && !is_share_of_record(store->look, &shares[k], record))
            k++;
        if (k < count)
            at = find_difference(signatures, store->sites[i - 1].node, record, at);
    }
    return at;
}

/* Sums up the blocks of the record by the line that frame `at` has in their stacks. */
static void collect_lines(struct signatures *signatures, struct reconciliation *reconciliation,
                          struct site_list sites, const struct record *record, size_t at,
                          struct line_sums *lines)
{
    const struct store *store = signatures->store;

    for (uint32_t i = sites.first; i; i = sites.next[i - 1]) {
        const struct share *shares;
        size_t count = reconcile_site(reconciliation, i - 1, &shares);
        const struct frame *frame = NULL;

        for (size_t k = 0; k < count; k++) {
            if (!is_share_of_record(store->look, &shares[k], record))
                continue;
            if (!frame)
                frame = frame_in(signatures, store->sites[i - 1].node, record, at);
            add_alloc_line(lines, frame, shares[k].bytes, shares[k].blocks);
        }
    }
}

void alloc_lines_fill(struct arena *mem, struct signatures *signatures,
                      struct reconciliation *reconciliation, struct site_list sites,
                      struct record *record)
{
    struct line_sums lines = {.count = 0};
    struct record_line *kept;
    size_t at;

    if (record->stacks < 2 || record->user == record->frame_count ||
        record->verdict == VERDICT_RUNTIME || record->verdict == VERDICT_INDIRECT)
        return; /* a single stack has a single line, and without a user frame, or with these
                 * verdicts, the report shows no lines */
    at = find_frame_with_lines(signatures, reconciliation, sites, record);
    if (at < record->frame_count)
        collect_lines(signatures, reconciliation, sites, record, at, &lines);
    if (lines.count < 2)
        return;
    qsort(lines.line, lines.count, sizeof(*lines.line), compare_lines);
    record->lines = kept = arena_alloc_array(mem, lines.count, sizeof(*kept));
    memcpy(kept, lines.line, lines.count * sizeof(*kept));
    record->line_count = lines.count;
    record->lines_of = at;
    record->more_lines = lines.more;
}
