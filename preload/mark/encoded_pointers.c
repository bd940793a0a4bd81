/* encoded_pointers.c - decodes each word in nine ways, and tests whether a result is the address of
 * an unmarked block.
 *
 * An ordinary pointer to a marked block is also a tagged pointer with the tag 0, so most words have
 * a decoding that lies among the blocks. Usually few blocks are unmarked: a filter with one bit for
 * the hash of each of their addresses rejects nearly all words without a search in the rank index.
 * Every match is recorded as an edge of the graph, also a second pointer to the same block. */
#include "preload/mark/mark_passes.h"
#include "preload/mark/pointer_filter.h"
#include "preload/mark/prefetch_ring.h"

#define FILTER_BITS 16 /* number of bits that the filter has for each unmarked block */

struct decoder {
    struct reach *reach;
    uint64_t guard, xor_key;
    struct pointer_filter words; /* finds words that may be encoded pointers to unmarked blocks */
    uintptr_t low, span;         /* unmarked blocks begin in [low, low + span] */
    /* A word that is a pointer to an unmarked block, shifted right by 1 to 4 bits, is in
     * [shifted_low, shifted_low + shifted_span]. */
    uintptr_t shifted_low, shifted_span;
    uint64_t *filter;
    unsigned shift;
    bool roots; /* true while words of root ranges are decoded, false for words of nodes */
    struct prefetch_ring ring;
};

static bool is_unresolved(const struct mark_node *node)
{
    return !node_verdict(node) || node_verdict(node) == LEAK_VERDICT_HIDDEN;
}

static uint64_t filter_bit(const struct decoder *decoder, uintptr_t address)
{
    return (address >> 3) * 0x9e3779b97f4a7c15ull >> decoder->shift;
}

static bool make_filter(struct decoder *decoder)
{
    struct reach *reach = decoder->reach;
    uint64_t left = 0, bits = 1 << 15;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (uint32_t i = 0; i < reach->count; i++)
        if (is_unresolved(&reach->nodes[i])) {
            uintptr_t address = node_address(&reach->nodes[i]);
            low = left++ ? low : address;
            high = address;
        }
    decoder->low = low;
    decoder->span = high - low;
    decoder->shifted_low = low >> 4;
    decoder->shifted_span = (high >> 1) - (low >> 4);
    decoder->words = pointer_filter_make(low, high - low, decoder->guard, decoder->xor_key);
    for (decoder->shift = 64 - 15; bits < left * FILTER_BITS; bits *= 2)
        decoder->shift--;
    decoder->filter = scan_arena_map(&reach->arena, bits / 64, sizeof *decoder->filter);
    for (uint32_t i = 0; decoder->filter && i < reach->count; i++)
        if (is_unresolved(&reach->nodes[i])) {
            uint64_t bit = filter_bit(decoder, node_address(&reach->nodes[i]));
            decoder->filter[bit / 64] |= 1ull << bit % 64;
        }
    return decoder->filter;
}

/* ---- Decoding one word ----------------------------------------------------------------------- */

static COLD void accept_match(struct decoder *decoder, uintptr_t address, uint32_t from,
                              uint32_t at)
{
    struct reach *reach = decoder->reach;
    uint32_t number = rank_index_rank(&reach->index, address) - 1;
    struct mark_node *node = &reach->nodes[number];
    if (number == NODE_NONE || node_address(node) != address || !is_unresolved(node))
        return;
    if (!node_verdict(node)) {
        if (decoder->roots)
            node_set_root(reach, number, from, at);
        else
            node_set_parent(reach, number, from, at);
        node_mark(reach, number, LEAK_VERDICT_HIDDEN, 0);
    }
    struct encoded_edge *edge = scan_array_push(&reach->arena, &reach->encoded_edges, sizeof *edge);
    if (edge)
        *edge = (struct encoded_edge){.from = decoder->roots ? reach->count : from, .to = number};
    else
        reach->failed = true;
}

static ALWAYS_INLINE bool is_in_span(const struct decoder *decoder, uintptr_t form)
{
    return form - decoder->low <= decoder->span;
}

/* Follows a decoded address, which lies between the lowest and the highest unmarked block: an
 * unmarked block that begins there becomes hidden. */
static ALWAYS_INLINE void test_form(struct decoder *decoder, uintptr_t form, uint32_t from,
                                    uint32_t at)
{
    uint64_t bit = filter_bit(decoder, form);
    if (unlikely(decoder->filter[bit / 64] >> bit % 64 & 1))
        accept_match(decoder, form, from, at);
}

