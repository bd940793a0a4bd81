/* verbs_html.c - implements the command html of leakgraph, which writes the largest blocks as an
 * HTML page, with the blocks that hold them and that they hold. page/heap.js shows this JSON:
 *
 *     { blocks, bytes, explored,
 *       address: [], size: [], retained: [], held: [], site: [], type: [], verdict: [],
 *       up: [], in: [[from, word, ...], ...], in_all: [], out: [[to, word, ...], ...], out_all: [],
 *       roots: [[text, ...], ...], texts: [null, ...] }
 *
 * The arrays "address" to "verdict" have a value for each block of the page; "up" to "roots" only
 * for the first "explored" blocks, which are the largest by retained size, sorted by it. The other
 * blocks are at the other end of their pointers. up: the block that dominates the block, + 1; 0:
 * none. Blocks are written as their indices, texts as indices in "texts". in_all, out_all: the
 * number of pointers, including those that the page leaves out.
 */
#include "graph/verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "graph/analyze/root_paths.h"
#include "common/model/model.h"
#include "symbolize/formats/html_shell.h"

#define EXPLORED_MOST 3000
/* limit of the pointers from explored blocks (the largest by retained size) that are written for a
 * block, and of its pointers to explored blocks */
#define KNOWN_MOST 40
/* limit of a block's pointers from other blocks, and of those to other blocks */
#define OTHERS_MOST 8
#define ROOTS_MOST 5 /* most roots of a block */

struct texts {
    const char **text; /* text[i] has the index i + 1 in the page; index 0 stands for no text */
    struct hashmap of; /* hash of a text -> its index in the page */
    size_t count, room;
};

struct page {
    struct verb_run *run;
    struct dominators dominators;
    struct json_writer *json;
    struct texts texts;
    uint32_t *index; /* number of a block -> its index in the page + 1; 0: it is not in the page */
    uint32_t *block; /* index in the page -> number of the block */
    uint32_t count, explored;
    size_t room;
};

/* Returns the index of a text, which lives in the arena of the names; NULL and "": 0. Texts with
 * equal hashes are treated as equal. */
static uint32_t text_index(struct page *page, const char *text)
{
    struct texts *texts = &page->texts;
    uint64_t *known;

    if (!text || !*text)
        return 0;
    known = hashmap_put(&texts->of, hash_text(1, text, strlen(text)), NULL);
    if (!*known) {
        texts->text = array_grow(texts->text, &texts->room, texts->count + 1, sizeof(*texts->text));
        texts->text[texts->count++] = text;
        *known = texts->count;
    }
    return (uint32_t)*known;
}

static uint32_t index_of(struct page *page, uint32_t block)
{
    if (page->index[block])
        return page->index[block] - 1;
    page->block =
        array_grow(page->block, &page->room, (size_t)page->count + 1, sizeof(*page->block));
    page->block[page->count] = block;
    page->index[block] = page->count + 1;
    return page->count++;
}

static void explore(struct page *page)
{
    struct heap_graph *graph = page->run->graph;
    uint32_t explored = graph->blocks < EXPLORED_MOST ? graph->blocks : EXPLORED_MOST;
    uint32_t *order = verb_order(page->dominators.bytes, graph->blocks, explored);

    for (uint32_t i = 0; i < explored; i++)
        index_of(page, order[i]);
    page->explored = explored;
    free(order);
}

/* ---- Writing the pointers between blocks ----------------------------------------------------- */

static void put_pointer(struct page *page, uint32_t from, uint32_t edge, uint32_t other)
{
    uint64_t at = verb_edge_at(&page->run->graph->edge[edge]);
    const char *field = at == LISTING_NO_OFFSET ? NULL : verb_field(page->run, from, at);

    if (!field && at != LISTING_NO_OFFSET)
        field = arena_format(page->run->names->mem, "+0x%" PRIx64, at);
    json_put_number(page->json, NULL, index_of(page, other));
    json_put_number(page->json, NULL, text_index(page, field));
}

/* Writes pointers to a block: those from explored blocks, or those from other blocks. */
static void put_in(struct page *page, uint32_t block, bool explored, uint32_t most)
{
    const struct heap_graph *graph = page->run->graph;
    uint32_t last = GRAPH_NONE;

    for (uint32_t k = graph->in_first[block]; k < graph->in_first[block + 1] && most; k++) {
        uint32_t from = graph->from[k], index = page->index[from];

        if (from != last && (index && index <= page->explored) == explored) {
            put_pointer(page, from, root_tree_edge(graph, from, block), from);
            most--;
        }
        last = from;
    }
}

