/* loss_times.c - finds the leak checks between which blocks were lost; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <stdlib.h>
#include <string.h>

struct loss_times loss_times_begin(const struct store *store)
{
    const struct store_leak_check *look = store->look;
    struct loss_times times = {.store = store};

    if (!look || !look->loss_count)
        return times;
    times.row = array_grow(NULL, &(size_t){0}, store->site_count, sizeof(*times.row));
    memset(times.row, 0, store->site_count * sizeof(*times.row));
    for (size_t i = 0; i < look->loss_count; i++)
        times.row[look->losses[i].site] = (uint32_t)i + 1;
    return times;
}

void loss_times_end(struct loss_times *times)
{
    free(times->row);
}

void loss_times_fill(const struct loss_times *times, struct site_list sites, struct record *record)
{
    struct check_span *first = &record->first_lost, *last = &record->last_lost;

    for (uint32_t site = times->row ? sites.first : 0; site; site = sites.next[site - 1]) {
        uint32_t row = times->row[site - 1];
        const struct store_loss *loss = row ? &times->store->look->losses[row - 1] : NULL;

        if (loss && (!first->by_ns || loss->first.by_ns < first->by_ns))
            *first = (struct check_span){loss->first.after_ns, loss->first.by_ns};
        if (loss && loss->last.by_ns > last->by_ns)
            *last = (struct check_span){loss->last.after_ns, loss->last.by_ns};
    }
}
