/* test_header_idioms.c - blocks that are always held behind a header are reachable, each rule beside
 * its opposite.
 */
#include "tests/unit/preload/one_heap.h"

/* The two innermost frames of site n: n / 10 and n / 100; no site shares the outer ones. */
static unsigned callers_of(uint32_t site, uint64_t *pcs, unsigned most)
{
    uint64_t all[] = {site / 100 + 1, site / 10 + 1000, site + 100000};
    unsigned count = most < ARRAY_LENGTH(all) ? most : ARRAY_LENGTH(all);
    memcpy(pcs, all, count * sizeof *pcs);
    return count;
}

/* In these rows block d is a type of Python, and an object behind a header of 16 or 32 bytes has it in
 * its second word. */
static bool is_typed_object(uintptr_t block, uint64_t offset, uint64_t size)
{
    return (offset == 16 || offset == 32) && offset + 16 <= size &&
           *(const uintptr_t *)(block + offset + 8) == buffer + AT(3);
}

/* In these rows the innermost frame of sites 301 to 309 is one of the C library. */
static bool is_in_libc(uintptr_t pc)
{
    return pc == 300 / 100 + 1;
}

static void mark_with_idioms(void)
{
    reach = reach_begin(block_count, UINT64_MAX);
    for (int i = 0; i < block_count; i++)
        reach_add_block(reach, &blocks[i], priors[i]);
    ck_assert(reach_build_index(reach));
    reach_add_root(reach, (uintptr_t)roots, (uintptr_t)(roots + root_count), 77, REACH_ROOT_DATA);
    reach_find_idioms(reach,
                      &(struct reach_idiom_questions){callers_of, is_typed_object, is_in_libc});
    ck_assert(reach_mark(reach, &codes, is_vtable));
}

