#include "preload/leakcheck/loss_times.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"

#define ROWS_MOST (1u << 16)

static const void *table_of(const struct leak_snapshot *head, const struct leak_table *table)
{
    return (const char *)head + table->at;
}

static void read_before(struct loss_times *times, const struct leak_snapshot *before)
{
    const struct leak_found *found = table_of(before, &before->found);
    const struct leak_loss *losses = table_of(before, &before->losses);
    for (uint32_t i = 0; i < before->found.count; i++)
        if (found[i].site < times->sites &&
            (found[i].verdict == LEAK_VERDICT_LOST || found[i].verdict == LEAK_VERDICT_INDIRECT)) {
            struct loss_site *site = &times->site[found[i].site];
            site->before += found[i].blocks;
            site->row.first.by_ns = site->row.last.by_ns = before->when_ns;
        }
    for (uint32_t i = 0; i < before->losses.count; i++)
        if (losses[i].site < times->sites)
            times->site[losses[i].site].row = losses[i];
}

bool loss_times_begin(struct loss_times *times, const struct leak_snapshot *head, uint64_t before)
{
    const struct leak_snapshot *last = store_read_chunk(LEAK_CHUNK_SNAPSHOT, before, sizeof *last);
    if (!growable_array_map(&times->rows, sizeof(struct leak_loss), ROWS_MOST))
        return false;
    if (!last)
        return true;
    bool one_check = last->occasion == LEAK_OCCASION_EARLY;
    times->after_ns = one_check ? last->after_ns : last->when_ns;
    if (!times->after_ns)
        return true;
    times->now_ns = head->when_ns;
    times->sites = head->sites + 1;
    times->site = sys_map_lazily(times->sites * sizeof *times->site);
    if (times->site)
        read_before(times, last);
    return times->site;
}

void loss_times_add(struct loss_times *times, uint32_t site, uint64_t blocks)
{
    if (site < times->sites)
        times->site[site].now += blocks;
}

void loss_times_finish(struct loss_times *times)
{
    const struct leak_loss_span now = {times->after_ns, times->now_ns};
    for (uint32_t i = 0; i < times->sites; i++) {
        struct loss_site *site = &times->site[i];
        struct leak_loss *row = site->now ? growable_array_add(&times->rows) : NULL;
        if (!row)
            continue;
        *row = site->row;
        row->site = i;
        if (!row->first.by_ns)
            row->first = now;
        if (site->now > site->before)
            row->last = now;
    }
}
