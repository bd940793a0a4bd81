/* verbs_types.c - implements the command types of leakgraph, which lists the types of all
 * blocks. */
#include "graph/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

struct type_row {
    const struct block_type *type; /* NULL: blocks whose type is unknown */
    uint64_t blocks, bytes, lost_blocks, lost_bytes, conflicts;
    /* bytes that are freed when all blocks of the type are freed: the sum over the blocks of the
     * type that no other block of the type dominates */
    uint64_t retained;
    uint64_t block_size; /* size of each block; 0: the sizes differ */
    uint64_t above;      /* number of blocks of this type that dominate the block being visited */
};

struct type_rows {
    struct type_row *row; /* the first row is for blocks of unknown type */
    uint32_t *of_site;
    uint32_t count;
};

static struct type_rows find_rows(const struct verb_run *run)
{
    uint32_t sites = run->graph->sites;
    struct type_rows rows = {
        .of_site = array_grow(NULL, &(size_t){0}, (size_t)sites + 1, sizeof(uint32_t)), .count = 1};
    struct hashmap of = {0};

    for (uint32_t site = 0; site <= sites; site++) {
        uint64_t key = graph_types_key(&run->names->types, site);
        uint64_t *known = key ? hashmap_put(&of, key, NULL) : NULL;

        if (known && !*known)
            *known = rows.count++;
        rows.of_site[site] = known ? (uint32_t)*known : 0;
    }
    hashmap_end(&of);
    rows.row = array_grow(NULL, &(size_t){0}, rows.count, sizeof(*rows.row));
    memset(rows.row, 0, rows.count * sizeof(*rows.row));
    for (uint32_t site = 1; site <= sites; site++)
        rows.row[rows.of_site[site]].type = graph_types_site(&run->names->types, site);
    return rows;
}

static void add_block(const struct verb_run *run, const struct graph_block *block,
                      struct type_row *row)
{
    row->block_size = !row->blocks || row->block_size == block->size ? block->size : 0;
    row->blocks++;
    row->bytes += block->size;
    row->conflicts += graph_types_conflict(&run->names->types, block->site);
    if (!graph_block_is_lost(block))
        return;
    row->lost_blocks++;
    row->lost_bytes += block->size;
}

/* bit in an entry of the stack of blocks to visit: the block is visited for the second time, after
 * all blocks that it dominates */
#define LEAVES (1u << 31)

/* Adds up what the blocks of each type retain; visits the tree of dominators from the top down. */
static void add_retained(const struct heap_graph *graph, const struct dominators *dominators,
                         struct type_rows *rows)
{
    uint32_t count, *stack = NULL;
    size_t room = 0, depth = 0;
    const uint32_t *child = dominators_children(dominators, GRAPH_NONE, &count);

    for (;;) {
        struct type_row *row;
        uint32_t block;

        stack = array_grow(stack, &room, depth + count + 1, sizeof(*stack));
        for (uint32_t i = 0; i < count; i++)
            stack[depth++] = child[i];
        if (!depth)
            break;
        block = stack[--depth];
        row = &rows->row[rows->of_site[graph->block[block & ~LEAVES].site]];
        count = 0;
        if (block & LEAVES) {
            row->above--;
            continue;
        }
        row->retained += row->above++ ? 0 : dominators->bytes[block];
        stack[depth++] = block | LEAVES;
        child = dominators_children(dominators, block, &count);
    }
    free(stack);
}

static void tell_rows(const struct verb_run *run, const struct type_rows *rows)
{
    static const struct column columns[] = {
        {"bytes", "bytes", CELL_BYTES},     {"share", "share", CELL_SHARE},
        {"blocks", "blocks", CELL_NUMBER},  {"retained", "retained", CELL_BYTES},
        {"lost_bytes", "lost", CELL_BYTES}, {"lost_blocks", "lost blocks", CELL_NUMBER},
        {"type", "type", CELL_TEXT}};
    uint64_t *key = array_grow(NULL, &(size_t){0}, rows->count, sizeof(*key)), shown, used = 0;
    uint32_t *order;

    for (uint32_t i = 0; i < rows->count; i++) {
        key[i] = i ? rows->row[i].bytes : 0;
        used += i && rows->row[i].blocks;
    }
    shown = verb_rows(run, used);
    order = verb_order(key, rows->count, shown);
    listing_open_table(run->listing, "types", "By type", columns, 7);
    for (uint64_t i = 0; i < shown; i++) {
        const struct type_row *row = &rows->row[order[i]];
        char text[GRAPH_TYPE_SIZE];

        listing_row(run->listing,
                    (union cell[]){{.number = row->bytes},
                                   {.share = verb_share(row->bytes, run->graph->bytes)},
                                   {.number = row->blocks},
                                   {.number = row->retained},
                                   {.number = row->lost_bytes},
                                   {.number = row->lost_blocks},
                                   {.text = graph_type_words(row->type, row->block_size, text)}});
    }
    listing_close_table(run->listing, used - shown);
    free(order);
    free(key);
}

int verb_types(struct verb_run *run)
{
    struct heap_graph *graph = run->graph;
    struct dominators dominators;
    struct type_rows rows;

    if (run->listing->no_types)
        return verb_complain(STATUS_UNUSABLE, "types does not go with --no-types");
    dominators = dominators_find(graph);
    rows = find_rows(run);
    for (uint32_t i = 0; i < graph->blocks; i++)
        add_block(run, &graph->block[i], &rows.row[rows.of_site[graph->block[i].site]]);
    add_retained(graph, &dominators, &rows);
    listing_fact(run->listing, "typed_bytes", "With a type", CELL_BYTES,
                 (union cell){.number = graph->bytes - rows.row[0].bytes});
    listing_fact(run->listing, "typed_share", "Share", CELL_SHARE,
                 (union cell){.share = verb_share(graph->bytes - rows.row[0].bytes, graph->bytes)});
    listing_fact(run->listing, "conflicts", "Blocks whose evidence contradicts itself", CELL_NUMBER,
                 (union cell){.number = rows.row[0].conflicts});
    tell_rows(run, &rows);
    free(rows.row);
    free(rows.of_site);
    dominators_end(&dominators);
    return STATUS_GOOD;
}
