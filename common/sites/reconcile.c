/* reconcile.c - see reconcile.h. */
#include "common/sites/reconcile.h"

#include <stdlib.h>

static const enum verdict verdict_of[LEAK_VERDICT_MAX] = {
#define V(name, word) [LEAK_VERDICT_##name] = VERDICT_##name,
    LEAK_VERDICT_TABLE(V)
#undef V
};

enum verdict settle_verdict(enum leak_verdict verdict)
{
    return verdict_of[verdict];
}

/* What still lives is theirs, one after the other: what was freed since is taken from the last. */
static const enum verdict worst_first[] = {VERDICT_LOST, VERDICT_INDIRECT, VERDICT_POSSIBLE,
                                           VERDICT_HIDDEN, VERDICT_REACHABLE};

struct settling settle_begin(const struct store *store)
{
    const struct store_leak_check *look = store->look;
    struct settling settling = {.store = store};

    if (!look || !look->found_count)
        return settling;
    settling.first = array_grow(NULL, &(size_t){0}, store->site_count + 1, sizeof(uint32_t));
    settling.next = array_grow(NULL, &(size_t){0}, look->found_count, sizeof(uint32_t));
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
        array_grow(settling->share, &settling->capacity, *count + 1, sizeof(*settling->share));
    return &settling->share[(*count)++];
}

static uint64_t less(uint64_t number, uint64_t taken)
{
    return number > taken ? number - taken : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* As much of a share as there is left. Which of its blocks are gone nobody knows. */
static void keep(struct share *share, uint64_t *blocks, uint64_t *bytes)
{
    uint64_t kept = least(share->blocks, *blocks), size = kept ? least(share->bytes, *bytes) : 0;

    share->retained_blocks = less(share->retained_blocks, share->blocks - kept);
    share->retained_bytes = less(share->retained_bytes, share->bytes - size);
    share->blocks = kept;
    share->bytes = size;
    *blocks -= kept;
    *bytes -= size;
}

/* Which of them went since the look nobody knows: none of those in the window, if that can be. What
 * goes with a part of them is not known either. */
static void keep_window(const struct store *store, struct share *share)
{
    const struct store_found *found;

    if (store->window == WINDOW_NONE)
        return;
    if (share->found == STORE_NONE) {
        share->blocks = store->window == WINDOW_SINCE ? share->blocks : 0;
        return;
    }
    found = &store->look->found[share->found];
    if (found->window_blocks < found->blocks)
        share->retained_blocks = share->retained_bytes = 0;
    share->blocks = least(share->blocks, found->window_blocks);
    share->bytes = least(share->bytes, found->window_bytes);
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
    uint64_t blocks = at->live_blocks, bytes = at->live_bytes;
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
    }
    for (size_t v = 0; v < sizeof(worst_first) / sizeof(*worst_first); v++)
        for (size_t i = 0; i < count; i++)
            if (settling->share[i].verdict == worst_first[v])
                keep(&settling->share[i], &blocks, &bytes);
    if (blocks)
        *add(settling, &count) = (struct share){.site = site,
                                                .found = STORE_NONE,
                                                .verdict = VERDICT_UNFREED,
                                                .blocks = blocks,
                                                .bytes = bytes};
    for (size_t i = 0; i < count; i++)
        keep_window(settling->store, &settling->share[i]);
    *shares = settling->share;
    return drop_empty(settling->share, count);
}
