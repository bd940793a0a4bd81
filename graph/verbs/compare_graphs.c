/* compare_graphs.c - implements the command diff of leakgraph: shows what one graph has more than
 * another, by allocation site, type or owner. Sites of the two graphs are equal if the functions in
 * their stacks have the same names; types, if they have the same name. The owner of a block is the
 * outermost block that holds it alone, named by allocation site and type; it may be the block
 * itself. If the two graphs are of one process, it is also known which blocks are still there:
 * those with the same address and the same serial (thread and count).
 */
#include "graph/heap/graph_reader.h"
#include "graph/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

struct change {
    uint64_t before, after; /* bytes in the first graph and in the second */
    uint64_t blocks_before, blocks_after, stayed;
    const char *type, *site; /* NULL: unknown, or not wanted */
    uint64_t amount;         /* absolute change of the bytes; rows are sorted by it */
};

struct changes {
    enum group_by by;
    struct change *change;
    struct hashmap of; /* key of a row -> index in `change` + 1 */
    size_t count, room;
};

/* One of the two graphs that are compared. */
struct side {
    struct heap_graph *graph;
    struct graph_names *names;
    uint32_t *row; /* number of a site -> row that counts its blocks */
    /* number of a block -> the block that owns it; NULL: each block counts for itself */
    uint32_t *owner;
};

/* ---- The rows of the table of changes -------------------------------------------------------- */

static uint64_t row_key(enum group_by by, const struct graph_names *names, uint32_t site)
{
    uint64_t type = graph_types_key(&names->types, site);

    if (by == BY_TYPE)
        return type;
    return by == BY_OWNER ? hash_mix(graph_names_signature(names, site), type)
                          : graph_names_signature(names, site);
}

static struct change new_row(enum group_by by, struct graph_names *names, uint32_t site)
{
    char text[GRAPH_TYPE_SIZE];
    const char *type = graph_types_all(&names->types, site, text);

    return (struct change){
        .type = by != BY_SITE && *type ? arena_copy(names->mem, type, strlen(type)) : NULL,
        .site = by == BY_TYPE ? NULL : graph_names_site(names, site)};
}

/* Returns, for each site of the graph, the index of the row that counts its blocks; adds rows that
 * are missing. The caller frees the result. */
static uint32_t *rows_of(struct changes *changes, struct graph_names *names)
{
    uint32_t sites = names->graph->sites;
    uint32_t *row = array_grow(NULL, &(size_t){0}, (size_t)sites + 1, sizeof(*row));

    for (uint32_t site = 0; site <= sites; site++) {
        uint64_t *known = hashmap_put(&changes->of, row_key(changes->by, names, site), NULL);

        if (!*known) {
            changes->change = array_grow(changes->change, &changes->room, changes->count + 1,
                                         sizeof(*changes->change));
            changes->change[changes->count++] = new_row(changes->by, names, site);
            *known = changes->count;
        }
        row[site] = (uint32_t)*known - 1;
    }
    return row;
}

/* Returns, for each block, the outermost block that dominates it. The caller frees the result. */
static uint32_t *owners_of(struct heap_graph *graph)
{
    struct dominators dominators = dominators_find(graph);
    uint32_t *owner = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 1, sizeof(*owner));

    for (uint32_t i = 0; i < graph->blocks; i++)
        owner[i] = GRAPH_NONE;
    for (uint32_t i = 0; i < graph->blocks; i++) {
        uint32_t outermost = i, next;

        while (owner[outermost] == GRAPH_NONE && dominators.idom[outermost] != GRAPH_NONE)
            outermost = dominators.idom[outermost];
        if (owner[outermost] != GRAPH_NONE)
            outermost = owner[outermost];
        for (uint32_t at = i; at != GRAPH_NONE && owner[at] == GRAPH_NONE; at = next) {
            owner[at] = outermost;
            next = dominators.idom[at];
        }
    }
    dominators_end(&dominators);
    return owner;
}

static struct side begin_side(struct changes *changes, struct heap_graph *graph,
                              struct graph_names *names)
{
    return (struct side){.graph = graph,
                         .names = names,
                         .row = rows_of(changes, names),
                         .owner = changes->by == BY_OWNER ? owners_of(graph) : NULL};
}

static void end_side(struct side *side)
{
    free(side->row);
    free(side->owner);
}

static struct change *row_of(const struct changes *changes, const struct side *side, uint32_t block)
{
    uint32_t counts = side->owner ? side->owner[block] : block;

    return &changes->change[side->row[side->graph->block[counts].site]];
}

/* ---- Adding up blocks in the rows ------------------------------------------------------------ */

static bool is_same_process(const struct heap_graph *a, const struct heap_graph *b)
{
    return a->store.header.pid == b->store.header.pid &&
           a->store.header.start_time == b->store.header.start_time;
}

/* Counts, in the rows of their sites, the blocks that are in both graphs. Returns their number. The
 * blocks of both graphs are sorted by address. */
static uint64_t count_survivors(struct changes *changes, const struct side *a, const struct side *b)
{
    uint64_t stayed = 0;

    for (uint32_t i = 0, k = 0; i < a->graph->blocks && k < b->graph->blocks;) {
        const struct graph_block *old = &a->graph->block[i], *now = &b->graph->block[k];

        if (old->address == now->address && old->thread == now->thread &&
            old->count == now->count) {
            row_of(changes, b, k)->stayed++;
            stayed++;
        }
        i += old->address <= now->address;
        k += now->address <= old->address;
    }
    return stayed;
}

