/* one_heap.h - a heap that a test lays out block by block or from a text, and one leak check of it.
 *
 * The heap is one buffer; blocks are named by their offset in it. In a text they are letters, and
 * block number i (a = 0) has 64 bytes at AT(i); tokens are separated by spaces:
 *
 *     c               blocks a, b, c exist, each of its own allocation site
 *     a->b            the next word of a points to b
 *     a->b+9  a->~b   into b; the complement of a pointer to b
 *     a.7->b          word 7 of a points to b
 *     root:b          a root word, with + and ~ as above
 *     a@2             site 2; the block's number is its serial of thread 1
 *     a#1.7.3         thread 1, serial 7, tick 3
 *     a?L             an earlier check found it lost; likewise R, P, H; I: ignored
 *     a!R             (expected) reachable; likewise P, H, L; t, d, i, h behind: TAGGED, DROPPED, IGNORED,
 *                     HEADER
 */
#ifndef TESTS_ONE_HEAP_H
#define TESTS_ONE_HEAP_H

#include "tests/unit/preload/naive_heap.h"

#define MIB (1ull << 20)
#define BUFFER (16 * MIB)

static uintptr_t buffer; /* begins a page of the index */
#define ONE_HEAP_MOST 4096

static struct block blocks[ONE_HEAP_MOST];
static enum reach_prior priors[ONE_HEAP_MOST];
static uintptr_t roots[64];
static int block_count, root_count;
static struct reach_encodings codes;
static struct reach *reach;

static inline void setup(void)
{
    char *map = mmap(NULL, BUFFER + MIB, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    buffer = round_up((uintptr_t)map, MIB);
}

static inline uintptr_t *at(uint64_t offset)
{
    return (uintptr_t *)(buffer + offset);
}

static inline void add_before(uint64_t offset, uint64_t size, enum reach_prior before)
{
    blocks[block_count] =
        (struct block){.address = buffer + offset, .size = size, .site = 1 + block_count};
    priors[block_count++] = before;
}

static inline void add(uint64_t offset, uint64_t size)
{
    add_before(offset, size, REACH_NEW);
}

static inline void root(uintptr_t word)
{
    roots[root_count++] = word;
}

/* Site, thread and serial of the block that was added last. */
static inline void made_by(uint32_t site, uint16_t thread, uint32_t count)
{
    blocks[block_count - 1].site = site;
    blocks[block_count - 1].thread = thread;
    blocks[block_count - 1].count = count;
}

static inline bool mark_within(uint64_t memory_most)
{
    reach = reach_begin(block_count, memory_most);
    if (!reach)
        return false;
    for (int i = 0; i < block_count; i++)
        reach_add_block(reach, &blocks[i], priors[i]);
    bool good = reach_build_index(reach);
    if (good)
        reach_add_root(reach, (uintptr_t)roots, (uintptr_t)(roots + root_count), 77,
                       REACH_ROOT_DATA);
    if (good && reach_mark(reach, &codes, is_vtable))
        return true;
    reach_end(reach);
    return false;
}

static inline void mark_heap(void)
{
    ck_assert(mark_within(UINT64_MAX));
}

static inline uint32_t node(uint64_t offset)
{
    for (uint32_t i = 0; i < reach_count(reach); i++)
        if (reach_block(reach, i).address == buffer + offset)
            return i;
    ck_abort_msg("no block at %#" PRIx64, offset);
}

static inline const char *verdict_name(enum leak_verdict verdict)
{
    static const char *const names[] = {"none",
#define V(name, word) word,
                                        LEAK_VERDICT_TABLE(V)
#undef V
    };
    return names[verdict];
}

static inline void expect(uint64_t offset, enum leak_verdict verdict, unsigned flags)
{
    enum leak_verdict got = reach_verdict(reach, node(offset));
    unsigned got_flags = reach_flags(reach, node(offset));
    ck_assert_msg(got == verdict && got_flags == flags,
                  "block at %#" PRIx64 ": %s, flags %u; wanted %s, flags %u", offset,
                  verdict_name(got), got_flags, verdict_name(verdict), flags);
}

#define AT(i) (72ull * (i)) /* of a text's blocks: one word apart, so none begins where one ends */

/* Reads a letter; the block and all before it exist then. */
static inline int text_block(const char **text)
{
    int block = *(*text)++ - 'a';
    ck_assert_msg(block >= 0 && block < 26, "no block: %s", *text - 1);
    while (block_count <= block)
        add(AT(block_count), 64);
    return block;
}

static inline unsigned text_number(const char **text)
{
    char *end;
    unsigned number = (unsigned)strtoul(*text + 1, &end, 10);
    *text = end;
    return number;
}

static inline uintptr_t text_pointer(const char **text)
{
    bool complement = **text == '~';
    *text += complement;
    uintptr_t word = buffer + AT(text_block(text));
    if (**text == '+')
        word += text_number(text);
    return complement ? ~word : word;
}

static inline int text_choice(const char **text, const char *letters)
{
    const char *at = strchr(letters, *(*text)++);
    ck_assert_msg(at && *at, "not one of %s: %s", letters, *text - 1);
    return (int)(at - letters);
}

static inline void lay_out(const char *text)
{
    static const enum reach_prior letters[] = {REACH_WAS_LOST, REACH_WAS_REACHABLE,
                                               REACH_WAS_POSSIBLE, REACH_WAS_HIDDEN, REACH_IGNORED};
    unsigned next_word[26] = {0};
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        if (strncmp(text, "root:", 5) == 0) {
            text += 5;
            root(text_pointer(&text));
            continue;
        }
        int i = text_block(&text);
        unsigned *word = &next_word[i];
        if (*text == '.')
            *word = text_number(&text);
        if (*text == '-') {
            text += 2;
            at(AT(i))[(*word)++] = text_pointer(&text);
        } else if (*text == '@') {
            blocks[i].site = text_number(&text);
            blocks[i].thread = 1;
            blocks[i].count = (uint32_t)i;
        } else if (*text == '#') {
            blocks[i].thread = (uint16_t)text_number(&text);
            blocks[i].count = text_number(&text);
            blocks[i].tick = text_number(&text);
        } else if (*text == '?') {
            text++;
            priors[i] = letters[text_choice(&text, "LRPHI")];
        }
        ck_assert_msg(*text == ' ' || !*text, "no token: %s", text);
    }
}

#undef HIDDEN /* base.h's; no definition here needs it */
#define REACHABLE LEAK_VERDICT_REACHABLE
#define POSSIBLE LEAK_VERDICT_POSSIBLE
#define HIDDEN LEAK_VERDICT_HIDDEN
#define LOST LEAK_VERDICT_LOST

/* "R", "Pt", ... behind the ! of a token. */
static inline void expect_text(int block, const char **text)
{
    static const enum leak_verdict verdicts[] = {REACHABLE, POSSIBLE, HIDDEN, LOST};
    static const unsigned bits[] = {LEAK_FOUND_TAGGED, LEAK_FOUND_DROPPED, LEAK_FOUND_IGNORED,
                                    LEAK_FOUND_HEADER};
    enum leak_verdict verdict = verdicts[text_choice(text, "RPHL")];
    unsigned flags = 0;
    while (**text && **text != ' ')
        flags |= bits[text_choice(text, "tdih")];
    expect(AT(block), verdict, flags);
}

static inline TCase *part(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return tcase;
}

#endif
