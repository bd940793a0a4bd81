/* free_history.c - the table of pairs (site of the freed blocks, stack of the free), and the rings
 * of recent frees. */
#include "preload/heap/free_history.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/store/segmented_array.h"
#include "preload/store/store.h"

#define STRIPES 16
/* Size in bytes of a stripe's index at the start: the indices of all 16 stripes together take four
 * pages. */
#define FIRST_BYTES 1024

static struct segmented_array records = {.type = LEAK_CHUNK_FREED,
                                         .record_size = sizeof(struct leak_freed),
                                         .first_id = 1,
                                         .first_bits = 7,
                                         .split_bits = 16};
static uint32_t last_record;

/* Counts the temporary blocks of each site (blocks that were freed soon after their allocation),
 * indexed by the site's number. */
static struct segmented_array temporaries = {.type = LEAK_CHUNK_TEMPORARY,
                                             .record_size = sizeof(struct leak_temporary),
                                             .first_id = 1,
                                             .first_bits = 7,
                                             .split_bits = 16};

#define ID_BITS 24
#define ID_MOST ((1u << ID_BITS) - 1)

static struct stripe {
    struct lock lock;
    /* Number of slots, a power of two, and number of slots in use: used <= capacity * 3/4. */
    uint32_t capacity, used;
    /* The slots. Each has the id of a record (24 bits) and a part of its hash (8 bits); 0:
     * empty. */
    uint32_t *slot;
} __attribute__((aligned(64))) stripes[STRIPES];
static char *first_slots;

/* Lists of the threads' rings of recent frees. free_rings: those that no thread owns, linked
 * through reserved[0]. all_rings: all rings, linked through reserved[1]. */
static struct leak_recent *free_rings, *all_rings;
static struct lock rings_lock;

/* ---- Hash index of the pairs (site, stack of the free) --------------------------------------- */

static uint64_t hash_pair(uint32_t site, uint32_t node)
{
    return hash_u64((uint64_t)site << 32 | node);
}

static struct stripe *pair_stripe_of(uint64_t hash)
{
    return &stripes[hash % STRIPES];
}

static uint32_t slot_tag(uint64_t hash)
{
    return (uint32_t)(hash >> 32) & ~ID_MOST;
}

static struct leak_freed *slot_record(uint32_t slot)
{
    return segmented_array_at(&records, slot & ID_MOST);
}

/* Returns the slot of a pair (site of the freed blocks, node of the free), or the empty slot where
 * it belongs. Each slot has a part of its pair's hash: if that differs, the pair's record need not
 * be read. */
static uint32_t *probe_pair(const struct stripe *stripe, uint64_t hash, uint32_t site,
                            uint32_t node)
{
    uint32_t tag = slot_tag(hash);
    for (uint32_t at = hash / STRIPES;; at++) {
        uint32_t *slot = &stripe->slot[at & (stripe->capacity - 1)];
        if (!*slot)
            return slot;
        if ((*slot & ~ID_MOST) != tag)
            continue;
        const struct leak_freed *record = slot_record(*slot);
        if (record->site == site && record->node == node)
            return slot;
    }
}

static bool grow_pair_index(struct stripe *stripe)
{
    struct stripe old = *stripe;
    uint32_t *slots = arena_map(2 * old.capacity * sizeof *slots);
    if (!slots)
        return false;
    stripe->slot = slots;
    stripe->capacity = 2 * old.capacity;
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.slot[i]) {
            const struct leak_freed *record = slot_record(old.slot[i]);
            *probe_pair(stripe, hash_pair(record->site, record->node), record->site, record->node) =
                old.slot[i];
        }
    if (old.capacity * sizeof *slots > FIRST_BYTES)
        arena_unmap(old.slot, old.capacity * sizeof *slots);
    return true;
}

static void reset_pair_index(void)
{
    memset(first_slots, 0, STRIPES * FIRST_BYTES);
    for (unsigned i = 0; i < STRIPES; i++)
        stripes[i] = (struct stripe){.capacity = FIRST_BYTES / sizeof(uint32_t),
                                     .slot = (uint32_t *)(first_slots + i * FIRST_BYTES)};
}

bool free_history_start(void)
{
    first_slots = arena_map(STRIPES * FIRST_BYTES);
    if (first_slots)
        reset_pair_index();
    return first_slots != NULL;
}

/* ---- Counting frees -------------------------------------------------------------------------- */

static struct leak_freed *make_pair_record(struct stripe *stripe, uint64_t hash, uint32_t site,
                                           uint32_t node)
{
    uint32_t id;
    if (unlikely(load_relaxed(&last_record) >= ID_MOST - STRIPES))
        return NULL;
    struct leak_freed *record = segmented_array_append(&records, &last_record, &id);
    if (!record)
        return NULL;
    record->node = node;
    /* Makes the record visible to readers of the recording file. */
    store_release(&record->site, site);
    *probe_pair(stripe, hash, site, node) = id | slot_tag(hash);
    stripe->used++;
    return record;
}

void free_history_count(struct guard *guard UNUSED, uint32_t site, uint32_t node, unsigned weight,
                        uint64_t bytes)
{
    uint64_t hash = hash_pair(site, node);
    struct stripe *stripe = pair_stripe_of(hash);
    struct locked locked = lock_take(&stripe->lock);
    uint32_t *slot = probe_pair(stripe, hash, site, node);
    struct leak_freed *record = *slot ? slot_record(*slot) : NULL;
    if (unlikely(!record)) {
        bool room = stripe->used < stripe->capacity / 4 * 3;
        if (room || grow_pair_index(stripe))
            record = make_pair_record(stripe, hash, site, node);
    }
    if (likely(record)) {
        bump(&record->blocks, weight);
        bump(&record->bytes, weight * bytes);
    }
    lock_give(&locked);
}

