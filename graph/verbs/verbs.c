/* verbs.c - see verbs.h. */
#include "graph/verbs/verbs.h"

#include <stdarg.h>
#include <stdlib.h>

uint64_t verb_rows(const struct verb_run *run, uint64_t all)
{
    return run->options->top && run->options->top < all ? run->options->top : all;
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

/* ---- The largest of many --------------------------------------------------------------------- */

/* a comes after b. */
static bool is_after(const uint64_t *key, uint32_t a, uint32_t b)
{
    return key[a] != key[b] ? key[a] < key[b] : a > b;
}

/* A heap whose top comes last. */
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
