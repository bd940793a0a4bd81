/* reconcile.c - divides the live blocks of a site by the verdicts of the last leak check. */
#include "common/sites/sites.h"

#include <stdlib.h>

static const enum verdict verdict_of[LEAK_VERDICT_MAX] = {
#define V(name, word) [LEAK_VERDICT_##name] = VERDICT_##name,
    LEAK_VERDICT_TABLE(V)
#undef V
};

enum verdict reconcile_verdict(enum leak_verdict verdict)
{
    return verdict_of[verdict];
}

/* Order in which the live blocks of a site are assigned to the verdicts of the leak check. If
 * blocks were freed since, too few are left for the last verdicts, so these get fewer. */
static const enum verdict worst_first[] = {VERDICT_LOST, VERDICT_INDIRECT, VERDICT_POSSIBLE,
                                           VERDICT_HIDDEN, VERDICT_REACHABLE};

struct reconciliation reconcile_begin(const struct store *store)
{
    const struct store_leak_check *look = store->look;
    struct reconciliation reconciliation = {.store = store};

    if (!look || !look->found_count)
        return reconciliation;
    reconciliation.first = array_grow(NULL, &(size_t){0}, store->site_count + 1, sizeof(uint32_t));
    reconciliation.next = array_grow(NULL, &(size_t){0}, look->found_count, sizeof(uint32_t));
    for (size_t i = 0; i < store->site_count; i++)
        reconciliation.first[i] = 0;
    /* The loop runs backwards, so that each site's list has the results of the leak check in their
     * order. */
    for (size_t i = look->found_count; i > 0; i--) {
        const struct store_found *found = &look->found[i - 1];

        if (found->verdict == LEAK_VERDICT_NONE)
            continue;
        reconciliation.next[i - 1] = reconciliation.first[found->site];
        reconciliation.first[found->site] = (uint32_t)i;
    }
    return reconciliation;
}

void reconcile_end(struct reconciliation *reconciliation)
{
    free(reconciliation->first);
    free(reconciliation->next);
    free(reconciliation->share);
    *reconciliation = (struct reconciliation){0};
}

static struct share *append_share(struct reconciliation *reconciliation, size_t *count)
{
    reconciliation->share = array_grow(reconciliation->share, &reconciliation->capacity, *count + 1,
                                       sizeof(*reconciliation->share));
    return &reconciliation->share[(*count)++];
}

static uint64_t subtract_saturating(uint64_t number, uint64_t taken)
{
    return number > taken ? number - taken : 0;
}

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Reduces a share to at most *blocks and *bytes, the live blocks that no other share has taken, and
 * subtracts the share from them. Which blocks of the share were freed is unknown. */
static void reduce_share(struct share *share, uint64_t *blocks, uint64_t *bytes)
{
    uint64_t kept = minimum(share->blocks, *blocks),
             size = kept ? minimum(share->bytes, *bytes) : 0;

    share->retained_blocks = subtract_saturating(share->retained_blocks, share->blocks - kept);
    share->retained_bytes = subtract_saturating(share->retained_bytes, share->bytes - size);
    share->blocks = kept;
    share->bytes = size;
    *blocks -= kept;
    *bytes -= size;
}

/* Reduces a share to the blocks in the window of time that the report is restricted to (store.h).
 * If blocks were freed since the leak check, the function assumes that those outside the window
 * were freed first. What a part of the share retains is unknown. */
static void apply_window(const struct store *store, struct share *share)
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
    share->blocks = minimum(share->blocks, found->window_blocks);
    share->bytes = minimum(share->bytes, found->window_bytes);
}

static size_t remove_empty(struct share *share, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (share[i].blocks)
            share[kept++] = share[i];
    return kept;
}

size_t reconcile_site(struct reconciliation *reconciliation, uint32_t site,
                      const struct share **shares)
{
    const struct store_site *at = &reconciliation->store->sites[site];
    uint64_t blocks = at->live_blocks, bytes = at->live_bytes;
    size_t count = 0;

    for (uint32_t i = reconciliation->first ? reconciliation->first[site] : 0; i;
         i = reconciliation->next[i - 1]) {
        const struct store_found *found = &reconciliation->store->look->found[i - 1];

        *append_share(reconciliation, &count) =
            (struct share){.site = site,
                           .found = i - 1,
                           .verdict = verdict_of[found->verdict],
                           .blocks = found->blocks,
                           .bytes = found->bytes,
                           .retained_blocks = found->retained_blocks,
                           .retained_bytes = found->retained_bytes};
    }
    for (size_t v = 0; v < sizeof(worst_first) / sizeof(*worst_first); v++)
        for (size_t i = 0; i < count; i++)
            if (reconciliation->share[i].verdict == worst_first[v])
                reduce_share(&reconciliation->share[i], &blocks, &bytes);
    if (blocks)
        *append_share(reconciliation, &count) = (struct share){.site = site,
                                                               .found = STORE_NONE,
                                                               .verdict = VERDICT_UNFREED,
                                                               .blocks = blocks,
                                                               .bytes = bytes};
    for (size_t i = 0; i < count; i++)
        apply_window(reconciliation->store, &reconciliation->share[i]);
    *shares = reconciliation->share;
    return remove_empty(reconciliation->share, count);
}
