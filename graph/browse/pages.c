/* pages.c - makes the pages of the browser; described in pages.h. */
#include "graph/browse/pages.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

struct pages pages_begin(struct verb_run *run)
{
    struct pages pages = {
        .run = run, .dominators = dominators_find(run->graph), .tree = root_tree_find(run->graph)};

    pages.question.graph = run->graph;
    pages.question.as = verb_sites_as(run);
    return pages;
}

void pages_end(struct pages *pages)
{
    free((void *)pages->question.as);
    dominators_end(&pages->dominators);
    root_tree_end(&pages->tree);
}

void page_end(struct page *page)
{
    owner_groups_end(&page->groups);
    free(page->row);
    *page = (struct page){.kind = page->kind};
}

/* ---- Rows of a page -------------------------------------------------------------------------- */

static void add_row(struct page *page, enum row_kind kind, uint32_t number, const char *text)
{
    page->row = array_grow(page->row, &page->room, page->count + 1, sizeof(*page->row));
    page->row[page->count++] = (struct page_row){kind, number, text};
}

static struct arena *mem_of(const struct pages *pages)
{
    return pages->run->names->mem;
}

static void add_more(const struct pages *pages, struct page *page, uint64_t more)
{
    if (more)
        add_row(page, ROW_PLAIN, 0, arena_format(mem_of(pages), "%s more", term_number(more).text));
}

static const char *share_text(const struct pages *pages, uint64_t bytes)
{
    return arena_format(mem_of(pages), "%.1f %%",
                        100 * verb_share(bytes, pages->run->graph->bytes));
}

/* Returns a description of a block: "struct entry from entry_new (list.c:9)". */
static const char *block_words(const struct pages *pages, uint32_t block)
{
    const char *type = verb_type(pages->run, block);

    return arena_format(mem_of(pages), "%s%s%s", type ? type : "", type ? " from " : "",
                        graph_names_site(pages->run->names, pages->run->graph->block[block].site));
}

/* ---- The page with owners -------------------------------------------------------------------- */

static const char *group_words(const struct pages *pages, const struct owner_group *group)
{
    struct verb_run *run = pages->run;
    char *blocks = verb_blocks(run, group->blocks, group->site);
    const char *site = verb_group_site(run, group->site);
    const char *words =
        arena_format(mem_of(pages), "%s%s%s%s", blocks ? blocks : "", site ? " from " : "",
                     site ? site : "", group->lost ? ", lost" : "");

    free(blocks);
    return words;
}

static struct page make_owners(struct pages *pages, struct owner_groups groups, bool top)
{
    struct verb_run *run = pages->run;
    struct page page = {.kind = PAGE_OWNERS, .groups = groups};

    page.heading = arena_format(mem_of(pages), "%12s %8s  %s", "retained", "share", "blocks");
    for (uint32_t i = 0; i < groups.count && i < PAGE_ROWS_MOST; i++) {
        const struct owner_group *group = &groups.group[i];
        uint32_t root = top ? heap_graph_root_of(run->graph, group->largest) : GRAPH_NONE;

        add_row(&page, ROW_GROUP, i,
                arena_format(mem_of(pages), "%12s %8s  %s%s%s", term_size(group->bytes).text,
                             share_text(pages, group->bytes), group_words(pages, group),
                             root == GRAPH_NONE ? "" : ", held by ",
                             root == GRAPH_NONE ? "" : graph_names_root(run->names, root)));
    }
    add_more(pages, &page, groups.count > PAGE_ROWS_MOST ? groups.count - PAGE_ROWS_MOST : 0);
    return page;
}

struct page page_of_top(struct pages *pages)
{
    const struct heap_graph *graph = pages->run->graph;
    struct page page;

    pages->question.dominators = &pages->dominators;
    page = make_owners(pages, owner_groups_top(&pages->question), true);
    page.title = "owners";
    page.facts = arena_format(mem_of(pages), "%s in %s, %s pointers between blocks",
                              term_size(graph->bytes).text, term_count(graph->blocks, "block").text,
                              term_number(graph->edges).text);
    return page;
}

static const char *group_facts(const struct pages *pages, const struct owner_group *group)
{
    return arena_format(mem_of(pages), "%s of the heap, %s in %s: %s",
                        share_text(pages, group->bytes), term_size(group->bytes).text,
                        term_count(group->held, "block").text, group_words(pages, group));
}

struct page page_below(struct pages *pages, const struct page *owners, uint32_t group)
{
    const struct owner_group *of = &owners->groups.group[group];
    struct page page =
        make_owners(pages, owner_groups_below(&pages->question, &owners->groups, of), false);
    const char *type = verb_site_type(pages->run, of->site);

    page.title = type ? type : graph_names_site(pages->run->names, of->site);
    page.facts = group_facts(pages, of);
    if (!page.count)
        add_row(&page, ROW_PLAIN, 0, "They hold no other blocks alone. b shows them.");
    return page;
}

/* ---- The page with the blocks of a group ----------------------------------------------------- */

struct page page_of_members(struct pages *pages, const struct page *owners, uint32_t group)
{
    const struct owner_group *of = &owners->groups.group[group];
    const uint32_t *member = owners->groups.member + of->first;
    uint64_t *key = array_grow(NULL, &(size_t){0}, of->blocks, sizeof(*key));
    uint64_t shown = of->blocks < PAGE_ROWS_MOST ? of->blocks : PAGE_ROWS_MOST;
    struct page page = {.kind = PAGE_BLOCKS, .title = "blocks", .facts = group_facts(pages, of)};
    uint32_t *order;

