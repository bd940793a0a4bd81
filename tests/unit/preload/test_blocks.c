/* test_blocks.c - the table of live blocks, shadow and open table together, against a naive model.
 *
 * Nearly every case runs three ways (some_blocks.h): as with glibc, as with an allocator that places
 * small blocks 16 bytes apart, and with all blocks in the open table.
 */
#include "tests/unit/preload/some_blocks.h"
#include "tests/unit/size.h"

/* ---- Each field at its limits ---------------------------------------------------------------- */

#define SIZE_MOST ((1ull << 48) - 1)
#define TICK_MOST ((1u << 24) - 1)
#define SITE_MOST ((1u << 24) - 1) /* in the shadow */

static const struct {
    const char *name;
    struct block in;
    uint64_t size; /* what comes out of the table; 0: the same */
    uint32_t tick;
} fields[] = {
    {"a small block", {BASE, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"size 0", {BASE, 0, 1, 1, 0, 1, 1}, 0, 0},
    {"size 16", {BASE, 16, 1, 1, 0, 1, 1}, 0, 0},
    {"size 17", {BASE, 17, 1, 1, 0, 1, 1}, 0, 0},
    {"the second half of a window", {BASE + 16, 24, 1, 1, 0, 1, 1}, 0, 0},
    {"the second half of a window, large", {BASE + 16, 80, 1, 1, 0, 1, 1}, 0, 0},
    {"an odd multiple of 8", {BASE + 8, 24, 1, 1, 0, 1, 1}, 0, 0},
    {"an odd multiple of 8, large", {BASE + 24, 100, 1, 1, 0, 1, 1}, 0, 0},
    {"the highest address", {0x7ffffffffff8ull, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"the highest address in the shadow", {0xfffffffffff0ull, 20, 1, 1, 0, 1, 1}, 0, 0},
    {"an address of 2^48", {1ull << 48, 20, 1, 1, 0, 1, 1}, 0, 0},
    {"the highest address of a large address space", {(1ull << 56) - 16, 9, 1, 1, 0, 1, 1}, 0, 0},
    {"the lowest address", {1 << 16, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"the last place of a region", {BASE + REGION - 8, 1, 1, 1, 0, 1, 1}, 0, 0},
    {"the last window of an area", {BASE + AREA - 32, 32, 1, 1, 0, 1, 1}, 0, 0},
    {"the last window of an area, large", {BASE + AREA - 16, 99, 1, 1, 0, 1, 1}, 0, 0},
    {"the window before that, large", {BASE + AREA - 64, 64, 1, 1, 0, 1, 1}, 0, 0},
    {"size 63", {BASE, 63, 1, 1, 0, 1, 1}, 0, 0},
    {"size 64", {BASE, 64, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^47", {BASE, 1ull << 47, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^48 - 2", {BASE, SIZE_MOST - 1, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^48 - 1, the last that fits", {BASE, SIZE_MOST, 1, 1, 0, 1, 1}, 0, 0},
    {"size 2^48 saturates", {BASE, SIZE_MOST + 1, 1, 1, 0, 1, 1}, SIZE_MOST, 0},
    {"the largest size there is saturates", {BASE, UINT64_MAX, 1, 1, 0, 1, 1}, SIZE_MOST, 0},
    {"size 255", {BASE, 255, 1, 1, 0, 1, 1}, 0, 0},
    {"size 256, the first coarse one", {BASE, 256, 1, 1, 0, 1, 1}, 0, 0},
    {"coarse, the last place of a window", {BASE + 112, 300, 1, 1, 0, 1, 1}, 0, 0},
    {"coarse, in the last window of an area", {BASE + AREA - 112, 300, 1, 1, 0, 1, 1}, 0, 0},
    {"the largest site of the shadow", {BASE, 20, SITE_MOST, 1, 0, 1, 1}, 0, 0},
    {"the first site that is too large", {BASE, 20, SITE_MOST + 1, 1, 0, 1, 1}, 0, 0},
    {"the largest site", {BASE, 100, UINT32_MAX, 1, 0, 1, 1}, 0, 0},
    {"the last place of a run", {BASE, 20, 1, 1, 31, 1, 1}, 0, 0},
    {"the first place of the next run", {BASE, 20, 1, 1, 32, 1, 1}, 0, 0},
    {"the largest count", {BASE, 20, 1, 1, UINT32_MAX, 1, 1}, 0, 0},
    {"the largest thread", {BASE, 20, 1, 0, 1, UINT16_MAX, 1}, 0, 0},
    {"the largest kind without flags", {BASE, 20, 1, 0, 1, 1, 7}, 0, 0},
    {"an alignment", {BASE, 20, 1, 0, 1, 1, 8}, 0, 0},
    {"an alignment, large", {BASE, 100, 1, 0, 1, 1, 0x78}, 0, 0},
    {"no leak", {BASE, 20, 1, 0, 1, 1, 0x82}, 0, 0},
    {"no leak, large", {BASE, 100, 1, 0, 1, 1, 0x82}, 0, 0},
    {"the largest kind", {BASE, 20, 1, 0, 1, 1, UINT8_MAX}, 0, 0},
    {"the largest kind, large", {BASE, 64, 1, 0, 1, 1, UINT8_MAX}, 0, 0},
    {"everything at once",
     {0x7ffffffffff8ull, SIZE_MOST, UINT32_MAX, TICK_MOST, UINT32_MAX, UINT16_MAX, UINT8_MAX},
     0,
     0},
    {"everything at once in the shadow",
     {0xfffffffffe90ull, SIZE_MOST, SITE_MOST, TICK_MOST, UINT32_MAX, UINT16_MAX, UINT8_MAX},
     0,
     0},
    {"nothing at all", {BASE, 0, 0, 0, 0, 0, 0}, 0, 0},
    {"the last tick that fits", {BASE, 20, 1, TICK_MOST, 1, 1, 1}, 0, 0},
    {"a tick too late saturates", {BASE, 20, 1, TICK_MOST + 1, 1, 1, 1}, 0, TICK_MOST},
    {"the last tick of all saturates", {BASE, 20, 1, UINT32_MAX, 1, 1, 1}, 0, TICK_MOST},
};

START_TEST(every_field_comes_back_as_it_went_in)
{
    struct block want = fields[_i].in, old, out;
    uint64_t size = fields[_i].size ? fields[_i].size : want.size;
    uint32_t tick = fields[_i].tick ? fields[_i].tick : want.tick;
    for (int n = 0; n < 3 * WAYS; n++) {
        set_way(n % WAYS);
        want = fields[_i].in;
        UNIT_WANT(insert(&want, &old) == BLOCKS_NEW);
        UNIT_WANT_MSG(shadow_find(want.address, &out) == fits_shadow(&want),
                      "%s, %s: wrong part of the table", fields[_i].name, way_names[way]);
        want.size = size;
        want.tick = tick;
        UNIT_WANT(blocks_find(&unit_guard, want.address, &out) && same(&out, &want));
        UNIT_WANT_MSG(take_out(want.address, &out), "%s, %s: not found", fields[_i].name,
                      way_names[way]);
        UNIT_WANT_MSG(same(&out, &want), "%s, %s: wanted " SHOW ", got " SHOW, fields[_i].name,
                      way_names[way], SHOWN(want), SHOWN(out));
        UNIT_WANT(!take_out(want.address, &out));
        ck_assert_uint_eq(blocks_count(), 0);
        UNIT_WANT(blocks_check());
    }
}
END_TEST

/* Another block has made the run current and the area ready: the insertion takes no detour. */
START_TEST(every_field_comes_back_on_the_common_path)
{
    struct block want = fields[_i / 2].in, old, out, before = want;
    before.address = want.address / AREA * AREA + AREA / 2 + 64;
    before.size = 20;
    before.site = before.kind = 1;
    set_way(_i % 2 ? FOREIGN : GLIBC);
    UNIT_WANT(insert(&before, &old) == BLOCKS_NEW);
    UNIT_WANT(insert(&want, &old) == BLOCKS_NEW);
    UNIT_WANT_MSG(shadow_find(want.address, &out) == fits_shadow(&want),
                  "%s, %s: wrong part of the table", fields[_i / 2].name, way_names[way]);
    want.size = fields[_i / 2].size ? fields[_i / 2].size : want.size;
    want.tick = before.tick = fields[_i / 2].tick ? fields[_i / 2].tick : want.tick;
    UNIT_WANT(blocks_count() == 2 && blocks_check());
    UNIT_WANT_MSG(take_out(want.address, &out) && same(&out, &want),
                  "%s, %s: wanted " SHOW ", got " SHOW, fields[_i / 2].name, way_names[way],
                  SHOWN(want), SHOWN(out));
    UNIT_WANT(take_out(before.address, &out) && same(&out, &before));
    UNIT_WANT(blocks_count() == 0 && blocks_check());
}
END_TEST

START_TEST(neighbours_of_a_block_are_not_the_block)
{
    static const int64_t offsets[] = {-(1 << 20), -2048, -1024, -256, -32, -24, -16, -8,   -1,
                                      1,          7,     8,     16,   24,  32,  256, 2048, 1 << 20};
    set_way(_i % WAYS);
    struct block block = at(BASE + 4096 + _i / WAYS % 2 * 16), old, out;
    block.size = _i / WAYS < 2 ? 40 : 4000;
    insert(&block, &old);
    for (size_t i = 0; i < ARRAY_LENGTH(offsets); i++)
        UNIT_WANT_MSG(!take_out(block.address + offsets[i], &out) &&
                          !blocks_find(&unit_guard, block.address + offsets[i], &out),
                      "found a block %d bytes beside the one there is", (int)offsets[i]);
    ck_assert(take_out(block.address, &out) && same(&out, &block));
}
END_TEST

START_TEST(an_address_that_is_no_multiple_of_8_is_refused)
{
    struct block old, out, good = at(BASE);
    set_way(_i);
    ck_assert_int_eq(insert(&good, &old), BLOCKS_NEW);
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
    static const uintptr_t places[] = {0, 8, 16, BASE, BASE + AREA, 1ull << 48, UINTPTR_MAX - 15};
    struct block out, old, block = at(BASE);
    set_way(_i);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
            blocks_prefetch(places[i]);
            UNIT_WANT(!take_out(places[i], &out));
            UNIT_WANT(!blocks_find(&unit_guard, places[i], &out));
        }
        insert(&block, &old);
        ck_assert(take_out(BASE, &out));
    }
    ck_assert_uint_eq(blocks_count(), 0);
}
END_TEST

static bool may_be_in_open_table(uintptr_t address)
{
    return shadow_is_shared(shadow_area(address, SHADOW_FINE), address);
}

START_TEST(a_block_of_the_open_table_concerns_its_neighbourhood_only)
{
    const uintptr_t piece = 1u << SHADOW_PIECE_BITS;
    struct block old, out, odd = at(BASE + piece + 8), even = at(BASE + 3 * piece);
    ck_assert_int_eq(insert(&even, &old), BLOCKS_NEW);
    ck_assert(!may_be_in_open_table(odd.address));
    ck_assert_int_eq(insert(&odd, &old), BLOCKS_NEW);
    ck_assert(may_be_in_open_table(BASE + piece) && may_be_in_open_table(BASE + 2 * piece - 8));
    ck_assert(!may_be_in_open_table(BASE + piece - 8) && !may_be_in_open_table(BASE + 2 * piece));
    ck_assert(!may_be_in_open_table(odd.address + AREA));
    ck_assert(may_be_in_open_table(1ull << SHADOW_ADDRESS_BITS));
    for (unsigned n = 0; n < 64; n++) { /* and each place of the area goes on as before */
        struct block other = at(BASE + n * piece + 64);
        UNIT_WANT(insert(&other, &old) == BLOCKS_NEW);
    }
    ck_assert(blocks_check());
    ck_assert(take_out(odd.address, &out) && same(&out, &odd));
    ck_assert(take_out(even.address, &out) && same(&out, &even));
    ck_assert_uint_eq(blocks_count(), 64);
}
END_TEST

/* ---- Frees that were not seen ---------------------------------------------------------------- */

static const uintptr_t replaced_at[] = {
    BASE, BASE + 16, BASE + 8, BASE + AREA - 32, BASE + AREA - 64, (1ull << 48) + 32};
static const uint64_t replaced_sizes[] = {8, 24, 63, 64, 5000};

/* Whatever part of the table the old block and the new one belong to. */
START_TEST(an_insert_over_an_address_replaces_and_says_what_was_there)
{
    struct block old, out, first = at(replaced_at[_i]), second = first;
    for (enum way before = 0; before < WAYS; before++)
        for (enum way after = 0; after < WAYS; after++)
            for (unsigned n = 0; n < 25; n++) {
                first.size = replaced_sizes[n / 5];
                second.size = replaced_sizes[n % 5];
                first.kind = second.kind = n % 3 ? 1 : 0x81;
                second.site = n % 4 ? 2 : SITE_MOST + 1;
                second.count = 99;
                set_way(before);
                UNIT_WANT(insert(&first, &old) == BLOCKS_NEW);
                set_way(after);
                if (hides(&second, &first)) {
                    UNIT_WANT(take_out(first.address, &out) && same(&out, &first));
                    continue;
                }
                UNIT_WANT_MSG(insert(&second, &old) == BLOCKS_REPLACED, "%s over %s, %u",
                              way_names[after], way_names[before], n);
                UNIT_WANT_MSG(same(&old, &first), "what was there: wanted " SHOW ", got " SHOW,
                              SHOWN(first), SHOWN(old));
                UNIT_WANT(blocks_count() == 1 && blocks_check());
                UNIT_WANT(take_out(first.address, &out));
                UNIT_WANT_MSG(same(&out, &second), "what is there: wanted " SHOW ", got " SHOW,
                              SHOWN(second), SHOWN(out));
                UNIT_WANT(!take_out(first.address, &out) && blocks_count() == 0);
            }
}
END_TEST

/* Old blocks, and a new one that overlaps them: offset and size. */
static const struct {
    const char *name;
    struct {
        unsigned offset, size;
    } old[2], new;
} overlaps[] = {
    {"a small one in the second window of a large one", {{64, 100}}, {96, 20}},
    {"in the second half of that window", {{64, 100}}, {112, 20}},
    {"a small one in the first window of a large one", {{64, 100}}, {80, 20}},
    {"a large one in the second window of a large one", {{64, 100}}, {96, 100}},
    {"a large one whose second window has a small one", {{96, 20}}, {64, 100}},
    {"a large one whose second window has a large one", {{96, 500}}, {64, 100}},
    {"a large one over two small ones", {{64, 20}, {112, 20}}, {80, 100}},
    {"a large one over two large ones", {{32, 64}, {96, 99}}, {64, 200}},
    {"a small one before a small one", {{80, 20}}, {64, 40}},
    {"a large one before a small one", {{80, 20}}, {64, 64}},
    {"one in the middle of a large one", {{0, 1000}}, {512, 100}},
    {"small ones in the middle of a large one", {{0, 1000}, {512, 24}}, {528, 24}},
    {"a coarse one in the second window of a coarse one", {{0, 1000}}, {128, 300}},
    {"a coarse one in the first window of a coarse one", {{0, 1000}}, {16, 300}},
    {"a coarse one whose second window has a coarse one", {{144, 256}}, {16, 300}},
    {"a coarse one over two coarse ones", {{0, 256}, {272, 256}}, {160, 2000}},
    {"a coarse one over a small one and a large one", {{64, 24}, {96, 100}}, {32, 600}},
};

START_TEST(blocks_whose_frees_were_not_seen_are_neither_lost_nor_counted_twice)
{
    struct block blocks[3], old, out;
    unsigned count = 0;
    set_way(GLIBC);
    for (; count < 2 && overlaps[_i].old[count].size; count++) {
        blocks[count] = at(BASE + overlaps[_i].old[count].offset);
        blocks[count].size = overlaps[_i].old[count].size;
        blocks[count].count = count;
        ck_assert_int_eq(insert(&blocks[count], &old), BLOCKS_NEW);
    }
    blocks[count] = at(BASE + overlaps[_i].new.offset);
    blocks[count].size = overlaps[_i].new.size;
    ck_assert_int_eq(insert(&blocks[count++], &old), BLOCKS_NEW);
    ck_assert(blocks_check());
    ck_assert_uint_eq(blocks_count(), count);
    for (unsigned i = 0; i < count; i++)
        UNIT_WANT_MSG(blocks_find(&unit_guard, blocks[i].address, &out) && same(&out, &blocks[i]),
                      "%s: block %u: wanted " SHOW ", got " SHOW, overlaps[_i].name, i,
                      SHOWN(blocks[i]), SHOWN(out));
    /* Each is replaced at its own address, and goes once. */
    for (unsigned i = 0; i < count; i++) {
        struct block again = at(blocks[i].address);
        again.size = blocks[i].size;
        again.count = 50 + i;
        UNIT_WANT(insert(&again, &old) == BLOCKS_REPLACED && same(&old, &blocks[i]));
        ck_assert_uint_eq(blocks_count(), count);
        UNIT_WANT(blocks_check());
    }
    for (unsigned i = 0; i < count; i++)
        UNIT_WANT(take_out(blocks[i].address, &out) && out.count == 50 + i);
    ck_assert_uint_eq(blocks_count(), 0);
}
END_TEST

/* ---- The model ------------------------------------------------------------------------------- */

#define MODEL 8192

static struct block model[MODEL];
static unsigned modelled;

static unsigned model_find(uintptr_t address)
{
    unsigned i = 0;
    while (i < modelled && model[i].address != address)
        i++;
    return i;
}

/* How far the model may fill, and how far addresses lie apart: dense and sparse heaps, around the
 * end of an area. */
static const struct {
    unsigned places, apart, operations;
} loads[] = {{64, 8, 200000},  {64, 16, 200000},  {700, 16, 200000},
             {3000, 8, 60000}, {3000, 48, 60000}, {700, 4096, 100000}};

/* Threads mostly allocate one block after the other. */
static void number_block(uint64_t *state, struct block *block)
{
    static uint32_t counts[8], tick;
    block->thread = 1 + unit_random(state) % 7;
    if (unit_random(state) % 50 == 0)
        tick = unit_random(state) % 4 ? tick + 1 : unit_random(state) & TICK_MOST;
    if (unit_random(state) % 100 == 0)
        counts[block->thread] = unit_random(state);
    block->tick = tick;
    block->count = counts[block->thread]++;
}

static struct block random_block(uint64_t *state, unsigned load)
{
    static const uint64_t sizes[] = {0, 1, 16, 17, 63, 64, 1ull << 36, 1ull << 46, SIZE_MOST};
    unsigned places = loads[load].places, apart = loads[load].apart;
    struct block block = {.address = BASE + AREA - places / 2 * apart +
                                     unit_random(state) % places * apart,
                          .size = unit_random(state) % (unit_random(state) % 2 ? 64 : 100000),
                          .site = unit_random(state) >> (unit_random(state) % 4 ? 40 : 32),
                          .kind = unit_random(state) & (unit_random(state) % 4 ? 7 : 255)};
    if (unit_random(state) % 20 == 0)
        block.size = sizes[unit_random(state) % ARRAY_LENGTH(sizes)];
    number_block(state, &block);
    return block;
}

static void visit(const struct block *block, void *context)
{
    unsigned at_model = model_find(block->address);
    UNIT_WANT_MSG(at_model < modelled && same(block, &model[at_model]),
                  "seed %" PRIu64 ": visited " SHOW, unit_seed, SHOWN(*block));
    ++*(unsigned *)context;
}

static void model_insert(unsigned n, const struct block *block)
{
    struct block old;
    unsigned known = model_find(block->address);
    if (known < modelled && hides(block, &model[known]))
        return;
    enum blocks_insert done = insert(block, &old);
    UNIT_WANT_MSG(done == (known < modelled ? BLOCKS_REPLACED : BLOCKS_NEW),
                  "seed %" PRIu64 " operation %u: insert answers %d", unit_seed, n, done);
    if (known < modelled)
        UNIT_WANT_MSG(same(&old, &model[known]),
                      "seed %" PRIu64 " operation %u: replaced: wanted " SHOW ", got " SHOW,
                      unit_seed, n, SHOWN(model[known]), SHOWN(old));
    else
        modelled++;
    model[known] = *block;
}

static void model_remove(unsigned n, uintptr_t address)
{
    struct block got, found;
    unsigned known = model_find(address);
    bool there = blocks_find(&unit_guard, address, &found), done = take_out(address, &got);
    UNIT_WANT_MSG(there == (known < modelled) && done == there,
                  "seed %" PRIu64 " operation %u: find answers %d, remove %d", unit_seed, n, there,
                  done);
    if (!done)
        return;
    UNIT_WANT_MSG(same(&got, &model[known]) && same(&found, &got),
                  "seed %" PRIu64 " operation %u: removed: wanted " SHOW ", got " SHOW, unit_seed,
                  n, SHOWN(model[known]), SHOWN(got));
    model[known] = model[--modelled];
}

/* Blocks overlap as they like: many frees are not seen. */
START_TEST(random_operations_agree_with_a_naive_model)
{
    uint64_t state = unit_seed + (uint64_t)_i;
    unsigned visited = 0;
    for (unsigned n = 0; n < unit_size(loads[_i].operations); n++) {
        struct block block = random_block(&state, _i);
        if (unit_random(&state) % 16 == 0)
            set_way(unit_random(&state) % WAYS);
        if (unit_random(&state) % 2)
            model_insert(n, &block);
        else
            model_remove(n, block.address);
        if (n % 5000 == 0) {
            UNIT_WANT_MSG(blocks_check(), "seed %" PRIu64 " operation %u: invariant", unit_seed, n);
            ck_assert_uint_eq(blocks_count(), modelled);
        }
    }
    blocks_each(visit, &visited);
    ck_assert_uint_eq(visited, modelled);
    ck_assert(blocks_check());
}
END_TEST

START_TEST(a_million_random_operations_on_a_growing_table)
{
    enum { PLACES = 400000, OPERATIONS = 1000000 };
    static uint8_t live[PLACES];
    uint64_t state = unit_seed, count = 0;
    unsigned operations = unit_size(OPERATIONS);
    for (unsigned n = 0; n < operations; n++) {
        /* Two thirds insertions at first, two thirds removals in the end. */
        unsigned place = unit_random(&state) % PLACES, odds = n < operations / 2 ? 2 : 1;
        bool coming = unit_random(&state) % 3 < odds;
        struct block want = derived(place), got;
        set_way(_i < WAYS ? _i : (int)(unit_random(&state) % WAYS));
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

/* ---- Without memory -------------------------------------------------------------------------- */

static uint8_t answered_new[100000];

/* Fills what memory there is with blocks n * apart. */
static uint64_t fill(unsigned apart)
{
    struct block old;
    uint64_t kept = 0;
    for (uint64_t n = 0; n < ARRAY_LENGTH(answered_new); n++) {
        struct block block = at(BASE + n * apart);
        block.size = apart < 40 ? apart : 40;
        block.count = n;
        enum blocks_insert done = insert(&block, &old);
        UNIT_WANT(done == BLOCKS_NEW || done == BLOCKS_NO_MEMORY);
        kept += answered_new[n] = done == BLOCKS_NEW;
    }
    ck_assert_uint_gt(kept, 0);
    ck_assert_uint_lt(kept, ARRAY_LENGTH(answered_new));
    return kept;
}

static const unsigned aparts[] = {8, 32, 2048, 4096, 8192};
/* With the first there is memory for the open table only. */
static const uint64_t rooms[] = {160 << 10, 600 << 10};
#define POOR (WAYS * 2 * ARRAY_LENGTH(aparts))

static unsigned begin_poor(int i)
{
    unsigned apart = aparts[i / WAYS / 2];
    set_way(i % WAYS);
    blocks_set_spacing(way == GLIBC && apart >= WINDOW);
    arena_set_limit(arena_used() + rooms[i / WAYS % 2]);
    return apart;
}

START_TEST(without_memory_an_insert_says_so_and_nothing_else_is_lost)
{
    unsigned apart = begin_poor(_i);
    uint64_t limit = arena_used() + rooms[_i / WAYS % 2], kept = fill(apart);
    ck_assert_uint_eq(blocks_count(), kept);
    ck_assert_uint_le(arena_used(), limit);
    ck_assert(blocks_check());
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
    unsigned apart = begin_poor(_i);
    uint64_t kept = fill(apart), tries = 0;
    for (unsigned n = 0; tries < unit_size(20000); n++) {
        uint64_t one = unit_random(&state) % (n % 2 ? ARRAY_LENGTH(answered_new) : 4096);
        struct block out;
        if (!answered_new[one])
            continue;
        UNIT_WANT(take_out(BASE + one * apart, &out));
        UNIT_WANT_MSG(blocks_put_back(&unit_guard, &out),
                      "seed %" PRIu64 ": block %" PRIu64 " could not be put back", unit_seed, one);
        tries++;
    }
    ck_assert_uint_eq(blocks_count(), kept);
    ck_assert(blocks_check());
}
END_TEST

/* What an insertion without memory has displaced is either there or said. */
START_TEST(without_memory_a_replaced_block_is_said_or_stays)
{
    struct block old, out, first = at(BASE), second = first;
    second.site = SITE_MOST + 1;
    set_way(GLIBC);
    ck_assert_int_eq(insert(&first, &old), BLOCKS_NEW);
    arena_set_limit(arena_used());
    enum blocks_insert done = insert(&second, &old);
    bool there = blocks_find(&unit_guard, BASE, &out);
    ck_assert_msg(done == BLOCKS_REPLACED ? there && same(&old, &first)
                                          : there && same(&out, &first),
                  "answered %d, something there: %d", done, there);
}
END_TEST

START_TEST(without_memory_an_overlapped_block_stays)
{
    struct block old, out, first = at(BASE), second = at(BASE + 32);
    first.size = 100;
    set_way(GLIBC);
    ck_assert_int_eq(insert(&first, &old), BLOCKS_NEW);
    arena_set_limit(arena_used());
    enum blocks_insert done = insert(&second, &old);
    ck_assert_int_eq(done, BLOCKS_NO_MEMORY);
    ck_assert_msg(blocks_find(&unit_guard, BASE, &out) && same(&out, &first), "it is lost");
    ck_assert_uint_eq(blocks_count(), 1);
    ck_assert(blocks_check());
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

#define THREADS 4
#define HANDED 1024
#define EACH_THREAD 400000
#define SLOTS 5000 /* of each thread */

/* Blocks on the way from the thread that allocated them to the one that frees them; or addresses on
 * the way back. */
struct ring {
    struct block block[HANDED];
    uint64_t in __attribute__((aligned(64))), out __attribute__((aligned(64)));
};
static struct ring frees[THREADS], backs[THREADS];

static bool ring_push(struct ring *ring, const struct block *block)
{
    uint64_t in = load_relaxed(&ring->in);
    if (in - load_acquire(&ring->out) == HANDED) /* pairs with ring_pop */
        return false;
    ring->block[in % HANDED] = *block;
    store_release(&ring->in, in + 1); /* pairs with ring_pop */
    return true;
}

static bool ring_pop(struct ring *ring, struct block *block)
{
    uint64_t out = load_relaxed(&ring->out);
    if (load_acquire(&ring->in) == out) /* pairs with ring_push */
        return false;
    *block = ring->block[out % HANDED];
    store_release(&ring->out, out + 1); /* pairs with ring_push */
    return true;
}

struct worker {
    unsigned me;
    uint64_t state, bad;
    uint32_t count;
    bool live[SLOTS], lent[SLOTS];
    struct block block[SLOTS];
};

/* Slots of two windows, of the threads in turn. */
static uintptr_t slot_address(unsigned thread, unsigned slot)
{
    return BASE + ((uintptr_t)slot * THREADS + thread) * 2 * WINDOW;
}

static void worker_insert(struct worker *worker, unsigned slot)
{
    struct block old, *block = &worker->block[slot];
    uint64_t mixed = unit_random(&worker->state);
    *block = (struct block){.address = slot_address(worker->me, slot) + (mixed & 16),
                            .size = mixed >> 8 & (mixed & 1 ? 31 : 127),
                            .site = 1 + (mixed >> 32),
                            .count = worker->count++,
                            .tick = worker->count >> 7,
                            .thread = 1 + worker->me,
                            .kind = mixed >> 16 & (mixed & 6 ? 7 : 255)};
    block->site &= mixed & 2 ? SITE_MOST : UINT32_MAX;
    worker->bad += insert(block, &old) != BLOCKS_NEW;
    worker->live[slot] = true;
}

static void worker_remove(struct worker *worker, const struct block *block)
{
    struct block out;
    worker->bad += !take_out(block->address, &out) || !same(&out, block);
}

/* Frees what the thread before it has allocated, and says so. */
static void free_for_another(struct worker *worker)
{
    struct block block;
    unsigned other = (worker->me + THREADS - 1) % THREADS;
    while (load_relaxed(&backs[other].in) - load_acquire(&backs[other].out) < HANDED &&
           ring_pop(&frees[worker->me], &block)) {
        worker_remove(worker, &block);
        ring_push(&backs[other], &block);
    }
    while (ring_pop(&backs[worker->me], &block)) {
        unsigned slot = (block.address - BASE) / (2 * WINDOW) / THREADS;
        worker->lent[slot] = worker->live[slot] = false;
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (unsigned n = 0; n < EACH_THREAD; n++) {
        unsigned slot = unit_random(&worker->state) % SLOTS;
        if (n % 64 == 0)
            free_for_another(worker);
        if (worker->lent[slot])
            continue;
        if (!worker->live[slot]) {
            worker_insert(worker, slot);
        } else if (n % 2) {
            worker->lent[slot] =
                ring_push(&frees[(worker->me + 1) % THREADS], &worker->block[slot]);
        } else {
            worker_remove(worker, &worker->block[slot]);
            worker->live[slot] = false;
        }
    }
    return NULL;
}

static struct worker workers[THREADS];

static void run_workers(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].me = i;
        workers[i].state = unit_seed + i;
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(threads_that_free_each_others_blocks_lose_none)
{
    uint64_t want = 0;
    set_way(_i);
    run_workers();
    for (unsigned i = 0; i < THREADS; i++)
        UNIT_WANT_MSG(!workers[i].bad, "seed %" PRIu64 ", thread %u: %" PRIu64 " went wrong",
                      unit_seed, i, workers[i].bad);
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned slot = 0; slot < SLOTS; slot++)
            want += workers[i].live[slot];
    for (unsigned i = 0; i < THREADS; i++) /* those never freed, and those freed but not yet told */
        want -= backs[i].in - backs[i].out;
    ck_assert_uint_eq(blocks_count(), want);
    ck_assert(blocks_check());
    for (unsigned i = 0; i < THREADS; i++) {
        struct block block;
        while (ring_pop(&frees[i], &block)) {
            worker_remove(&workers[i], &block);
            workers[block.thread - 1].live[(block.address - BASE) / (2 * WINDOW) / THREADS] = false;
        }
        while (ring_pop(&backs[i], &block))
            workers[i].live[(block.address - BASE) / (2 * WINDOW) / THREADS] = false;
    }
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned slot = 0; slot < SLOTS; slot++)
            if (workers[i].live[slot])
                worker_remove(&workers[i], &workers[i].block[slot]);
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_uint_eq(workers[i].bad, 0);
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert(blocks_check());
}
END_TEST

/* ---- Fork ------------------------------------------------------------------------------------ */

START_TEST(a_fork_child_owns_a_copy)
{
    struct block old, out;
    set_way(_i);
    for (uint64_t n = 0; n < 1000; n++) {
        struct block block = derived(n);
        insert(&block, &old);
    }
    blocks_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
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

#define STANDING 2000

static uintptr_t standing_address(unsigned n)
{
    return slot_address(n % THREADS, SLOTS + n);
}

/* What the threads that are gone were doing may have left rests: insertions clear them up. */
static bool clean_up_in_child(void)
{
    struct block old, out;
    for (unsigned thread = 0; thread < THREADS; thread++)
        for (unsigned slot = 0; slot < SLOTS; slot++)
            for (unsigned half = 0; half < 2; half++) {
                struct block block = at(slot_address(thread, slot) + half * 16);
                block.size = 100;
                if (insert(&block, &old) == BLOCKS_NO_MEMORY || !take_out(block.address, &out) ||
                    !same(&out, &block))
                    return false;
            }
    return true;
}

static bool standing_blocks_are_there(void)
{
    struct block out;
    for (unsigned n = 0; n < STANDING; n++)
        if (!blocks_find(&unit_guard, standing_address(n), &out) || out.count != n ||
            out.thread != 9 || out.tick != n >> 6)
            return false;
    return true;
}

static void fork_once(void)
{
    blocks_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        blocks_fork_child();
        if (!standing_blocks_are_there() || !clean_up_in_child())
            _exit(1);
        _exit(blocks_count() == STANDING && blocks_check() && standing_blocks_are_there() ? 0 : 2);
    }
    blocks_fork_unlock();
    unit_await_success(pid);
}

static bool forks_done;

static void *work_on(void *argument)
{
    while (!load_relaxed(&forks_done))
        work(argument);
    return NULL;
}

START_TEST(a_fork_amid_insertions_of_others_loses_no_block_that_was_there_before)
{
    pthread_t threads[THREADS];
    struct block old;
    set_way(_i);
    for (unsigned n = 0; n < STANDING; n++) {
        struct block block = at(standing_address(n));
        block.size = n % 120;
        block.thread = 9;
        block.count = n;
        block.tick = n >> 6;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].me = i;
        workers[i].state = unit_seed + i;
        pthread_create(&threads[i], NULL, work_on, &workers[i]);
    }
    for (unsigned n = 0; n < unit_size(40); n++)
        fork_once();
    store_relaxed(&forks_done, true);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(workers[i].bad, 0);
    }
    ck_assert(standing_blocks_are_there() && blocks_check());
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
                  !found ? "nothing"
                  : want ? "another"
                         : "something");
}

/* Side by side, with gaps, some longer than several regions, across the end of an area; each in
 * either part of the table. Returns where they end. */
static uintptr_t insert_in_a_row(struct block *there, unsigned count, uint64_t *state)
{
    struct block old;
    uintptr_t end = BASE + AREA - 4096;
    for (unsigned i = 0; i < count; i++) {
        there[i] = at(end + 8 * (unit_random(state) % 3));
        there[i].size = unit_random(state) % (unit_random(state) % 8 ? 100 : 20000);
        there[i].count = i;
        if (unit_random(state) % 2)
            there[i].address = round_up(there[i].address, 32);
        end = there[i].address + round_up(there[i].size ? there[i].size : 1, 8);
        UNIT_WANT(insert(&there[i], &old) == BLOCKS_NEW);
    }
    return end;
}

START_TEST(an_address_is_found_in_the_block_around_it)
{
    uint64_t state = unit_seed;
    set_way(_i);
    for (unsigned n = 0; n < unit_size(100); n++) {
        struct block there[AROUND_MOST], out;
        unsigned count = 1 + unit_random(&state) % AROUND_MOST;
        uintptr_t end = insert_in_a_row(there, count, &state), start = BASE + AREA - 4096;
        for (unsigned k = 0; k < 200; k++) {
            const struct block *one = &there[unit_random(&state) % count];
            expect_around(there, count, one->address + unit_random(&state) % 110);
            expect_around(there, count, one->address - 1);
            expect_around(there, count, one->address + one->size);
            expect_around(there, count, start - 9 + unit_random(&state) % (end - start + 4096));
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
    struct block there[AROUND_MOST], out;
    bool busy = false;
    set_way(_i);
    uintptr_t end = insert_in_a_row(there, AROUND_MOST, &state);
    for (uintptr_t address = there[0].address - 9; address < end + 9000; address += 1 + state % 7) {
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

/* A thread that crashes may hold the very lock: the search goes on, and says so. */
START_TEST(a_table_that_is_being_changed_is_not_waited_for)
{
    struct block block = at(BASE), old;
    bool busy = false;
    pthread_t thread;
    void *found;
    set_way(_i);
    insert(&block, &old);
    blocks_fork_lock();
    ck_assert_int_eq(look_near(&busy) != NULL, way != OPEN);
    ck_assert(busy);
    busy = false;
    pthread_create(&thread, NULL, look_near, &busy);
    pthread_join(thread, &found);
    ck_assert((found != NULL) == (way != OPEN) && busy);
    blocks_fork_unlock();
    busy = false;
    ck_assert(look_near(&busy) && !busy);
}
END_TEST

START_TEST(the_start_of_a_block_is_looked_for_so_far_and_no_further)
{
    struct block large = at(BASE + FAR_AWAY), old, out;
    set_way(_i);
    large.size = 1ull << 30;
    insert(&large, &old);
    ck_assert(blocks_find_containing(&unit_guard, large.address + 1, &out));
    ck_assert(blocks_find_containing(&unit_guard, large.address + FAR_AWAY - 2 * REGION, &out));
    ck_assert(same(&out, &large));
    ck_assert(!blocks_find_containing(&unit_guard, large.address + FAR_AWAY + REGION, &out));
    ck_assert(!blocks_find_containing(&unit_guard, large.address - 1, &out));
    ck_assert(!blocks_find_containing(&unit_guard, 0, &out));
    ck_assert(!blocks_find_containing(&unit_guard, UINTPTR_MAX, &out));
}
END_TEST

/* ---- The suite ------------------------------------------------------------------------------- */

static TCase *new_case(Suite *suite, const char *name, unsigned seconds)
{
    TCase *made = tcase_create(name);
    tcase_set_timeout(made, seconds);
    tcase_add_checked_fixture(made, start_blocks, NULL);
    suite_add_tcase(suite, made);
    return made;
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("blocks");
    TCase *entries = new_case(suite, "entries", 20);
    tcase_add_loop_test(entries, every_field_comes_back_as_it_went_in, 0, ARRAY_LENGTH(fields));
    tcase_add_loop_test(entries, every_field_comes_back_on_the_common_path, 0,
                        2 * ARRAY_LENGTH(fields));
    tcase_add_loop_test(entries, neighbours_of_a_block_are_not_the_block, 0, 4 * WAYS);
    tcase_add_loop_test(entries, an_address_that_is_no_multiple_of_8_is_refused, 0, WAYS);
    tcase_add_loop_test(entries, no_block_is_found_where_there_is_none, 0, WAYS);
    tcase_add_test(entries, a_block_of_the_open_table_concerns_its_neighbourhood_only);
    TCase *unseen = new_case(suite, "unseen", 20);
    tcase_add_loop_test(unseen, an_insert_over_an_address_replaces_and_says_what_was_there, 0,
                        ARRAY_LENGTH(replaced_at));
    tcase_add_loop_test(unseen, blocks_whose_frees_were_not_seen_are_neither_lost_nor_counted_twice,
                        0, ARRAY_LENGTH(overlaps));
    TCase *around = new_case(suite, "around", 20);
    tcase_add_loop_test(around, an_address_is_found_in_the_block_around_it, 0, WAYS);
    tcase_add_loop_test(around, the_start_of_a_block_is_looked_for_so_far_and_no_further, 0, WAYS);
    tcase_add_loop_test(around, the_nearest_block_below_an_address_is_found_without_waiting, 0,
                        WAYS);
    tcase_add_loop_test(around, a_table_that_is_being_changed_is_not_waited_for, 0, WAYS);
    TCase *model_case = new_case(suite, "model", 120);
    tcase_add_loop_test(model_case, random_operations_agree_with_a_naive_model, 0,
                        ARRAY_LENGTH(loads));
    tcase_add_loop_test(model_case, a_million_random_operations_on_a_growing_table, 0, WAYS + 1);
    TCase *poor = new_case(suite, "poor", 60);
    tcase_add_loop_test(poor, without_memory_an_insert_says_so_and_nothing_else_is_lost, 0, POOR);
    tcase_add_loop_test(poor, without_memory_a_block_taken_out_can_be_put_back, 0, POOR);
    tcase_add_test(poor, without_memory_a_replaced_block_is_said_or_stays);
    tcase_add_test(poor, without_memory_an_overlapped_block_stays);
    TCase *threads = new_case(suite, "threads", 60);
    tcase_add_loop_test(threads, threads_that_free_each_others_blocks_lose_none, 0, WAYS);
    tcase_add_loop_test(threads, a_fork_child_owns_a_copy, 0, WAYS);
    tcase_add_loop_test(
        threads, a_fork_amid_insertions_of_others_loses_no_block_that_was_there_before, 0, WAYS);
    return unit_main(argc, argv, suite);
}
