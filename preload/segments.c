#include "preload/segments.h"
#include "preload/atomic.h"
#include "preload/store.h"

static uint64_t bytes_of(const struct segments *segments, unsigned k)
{
    return (uint64_t)segments->record_size << (segments->first_bits + k);
}

static uint32_t first_id_of(const struct segments *segments, unsigned k)
{
    return segments->first_id + (((1u << k) - 1) << segments->first_bits);
}

static char *make(struct segments *segments, unsigned k)
{
    char *payload = store_chunk(segments->type, bytes_of(segments, k), first_id_of(segments, k));
    if (payload)
        store_publish(payload, bytes_of(segments, k));
    return payload;
}

void *segments_reach(struct segments *segments, uint32_t id)
{
    uint32_t place = id - segments->first_id + (1u << segments->first_bits);
    unsigned k = 31 - __builtin_clz(place) - segments->first_bits;
    if (unlikely(k >= SEGMENTS_MAX))
        return NULL;
    if (unlikely(!load_acquire(&segments->segment[k]))) {
        struct locked locked = lock_take(&segments->lock);
        if (!segments->segment[k])
            /* Pairs with the acquire above. */
            store_release(&segments->segment[k], make(segments, k));
        lock_give(&locked);
        if (!segments->segment[k])
            return NULL;
    }
    return segments_at(segments, id);
}

void *segments_next(struct segments *segments, uint32_t *last, uint32_t *id)
{
    uint32_t before = load_relaxed(last);
    void *record;
    do
        if (unlikely(!(record = segments_reach(segments, before + 1))))
            return NULL;
    while (!__atomic_compare_exchange_n(last, &before, before + 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    *id = before + 1;
    return record;
}

bool segments_fork_child(struct segments *segments, uint32_t last_id)
{
    segments->lock.word = 0;
    for (unsigned k = 0; k < SEGMENTS_MAX && segments->segment[k]; k++) {
        char *old = segments->segment[k];
        uint32_t first = first_id_of(segments, k);
        segments->segment[k] = NULL;
        if (first > last_id)
            continue;
        uint64_t used = (uint64_t)(last_id - first + 1) * segments->record_size;
        uint64_t size = bytes_of(segments, k);
        if (!(segments->segment[k] = make(segments, k)))
            return false;
        memcpy(segments->segment[k], old, used < size ? used : size);
    }
    return true;
}