static void put_out(struct page *page, uint32_t block, bool explored, uint32_t most)
{
    const struct heap_graph *graph = page->run->graph;

    for (uint32_t k = graph->first[block]; k < graph->first[block + 1] && most; k++) {
        uint32_t index = page->index[graph->edge[k].to];

        if ((index && index <= page->explored) == explored) {
            put_pointer(page, block, k, graph->edge[k].to);
            most--;
        }
    }
}

static void put_pointers(struct page *page, const char *key,
                         void (*put)(struct page *page, uint32_t block, bool explored,
                                     uint32_t most))
{
    json_open(page->json, key, '[');
    for (uint32_t i = 0; i < page->explored; i++) {
        json_open(page->json, NULL, '[');
        put(page, page->block[i], true, KNOWN_MOST);
        put(page, page->block[i], false, OTHERS_MOST);
        json_close(page->json, ']');
    }
    json_close(page->json, ']');
}

static void put_roots(struct page *page)
{
    const struct heap_graph *graph = page->run->graph;
    uint32_t *first = array_grow(NULL, &(size_t){0}, (size_t)page->explored + 1, sizeof(*first));
    uint32_t *next = array_grow(NULL, &(size_t){0}, (size_t)graph->roots + 1, sizeof(*next));

    for (uint32_t i = 0; i < page->explored; i++)
        first[i] = GRAPH_NONE;
    for (uint32_t root = graph->roots; root-- > 0;) {
        uint32_t index = page->index[graph->root[root].to];

        if (!index || index > page->explored)
            continue;
        next[root] = first[index - 1];
        first[index - 1] = root;
    }
    json_open(page->json, "roots", '[');
    for (uint32_t i = 0; i < page->explored; i++) {
        uint32_t told = 0;

        json_open(page->json, NULL, '[');
        for (uint32_t root = first[i]; root != GRAPH_NONE && told < ROOTS_MOST;
             root = next[root], told++)
            json_put_number(page->json, NULL,
                            text_index(page, graph_names_root(page->run->names, root)));
        json_close(page->json, ']');
    }
    json_close(page->json, ']');
    free(first);
    free(next);
}

/* ---- Writing the arrays that have a value for each block ------------------------------------- */

static uint64_t address_of(struct page *page, uint32_t block)
{
    return page->run->graph->block[block].address;
}

static uint64_t size_of(struct page *page, uint32_t block)
{
    return page->run->graph->block[block].size;
}

static uint64_t retained_of(struct page *page, uint32_t block)
{
    return page->dominators.bytes[block];
}

static uint64_t held_of(struct page *page, uint32_t block)
{
    return page->dominators.blocks[block];
}

static uint64_t site_of(struct page *page, uint32_t block)
{
    uint32_t site = page->run->graph->block[block].site;

    return text_index(page, graph_names_site(page->run->names, site));
}

static uint64_t type_of(struct page *page, uint32_t block)
{
    return text_index(page, verb_type(page->run, block));
}

static uint64_t verdict_of(struct page *page, uint32_t block)
{
    return text_index(page, verb_verdict(&page->run->graph->block[block]));
}

static uint64_t above_of(struct page *page, uint32_t block)
{
    uint32_t above = page->dominators.idom[block];

    return above == GRAPH_NONE ? 0 : page->index[above];
}

static uint64_t all_in(struct page *page, uint32_t block)
{
    return page->run->graph->in_first[block + 1] - page->run->graph->in_first[block];
}

static uint64_t all_out(struct page *page, uint32_t block)
{
    return page->run->graph->first[block + 1] - page->run->graph->first[block];
}

static void put_column(struct page *page, const char *key, uint32_t count,
                       uint64_t (*value)(struct page *page, uint32_t block))
{
    json_open(page->json, key, '[');
    for (uint32_t i = 0; i < count; i++)
        json_put_number(page->json, NULL, value(page, page->block[i]));
    json_close(page->json, ']');
}

