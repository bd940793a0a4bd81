/* stack_table.c - the stack table: 32 stripes of buckets, each of which is a cache line. */
#include "preload/contexts/stack_table.h"
#include "preload/base/base.h"
#include "preload/contexts/table_regions.h"

#define STRIPES TABLE_STRIPES
#define ENTRIES 5
#define PAGE_BUCKETS (LEAK_PAGE / sizeof(struct bucket))

struct bucket {
    uint64_t key[ENTRIES]; /* 0: the entry is empty, and so are all entries behind it */
    uint32_t number[ENTRIES];
    uint32_t unused;
};
_Static_assert(sizeof(struct bucket) == 64, "a bucket is not a cache line");

static struct stripe {
    struct lock lock;
    uint32_t used; /* number of entries in use; guarded by the lock */
    table_handle table;
} stripes[STRIPES];

static struct table_regions regions;

static struct stripe *stripe_of(uint64_t key)
{
    return &stripes[key % STRIPES];
}

static struct bucket *buckets_of(table_handle table)
{
    return table_address(table);
}

static uint32_t bucket_count(table_handle table)
{
    return PAGE_BUCKETS << table % LEAK_PAGE;
}

/* Computes the bucket of a key: its high half chooses the bucket, its low bits the stripe. */
static uint32_t home_of(table_handle table, uint64_t key)
{
    return (key >> 32) * bucket_count(table) >> 32;
}

static uint32_t next_bucket(table_handle table, uint32_t at)
{
    return at + 1 == bucket_count(table) ? 0 : at + 1;
}

bool stack_table_start(void)
{
    for (unsigned i = 0; i < STRIPES; i++)
        stripes[i].table = table_regions_make(&regions, i, 0);
    return stripes[0].table != 0;
}

void stack_table_prefetch(uint64_t key)
{
    table_handle table = load_acquire(&stripe_of(key)->table);
    __builtin_prefetch(&buckets_of(table)[home_of(table, key)]);
}

uint32_t stack_table_find(uint64_t key)
{
    /* Pairs with store_release in stack_table_reserve: a thread that sees the table sees its
     * buckets. */
    table_handle table = load_acquire(&stripe_of(key)->table);
    for (uint32_t at = home_of(table, key);; at = next_bucket(table, at)) {
        const struct bucket *bucket = &buckets_of(table)[at];
        /* One bit for each entry that has the key: a branch for each entry would often be
         * mispredicted. */
        unsigned found = 0;
        for (unsigned i = 0; i < ENTRIES; i++)
            found |= (unsigned)(load_acquire(&bucket->key[i]) == key) << i;
        if (found)
            return load_relaxed(&bucket->number[__builtin_ctz(found)]);
        if (!load_relaxed(&bucket->key[ENTRIES - 1]))
            return 0;
    }
}

struct locked stack_table_lock(uint64_t key)
{
    return lock_take(&stripe_of(key)->lock);
}

static void insert_entry(table_handle table, uint64_t key, uint32_t number)
{
    uint32_t at = home_of(table, key);
    for (;; at = next_bucket(table, at)) {
        struct bucket *bucket = &buckets_of(table)[at];
        for (unsigned i = 0; i < ENTRIES; i++)
            if (!bucket->key[i]) {
                store_relaxed(&bucket->number[i], number);
                /* Pairs with load_acquire in stack_table_find: a thread that sees the key also sees
                 * the number. */
                store_release(&bucket->key[i], key);
                return;
            }
    }
}

static void copy_entries(table_handle larger, table_handle old)
{
    for (uint32_t at = 0; at < bucket_count(old); at++) {
        const struct bucket *bucket = &buckets_of(old)[at];
        for (unsigned i = 0; i < ENTRIES && bucket->key[i]; i++)
            insert_entry(larger, bucket->key[i], bucket->number[i]);
    }
}

bool stack_table_reserve(uint64_t key)
{
    struct stripe *stripe = stripe_of(key);
    table_handle old = stripe->table;
    if (likely(stripe->used < bucket_count(old) * ENTRIES / 4 * 3))
        return true;
    table_handle larger = table_regions_make(&regions, stripe - stripes, old % LEAK_PAGE + 1);
    if (!larger)
        return false;
    copy_entries(larger, old);
    /* Pairs with load_acquire in stack_table_find: a thread that sees the table also sees its
     * buckets. */
    store_release(&stripe->table, larger);
    table_regions_abandon(old);
    return true;
}

void stack_table_add(uint64_t key, uint32_t number)
{
    insert_entry(stripe_of(key)->table, key, number);
    stripe_of(key)->used++;
}

bool stack_table_check(void)
{
    for (unsigned i = 0; i < STRIPES; i++) {
        table_handle table = stripes[i].table;
        uint32_t used = 0;
        for (uint32_t at = 0; at < bucket_count(table); at++) {
            const struct bucket *bucket = &buckets_of(table)[at];
            for (unsigned k = 0; k < ENTRIES && bucket->key[k]; k++, used++)
                if (stripe_of(bucket->key[k]) != &stripes[i] ||
                    stack_table_find(bucket->key[k]) != bucket->number[k])
                    return false;
        }
        if (used != stripes[i].used)
            return false;
    }
    return true;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

void stack_table_fork_lock(void)
{
    for (unsigned i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    lock_take_raw(&regions.lock);
}

void stack_table_fork_unlock(void)
{
    lock_give_raw(&regions.lock);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
}

void stack_table_fork_child(void)
{
    table_regions_reset(&regions);
    for (unsigned i = 0; i < STRIPES; i++)
        stripes[i] = (struct stripe){.table = table_regions_make(&regions, i, 0)};
}
