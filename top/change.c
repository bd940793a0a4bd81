/* change.c - see change.h. */
#include "top/change.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

struct account account_keep(double time, struct counted total, const struct counted *at,
                            size_t count)
{
    struct account account = {.time = time, .total = total, .count = count};

    account.at = array_grow(NULL, &(size_t){0}, count + 1, sizeof(*at));
    if (count)
        memcpy(account.at, at, count * sizeof(*at));
    return account;
}

void account_end(struct account *account)
{
    free(account->at);
    *account = (struct account){0};
}

static double rate(uint64_t before, uint64_t now, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

static struct change between(const struct counted *before, const struct counted *now,
                             double seconds)
{
    if (seconds <= 0)
        return (struct change){0};
    return (struct change){.known = true,
                           .bytes = (int64_t)(now->bytes - before->bytes),
                           .allocs = rate(before->allocs, now->allocs, seconds),
                           .frees = rate(before->frees, now->frees, seconds)};
}

struct change change_of(const struct account *before, size_t i, const struct counted *now,
                        double time)
{
    static const struct counted nothing;

    return between(i < before->count ? &before->at[i] : &nothing, now, time - before->time);
}

struct change change_of_total(const struct account *before, const struct counted *now, double time)
{
    return between(&before->total, now, time - before->time);
}