static void put_columns(struct page *page)
{
    put_column(page, "up", page->explored, above_of);
    put_column(page, "in_all", page->explored, all_in);
    put_column(page, "out_all", page->explored, all_out);
    put_column(page, "address", page->count, address_of);
    put_column(page, "size", page->count, size_of);
    put_column(page, "retained", page->count, retained_of);
    put_column(page, "held", page->count, held_of);
    put_column(page, "site", page->count, site_of);
    put_column(page, "type", page->count, type_of);
    put_column(page, "verdict", page->count, verdict_of);
}

static void put_texts(struct page *page)
{
    json_open(page->json, "texts", '[');
    json_put_null(page->json, NULL);
    for (size_t i = 0; i < page->texts.count; i++)
        json_put_text(page->json, NULL, page->texts.text[i]);
    json_close(page->json, ']');
}

static void put_graph(struct page *page)
{
    const struct heap_graph *graph = page->run->graph;
    struct json_writer *json = page->json;

    json->flat = true;
    json_put_number(json, "blocks", graph->blocks);
    json_put_number(json, "bytes", graph->bytes);
    json_put_number(json, "explored", page->explored);
    put_pointers(page, "in", put_in);
    put_pointers(page, "out", put_out);
    put_roots(page);
    put_columns(page);
    put_texts(page);
    json->flat = false;
}

/* ---- Writing the page ------------------------------------------------------------------------ */

/* Writes the data of a report without records, because the page has only the graph. */
static void put_report(struct verb_run *run, struct json_writer *json)
{
    static const char *const empty[] = {"records",   "entries", "other",     "errors",
                                        "resources", "owners",  "grown",     "history",
                                        "peak",      "at_peak", "allocated", "temporary"};
    static const char no_frames[] = "{\"fn\":[],\"file\":[],\"line\":[],\"module\":[],\"kind\":[]}";
    static const char no_stacks[] = "{\"up\":[0],\"frame\":[0]}";
    const struct heap_graph *graph = run->graph;
    const char *name = base_name(graph->store.exe);
    char title[256], time[TIME_TEXT_SIZE];

    snprintf(title, sizeof(title), "%.200s (pid %d)", name, (int)graph->store.header.pid);
    json_open(json, NULL, '{');
    html_put_verdicts(json);
    json_open(json, "shown", '[');
    json_close(json, ']');
    json_open(json, "processes", '[');
    json_open(json, NULL, '{');
    json_put_text(json, "name", title);
    json_put_bool(json, "running", false);
    json_put_number(json, "length", 0);
    json_open(json, "headline", '[');
    json_put_text(json, NULL,
                  arena_format(run->names->mem, "%s in %s", term_size(graph->bytes).text,
                               term_count(graph->blocks, "block").text));
    json_put_text(json, NULL, "");
    json_close(json, ']');
    json_open(json, "facts", '[');
    html_put_fact(json, "graph", "%s", run->options->file);
    html_put_fact(json, "program", "%s", graph->store.exe);
    html_put_fact(json, "leak check", "%s", time_format_iso(graph->when_ns, time));
    json_close(json, ']');
    for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
        json_open(json, empty[i], '[');
        json_close(json, ']');
    }
    json_close(json, '}');
    json_close(json, ']');
    json_put_raw(json, "frames", no_frames, strlen(no_frames));
    json_put_raw(json, "stacks", no_stacks, strlen(no_stacks));
    json_put_raw(json, "source", "{}", 2);
    json_put_raw(json, "texts", "[null]", 6);
    json_close(json, '}');
}

static void put_page(struct page *page)
{
    FILE *stream = page->run->listing->stream;
    struct json_writer report = {.stream = stream, .markup = true, .dense = true};
    struct json_writer graph = report;

    html_page_begin(stream);
    put_report(page->run, &report);
    html_page_begin_graph(stream);
    page->json = &graph;
    json_open(&graph, NULL, '{');
    put_graph(page);
    json_close(&graph, '}');
    html_page_end(stream);
}

int verb_html(struct verb_run *run)
{
    struct heap_graph *graph = run->graph;
    struct page page = {.run = run, .dominators = dominators_find(graph)};

    page.index = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 1, sizeof(*page.index));
    memset(page.index, 0, ((size_t)graph->blocks + 1) * sizeof(*page.index));
    explore(&page);
    if (run->listing->is_json) {
        page.json = &run->listing->json;
        put_graph(&page);
    } else {
        put_page(&page);
    }
    hashmap_end(&page.texts.of);
    free(page.texts.text);
    dominators_end(&page.dominators);
    free(page.index);
    free(page.block);
    return STATUS_GOOD;
}
