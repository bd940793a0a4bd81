/* verbs.c - has functions that several commands of leakgraph use; described in verbs.h. */
#include "graph/verbs/verbs.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"

uint64_t verb_rows(const struct verb_run *run, uint64_t all)
{
    return run->options->top && run->options->top < all ? run->options->top : all;
}

double verb_share(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

const char *verb_verdict_word(unsigned verdict)
{
    static const char *const words[LEAK_VERDICT_MAX] = {
        [LEAK_VERDICT_NONE] = "unknown",      [LEAK_VERDICT_LOST] = "lost",
        [LEAK_VERDICT_INDIRECT] = "indirect", [LEAK_VERDICT_POSSIBLE] = "possible",
        [LEAK_VERDICT_HIDDEN] = "hidden",     [LEAK_VERDICT_REACHABLE] = "reachable"};

    return verdict < LEAK_VERDICT_MAX && words[verdict] ? words[verdict] : "unknown";
}

const char *verb_verdict(const struct graph_block *block)
{
    return verb_verdict_word(block->verdict);
}

uint64_t verb_edge_at(const struct graph_edge *edge)
{
    return edge->at >= GRAPH_AT_ENCODED ? LISTING_NO_OFFSET : 8ull * edge->at;
}

static const char *kept(const struct verb_run *run, const char *text)
{
    return *text ? arena_copy(run->names->mem, text, strlen(text)) : NULL;
}

const char *verb_type(const struct verb_run *run, uint32_t block)
{
    char text[GRAPH_TYPE_SIZE];

    return kept(run, graph_types_block(&run->names->types, block, text));
}

const char *verb_site_type(const struct verb_run *run, uint32_t site)
{
    char text[GRAPH_TYPE_SIZE];

    return kept(run, graph_types_all(&run->names->types, site, text));
}

const char *verb_field(const struct verb_run *run, uint32_t block, uint64_t offset)
{
    char text[GRAPH_TYPE_SIZE];

    return kept(run, graph_types_field(&run->names->types, block, offset, text));
}

char *verb_blocks(const struct verb_run *run, uint64_t blocks, uint32_t site)
{
    const char *type = verb_site_type(run, site);
    char *words = NULL;
    int length;

    if (!type)
        length = asprintf(&words, "%s", term_count(blocks, "block").text);
    else
        length = asprintf(&words, "%s × %s", term_number(blocks).text,
                          term_text(type, strlen(type), 0).text);
    return length < 0 ? NULL : words;
}

uint32_t *verb_sites_as(const struct verb_run *run)
{
    uint32_t sites = run->graph->sites, *first;
    struct hashmap of = {0};

    if (run->options->by != BY_TYPE)
        return NULL;
    first = array_grow(NULL, &(size_t){0}, (size_t)sites + 1, sizeof(*first));
    for (uint32_t site = 0; site <= sites; site++) {
        uint64_t key = graph_types_key(&run->names->types, site);
        uint64_t *known = key ? hashmap_put(&of, key, NULL) : NULL;

        first[site] = known && *known ? (uint32_t)*known : site;
        if (known)
            *known = first[site];
    }
    hashmap_end(&of);
    return first;
}

const char *verb_group_site(const struct verb_run *run, uint32_t site)
{
    return run->options->by == BY_TYPE && graph_types_key(&run->names->types, site)
               ? NULL
               : graph_names_site(run->names, site);
}

int verb_complain(int status, const char *format, ...)
{
    va_list arguments;

    fputs("leakgraph: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return status;
}

/* ---- Selecting the largest of many elements -------------------------------------------------- */

/* Says whether a comes after b in the sorted table. */
static bool is_after(const uint64_t *key, uint32_t a, uint32_t b)
{
    return key[a] != key[b] ? key[a] < key[b] : a > b;
}

/* Moves an element down in a binary heap, whose top is the element that comes last in the table. */
static void sink(const uint64_t *key, uint32_t *heap, uint32_t count, uint32_t at)
{
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        uint32_t moved = heap[at];

        if (child + 1 < count && is_after(key, heap[child + 1], heap[child]))
            child++;
        if (!is_after(key, heap[child], moved))
            return;
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

uint32_t *verb_order(const uint64_t *key, uint32_t count, uint64_t top)
{
    uint32_t kept = top < count ? (uint32_t)top : count;
    uint32_t *heap = array_grow(NULL, &(size_t){0}, (size_t)kept + 1, sizeof(*heap));

    for (uint32_t i = 0; i < kept; i++)
        heap[i] = i;
    for (uint32_t i = kept / 2; i-- > 0;)
        sink(key, heap, kept, i);
    for (uint32_t i = kept; kept && i < count; i++)
        if (is_after(key, heap[0], i)) {
            heap[0] = i;
            sink(key, heap, kept, 0);
        }
    for (uint32_t left = kept; left > 1; left--) {
        uint32_t last = heap[left - 1];

        heap[left - 1] = heap[0];
        heap[0] = last;
        sink(key, heap, left - 1, 0);
    }
    return heap;
}