/* Sites of one function: 101 to 109; of another one: 111, 211. */
static const struct {
    const char *name, *heap, *expected;
} rows[] = {
    {"two blocks of a site at one offset", "a@1 b@1 root:a+16 root:b+16", "a!Rh b!Rh"},
    {"one block alone proves nothing", "a@1 root:a+16", "a!P"},
    {"two at different offsets prove nothing", "a@1 b@1 root:a+16 root:b+24", "a!P b!P"},
    {"what such blocks hold is reachable", "a@1 b@1 c@2 root:a+16 root:b+16 a->c", "a!Rh b!Rh c!R"},
    {"what a block held otherwise holds is possible", "a@1 b@2 root:a+16 a->b", "a!P b!P"},
    {"a lost block of the site stays lost", "a@1 b@1 c@1 root:a+16 root:b+16", "a!Rh b!Rh c!L"},
    {"blocks held at their start outweigh it",
     "a@1 b@1 c@1 d@1 e@1 root:a+16 root:b+16 root:c root:d root:e", "a!P b!P c!R d!R e!R"},
    {"as many do not", "a@1 b@1 c@1 d@1 root:a+16 root:b+16 root:c root:d", "a!Rh b!Rh c!R d!R"},
    {"one in four may be held elsewhere, and is possible",
     "a@1 b@1 c@1 d@1 root:a+16 root:b+16 root:c+16 root:d+24", "a!Rh b!Rh c!Rh d!P"},
    {"one in three may not", "a@1 b@1 c@1 root:a+16 root:b+16 root:c+24", "a!P b!P c!P"},
    {"the lowest pointer of a block counts", "a@1 b@1 root:a+40 root:a+16 root:b+16 root:b+48",
     "a!Rh b!Rh"},
    {"the end of a block is no header", "a@1 b@1 root:a+64 root:b+64", "a!P b!P"},
    {"sites of one function, one block each", "a@101 b@102 c@103 root:a+16 root:b+16 root:c+16",
     "a!Rh b!Rh c!Rh"},
    {"two of them are too few", "a@101 b@102 root:a+16 root:b+16", "a!P b!P"},
    {"sites of another function do not count", "a@101 b@111 c@211 root:a+16 root:b+16 root:c+16",
     "a!P b!P c!P"},
    {"a list of which each links the next behind its header",
     "a@1 b@1 c@1 root:a+16 a.2->b+16 b.2->c+16", "a!Rh b!Rh c!Rh"},
    {"a list of links held by a lost block is lost", "a@1 b@1 c@1 d@2 d->a+16 a.2->b+16 b.2->c+16",
     "a!L b!L c!L d!L"},
    {"a footer, however the parts before it are held",
     "a@1 b@1 c@1 root:a+8 root:a+48 root:b+16 root:b+48 root:c+24 root:c+48", "a!Rh b!Rh c!Rh"},
    {"an unaligned end is no footer",
     "a@1 b@1 c@1 root:a+8 root:a+63 root:b+16 root:b+63 root:c+24 root:c+63", "a!P b!P c!P"},
    {"a footer that blocks held at their start have, too",
     "a@1 b@1 c@1 d@1 root:a root:a+48 root:b root:b+48 root:c root:c+48 root:d+24 root:d+48",
     "a!R b!R c!R d!Rh"},
    {"a footer that one of them has not",
     "a@1 b@1 c@1 d@1 root:a root:a+48 root:b root:b+48 root:c root:d+24 root:d+48",
     "a!R b!R c!R d!Rh"},
    {"a footer that half of them have",
     "a@1 b@1 c@1 d@1 root:a root:a+48 root:b root:c root:d+24 root:d+48", "a!R b!R c!R d!P"},
    {"a slab without a pointer to its footer",
     "a@1 b@1 c@1 d@1 root:a root:a+48 root:b root:b+48 root:c root:c+48 root:d+24",
     "a!R b!R c!R d!P"},
    {"a place in the middle that all have",
     "a@1 b@1 c@1 d@1 root:a root:a+20 root:b root:b+20 root:c root:c+20 root:d+20",
     "a!R b!R c!R d!P"},
    {"a tag that all pointers have", "a@1 b@1 root:a+1 root:b+1", "a!Rh b!Rh"},
    {"a tag of one pointer", "a@1 root:a+1", "a!Pt"},
    {"tagged links between sites of one function", "a@101 b@102 c@103 root:a a.1->b+1 b.1->c+1",
     "a!R b!Rh c!Rh"},
    {"one such link proves nothing", "a@101 b@102 root:a a.1->b+1", "a!R b!Pt"},
    {"tagged links between sites of two functions", "a@101 b@211 c@101 root:a a.1->b+1 b.1->c+1",
     "a!R b!Pt c!Pt"},
    {"tagged pointers from elsewhere to sites of one function", "a@101 b@102 root:a+1 root:b+1",
     "a!Pt b!Pt"},
    {"one tagged link between blocks of the C library", "a@301 b@302 root:a a.1->b+1", "a!R b!Rh"},
    {"a text of the C library from its second character on", "a@301 b@302 root:a root:b+1",
     "a!R b!Pt"},
    {"a block held behind its header counts as held inside",
     "a@1 b@1 c@1 d@2 root:a+16 root:d a.3->d root:b+24 root:c+24", "a!Rh b!P c!P d!R"},
    {"blocks held behind their header do not outweigh others of their site",
     "a@1 b@1 c@1 d@2 e@1 f@1 root:d root:a+16 a.3->d root:b+16 b.3->d root:c+16 c.3->d root:e+24 "
     "root:f+24",
     "a!Rh b!Rh c!Rh e!Rh f!Rh"},
    {"an object of Python behind its collector's header", "a@1 d@2 root:a+16 root:d a.2->b a.3->d",
     "a!Rh b!R d!R"},
    {"and behind two words of attributes", "a@1 d@2 root:a+32 root:d a.4->b a.5->d",
     "a!Rh b!R d!R"},
    {"an object of Python in a list of free ones", "a@1 d@2 root:a+16 root:d a.3->d", "a!Rh d!R"},
    {"an object with another type is none of Python", "a@1 d@2 root:a+16 root:d a.2->d a.3->b",
     "a!P b!P d!R"},
    {"an object of Python behind another header", "a@1 d@2 root:a+24 root:d a.3->b a.4->d",
     "a!P b!P d!R"},
    {"a lost object of Python", "a@1 d@2 root:d a.2->b a.3->d", "a!L b!L d!R"},
    {"what was reachable behind its header and still is was not dropped",
     "a@1 b@1 a?R b?R root:a+16 root:b+16", "a!Rh b!Rh"},
};

