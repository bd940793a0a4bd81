/* order.c - see order.h. */
#include "common/model/order.h"

static const int rank[VERDICT_MAX] = {
    [VERDICT_LOST] = 0,    [VERDICT_INDIRECT] = 1,  [VERDICT_POSSIBLE] = 2, [VERDICT_HIDDEN] = 3,
    [VERDICT_UNFREED] = 4, [VERDICT_REACHABLE] = 5, [VERDICT_RUNTIME] = 6};

int order_of_verdict(enum verdict verdict)
{
    return rank[verdict];
}

static int descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

/* What fixing one gives back: itself, and what goes with it. */
static uint64_t given_back(uint64_t own, uint64_t retained)
{
    return retained > own ? retained : own;
}

static int by_retained(const struct record *a, const struct record *b)
{
    int order = rank[a->verdict] - rank[b->verdict];

    if (!order)
        order = descending(given_back(a->bytes, a->retained.bytes),
                           given_back(b->bytes, b->retained.bytes));
    if (!order)
        order = descending(a->bytes, b->bytes);
    if (!order)
        order = descending(a->blocks, b->blocks);
    if (!order)
        order = descending(a->signature ^ a->kind, b->signature ^ b->kind);
    if (!order)
        order = a->cycle - b->cycle + 2 * (a->dropped - b->dropped) + 4 * (a->ignored - b->ignored);
    return order ? order : descending(b->owner, a->owner);
}

static int by_count(const struct record *a, const struct record *b)
{
    return descending(given_back(a->blocks, a->retained.blocks),
                      given_back(b->blocks, b->retained.blocks));
}

/* What nobody knows the time of comes last. */
static int by_age(const struct record *a, const struct record *b)
{
    return -descending(a->first_ns ? a->first_ns : UINT64_MAX,
                       b->first_ns ? b->first_ns : UINT64_MAX);
}

static uint64_t rate_of(const struct record *record)
{
    return record->growth ? record->growth->bytes_per_second : 0;
}

int order_records(const struct record *a, const struct record *b, enum sort_order sort)
{
    int order = rank[a->verdict] - rank[b->verdict];

    if (!order && sort == SORT_BYTES)
        order = descending(a->bytes, b->bytes);
    if (!order && sort == SORT_COUNT)
        order = by_count(a, b);
    if (!order && sort == SORT_AGE)
        order = by_age(a, b);
    if (!order && sort == SORT_GROWTH)
        order = descending(rate_of(a), rate_of(b));
    return order ? order : by_retained(a, b);
}
