/* test_blocks.c - the block table against a naive model: one array, looked through from the start.
 *
 * Nearly every case runs three ways: as in a process of one thread, where the newest blocks wait
 * outside the table; the same with the block in question moved into the table by others; and as in
 * a process of several threads.
 */
#include "tests/unit/preload/unit.h"
#include "preload/base/arena.h"
#include "preload/blocks/blocks.h"
#include "preload/base/lock.h"

#define BASE 0x7f0000000000ull
#define REGION 2048ull
#define YOUNG 4 /* so many wait */

enum way { WAITING, MOVED, SEVERAL_THREADS, WAYS };
static const char *const way_names[] = {"young", "in the table", "several threads"};
static char alone;

static struct block at(uintptr_t address)
{
    return (struct block){
        .address = address, .size = 100, .site = 1, .count = 1, .kind = 1, .thread = 1};
}

static bool same(const struct block *a, const struct block *b)
{
    return a->address == b->address && a->size == b->size && a->site == b->site &&
           a->count == b->count && a->tick == b->tick && a->thread == b->thread &&
           a->kind == b->kind;
}

#define SHOW "address %#" PRIx64 " size %" PRIu64 " site %u count %u tick %u thread %u kind %u"
#define SHOWN(b)                                                                                   \
    (uint64_t)(b).address, (uint64_t)(b).size, (unsigned)(b).site, (unsigned)(b).count,            \
        (unsigned)(b).tick, (unsigned)(b).thread, (unsigned)(b).kind

static void setup(void)
{
    lock_single_threaded = &alone;
    UNIT_WANT_MSG(blocks_start(), "no memory for the table");
}

static enum blocks_insert insert(const struct block *block, struct block *old)
{
    return blocks_insert(&unit_guard, block, old);
}

static bool take_out(uintptr_t address, struct block *out)
{
    return blocks_remove(&unit_guard, address, out);
}