    for (uint32_t i = 0; i < of->blocks; i++)
        key[i] = pages->dominators.bytes[member[i]];
    order = verb_order(key, of->blocks, shown);
    page.heading = arena_format(mem_of(pages), "%11s %11s  %14s  %s", "retained", "size", "block",
                                "what it is");
    for (uint64_t i = 0; i < shown; i++) {
        uint32_t block = member[order[i]];

        add_row(&page, ROW_BLOCK, block,
                arena_format(
                    mem_of(pages), "%11s %11s  %#14" PRIx64 "  %s", term_size(key[order[i]]).text,
                    term_size(pages->run->graph->block[block].size).text,
                    (uint64_t)pages->run->graph->block[block].address, block_words(pages, block)));
    }
    add_more(pages, &page, of->blocks - shown);
    free(order);
    free(key);
    return page;
}

/* ---- The page with one block ----------------------------------------------------------------- */

static const char *word_text(const struct pages *pages, uint32_t from, uint32_t edge)
{
    uint64_t at = verb_edge_at(&pages->run->graph->edge[edge]);
    const char *field = at == LISTING_NO_OFFSET ? NULL : verb_field(pages->run, from, at);

    if (field || at == LISTING_NO_OFFSET)
        return field ? field : "";
    return arena_format(mem_of(pages), "+0x%" PRIx64, at);
}

static void add_block(const struct pages *pages, struct page *page, uint32_t block,
                      const char *word)
{
    add_row(page, ROW_BLOCK, block,
            arena_format(mem_of(pages), "  %#14" PRIx64 " %11s  %-12s %s",
                         (uint64_t)pages->run->graph->block[block].address,
                         term_size(pages->run->graph->block[block].size).text, word,
                         block_words(pages, block)));
}

/* most steps of the path that are shown: half from its start, half from its end */
#define STEPS_SHOWN 40

static void add_way(const struct pages *pages, struct page *page, uint32_t target)
{
    const struct heap_graph *graph = pages->run->graph;
    uint32_t count = pages->tree.distance[target] + 1, root;
    uint32_t *step = array_grow(NULL, &(size_t){0}, count, sizeof(*step));

    for (uint32_t i = count; i-- > 0; target = pages->tree.parent[target])
        step[i] = target;
    root = heap_graph_root_of(graph, step[0]);
    add_row(page, ROW_HEADING, 0,
            root == GRAPH_NONE ? "Why it is there: no root leads here, the way begins at"
                               : arena_format(mem_of(pages), "Why it is there: %s",
                                              graph_names_root(pages->run->names, root)));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t edge = i ? root_tree_edge(graph, step[i - 1], step[i]) : GRAPH_NONE;

        if (count > STEPS_SHOWN && i == STEPS_SHOWN / 2) {
            add_more(pages, page, count - STEPS_SHOWN);
            i = count - STEPS_SHOWN / 2;
            edge = root_tree_edge(graph, step[i - 1], step[i]);
        }
        add_block(pages, page, step[i],
                  edge == GRAPH_NONE ? "" : word_text(pages, step[i - 1], edge));
    }
    free(step);
}

static void add_references(const struct pages *pages, struct page *page, uint32_t block)
{
    const struct heap_graph *graph = pages->run->graph;
    uint32_t last = GRAPH_NONE;
    uint64_t found = 0;

    add_row(page, ROW_HEADING, 0, "What points to it");
    for (uint32_t i = 0; i < graph->roots; i++)
        if (graph->root[i].to == block && found++ < PAGE_ROWS_MOST)
            add_row(page, ROW_PLAIN, 0,
                    arena_format(mem_of(pages), "  %s", graph_names_root(pages->run->names, i)));
    for (uint32_t k = graph->in_first[block]; k < graph->in_first[block + 1]; k++) {
        uint32_t from = graph->from[k];

        for (uint32_t i = graph->first[from]; from != last && i < graph->first[from + 1]; i++)
            if (graph->edge[i].to == block && found++ < PAGE_ROWS_MOST)
                add_block(pages, page, from, word_text(pages, from, i));
        last = from;
    }
    add_more(pages, page, found > PAGE_ROWS_MOST ? found - PAGE_ROWS_MOST : 0);
}

static void add_pointers(const struct pages *pages, struct page *page, uint32_t block)
{
    const struct heap_graph *graph = pages->run->graph;
    uint64_t found = 0;

    add_row(page, ROW_HEADING, 0, "What it points to");
    for (uint32_t i = graph->first[block]; i < graph->first[block + 1]; i++)
        if (found++ < PAGE_ROWS_MOST)
            add_block(pages, page, graph->edge[i].to, word_text(pages, block, i));
    add_more(pages, page, found > PAGE_ROWS_MOST ? found - PAGE_ROWS_MOST : 0);
}

struct page page_of_block(struct pages *pages, uint32_t block)
{
    const struct graph_block *of = &pages->run->graph->block[block];
    struct page page = {.kind = PAGE_BLOCK};

    page.title = arena_format(mem_of(pages), "0x%" PRIx64, (uint64_t)of->address);
    page.facts = arena_format(mem_of(pages), "%s, %s, holds %s in %s: %s", term_size(of->size).text,
                              verb_verdict(of), term_size(pages->dominators.bytes[block]).text,
                              term_count(pages->dominators.blocks[block], "block").text,
                              block_words(pages, block));
    page.heading =
        arena_format(mem_of(pages), "  %14s %11s  %-12s %s", "block", "size", "by", "what it is");
    add_way(pages, &page, block);
    add_references(pages, &page, block);
    add_pointers(pages, &page, block);
    return page;
}