void free_history_count_temporary(struct guard *guard UNUSED, uint32_t site, unsigned weight,
                                  uint64_t bytes)
{
    struct leak_temporary *sum = segmented_array_ensure(&temporaries, site);
    if (unlikely(!sum))
        return;
    add_relaxed(&sum->blocks, weight);
    add_relaxed(&sum->bytes, weight * bytes);
}

bool free_history_check(void)
{
    uint32_t found = 0;
    for (uint32_t id = 1; id <= last_record; id++) {
        const struct leak_freed *record = segmented_array_at(&records, id);
        uint64_t hash = hash_pair(record->site, record->node);
        if (!record->site)
            continue;
        found++;
        if ((*probe_pair(pair_stripe_of(hash), hash, record->site, record->node) & ID_MOST) != id)
            return false;
    }
    for (unsigned i = 0; i < STRIPES; i++)
        found -= stripes[i].used;
    return found == 0;
}

/* ---- Rings of recent frees ------------------------------------------------------------------- */

static struct leak_recent *make_ring(void)
{
    struct leak_recent *ring = store_new_chunk(LEAK_CHUNK_RECENT, sizeof *ring, 0);
    if (!ring)
        return NULL;
    store_publish(ring, sizeof *ring);
    struct locked locked = lock_take(&rings_lock);
    ring->reserved[1] = (uintptr_t)all_rings;
    all_rings = ring;
    lock_give(&locked);
    return ring;
}

void free_history_open(struct guard *guard UNUSED, struct free_history *freed, uint32_t serial)
{
    struct locked locked = lock_take(&rings_lock);
    struct leak_recent *ring = free_rings;
    if (ring)
        free_rings = (struct leak_recent *)(uintptr_t)ring->reserved[0];
    lock_give(&locked);
    if (!ring)
        ring = make_ring();
    freed->recent = ring;
    freed->dice = hash_u64(serial);
    freed->base = (uintptr_t)__builtin_frame_address(0);
    freed->credit = 4 * FREE_HISTORY_CREDIT;
    freed->sites = 0;
    freed->scans_left = FREE_HISTORY_SCANS;
    memset(freed->known, 0, sizeof freed->known);
    if (!ring)
        return;
    memset(ring->free, 0, sizeof ring->free);
    ring->next = freed->place = 0;
    ring->last_thread = serial;
    store_release(&ring->thread, serial);
}

void free_history_close(struct guard *guard UNUSED, struct free_history *freed)
{
    struct leak_recent *ring = freed->recent;
    freed->recent = NULL;
    if (!ring)
        return;
    store_release(&ring->thread, 0);
    struct locked locked = lock_take(&rings_lock);
    ring->reserved[0] = (uintptr_t)free_rings;
    free_rings = ring;
    lock_give(&locked);
}

/* Finds the newest entry for an address in one ring of recent frees. True: *out is now this entry.
 * False: there is none, or *out is already a newer one. */
static bool find_in_ring(const struct leak_recent *ring, uintptr_t address,
                         struct leak_recent_free *out)
{
    /* Acquire, so that the entries which free_history_add_recent wrote before are visible here. */
    uint64_t next = load_acquire(&ring->next);
    uint64_t count = next < LEAK_RECENT ? next : LEAK_RECENT - 1;
    for (uint64_t i = 1; i <= count; i++) {
        struct leak_recent_free found = ring->free[(next - i) % LEAK_RECENT];
        if (found.address != address)
            continue;
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the entry is copied before next is read again */
        /* The entry may have been overwritten meanwhile, and so may all older entries. */
        if (load_relaxed(&ring->next) - (next - i) >= LEAK_RECENT)
            return false;
        if (out->address && found.tick <= out->tick)
            return false;
        *out = found;
        return true;
    }
    return false;
}

bool free_history_find_recent(struct guard *guard UNUSED, const struct free_history *own,
                              uintptr_t address, struct leak_recent_free *out, uint32_t *thread)
{
    memset(out, 0, sizeof *out);
    if (own && own->recent && find_in_ring(own->recent, address, out))
        *thread = own->recent->last_thread;
    struct locked locked = lock_take(&rings_lock);
    for (const struct leak_recent *ring = all_rings; ring;
         ring = (const struct leak_recent *)(uintptr_t)ring->reserved[1])
        if (find_in_ring(ring, address, out))
            *thread = ring->last_thread;
    lock_give(&locked);
    return out->address != 0;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

void free_history_fork_lock(void)
{
    lock_take_raw(&rings_lock);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_take_raw(&stripes[i].lock);
    lock_take_raw(&records.lock);
    lock_take_raw(&temporaries.lock);
}

void free_history_fork_unlock(void)
{
    lock_give_raw(&temporaries.lock);
    lock_give_raw(&records.lock);
    for (unsigned i = 0; i < STRIPES; i++)
        lock_give_raw(&stripes[i].lock);
    lock_give_raw(&rings_lock);
}

void free_history_fork_child(void)
{
    rings_lock.word = records.lock.word = temporaries.lock.word = 0;
    free_rings = all_rings = NULL; /* the rings are in the parent's recording file */
    for (unsigned i = 0; i < STRIPES; i++)
        if (stripes[i].capacity * sizeof(uint32_t) > FIRST_BYTES)
            arena_unmap(stripes[i].slot, stripes[i].capacity * sizeof(uint32_t));
    memset(records.origin, 0, sizeof records.origin);
    memset(temporaries.origin, 0, sizeof temporaries.origin);
    last_record = 0;
    reset_pair_index();
}
