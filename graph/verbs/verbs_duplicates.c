/* verbs_duplicates.c - implements the command duplicates of leakgraph, which lists equal texts and
 * equal blocks.
 */
#include "graph/analyze/duplicates.h"
#include "graph/verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

/* ---- Writing a content ----------------------------------------------------------------------- */

static const char *hex_digits(struct arena *mem, const struct graph_content *sample)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * LEAK_GRAPH_SAMPLE_MOST + 1];

    for (uint32_t i = 0; i < sample->length; i++) {
        text[2 * i] = digits[(uint8_t)sample->bytes[i] >> 4];
        text[2 * i + 1] = digits[sample->bytes[i] & 15];
    }
    return arena_copy(mem, text, 2 * (size_t)sample->length);
}

/* Returns the first bytes of a content as text or as hex digits; NULL: the file does not have
 * them. */
static const char *content_words(const struct verb_run *run, uint64_t content)
{
    const struct graph_content *sample = duplicates_sample(run->graph, content);

    if (!sample)
        return NULL;
    return content & LEAK_GRAPH_IS_TEXT
               ? arena_copy(run->names->mem, sample->bytes, strnlen(sample->bytes, sample->length))
               : hex_digits(run->names->mem, sample);
}

/* ---- The table by site or type --------------------------------------------------------------- */

struct copies {
    uint64_t *wasted, *blocks; /* number of a site -> bytes and number of the copies among its
                                * blocks */
};

static struct copies count_copies(const struct verb_run *run, const struct duplicates *duplicates)
{
    size_t sites = (size_t)run->graph->sites + 1;
    struct copies copies = {.wasted = array_grow(NULL, &(size_t){0}, sites, sizeof(uint64_t)),
                            .blocks = array_grow(NULL, &(size_t){0}, sites, sizeof(uint64_t))};
    uint32_t *as = verb_sites_as(run);

    memset(copies.wasted, 0, sites * sizeof(uint64_t));
    memset(copies.blocks, 0, sites * sizeof(uint64_t));
    for (uint32_t i = 0; i < duplicates->count; i++) {
        const struct duplicate_set *set = &duplicates->set[i];

        for (uint32_t k = set->first; k < set->first + set->blocks; k++) {
            const struct graph_block *block = &run->graph->block[duplicates->member[k]];
            uint32_t site = as ? as[block->site] : block->site;

            if (duplicates->member[k] == set->original)
                continue;
            copies.wasted[site] += block->size;
            copies.blocks[site]++;
        }
    }
    free(as);
    return copies;
}

static void tell_places(struct verb_run *run, const struct duplicates *duplicates)
{
    static const struct column columns[] = {{"wasted_bytes", "wasted", CELL_BYTES},
                                            {"share", "share", CELL_SHARE},
                                            {"copies", "copies", CELL_NUMBER},
                                            {"type", "type", CELL_TYPE},
                                            {"site", "from", CELL_TEXT}};
    uint32_t sites = run->graph->sites + 1, *order;
    struct copies copies = count_copies(run, duplicates);
    uint64_t used = 0, shown;

    for (uint32_t site = 0; site < sites; site++)
        used += copies.blocks[site] != 0;
    shown = verb_rows(run, used);
    order = verb_order(copies.wasted, sites, shown);
    listing_open_table(run->listing, "sites",
                       run->options->by == BY_TYPE ? "By type" : "By allocation site", columns, 5);
    for (uint64_t i = 0; i < shown; i++)
        listing_row(run->listing, (union cell[]){{.number = copies.wasted[order[i]]},
                                                 {.share = verb_share(copies.wasted[order[i]],
                                                                      run->graph->bytes)},
                                                 {.number = copies.blocks[order[i]]},
                                                 {.text = verb_site_type(run, order[i])},
                                                 {.text = verb_group_site(run, order[i])}});
    listing_close_table(run->listing, used - shown);
    free(order);
    free(copies.wasted);
    free(copies.blocks);
}

/* ---- The table by content -------------------------------------------------------------------- */

static void tell_sets(struct verb_run *run, const struct duplicates *duplicates)
{
    static const struct column columns[] = {{"wasted_bytes", "wasted", CELL_BYTES},
                                            {"blocks", "blocks", CELL_NUMBER},
                                            {"size", "largest", CELL_BYTES},
                                            {"address", "block", CELL_ADDRESS},
                                            {"kind", "kind", CELL_TEXT},
                                            {"content", "begins with", CELL_CONTENT},
                                            {"type", "type", CELL_TYPE},
                                            {"site", "from", CELL_TEXT}};
    uint64_t shown = verb_rows(run, duplicates->count);

    listing_open_table(run->listing, "contents", "By content", columns, 8);
    for (uint64_t i = 0; i < shown; i++) {
        const struct duplicate_set *set = &duplicates->set[i];
        const struct graph_block *block = &run->graph->block[set->original];

        listing_row(run->listing,
                    (union cell[]){{.number = set->wasted},
                                   {.number = set->blocks},
                                   {.number = block->size},
                                   {.number = block->address},
                                   {.text = set->content & LEAK_GRAPH_IS_TEXT ? "text" : "bytes"},
                                   {.text = content_words(run, set->content)},
                                   {.text = verb_type(run, set->original)},
                                   {.text = graph_names_site(run->names, block->site)}});
    }
    listing_close_table(run->listing, duplicates->count - shown);
}

int verb_duplicates(struct verb_run *run)
{
    struct duplicates duplicates;
    uint64_t texts = 0, blocks = 0;

    if (!run->graph->content && run->graph->blocks)
        return verb_complain(STATUS_NOTHING,
                             "the file has no contents of blocks: it is of an older libleak, or of "
                             "a run with content=0");
    duplicates = duplicates_find(run->graph);
    for (uint32_t i = 0; i < duplicates.count; i++)
        *(duplicates.set[i].content & LEAK_GRAPH_IS_TEXT ? &texts : &blocks) +=
            duplicates.set[i].wasted;
    listing_fact(run->listing, "wasted_bytes", "Wasted by copies", CELL_BYTES,
                 (union cell){.number = texts + blocks});
    listing_fact(run->listing, "share", "Share of the heap", CELL_SHARE,
                 (union cell){.share = verb_share(texts + blocks, run->graph->bytes)});
    listing_fact(run->listing, "wasted_by_texts", "By equal texts", CELL_BYTES,
                 (union cell){.number = texts});
    listing_fact(run->listing, "wasted_by_blocks", "By equal blocks", CELL_BYTES,
                 (union cell){.number = blocks});
    tell_sets(run, &duplicates);
    tell_places(run, &duplicates);
    duplicates_end(&duplicates);
    return STATUS_GOOD;
}
