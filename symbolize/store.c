/* store.c - questions to a checked account; see store.h. */
#include "symbolize/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void store_note(struct store *store, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t i = 0; i < store->note_count; i++)
        if (strcmp(store->notes[i], text) == 0)
            return;
    store->notes =
        mem_more(store->notes, &store->note_capacity, store->note_count + 1, sizeof(*store->notes));
    store->notes[store->note_count++] = mem_copy(store->mem, text, strlen(text));
}

const struct store_module *store_module_of(const struct store *store, uint64_t pc, uint32_t number)
{
    const struct store_module *best = NULL;
    size_t cursor = store->module_spans.count;
    uint32_t index;

    while ((index = spans_next(&store->module_spans, pc, &cursor)) != SPANS_NONE) {
        const struct store_module *module = &store->modules[index];

        if (module->loaded > number && (!best || module->loaded < best->loaded))
            best = module;
    }
    return best;
}

const struct store_thread *store_thread_of(const struct store *store, uint32_t serial)
{
    size_t low = 0, high = store->thread_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (store->threads[middle].serial == serial)
            return &store->threads[middle];
        if (store->threads[middle].serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint64_t store_time(const struct store *store, uint32_t tick)
{
    return store->header.started_ns + (uint64_t)tick * (1000000000ull / LEAK_TICKS_PER_SECOND);
}

bool store_check(const struct store *store, const char **broken)
{
    for (size_t i = LEAK_NODE_FIRST; i < store->node_count; i++) {
        *broken = "a node's parent is below it";
        if (store->nodes[i].parent >= i)
            return false;
    }
    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];

        *broken = "a site's node is in range";
        if (site->node >= store->node_count && site->node >= LEAK_NODE_FIRST)
            return false;
        *broken = "a site's kind is known";
        if (site->kind >= LEAK_KIND_MAX)
            return false;
        *broken = "site ids ascend";
        if (i && store->sites[i - 1].id >= site->id)
            return false;
        *broken = "what lives was allocated";
        if (site->live_blocks > site->counts.allocs || site->live_bytes > site->counts.bytes)
            return false;
    }
    for (size_t i = 0; i < store->site_count; i++) {
        *broken = "only what lives is estimated, and only from samples";
        if (store->sites[i].variance.samples &&
            (!store->sites[i].live_blocks || !store->header.sample))
            return false;
    }
    for (size_t i = 1; i < store->thread_count; i++) {
        *broken = "thread serials ascend";
        if (store->threads[i - 1].serial >= store->threads[i].serial)
            return false;
    }
    *broken = NULL;
    return true;
}

void store_end(struct store *store)
{
    spans_end(&store->module_spans);
    free(store->notes);
    store->notes = NULL;
}
