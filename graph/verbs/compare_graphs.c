/* compare_graphs.c - leakgraph A diff B: what one graph has more than another, by allocation site. Sites
 * are the same where their stacks have the same names. Of one process at two times it is known which
 * blocks are still there: those with the same address, thread and count. */
#include "graph/heap/graph_reader.h"
#include "graph/verbs/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct site_change {
    uint64_t before, after; /* bytes */
    uint64_t blocks_before, blocks_after, stayed;
    const char *site;
    uint64_t amount; /* of the change of bytes; the order of the rows */
};

struct changes {
    struct site_change *change;
    struct hashmap of; /* signature -> index + 1 */
    size_t count, room;
};

/* The row for each site of the graph; the caller frees it. */
static uint32_t *rows_of(struct changes *changes, struct graph_names *names)
{
    uint32_t sites = names->graph->sites;
    uint32_t *row = array_grow(NULL, &(size_t){0}, (size_t)sites + 1, sizeof(*row));

    for (uint32_t site = 0; site <= sites; site++) {
        uint64_t *known = hashmap_put(&changes->of, graph_names_signature(names, site), NULL);

        if (!*known) {
            changes->change = array_grow(changes->change, &changes->room, changes->count + 1,
                                         sizeof(*changes->change));
            changes->change[changes->count++] =
                (struct site_change){.site = graph_names_site(names, site)};
            *known = changes->count;
        }
        row[site] = (uint32_t)*known - 1;
    }
    return row;
}

static bool is_same_process(const struct heap_graph *a, const struct heap_graph *b)
{
    return a->store.header.pid == b->store.header.pid &&
           a->store.header.start_time == b->store.header.start_time;
}

/* Counts the blocks that both graphs have. The blocks of both are in address order. */
static void count_survivors(struct changes *changes, const struct heap_graph *a,
                            const struct heap_graph *b, const uint32_t *row_b)
{
    for (uint32_t i = 0, k = 0; i < a->blocks && k < b->blocks;) {
        const struct graph_block *old = &a->block[i], *now = &b->block[k];

        if (old->address == now->address && old->thread == now->thread && old->count == now->count)
            changes->change[row_b[now->site]].stayed++;
        i += old->address <= now->address;
        k += now->address <= old->address;
    }
}

static void count_blocks(struct changes *changes, const struct heap_graph *a, const uint32_t *row_a,
                         const struct heap_graph *b, const uint32_t *row_b)
{
    for (uint32_t i = 0; i < a->blocks; i++) {
        struct site_change *change = &changes->change[row_a[a->block[i].site]];

        change->before += a->block[i].size;
        change->blocks_before++;
    }
    for (uint32_t i = 0; i < b->blocks; i++) {
        struct site_change *change = &changes->change[row_b[b->block[i].site]];

        change->after += b->block[i].size;
        change->blocks_after++;
    }
    for (size_t i = 0; i < changes->count; i++) {
        struct site_change *change = &changes->change[i];

        change->amount = change->after > change->before ? change->after - change->before
                                                        : change->before - change->after;
    }
}

static int by_falling_amount(const void *one, const void *other)
{
    const struct site_change *a = one, *b = other;

    return a->amount != b->amount ? COMPARE(b->amount, a->amount) : strcmp(a->site, b->site);
}

static bool is_unchanged(const struct site_change *change)
{
    return !change->amount && change->blocks_before == change->blocks_after;
}

static void tell_changes(struct verb_run *run, struct changes *changes, bool same_process)
{
    static const struct column columns[] = {{"change_bytes", "bytes", CELL_SIGNED_BYTES},
                                            {"change_blocks", "blocks", CELL_SIGNED},
                                            {"bytes", "bytes now", CELL_BYTES},
                                            {"blocks", "blocks now", CELL_NUMBER},
                                            {"stayed", "stayed", CELL_NUMBER},
                                            {"site", "from", CELL_TEXT}};
    static const struct column of_two[] = {{"change_bytes", "bytes", CELL_SIGNED_BYTES},
                                           {"change_blocks", "blocks", CELL_SIGNED},
                                           {"bytes", "bytes now", CELL_BYTES},
                                           {"blocks", "blocks now", CELL_NUMBER},
                                           {"site", "from", CELL_TEXT}};
    uint64_t changed = 0, shown;

    qsort(changes->change, changes->count, sizeof(*changes->change), by_falling_amount);
    for (size_t i = 0; i < changes->count; i++)
        changed += !is_unchanged(&changes->change[i]);
    shown = verb_rows(run, changed);
    listing_open_table(run->listing, "sites", "By allocation site", same_process ? columns : of_two,
                       same_process ? 6 : 5);
    for (size_t i = 0, told = 0; i < changes->count && told < shown; i++) {
        const struct site_change *change = &changes->change[i];
        union cell cells[6] = {{.change = (int64_t)(change->after - change->before)},
                               {.change = (int64_t)(change->blocks_after - change->blocks_before)},
                               {.number = change->after},
                               {.number = change->blocks_after},
                               {.number = change->stayed},
                               {.text = change->site}};

        if (is_unchanged(change))
            continue;
        if (!same_process)
            cells[4] = cells[5];
        listing_row(run->listing, cells);
        told++;
    }
    listing_close_table(run->listing, changed - shown);
}

int verb_diff(struct verb_run *run)
{
    struct heap_graph *a = run->graph, b;
    enum graph_error error = graph_reader_open(run->options->operand, &b);
    struct changes changes = {0};
    struct graph_names names;
    bool same_process;
    uint64_t stayed = 0;
    uint32_t *row_a, *row_b;

    if (error)
        return verb_complain(STATUS_UNUSABLE, "%s %s", run->options->operand,
                             graph_reader_words(error));
    graph_names_begin(&names, &b, run->names->types.site != NULL);
    row_a = rows_of(&changes, run->names);
    row_b = rows_of(&changes, &names);
    count_blocks(&changes, a, row_a, &b, row_b);
    same_process = is_same_process(a, &b);
    if (same_process)
        count_survivors(&changes, a, &b, row_b);
    for (size_t i = 0; i < changes.count; i++)
        stayed += changes.change[i].stayed;
    listing_fact(run->listing, "change_bytes", "Bytes", CELL_SIGNED_BYTES,
                 (union cell){.change = (int64_t)(b.bytes - a->bytes)});
    listing_fact(run->listing, "change_blocks", "Blocks", CELL_SIGNED,
                 (union cell){.change = (int64_t)b.blocks - a->blocks});
    if (same_process) {
        listing_fact(run->listing, "stayed", "Blocks in both", CELL_NUMBER,
                     (union cell){.number = stayed});
        listing_fact(run->listing, "gone", "Freed since", CELL_NUMBER,
                     (union cell){.number = a->blocks - stayed});
        listing_fact(run->listing, "new", "New", CELL_NUMBER,
                     (union cell){.number = b.blocks - stayed});
    }
    tell_changes(run, &changes, same_process);
    free(row_a);
    free(row_b);
    free(changes.change);
    hashmap_end(&changes.of);
    graph_names_end(&names);
    heap_graph_end(&b);
    return STATUS_GOOD;
}