/* Blocks far away from all others: they come, and those before them go into the table. */
static void push_down(void)
{
    struct block old, out;
    for (unsigned i = 0; i < YOUNG; i++) {
        struct block block = at(BASE + (1ull << 40) + i * REGION);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    for (unsigned i = 0; i < YOUNG; i++)
        UNIT_WANT(take_out(BASE + (1ull << 40) + i * REGION, &out));
}

static void begin(enum way way)
{
    alone = way != SEVERAL_THREADS;
}

static void settle(enum way way)
{
    if (way == MOVED)
        push_down();
}

/* ---- Each field at its limits ---------------------------------------------------------------- */

#define SIZE_MOST ((1ull << 48) - 1)
#define TICK_MOST ((1u << 24) - 1)

static const struct {
    const char *name;
    struct block in;
    uint64_t size; /* what comes out of the table; 0: the same */
    uint32_t tick;
} fields[] = {
    {"a small block", {BASE, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"size 0", {BASE, 0, 1, 1, 0, 1, 1}, 0, 0},
    {"the highest address", {0x7ffffffffff8ull, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"the lowest address", {1 << 16, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"the last place of a region", {BASE + REGION - 8, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^47", {BASE, 1ull << 47, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^48 - 2", {BASE, SIZE_MOST - 1, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^48 - 1, the last that fits", {BASE, SIZE_MOST, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^48 saturates", {BASE, SIZE_MOST + 1, 1, 1, 0, 1, 1}, SIZE_MOST, 0},
    {"the largest size there is saturates", {BASE, UINT64_MAX, 1, 1, 0, 1, 1}, SIZE_MOST, 0},
    {"the largest site", {BASE, 1, UINT32_MAX, 1, 0, 1, 1}, 0, 0},
    {"the largest count", {BASE, 1, 1, 1, UINT32_MAX & 0xffffff, 1, 1}, 0, 0},
    {"the largest thread", {BASE, 1, 1, 0, 1, UINT16_MAX, 1}, 0, 0},
    {"the largest kind", {BASE, 1, 1, 0, 1, 1, UINT8_MAX}, 0, 0},
    {"everything at once",
     {0x7ffffffffff8ull, SIZE_MOST, UINT32_MAX, TICK_MOST, UINT32_MAX, UINT16_MAX, UINT8_MAX},
     0,
     0},
    {"nothing at all", {BASE, 0, 0, 0, 0, 0, 0}, 0, 0},
    {"the last tick that fits", {BASE, 1, 1, TICK_MOST, 1, 1, 1}, 0, 0},
    {"a tick too late saturates", {BASE, 1, 1, TICK_MOST + 1, 1, 1, 1}, 0, TICK_MOST},
    {"the last tick of all saturates", {BASE, 1, 1, UINT32_MAX, 1, 1, 1}, 0, TICK_MOST},
};

START_TEST(every_field_comes_back_as_it_went_in)
{
    for (enum way way = 0; way < WAYS; way++) {
        struct block want = fields[_i].in, old, out;
        begin(way);
        UNIT_WANT(insert(&want, &old) == BLOCKS_NEW);
        settle(way);
        UNIT_WANT_MSG(take_out(want.address, &out), "%s, %s: not found", fields[_i].name,
                      way_names[way]);
        if (way != WAITING) { /* who waits is kept whole */
            want.size = fields[_i].size ? fields[_i].size : want.size;
            want.tick = fields[_i].tick ? fields[_i].tick : want.tick;
        }
        UNIT_WANT_MSG(same(&out, &want), "%s, %s: wanted " SHOW ", got " SHOW, fields[_i].name,
                      way_names[way], SHOWN(want), SHOWN(out));
        UNIT_WANT(!take_out(want.address, &out));
        ck_assert_uint_eq(blocks_count(), 0);
        UNIT_WANT(blocks_check());
    }
}
END_TEST

START_TEST(neighbours_of_a_block_are_not_the_block)
{
    static const int64_t offsets[] = {-2048, -1024, -256, -16, -8,   -1,     1,
                                      7,     8,     16,   256, 2048, 1 << 20};
    struct block block = at(BASE + 4096), old, out;
    begin(_i);
    insert(&block, &old);
    settle(_i);
    for (size_t i = 0; i < ARRAY_LENGTH(offsets); i++)
        UNIT_WANT_MSG(!take_out(BASE + 4096 + offsets[i], &out),
                      "found a block %d bytes beside the one there is", (int)offsets[i]);
    ck_assert(take_out(BASE + 4096, &out));
}
END_TEST

START_TEST(an_address_that_is_no_multiple_of_8_is_refused)
{
    struct block old, out, good = at(BASE);
    begin(_i);
    ck_assert_int_eq(insert(&good, &old), BLOCKS_NEW);
    settle(_i);
    for (unsigned n = 0; n < 100; n++) {
        struct block odd = at(BASE + 1 + n % 7 + n / 7 * 16);
        UNIT_WANT(insert(&odd, &old) == BLOCKS_NO_MEMORY);
        UNIT_WANT(!take_out(odd.address, &out));
        struct block another = at(BASE + REGION * (n + 1)); /* and obstructs no other insertion */
        UNIT_WANT(insert(&another, &old) == BLOCKS_NEW);
    }
    ck_assert_uint_eq(blocks_count(), 101);
    ck_assert(take_out(BASE, &out) && same(&out, &good));
}
END_TEST

START_TEST(no_block_is_found_where_there_is_none)
{
    struct block out, old, block = at(BASE);
    begin(_i);
    ck_assert(!take_out(0, &out));
    ck_assert(!take_out(BASE, &out));
    insert(&block, &old);
    settle(_i);
    ck_assert(!take_out(0, &out));
    ck_assert(take_out(BASE, &out));
    ck_assert(!take_out(0, &out));
    ck_assert(!take_out(BASE, &out));
    blocks_prefetch(0);
    blocks_prefetch(UINTPTR_MAX);
}
END_TEST

/* ---- Replacing ------------------------------------------------------------------------------- */

START_TEST(an_insert_over_an_address_replaces_and_says_what_was_there)
{
    struct block first = at(BASE), second = at(BASE), old, out;
    second.size = 20;
    second.site = 2;
    begin(_i ? SEVERAL_THREADS : WAITING);
    insert(&first, &old);
    ck_assert_int_eq(insert(&second, &old), BLOCKS_REPLACED);
    UNIT_WANT_MSG(same(&old, &first), "what was there: wanted " SHOW ", got " SHOW, SHOWN(first),
                  SHOWN(old));
    ck_assert_uint_eq(blocks_count(), 1);
    ck_assert(take_out(BASE, &out));
    UNIT_WANT_MSG(same(&out, &second), "what is there: wanted " SHOW ", got " SHOW, SHOWN(second),
                  SHOWN(out));
}
END_TEST

/* A block that is in the table already is met when its successor is moved there. */
START_TEST(a_block_replaced_in_the_table_is_said_when_the_new_one_gets_there)
{
    struct block first = at(BASE), second = at(BASE), old, out;
    unsigned said = 0;
    second.site = 2;
    begin(WAITING);
    insert(&first, &old);
    push_down();
    ck_assert_int_eq(insert(&second, &old), BLOCKS_NEW);
    for (unsigned i = 1; i <= YOUNG; i++) {
        struct block other = at(BASE + i * REGION);
        if (insert(&other, &old) != BLOCKS_REPLACED)
            continue;
        UNIT_WANT_MSG(same(&old, &first), "said of %#" PRIx64, (uint64_t)old.address);
        said++;
    }
    ck_assert_uint_eq(said, 1);
    ck_assert_uint_eq(blocks_count(), YOUNG + 1);
    ck_assert(take_out(BASE, &out) && same(&out, &second));
    for (unsigned i = 1; i <= YOUNG; i++) /* who made them go is there as well */
        UNIT_WANT(take_out(BASE + i * REGION, &out));
}
END_TEST

/* ---- The young ------------------------------------------------------------------------------- */

START_TEST(blocks_that_go_at_once_need_no_table)
{
    struct block old, out;
    begin(WAITING);
    arena_set_limit(arena_used()); /* nothing more */
    for (uint64_t n = 0; n < 100000; n++) {
        struct block block = at(BASE + n * REGION);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        UNIT_WANT(take_out(block.address, &out) && same(&out, &block));
    }
    ck_assert_uint_eq(blocks_count(), 0);
    begin(SEVERAL_THREADS);
    struct block block = at(BASE);
    ck_assert_int_eq(insert(&block, &old), BLOCKS_NO_MEMORY);
}
END_TEST

enum first { INSERT, INSERT_OVER, REMOVE, REMOVE_OTHER, COUNT, EACH, CHECK, FIRSTS };

static void count_visit(const struct block *block UNUSED, void *context)
{
    ++*(unsigned *)context;
}

/* Whatever comes first once there is a second thread. */
START_TEST(with_a_second_thread_no_block_waits_any_more)
{
    struct block old, out, block = at(BASE + 7 * REGION);
    unsigned visited = 0, want = YOUNG;
    begin(WAITING);
    for (unsigned n = 0; n < YOUNG; n++) {
        struct block one = at(BASE + n * 16);
        insert(&one, &old);
    }
    begin(SEVERAL_THREADS);
    switch ((enum first)_i) {
    case INSERT:
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        want++;
        break;
    case INSERT_OVER:
        block.address = BASE + 16;
        UNIT_WANT(insert(&block, &old) == BLOCKS_REPLACED);
        ck_assert_uint_eq(old.address, BASE + 16);
        break;
    case REMOVE:
        UNIT_WANT(take_out(BASE + 16, &out));
        block.address = BASE + 16;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        break;
    case REMOVE_OTHER:
        UNIT_WANT(!take_out(block.address, &out));
        break;
    case COUNT:
        ck_assert_uint_eq(blocks_count(), YOUNG);
        break;
    case EACH:
        blocks_each(count_visit, &visited);
        ck_assert_uint_eq(visited, YOUNG);
        break;
    case CHECK:
        UNIT_WANT(blocks_check());
        break;
    default:
        break;
    }
    ck_assert_uint_eq(blocks_count(), want);
    for (unsigned n = 0; n < YOUNG; n++)
        UNIT_WANT_MSG(take_out(BASE + n * 16, &out), "block %u is lost", n);
    /* And back: the second thread has gone. */
    begin(WAITING);
    struct block last = at(BASE + 9 * REGION);
    ck_assert_int_eq(insert(&last, &old), BLOCKS_NEW);
    ck_assert(take_out(last.address, &out));
    ck_assert_uint_eq(blocks_count(), want - YOUNG);
}
END_TEST

static struct block derived(uint64_t n);

static void *remove_one(void *argument)
{
    struct block out;
    uint64_t n = (uintptr_t)argument;
    struct block want = derived(n);
    return (void *)(uintptr_t)(take_out(want.address, &out) && same(&out, &want));
}

START_TEST(threads_that_come_all_at_once_find_who_waited)
{
    lock_start(); /* libc says when there is a second thread */
    for (int round = 0; round < 300; round++) {
        pthread_t threads[YOUNG];
        struct block old;
        for (uint64_t n = 0; n < YOUNG; n++) {
            struct block block = derived(n);
            UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        }
        for (uintptr_t n = 0; n < YOUNG; n++)
            pthread_create(&threads[n], NULL, remove_one, (void *)n);
        for (int n = 0; n < YOUNG; n++) {
            void *found;
            pthread_join(threads[n], &found);
            UNIT_WANT_MSG(found, "round %d: block %d was not found", round, n);
        }
        ck_assert_uint_eq(blocks_count(), 0);
    }
}
END_TEST

/* ---- The model ------------------------------------------------------------------------------- */

#define MODEL 4096

static struct block model[MODEL];
static unsigned modelled;

static unsigned model_find(uintptr_t address)
{
    unsigned i = 0;
    while (i < modelled && model[i].address != address)
        i++;
    return i;
}

static struct block random_block(uint64_t *state, unsigned places, unsigned apart)
{
    static const uint64_t sizes[] = {0, 1, 1ull << 36, 1ull << 46, SIZE_MOST};
    struct block block = {.address = BASE + unit_random(state) % places * apart,
                          .size = unit_random(state) % 100000,
                          .site = unit_random(state),
                          .count = unit_random(state),
                          .tick = unit_random(state) & TICK_MOST,
                          .thread = unit_random(state),
                          .kind = unit_random(state)};
    if (unit_random(state) % 200 == 0)
        block.size = sizes[unit_random(state) % ARRAY_LENGTH(sizes)];
    return block;
}

/* How far the model may fill, and how far addresses lie apart: dense and sparse heaps. */
static const struct {
    unsigned places, apart, operations;
} loads[] = {
    {64, 16, 200000}, {700, 16, 200000}, {3000, 8, 60000}, {3000, 48, 60000}, {700, 4096, 100000}};

static void visit(const struct block *block, void *context)
{
    unsigned at_model = model_find(block->address);
    UNIT_WANT_MSG(at_model < modelled && same(block, &model[at_model]),
                  "seed %" PRIu64 ": visited " SHOW, unit_seed, SHOWN(*block));
    ++*(unsigned *)context;
}

/* Threads come and go meanwhile. Over a known address nothing is inserted while there is one only:
 * when that is said is another test. */
START_TEST(random_operations_agree_with_a_naive_model)
{
    uint64_t state = unit_seed + (uint64_t)_i;
    begin(_i % 2 ? WAITING : SEVERAL_THREADS);
    for (unsigned n = 0; n < loads[_i / 2].operations; n++) {
        struct block block = random_block(&state, loads[_i / 2].places, loads[_i / 2].apart), got;
        unsigned known = model_find(block.address);
        if (unit_random(&state) % 500 == 0)
            begin(alone ? SEVERAL_THREADS : WAITING);
        if (unit_random(&state) % 2 && !(alone && known < modelled)) {
            enum blocks_insert done = insert(&block, &got);
            UNIT_WANT_MSG(done == (known < modelled ? BLOCKS_REPLACED : BLOCKS_NEW),
                          "seed %" PRIu64 " operation %u: insert answers %d", unit_seed, n, done);
            if (known < modelled)
                UNIT_WANT_MSG(same(&got, &model[known]),
                              "seed %" PRIu64 " operation %u: replaced: wanted " SHOW ", got " SHOW,
                              unit_seed, n, SHOWN(model[known]), SHOWN(got));
            else
                modelled++;
            model[known] = block;
        } else {
            bool found = take_out(block.address, &got);
            UNIT_WANT_MSG(found == (known < modelled),
                          "seed %" PRIu64 " operation %u: remove answers %d", unit_seed, n, found);
            if (found) {
                UNIT_WANT_MSG(same(&got, &model[known]),
                              "seed %" PRIu64 " operation %u: removed: wanted " SHOW ", got " SHOW,
                              unit_seed, n, SHOWN(model[known]), SHOWN(got));
                model[known] = model[--modelled];
            }
        }
        if (n % 10000 == 0) {
            UNIT_WANT_MSG(blocks_check(), "seed %" PRIu64 " operation %u: invariant", unit_seed, n);
            ck_assert_uint_eq(blocks_count(), modelled);
        }
    }
    unsigned visited = 0;
    blocks_each(visit, &visited);
    ck_assert_uint_eq(visited, modelled);
    ck_assert(blocks_check());
}
END_TEST

/* A model for many: the address says what the block must be. */
static struct block derived(uint64_t n)
{
    uint64_t mixed = hash_u64(n + 7);
    return (struct block){.address = BASE + n * 32,
                          .size = mixed & 0xffff,
                          .site = mixed >> 16,
                          .count = n,
                          .tick = mixed >> 40 & TICK_MOST,
                          .thread = mixed >> 8,
                          .kind = mixed & 255};
}

START_TEST(a_million_random_operations_on_a_growing_table)
{
    enum { PLACES = 400000, OPERATIONS = 1000000 };
    static uint8_t live[PLACES];
    uint64_t state = unit_seed, count = 0;
    begin(_i ? WAITING : SEVERAL_THREADS);
    for (unsigned n = 0; n < OPERATIONS; n++) {
        /* Two thirds insertions at first, two thirds removals in the end. */
        unsigned place = unit_random(&state) % PLACES, odds = n < OPERATIONS / 2 ? 2 : 1;
        bool coming = unit_random(&state) % 3 < odds && !(alone && live[place]);
        struct block want = derived(place), got;
        if (coming) {
            enum blocks_insert done = insert(&want, &got);
            UNIT_WANT_MSG(done == (live[place] ? BLOCKS_REPLACED : BLOCKS_NEW) &&
                              (!live[place] || same(&got, &want)),
                          "seed %" PRIu64 " operation %u", unit_seed, n);
            count += !live[place];
        } else {
            bool found = take_out(want.address, &got);
            UNIT_WANT_MSG(found == live[place] && (!found || same(&got, &want)),
                          "seed %" PRIu64 " operation %u", unit_seed, n);
            count -= found;
        }
        live[place] = coming;
        if (n % 100000 == 0)
            UNIT_WANT_MSG(blocks_check() && blocks_count() == count,
                          "seed %" PRIu64 " operation %u: invariant", unit_seed, n);
    }
    ck_assert(blocks_check());
    ck_assert_uint_eq(blocks_count(), count);
}
END_TEST

/* ---- Regions --------------------------------------------------------------------------------- */

enum { GRANULES = REGION / 8 };

static void shuffle(uint16_t *order, unsigned count, uint64_t *state)
{
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        unsigned other = unit_random(state) % i;
        uint16_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* From one block to all 256 that fit, in any order; what is not there is not found. */
START_TEST(a_region_holds_any_number_of_blocks)
{
    uint64_t state = unit_seed + (uint64_t)_i;
    uint16_t order[GRANULES];
    struct block old, out;
    begin(_i ? WAITING : SEVERAL_THREADS);
    for (unsigned count = 1; count <= GRANULES; count += count < 20 ? 1 : 7 + count % 5) {
        shuffle(order, GRANULES, &state);
        for (unsigned i = 0; i < count; i++) {
            struct block block = at(BASE + order[i] * 8);
            block.count = i;
            UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        }
        ck_assert_uint_eq(blocks_count(), count);
        UNIT_WANT_MSG(blocks_check(), "seed %" PRIu64 ": %u blocks in a region", unit_seed, count);
        for (unsigned i = 0; i < GRANULES; i++) {
            unsigned from = (i * 97 + count) % GRANULES;
            bool found = take_out(BASE + order[from] * 8, &out);
            UNIT_WANT_MSG(found == (from < count) && (!found || out.count == from),
                          "seed %" PRIu64 ": place %u of %u: found %d, block %u", unit_seed, from,
                          count, found, found ? out.count : 0);
            if (i == GRANULES / 2)
                UNIT_WANT(blocks_check());
        }
        ck_assert_uint_eq(blocks_count(), 0);
    }
}
END_TEST

/* What a region held at its fullest serves others once it is nearly empty. */
START_TEST(a_region_that_has_become_small_gives_its_memory_back)
{
    struct block old, out;
    begin(_i ? WAITING : SEVERAL_THREADS);
    for (uint64_t region = 0; region < 1000; region++) {
        for (unsigned i = 0; i < GRANULES; i++) {
            struct block block = at(BASE + region * REGION + i * 8);
            UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        }
        for (unsigned i = 0; i < GRANULES; i++)
            if (i % 100 != 50)
                UNIT_WANT(take_out(BASE + region * REGION + i * 8, &out));
    }
    ck_assert_uint_eq(blocks_count(), 3 * 1000);
    ck_assert(blocks_check());
    UNIT_WANT_MSG(arena_used() < 1 << 20, "%" PRIu64 " bytes for 3000 blocks", arena_used());
    for (uint64_t region = 0; region < 1000; region++)
        UNIT_WANT(take_out(BASE + region * REGION + 50 * 8, &out));
}
END_TEST

/* A heap that moves on and on: only what is there now takes memory. */
START_TEST(regions_that_have_become_empty_are_no_reason_to_grow)
{
    enum { LIVE = 300 };
    struct block old, out;
    begin(_i ? WAITING : SEVERAL_THREADS);
    for (uint64_t n = 0; n < 300000; n++) {
        struct block block = at(BASE + n * REGION);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        if (n >= LIVE)
            UNIT_WANT(take_out(BASE + (n - LIVE) * REGION, &out));
    }
    ck_assert_uint_eq(blocks_count(), LIVE);
    ck_assert(blocks_check());
    UNIT_WANT_MSG(arena_used() <= 64 * 4096 + 6 * (64 << 10), "%" PRIu64 " bytes for %d blocks",
                  arena_used(), LIVE);
}
END_TEST

/* ---- Growth ---------------------------------------------------------------------------------- */

/* Neighbours share a line: a program that uses only some of each four must not fill a part of it.
 */
static const unsigned strides[] = {1, 2, 3, 4, 8, 64, 1024};

START_TEST(regions_at_any_distance_find_their_places)
{
    enum { REGIONS = 60000 };
    struct block old, out;
    uint64_t apart = strides[_i] * REGION, before = arena_used();
    begin(SEVERAL_THREADS);
    for (uint64_t n = 0; n < REGIONS; n++) {
        struct block block = at(BASE + n * apart);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    ck_assert(blocks_check());
    uint64_t each = (arena_used() - before) / REGIONS;
    ck_assert_msg(each <= 72, "%" PRIu64 " bytes a region of one block", each);
    for (uint64_t n = 0; n < REGIONS; n++)
        UNIT_WANT(take_out(BASE + n * apart, &out));
    ck_assert_uint_eq(blocks_count(), 0);
}
END_TEST

START_TEST(growth_keeps_every_block)
{
    enum { BLOCKS = 300000 };
    struct block old, out;
    begin(_i ? WAITING : SEVERAL_THREADS);
    for (uint64_t n = 0; n < BLOCKS; n++) {
        struct block block = derived(n);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    ck_assert(blocks_check());
    ck_assert_uint_eq(blocks_count(), BLOCKS);
    for (uint64_t n = 0; n < BLOCKS; n++) {
        struct block want = derived(n);
        UNIT_WANT_MSG(take_out(want.address, &out) && same(&out, &want),
                      "block %" PRIu64 " is lost", n);
    }
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert(blocks_check());
}
END_TEST

/* Bytes from one block to the next, as glibc's malloc lays them. */
static const struct {
    const char *name;
    unsigned least, most;
} heaps[] = {{"the smallest blocks", 32, 32},
             {"nodes of a list", 48, 48},
             {"small blocks", 32, 128},
             {"all sizes to 1 KiB", 32, 1024}};

START_TEST(a_live_block_takes_at_most_36_bytes)
{
    enum { BLOCKS = 500000 };
    uint64_t state = unit_seed;
    uintptr_t address = BASE;
    struct block old;
    double sum = 0;
    unsigned samples = 0;
    begin(_i % 2 ? WAITING : SEVERAL_THREADS);
    for (unsigned n = 1; n <= BLOCKS; n++) {
        struct block block = at(address);
        unsigned range = (heaps[_i / 2].most - heaps[_i / 2].least) / 16 + 1;
        address += heaps[_i / 2].least + unit_random(&state) % range * 16;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        if (n >= BLOCKS / 4 && n % 1000 == 0) {
            sum += (double)arena_used() / n;
            samples++;
        }
    }
    UNIT_WANT_MSG(sum / samples <= 36, "seed %" PRIu64 ": %s take %.1f bytes", unit_seed,
                  heaps[_i / 2].name, sum / samples);
}
END_TEST

/* ---- Without memory -------------------------------------------------------------------------- */

static uint8_t answered_new[100000];

/* Fills what memory there is with blocks n * apart. */
static uint64_t fill(unsigned apart)
{
    struct block old;
    uint64_t kept = 0, refused = 0;
    for (uint64_t n = 0; n < ARRAY_LENGTH(answered_new); n++) {
        struct block block = at(BASE + n * apart);
        block.count = n;
        enum blocks_insert done = insert(&block, &old);
        UNIT_WANT(done == BLOCKS_NEW || done == BLOCKS_NO_MEMORY);
        kept += answered_new[n] = done == BLOCKS_NEW;
        refused += done == BLOCKS_NO_MEMORY;
    }
    ck_assert(kept > 0 && refused > 0);
    return kept;
}

static const unsigned aparts[] = {8, 32, 2048, 4096, 8192};

START_TEST(without_memory_an_insert_says_so_and_nothing_else_is_lost)
{
    begin(_i % 2 ? WAITING : SEVERAL_THREADS);
    unsigned apart = aparts[_i / 2];
    uint64_t limit = arena_used() + (64 << 10);
    arena_set_limit(limit);
    uint64_t kept = fill(apart);
    if (_i % 2 == 0)
        ck_assert_uint_eq(blocks_count(), kept);
    ck_assert_uint_le(arena_used(), limit);
    for (uint64_t n = 0; n < ARRAY_LENGTH(answered_new); n++) {
        struct block out;
        bool found = take_out(BASE + n * apart, &out);
        UNIT_WANT_MSG(found == answered_new[n] && (!found || out.count == n),
                      "block %" PRIu64 ": answered %d, found %d", n, answered_new[n], found);
    }
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert(blocks_check());
    arena_set_limit(0);
    struct block old, block = at(BASE + (1ull << 41));
    ck_assert_int_eq(insert(&block, &old), BLOCKS_NEW);
    ck_assert_uint_eq(blocks_count(), 1);
}
END_TEST

/* A realloc that failed puts its block back: there is room for what was there just now. */
START_TEST(without_memory_a_block_taken_out_can_be_put_back)
{
    uint64_t state = unit_seed;
    begin(_i % 2 ? WAITING : SEVERAL_THREADS);
    unsigned apart = aparts[_i / 2];
    arena_set_limit(arena_used() + (64 << 10));
    uint64_t kept = fill(apart), tries = 0;
    for (unsigned n = 0; tries < 20000; n++) {
        uint64_t one = unit_random(&state) % (n % 2 ? ARRAY_LENGTH(answered_new) : 4096);
        struct block out, old;
        if (!answered_new[one])
            continue;
        UNIT_WANT(take_out(BASE + one * apart, &out));
        UNIT_WANT_MSG(insert(&out, &old) == BLOCKS_NEW,
                      "seed %" PRIu64 ": block %" PRIu64 " could not be put back", unit_seed, one);
        tries++;
    }
    ck_assert_uint_eq(blocks_count(), kept);
    ck_assert(blocks_check());
}
END_TEST

/* The second thread comes when there is no room for those who wait. */
START_TEST(who_waits_and_finds_no_room_is_not_lost)
{
    struct block old, out;
    unsigned visited = 0;
    begin(WAITING);
    arena_set_limit(arena_used());
    for (unsigned n = 0; n < YOUNG; n++) {
        struct block block = at(BASE + n * REGION);
        block.count = n;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    begin(SEVERAL_THREADS);
    ck_assert_uint_eq(blocks_count(), YOUNG);
    ck_assert(take_out(BASE, &out) && out.count == 0);
    ck_assert(!take_out(BASE, &out));
    ck_assert_uint_eq(blocks_count(), YOUNG - 1);
    blocks_each(count_visit, &visited);
    ck_assert_uint_eq(visited, YOUNG - 1);
    ck_assert(blocks_check());
    arena_set_limit(0);
    struct block another = at(BASE + 99 * REGION);
    ck_assert_int_eq(insert(&another, &old), BLOCKS_NEW); /* takes them along */
    for (unsigned n = 1; n < YOUNG; n++)
        UNIT_WANT_MSG(take_out(BASE + n * REGION, &out) && out.count == n, "block %u is lost", n);
    ck_assert_uint_eq(blocks_count(), 1);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

#define THREADS 4
#define EACH_THREAD 60000

/* Each thread owns addresses of its own, all of them spread over the same stripes. */
static void *churn(void *argument)
{
    uint64_t me = (uintptr_t)argument, bad = 0;
    uint64_t state = unit_seed + me;
    struct block got;
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t n = me; n < EACH_THREAD; n += THREADS) {
            struct block block = derived(n);
            bad += insert(&block, &got) != BLOCKS_NEW;
            if (unit_random(&state) % 4 == 0) {
                bad += !take_out(block.address, &got) || !same(&got, &block);
                bad += insert(&block, &got) != BLOCKS_NEW;
            }
        }
        for (uint64_t n = me; n < EACH_THREAD; n += THREADS) {
            struct block block = derived(n);
            if (round == 2 && n % 2)
                continue;
            bad += !take_out(block.address, &got) || !same(&got, &block);
        }
    }
    return (void *)(uintptr_t)bad;
}

START_TEST(threads_do_not_lose_each_others_blocks)
{
    pthread_t threads[THREADS];
    lock_start();
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        UNIT_WANT_MSG(!bad, "thread %d: %d operations went wrong", i, (int)(intptr_t)bad);
    }
    ck_assert_uint_eq(blocks_count(), EACH_THREAD / 2);
    ck_assert(blocks_check());
}
END_TEST

/* ---- Fork ------------------------------------------------------------------------------------ */

START_TEST(a_fork_child_owns_a_copy)
{
    struct block old, out;
    begin(_i ? WAITING : SEVERAL_THREADS);
    for (uint64_t n = 0; n < 1000; n++) {
        struct block block = derived(n);
        insert(&block, &old);
    }
    blocks_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        begin(WAITING); /* a child has one thread */
        blocks_fork_child();
        bool good = blocks_check() && blocks_count() == 1000;
        for (uint64_t n = 0; n < 1000; n++)
            good = good && take_out(derived(n).address, &out);
        struct block block = derived(5);
        good = good && insert(&block, &old) == BLOCKS_NEW && blocks_count() == 1;
        _exit(!good);
    }
    blocks_fork_unlock();
    unit_await_success(pid);
    ck_assert(take_out(derived(999).address, &out));
    ck_assert_uint_eq(blocks_count(), 999);
}
END_TEST

/* ---- The block around an address ------------------------------------------------------------ */

#define AROUND_MOST 48
#define FAR_AWAY (32ull << 20) /* so far down it is looked for */

static void expect_around(const struct block *there, unsigned count, uintptr_t address)
{
    const struct block *want = NULL;
    struct block out;
    for (unsigned i = 0; i < count; i++) /* of 0 bytes: its start is all there is of it */
        if (address - there[i].address < there[i].size || address == there[i].address)
            want = &there[i];
    bool found = blocks_find_containing(&unit_guard, address, &out);
    UNIT_WANT_MSG(found == (want != NULL) && (!found || same(&out, want)),
                  "seed %" PRIu64 ": at %#" PRIxPTR ": %s", unit_seed, address,
                  !found ? "nothing" : want ? "another" : "something");
}

/* Blocks side by side, with gaps, some longer than several regions. */
START_TEST(an_address_is_found_in_the_block_around_it)
{
    uint64_t state = unit_seed;
    for (unsigned n = 0; n < 100; n++) {
        struct block there[AROUND_MOST], old, out;
        unsigned count = 1 + unit_random(&state) % AROUND_MOST;
        uintptr_t end = BASE;
        begin(_i);
        for (unsigned i = 0; i < count; i++) {
            there[i] = at(end + 8 * (unit_random(&state) % 3));
            there[i].size = unit_random(&state) % (unit_random(&state) % 8 ? 100 : 20000);
            there[i].count = i;
            end = there[i].address + round_up(there[i].size ? there[i].size : 1, 8);
            UNIT_WANT(insert(&there[i], &old) == BLOCKS_NEW);
        }
        settle(_i);
        for (unsigned k = 0; k < 200; k++) {
            const struct block *one = &there[unit_random(&state) % count];
            expect_around(there, count, one->address + unit_random(&state) % 110);
            expect_around(there, count, one->address - 1);
            expect_around(there, count, one->address + one->size);
            expect_around(there, count, BASE - 9 + unit_random(&state) % (end - BASE + 4096));
        }
        for (unsigned i = 0; i < count; i++)
            UNIT_WANT(take_out(there[i].address, &out));
        UNIT_WANT(!blocks_find_containing(&unit_guard, there[0].address, &out));
    }
}
END_TEST

/* The highest that begins at or below the address. */
START_TEST(the_nearest_block_below_an_address_is_found_without_waiting)
{
    uint64_t state = unit_seed;
    struct block there[AROUND_MOST], old, out;
    uintptr_t end = BASE;
    bool busy = false;
    begin(_i);
    for (unsigned i = 0; i < AROUND_MOST; i++) {
        there[i] = at(end + 8 * (unit_random(&state) % 3));
        there[i].size = unit_random(&state) % (unit_random(&state) % 8 ? 100 : 20000);
        there[i].count = i;
        end = there[i].address + round_up(there[i].size ? there[i].size : 1, 8);
        insert(&there[i], &old);
    }
    settle(_i);
    for (uintptr_t address = BASE - 9; address < end + 9000; address += 1 + state % 7) {
        const struct block *want = NULL;
        unit_random(&state);
        for (unsigned i = 0; i < AROUND_MOST && there[i].address <= address; i++)
            want = &there[i];
        bool found = blocks_find_nearest(address, 100, &out, &busy);
        UNIT_WANT_MSG(found == (want != NULL) && (!found || same(&out, want)),
                      "seed %" PRIu64 ": at %#" PRIxPTR, unit_seed, address);
    }
    ck_assert(!busy);
    ck_assert_uint_eq(lock_thread.held, 0);
}
END_TEST

static void *look_near(void *argument)
{
    struct block out;
    bool *busy = argument;
    return blocks_find_nearest(BASE + 8, 1, &out, busy) ? argument : NULL;
}

/* A thread that crashes may hold the very lock: it says so and goes on. */
START_TEST(a_table_that_is_being_changed_is_not_waited_for)
{
    struct block block = at(BASE), old;
    bool busy = false;
    pthread_t thread;
    void *found;
    begin(SEVERAL_THREADS);
    insert(&block, &old);
    blocks_fork_lock();
    ck_assert_ptr_null(look_near(&busy));
    ck_assert(busy);
    busy = false;
    pthread_create(&thread, NULL, look_near, &busy);
    pthread_join(thread, &found);
    ck_assert(!found && busy);
    blocks_fork_unlock();
    busy = false;
    ck_assert(look_near(&busy) && !busy);
}
END_TEST

START_TEST(the_start_of_a_block_is_looked_for_so_far_and_no_further)
{
    struct block large = at(BASE + FAR_AWAY), old, out;
    begin(_i);
    large.size = 1ull << 30;
    insert(&large, &old);
    settle(_i);
    ck_assert(blocks_find_containing(&unit_guard, large.address + 1, &out));
    ck_assert(blocks_find_containing(&unit_guard, large.address + FAR_AWAY - 2 * REGION, &out));
    ck_assert(same(&out, &large));
    if (_i != WAITING) /* who waits is few, and asked whole */
        ck_assert(!blocks_find_containing(&unit_guard, large.address + FAR_AWAY + REGION, &out));
    ck_assert(!blocks_find_containing(&unit_guard, large.address - 1, &out));
    ck_assert(!blocks_find_containing(&unit_guard, 0, &out));
    ck_assert(!blocks_find_containing(&unit_guard, UINTPTR_MAX, &out));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("blocks");
    TCase *entries = tcase_create("entries");
    tcase_add_checked_fixture(entries, setup, NULL);
    tcase_add_loop_test(entries, every_field_comes_back_as_it_went_in, 0, ARRAY_LENGTH(fields));
    tcase_add_loop_test(entries, neighbours_of_a_block_are_not_the_block, 0, WAYS);
    tcase_add_loop_test(entries, an_address_that_is_no_multiple_of_8_is_refused, 0, WAYS);
    tcase_add_loop_test(entries, no_block_is_found_where_there_is_none, 0, WAYS);
    tcase_add_loop_test(entries, an_address_is_found_in_the_block_around_it, 0, WAYS);
    tcase_add_loop_test(entries, the_start_of_a_block_is_looked_for_so_far_and_no_further, 0, WAYS);
    tcase_add_loop_test(entries, the_nearest_block_below_an_address_is_found_without_waiting, 0,
                        WAYS);
    tcase_add_test(entries, a_table_that_is_being_changed_is_not_waited_for);
    tcase_add_loop_test(entries, an_insert_over_an_address_replaces_and_says_what_was_there, 0, 2);
    suite_add_tcase(suite, entries);
    TCase *young = tcase_create("young");
    tcase_set_timeout(young, 30);
    tcase_add_checked_fixture(young, setup, NULL);
    tcase_add_test(young, a_block_replaced_in_the_table_is_said_when_the_new_one_gets_there);
    tcase_add_test(young, blocks_that_go_at_once_need_no_table);
    tcase_add_loop_test(young, with_a_second_thread_no_block_waits_any_more, 0, FIRSTS);
    tcase_add_test(young, threads_that_come_all_at_once_find_who_waited);
    suite_add_tcase(suite, young);
    TCase *table = tcase_create("model");
    tcase_set_timeout(table, 120);
    tcase_add_checked_fixture(table, setup, NULL);
    tcase_add_loop_test(table, random_operations_agree_with_a_naive_model, 0,
                        2 * ARRAY_LENGTH(loads));
    tcase_add_loop_test(table, a_million_random_operations_on_a_growing_table, 0, 2);
    suite_add_tcase(suite, table);
    TCase *regions = tcase_create("regions");
    tcase_set_timeout(regions, 60);
    tcase_add_checked_fixture(regions, setup, NULL);
    tcase_add_loop_test(regions, a_region_holds_any_number_of_blocks, 0, 2);
    tcase_add_loop_test(regions, a_region_that_has_become_small_gives_its_memory_back, 0, 2);
    tcase_add_loop_test(regions, regions_that_have_become_empty_are_no_reason_to_grow, 0, 2);
    suite_add_tcase(suite, regions);
    TCase *growth = tcase_create("growth");
    tcase_set_timeout(growth, 60);
    tcase_add_checked_fixture(growth, setup, NULL);
    tcase_add_loop_test(growth, regions_at_any_distance_find_their_places, 0,
                        ARRAY_LENGTH(strides));
    tcase_add_loop_test(growth, growth_keeps_every_block, 0, 2);
    tcase_add_loop_test(growth, a_live_block_takes_at_most_36_bytes, 0, 2 * ARRAY_LENGTH(heaps));
    suite_add_tcase(suite, growth);
    TCase *poor = tcase_create("poor");
    tcase_set_timeout(poor, 60);
    tcase_add_checked_fixture(poor, setup, NULL);
    tcase_add_loop_test(poor, without_memory_an_insert_says_so_and_nothing_else_is_lost, 0,
                        2 * ARRAY_LENGTH(aparts));
    tcase_add_loop_test(poor, without_memory_a_block_taken_out_can_be_put_back, 0,
                        2 * ARRAY_LENGTH(aparts));
    tcase_add_test(poor, who_waits_and_finds_no_room_is_not_lost);
    suite_add_tcase(suite, poor);
    TCase *threads = tcase_create("threads");
    tcase_set_timeout(threads, 60);
    tcase_add_checked_fixture(threads, setup, NULL);
    tcase_add_test(threads, threads_do_not_lose_each_others_blocks);
    tcase_add_loop_test(threads, a_fork_child_owns_a_copy, 0, 2);
    suite_add_tcase(suite, threads);
    return unit_main(argc, argv, suite);
}