START_TEST(a_small_heap_is_marked)
{
    lay_out(rows[_i].heap);
    mark_with_idioms();
    for (const char *text = rows[_i].expected; *text; text += strspn(text, " ")) {
        int block = text_block(&text);
        text++;
        expect_text(block, &text);
    }
}
END_TEST

START_TEST(without_the_option_all_are_possible)
{
    lay_out("a@1 b@1 root:a+16 root:b+16");
    mark_heap();
    expect(AT(0), POSSIBLE, 0);
    expect(AT(1), POSSIBLE, 0);
}
END_TEST

START_TEST(the_lowest_pointer_is_told)
{
    lay_out("a@1 b@1 root:a+40 root:a+16 root:b+16");
    mark_with_idioms();
    ck_assert_uint_eq(reach_pointer_offset(reach, node(AT(0))), 16);
    ck_assert_uint_eq(reach_pointer_offset(reach, node(AT(1))), 16);
}
END_TEST

/* ---- Aligned starts -------------------------------------------------------------------------- */

/* Blocks of 256 bytes and one site, at these addresses modulo 64, held at these offsets. */
static const struct {
    const char *name;
    struct {
        uint64_t at, offset;
    } block[5];
    enum leak_verdict verdict;
} aligned[] = {
    {"four at the first multiple of 64", {{16, 48}, {32, 32}, {48, 16}, {0, 64}}, REACHABLE},
    {"three are too few for 64", {{16, 48}, {32, 32}, {48, 16}}, POSSIBLE},
    {"the second multiple is none",
     {{16, 48 + 128}, {32, 32 + 64}, {48, 16 + 192}, {0, 128}},
     POSSIBLE},
    {"four multiples of 16", {{16, 16}, {32, 32}, {48, 48}, {0, 64}}, POSSIBLE},
};

START_TEST(the_first_aligned_address_is_a_start_if_blocks_agree)
{
    for (int i = 0; i < 5 && aligned[_i].block[i].offset; i++) {
        uint64_t offset = 512 * i + aligned[_i].block[i].at;
        add(offset, 256);
        made_by(1, 1, i);
        root(buffer + offset + aligned[_i].block[i].offset);
    }
    mark_with_idioms();
    for (uint32_t i = 0; i < reach_count(reach); i++)
        ck_assert_msg(reach_verdict(reach, i) == aligned[_i].verdict, "%s: block %u: %s",
                      aligned[_i].name, i, verdict_name(reach_verdict(reach, i)));
}
END_TEST

/* One block of 256 bytes at 16 modulo 64: the pointer, and up to two words that hold its start. */
static const struct {
    const char *name;
    uint64_t offset, word[2];
    enum leak_verdict verdict;
} starts[] = {
    {"the start stands in front", 48, {40}, REACHABLE},
    {"nothing does", 48, {0}, POSSIBLE},
    {"it stands elsewhere in front", 48, {32}, POSSIBLE},
    {"in front of no aligned address", 56, {48}, POSSIBLE},
    {"a list head without members", 48, {32, 40}, POSSIBLE},
    {"the object on a cache line keeps it", 48, {104}, REACHABLE},
    {"an object elsewhere keeps it", 32, {104}, POSSIBLE},
};

START_TEST(an_aligned_address_that_keeps_the_start_is_one)
{
    add(16, 256);
    for (int i = 0; i < 2 && starts[_i].word[i]; i++)
        *at(16 + starts[_i].word[i]) = buffer + 16;
    root(buffer + 16 + starts[_i].offset);
    mark_with_idioms();
    expect(16, starts[_i].verdict, starts[_i].verdict == REACHABLE ? LEAK_FOUND_HEADER : 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("header_idioms");
    TCase *tcase = part(suite, "rows");
    tcase_add_loop_test(tcase, a_small_heap_is_marked, 0, ARRAY_LENGTH(rows));
    tcase_add_test(tcase, without_the_option_all_are_possible);
    tcase_add_test(tcase, the_lowest_pointer_is_told);
    tcase = part(suite, "aligned");
    tcase_add_loop_test(tcase, the_first_aligned_address_is_a_start_if_blocks_agree, 0,
                        ARRAY_LENGTH(aligned));
    tcase_add_loop_test(tcase, an_aligned_address_that_keeps_the_start_is_one, 0,
                        ARRAY_LENGTH(starts));
    return unit_main(argc, argv, suite);
}
