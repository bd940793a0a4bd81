/* block_samples.c - keeps the largest sample blocks of each record; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <string.h>

void block_samples_add(struct block_samples *samples, size_t most,
                       const struct store_leak_check *look, const struct store_found *found)
{
    for (uint32_t i = 0; i < found->sample_count && i < most; i++) {
        uint32_t index = found->sample + i;
        size_t at = samples->count;

        while (at && look->samples[samples->index[at - 1]].size < look->samples[index].size)
            at--;
        if (at == most)
            continue;
        if (samples->count < most)
            samples->count++;
        memmove(&samples->index[at + 1], &samples->index[at],
                (samples->count - 1 - at) * sizeof(*samples->index));
        samples->index[at] = index;
    }
}

/* Says whether the content has a word that may be an address. Addresses differ from run to run, so
 * stable reports leave such a content out. */
static bool holds_pointers(const uint8_t *content, size_t length)
{
    for (size_t i = 0; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, content + i, sizeof(word));
        if (word >= 0x10000 && word >> 48 == 0)
            return true;
    }
    return false;
}

/* Finds the thread whose serial has these low bits, which are all that a block's data has. Several
 * threads may match: prefers the one with the lowest serial. */
static const struct store_thread *find_thread_by_low_bits(const struct store *store, uint16_t low)
{
    const struct store_thread *thread = store_find_thread(store, low);

    for (size_t i = store->thread_count;
         !thread && i > 0 && store->threads[i - 1].serial > UINT16_MAX; i--)
        if ((uint16_t)store->threads[i - 1].serial == low)
            thread = &store->threads[i - 1];
    return thread;
}

struct thread_ref block_samples_thread(struct arena *mem, const struct store *store, uint16_t low)
{
    const struct store_thread *thread = find_thread_by_low_bits(store, low);
    struct thread_ref made = {.serial = thread ? thread->serial : low};

    if (thread && *thread->name)
        made.name = arena_copy(mem, thread->name, strlen(thread->name));
    return made;
}

static struct sample describe_sample(struct arena *mem, const struct store *store,
                                     const struct leak_sample *sample)
{
    size_t length = sample->content.count;
    uint8_t *content = arena_alloc_array(mem, length, 1);
    struct sample made = {.address = sample->address,
                          .size = sample->size,
                          .thread = block_samples_thread(mem, store, sample->thread),
                          .count = sample->count,
                          .time_ns = store_time_of_tick(store, sample->tick),
                          .content = content,
                          .length = length};

    if (length)
        memcpy(content, store->look->contents + sample->content.first, length);
    made.pointers = holds_pointers(content, length);
    return made;
}

void block_samples_fill(const struct block_samples *samples, struct arena *mem,
                        const struct store *store, struct record *record)
{
    struct sample *told_of = arena_alloc_array(mem, samples->count, sizeof(*told_of));

    for (size_t i = 0; i < samples->count; i++)
        told_of[i] = describe_sample(mem, store, &store->look->samples[samples->index[i]]);
    record->samples = told_of;
    record->sample_count = samples->count;
}