static NOINLINE void test_shifted(struct decoder *decoder, uintptr_t word, uint32_t from,
                                  uint32_t at)
{
    for (unsigned k = 1; k <= 4; k++)
        if (!(word >> ((WORD == 8 ? 48 : 32) - k)) && is_in_span(decoder, word << k))
            test_form(decoder, word << k, from, at);
}

/* Follows the address in each decoding of a word. Few words are in the range of shifted pointers:
 * ordinary pointers are too large. */
static ALWAYS_INLINE void decode_word(struct decoder *decoder, uintptr_t word, uint32_t from,
                                      uint32_t at)
{
    uintptr_t untagged = word & 0xfffffffffff0;
    uintptr_t rotated = WORD == 8 ? word >> 17 | word << (8 * WORD - 17) : word >> 9 | word << 23;
    if (is_in_span(decoder, untagged))
        test_form(decoder, untagged, from, at);
    /* Bit 3 may also belong to the address, of a block at an odd multiple of 8: then the tag is in
     * the low three bits. */
    if (word & 8 && is_in_span(decoder, untagged | 8))
        test_form(decoder, untagged | 8, from, at);
    if (unlikely(word - decoder->shifted_low <= decoder->shifted_span))
        test_shifted(decoder, word, from, at);
    if (is_in_span(decoder, ~word))
        test_form(decoder, ~word, from, at);
    if (decoder->guard && is_in_span(decoder, rotated ^ decoder->guard))
        test_form(decoder, rotated ^ decoder->guard, from, at);
    if (decoder->xor_key && is_in_span(decoder, word ^ decoder->xor_key))
        test_form(decoder, word ^ decoder->xor_key, from, at);
}

static void decode_words(struct decoder *decoder, const uintptr_t *words, uint64_t count,
                         uint64_t first_at, uint32_t from)
{
    for (uint64_t i = 0; i < count; i += 4) {
        unsigned some = count - i < 4 ? count - i : 4;
        ring_prefetch_words(words, i, count);
        if (pointer_filter_test(&decoder->words, words + i, some) & POINTER_FILTER_ENCODED)
            for (unsigned k = 0; k < some; k++)
                decode_word(decoder, words[i + k], from, node_word_index(first_at + i + k));
    }
}

static void decode_node(struct decoder *decoder, uint32_t number)
{
    struct node_words words = node_words_first(decoder->reach, number);
    do
        decode_words(decoder, words.at, words.count, words.first, number);
    while (node_words_next(decoder->reach, number, &words));
}

/* ---- Decoding all words ---------------------------------------------------------------------- */

static void visit_plain(void *context, uintptr_t pointer UNUSED, uint32_t number, uint32_t from,
                        uint32_t at)
{
    struct decoder *decoder = context;
    node_record_edge(decoder->reach, from, number);
    if (node_verdict(&decoder->reach->nodes[number]))
        return;
    node_set_parent(decoder->reach, number, from, at);
    node_mark(decoder->reach, number, LEAK_VERDICT_HIDDEN, 0);
}

static void spread_hidden(struct decoder *decoder)
{
    struct reach *reach = decoder->reach;
    while (reach->head < reach->tail) {
        uint32_t number = reach->queue[reach->head++];
        ring_scan_node(&decoder->ring, reach, number, number, visit_plain, decoder);
        ring_push_outer(&decoder->ring, reach, number, number, visit_plain, decoder);
        ring_drain(&decoder->ring, reach, visit_plain, decoder);
        decode_node(decoder, number);
    }
}

bool encoded_pointers_find(struct reach *reach, uint64_t guard, uint64_t xor_key)
{
    struct decoder decoder = {.reach = reach, .guard = guard, .xor_key = xor_key};
    const struct root_range *roots = reach->ranges.at;
    decoder.ring.row = (const char *)reach->links;
    decoder.ring.row_size = sizeof *reach->links;
    if (!make_filter(&decoder))
        return false;
    decoder.roots = true;
    for (uint32_t i = 0; i < reach->ranges.count; i++)
        decode_words(&decoder, (const uintptr_t *)roots[i].start, roots[i].words, 0, i);
    decoder.roots = false;
    for (uint32_t i = 0; i < reach->count; i++) {
        const struct mark_node *node = &reach->nodes[i];
        if (node_verdict(node) >= LEAK_VERDICT_POSSIBLE &&
            node_verdict(node) != LEAK_VERDICT_HIDDEN && !(node_state(node) & NODE_NO_ENCODED))
            decode_node(&decoder, i);
    }
    spread_hidden(&decoder);
    scan_arena_unmap(&reach->arena, decoder.filter);
    return !reach->failed;
}
