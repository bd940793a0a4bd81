/* block_samples.h - a few blocks of each record, the largest ones, with their first bytes. */
#ifndef SYMBOLIZE_HEAP_BLOCK_SAMPLES_H
#define SYMBOLIZE_HEAP_BLOCK_SAMPLES_H

#include "common/model/model.h"
#include "common/store/store.h"

#define SAMPLES_TOLD 4
#define SAMPLES_MOST 64 /* where each is asked for */

/* Those of one record so far; all zero = none. */
struct samples {
    uint32_t index[SAMPLES_MOST]; /* in the look, by falling size */
    size_t count;
};

/* At most so many are kept. */
void samples_add(struct samples *samples, size_t most, const struct store_leak_check *look,
                 const struct store_found *found);

/* Of a thread only the low bits of its serial are kept with a block. */
struct thread_ref samples_thread(struct mem *mem, const struct store *store, uint16_t low);

/* Fills in record->samples. */
void samples_tell(const struct samples *samples, struct mem *mem, const struct store *store,
                  struct record *record);

#endif
