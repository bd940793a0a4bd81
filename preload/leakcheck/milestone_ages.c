#include "preload/leakcheck/milestone_ages.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"

bool ages_begin(struct ages *ages, uint32_t lines_most)
{
    ages->inherited = store_header->inherited_sites;
    ages->sum = NULL;
    ages->count = milestones_sorted(ages->milestone);
    if (ages->count)
        ages->sum = sys_map_lazily((size_t)lines_most * ages->count * sizeof *ages->sum);
    return !ages->count || ages->sum;
}

void ages_note(struct ages *ages, uint32_t line, const struct block *block)
{
    uint32_t at = ages->count;
    while (ages->milestone[at - 1].tick > block->tick)
        at--;
    struct ages_sum *sum = &ages->sum[(size_t)line * ages->count + at - 1];
    sum->blocks++;
    sum->bytes += block->size;
}

void ages_tell(const struct ages *ages, uint32_t lines, struct growable_array *out)
{
    for (size_t i = 0; i < (size_t)lines * ages->count; i++) {
        struct leak_age *age = ages->sum[i].blocks ? growable_array_add(out) : NULL;
        if (age)
            *age = (struct leak_age){.found = i / ages->count,
                                     .milestone = ages->milestone[i % ages->count].number,
                                     .blocks = ages->sum[i].blocks,
                                     .bytes = ages->sum[i].bytes};
    }
}