static void count_blocks(struct changes *changes, const struct side *a, const struct side *b)
{
    for (uint32_t i = 0; i < a->graph->blocks; i++) {
        struct change *change = row_of(changes, a, i);

        change->before += a->graph->block[i].size;
        change->blocks_before++;
    }
    for (uint32_t i = 0; i < b->graph->blocks; i++) {
        struct change *change = row_of(changes, b, i);

        change->after += b->graph->block[i].size;
        change->blocks_after++;
    }
    for (size_t i = 0; i < changes->count; i++) {
        struct change *change = &changes->change[i];

        change->amount = change->after > change->before ? change->after - change->before
                                                        : change->before - change->after;
    }
}

/* ---- Writing the table ----------------------------------------------------------------------- */

static int by_falling_amount(const void *one, const void *other)
{
    const struct change *a = one, *b = other;
    int order = a->amount != b->amount ? COMPARE(b->amount, a->amount)
                                       : strcmp(a->site ? a->site : "", b->site ? b->site : "");

    return order ? order : strcmp(a->type ? a->type : "", b->type ? b->type : "");
}

static bool is_unchanged(const struct change *change)
{
    return !change->amount && change->blocks_before == change->blocks_after;
}

static void tell_changes(struct verb_run *run, struct changes *changes, bool same_process)
{
    static const char *const keys[] = {"sites", "types", "owners"};
    static const char *const headings[] = {"By allocation site", "By type", "By owner"};
    struct column columns[7] = {{"change_bytes", "bytes", CELL_SIGNED_BYTES},
                                {"change_blocks", "blocks", CELL_SIGNED},
                                {"bytes", "bytes now", CELL_BYTES},
                                {"blocks", "blocks now", CELL_NUMBER}};
    size_t count = 4, stayed = same_process ? count++ : 0;
    size_t type = changes->by != BY_SITE ? count++ : 0, site = changes->by != BY_TYPE ? count++ : 0;
    uint64_t changed = 0, shown;

    if (stayed)
        columns[stayed] = (struct column){"stayed", "stayed", CELL_NUMBER};
    if (type)
        columns[type] = (struct column){"type", "type", site ? CELL_TYPE : CELL_TEXT};
    if (site)
        columns[site] = (struct column){"site", "from", CELL_TEXT};
    qsort(changes->change, changes->count, sizeof(*changes->change), by_falling_amount);
    for (size_t i = 0; i < changes->count; i++)
        changed += !is_unchanged(&changes->change[i]);
    shown = verb_rows(run, changed);
    listing_open_table(run->listing, keys[changes->by], headings[changes->by], columns, count);
    for (size_t i = 0, told = 0; i < changes->count && told < shown; i++) {
        const struct change *change = &changes->change[i];
        union cell cells[7] = {{.change = (int64_t)(change->after - change->before)},
                               {.change = (int64_t)(change->blocks_after - change->blocks_before)},
                               {.number = change->after},
                               {.number = change->blocks_after}};

        if (is_unchanged(change))
            continue;
        if (stayed)
            cells[stayed].number = change->stayed;
        if (type)
            cells[type].text = change->type || run->listing->is_json ? change->type : "(unknown)";
        if (site)
            cells[site].text = change->site;
        listing_row(run->listing, cells);
        told++;
    }
    listing_close_table(run->listing, changed - shown);
}

static void tell_sums(struct listing *listing, const struct heap_graph *a,
                      const struct heap_graph *b)
{
    listing_fact(listing, "change_bytes", "Bytes", CELL_SIGNED_BYTES,
                 (union cell){.change = (int64_t)(b->bytes - a->bytes)});
    listing_fact(listing, "change_blocks", "Blocks", CELL_SIGNED,
                 (union cell){.change = (int64_t)b->blocks - a->blocks});
}

static void tell_survivors(struct listing *listing, const struct heap_graph *a,
                           const struct heap_graph *b, uint64_t stayed)
{
    listing_fact(listing, "stayed", "Blocks in both", CELL_NUMBER, (union cell){.number = stayed});
    listing_fact(listing, "gone", "Freed since", CELL_NUMBER,
                 (union cell){.number = a->blocks - stayed});
    listing_fact(listing, "new", "New", CELL_NUMBER, (union cell){.number = b->blocks - stayed});
}

int verb_diff(struct verb_run *run)
{
    struct heap_graph later;
    enum graph_error error = graph_reader_open(run->options->operand, &later);
    struct changes changes = {.by = (enum group_by)run->options->by};
    struct graph_names names;
    struct side a, b;
    bool same_process;

    if (error)
        return verb_complain(STATUS_UNUSABLE, "%s %s", run->options->operand,
                             graph_reader_words(error));
    graph_names_begin(&names, &later, run->names->types.site != NULL);
    a = begin_side(&changes, run->graph, run->names);
    b = begin_side(&changes, &later, &names);
    count_blocks(&changes, &a, &b);
    same_process = is_same_process(a.graph, b.graph);
    tell_sums(run->listing, a.graph, b.graph);
    if (same_process)
        tell_survivors(run->listing, a.graph, b.graph, count_survivors(&changes, &a, &b));
    tell_changes(run, &changes, same_process);
    end_side(&a);
    end_side(&b);
    free(changes.change);
    hashmap_end(&changes.of);
    graph_names_end(&names);
    heap_graph_end(&later);
    return STATUS_GOOD;
}
