/* settle.c - see settle.h. */
#include "symbolize/settle.h"

#include <stdlib.h>

static const enum verdict verdict_of[LEAK_VERDICT_MAX] = {
#define V(name, word) [LEAK_VERDICT_##name] = VERDICT_##name,
    LEAK_VERDICT_TABLE(V)
#undef V
};

/* What was freed since is taken from these, one after the other. */
static const enum verdict least_first[] = {VERDICT_REACHABLE, VERDICT_HIDDEN, VERDICT_POSSIBLE,
                                           VERDICT_INDIRECT, VERDICT_LOST};

struct settling settle_begin(const struct store *store)
{
    const struct store_look *look = store->look;
    struct settling settling = {.store = store};

    if (!look || !look->found_count)
        return settling;
    settling.first = mem_more(NULL, &(size_t){0}, store->site_count + 1, sizeof(uint32_t));
    settling.next = mem_more(NULL, &(size_t){0}, look->found_count, sizeof(uint32_t));
    for (size_t i = 0; i < store->site_count; i++)
        settling.first[i] = 0;
    for (size_t i = look->found_count; i > 0; i--) { /* backwards, so that lists go forwards */
        const struct store_found *found = &look->found[i - 1];

        if (found->verdict == LEAK_VERDICT_NONE)
            continue;
        settling.next[i - 1] = settling.first[found->site];
        settling.first[found->site] = (uint32_t)i;
    }
    return settling;
}

void settle_end(struct settling *settling)
{
    free(settling->first);
    free(settling->next);
    free(settling->share);
    *settling = (struct settling){0};
}

static struct share *add(struct settling *settling, size_t *count)
{
    settling->share =
        mem_more(settling->share, &settling->capacity, *count + 1, sizeof(*settling->share));
    return &settling->share[(*count)++];
}

static uint64_t less(uint64_t number, uint64_t taken)
{
    return number > taken ? number - taken : 0;
}

/* Blocks that are gone leave with their bytes; of a part of them nobody knows which. */
static void take(struct share *share, uint64_t *blocks, uint64_t *bytes)
{
    uint64_t gone = share->blocks < *blocks ? share->blocks : *blocks;
    uint64_t size = gone == share->blocks || share->bytes < *bytes ? share->bytes : *bytes;

    share->blocks -= gone;
    share->bytes -= size;
    share->retained_blocks = less(share->retained_blocks, gone);
    share->retained_bytes = less(share->retained_bytes, size);
    *blocks -= gone;
    *bytes = less(*bytes, size);
}

static size_t drop_empty(struct share *share, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (share[i].blocks)
            share[kept++] = share[i];
    return kept;
}

size_t settle_site(struct settling *settling, uint32_t site, const struct share **shares)
{
    const struct store_site *at = &settling->store->sites[site];
    uint64_t blocks = 0, bytes = 0;
    size_t count = 0;

    for (uint32_t i = settling->first ? settling->first[site] : 0; i; i = settling->next[i - 1]) {
        const struct store_found *found = &settling->store->look->found[i - 1];

        *add(settling, &count) = (struct share){.site = site,
                                                .found = i - 1,
                                                .verdict = verdict_of[found->verdict],
                                                .blocks = found->blocks,
                                                .bytes = found->bytes,
                                                .retained_blocks = found->retained_blocks,
                                                .retained_bytes = found->retained_bytes};
        blocks = add_saturating(blocks, found->blocks);
        bytes = add_saturating(bytes, found->bytes);
    }
    if (blocks < at->live_blocks)
        *add(settling, &count) = (struct share){.site = site,
                                                .found = STORE_NONE,
                                                .verdict = VERDICT_UNFREED,
                                                .blocks = at->live_blocks - blocks,
                                                .bytes = less(at->live_bytes, bytes)};
    blocks = less(blocks, at->live_blocks);
    bytes = less(bytes, at->live_bytes);
    for (size_t v = 0; blocks && v < sizeof(least_first) / sizeof(*least_first); v++)
        for (size_t i = 0; blocks && i < count; i++)
            if (settling->share[i].verdict == least_first[v])
                take(&settling->share[i], &blocks, &bytes);
    *shares = settling->share;
    return drop_empty(settling->share, count);
}
