/* tags.h - blocks added up by the names that their program gave them.
 *
 * A record has those of its own blocks, the largest first; what is under no tag is in none of them.
 * Whoever shows several records as one adds them up once more.
 */
#ifndef COMMON_SITES_TAGS_H
#define COMMON_SITES_TAGS_H

#include "common/base/arena.h"
#include "common/model/model.h"

struct tag_sums {
    struct tag_sum *sum;
    size_t count, capacity;
};

/* A zeroed one is empty; tags_end() leaves it so. The names must outlive it. */
void tags_add(struct tag_sums *sums, const char *name, uint64_t bytes, uint64_t blocks);
void tags_add_record(struct tag_sums *sums, const struct record *record);
void tags_sort(struct tag_sums *sums);
/* What they are becomes the record's. */
void tags_tell(struct tag_sums *sums, struct mem *mem, struct record *record);
void tags_end(struct tag_sums *sums);

#endif
