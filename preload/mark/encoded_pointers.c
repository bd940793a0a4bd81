/* encoded_pointers.c - each word in nine forms, against a filter of the few that are left.
 *
 * A plain pointer to a marked block is also a tagged one with no tag, so most words have a form
 * that lies among the blocks. What is left is usually little: a bit for the hash of each address
 * tells nearly all of them apart without a look at the index. Every match is noted, the second
 * pointer to a block too: they are edges of the graph.
 */
#include "preload/mark/encoded_pointers.h"
#include "preload/mark/pointer_filter.h"
#include "preload/mark/prefetch_ring.h"

#define FILTER_BITS 16 /* for each block that is left */

struct decoder {
    struct reach *reach;
    uint64_t guard, xor;
    struct disguise is;  /* of what is left */
    uintptr_t low, span; /* starts of what is left: low .. low + span */
    /* The same of words that mean them without their lowest bits, one to four. */
    uintptr_t shifted_low, shifted_span;
    uint64_t *filter;
    unsigned shift;
    bool roots; /* "from" is a range of roots */
    struct ring ring;
};

static bool is_left(const struct node *node)
{
    return !node_verdict(node) || node_verdict(node) == LEAK_VERDICT_HIDDEN;
}

static uint64_t hash(const struct decoder *decoder, uintptr_t address)
{
    return (address >> 3) * 0x9e3779b97f4a7c15ull >> decoder->shift;
}

static bool make_filter(struct decoder *decoder)
{
    struct reach *reach = decoder->reach;
    uint64_t left = 0, bits = 1 << 15;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (uint32_t i = 0; i < reach->count; i++)
        if (is_left(&reach->nodes[i])) {
            uintptr_t address = reach->nodes[i].address;
            low = left++ ? low : address;
            high = address;
        }
    decoder->low = low;
    decoder->span = high - low;
    decoder->shifted_low = low >> 4;
    decoder->shifted_span = (high >> 1) - (low >> 4);
    decoder->is = disguise_of(low, high - low, decoder->guard, decoder->xor);
    for (decoder->shift = 64 - 15; bits < left * FILTER_BITS; bits *= 2)
        decoder->shift--;
    decoder->filter = room_map(&reach->room, bits / 64, sizeof *decoder->filter);
    for (uint32_t i = 0; decoder->filter && i < reach->count; i++)
        if (is_left(&reach->nodes[i])) {
            uint64_t bit = hash(decoder, reach->nodes[i].address);
            decoder->filter[bit / 64] |= 1ull << bit % 64;
        }
    return decoder->filter;
}

/* ---- One word ------------------------------------------------------------------------------- */

static COLD void match(struct decoder *decoder, uintptr_t address, uint32_t from, uint32_t at)
{
    struct reach *reach = decoder->reach;
    uint32_t number = places_rank_of(&reach->places, address) - 1;
    struct node *node = &reach->nodes[number];
    if (number == NOBODY || node->address != address || !is_left(node))
        return;
    if (!node_verdict(node)) {
        if (decoder->roots)
            node_link_root(reach, number, from, at);
        else
            node_link(reach, number, from, at);
        node_put(reach, number, LEAK_VERDICT_HIDDEN, 0);
    }
    struct decoded *edge = pile_add(&reach->room, &reach->decodings, sizeof *edge);
    if (edge)
        *edge = (struct decoded){.from = decoder->roots ? reach->count : from, .to = number};
    else
        reach->failed = true;
}

static ALWAYS_INLINE bool is_among(const struct decoder *decoder, uintptr_t form)
{
    return form - decoder->low <= decoder->span;
}

/* A form that lies among them: is it one of them? */
static ALWAYS_INLINE void look_up(struct decoder *decoder, uintptr_t form, uint32_t from,
                                  uint32_t at)
{
    uint64_t bit = hash(decoder, form);
    if (unlikely(decoder->filter[bit / 64] >> bit % 64 & 1))
        match(decoder, form, from, at);
}

static NOINLINE void look_up_shifted(struct decoder *decoder, uintptr_t word, uint32_t from,
                                     uint32_t at)
{
    for (unsigned k = 1; k <= 4; k++)
        if (!(word >> (48 - k)) && is_among(decoder, word << k))
            look_up(decoder, word << k, from, at);
}

/* Most words are plain pointers to somewhere: they have a form without a tag, and are too large for
 * a shift. */
static ALWAYS_INLINE void decode_word(struct decoder *decoder, uintptr_t word, uint32_t from,
                                      uint32_t at)
{
    uintptr_t untagged = word & 0xfffffffffff0, rotated = word >> 17 | word << 47;
    if (is_among(decoder, untagged))
        look_up(decoder, untagged, from, at);
    if (word & 8 && is_among(decoder, untagged | 8)) /* aligned to 8, with a tag of three bits */
        look_up(decoder, untagged | 8, from, at);
    if (unlikely(word - decoder->shifted_low <= decoder->shifted_span))
        look_up_shifted(decoder, word, from, at);
    if (is_among(decoder, ~word))
        look_up(decoder, ~word, from, at);
    if (decoder->guard && is_among(decoder, rotated ^ decoder->guard))
        look_up(decoder, rotated ^ decoder->guard, from, at);
    if (decoder->xor &&is_among(decoder, word ^ decoder->xor))
        look_up(decoder, word ^ decoder->xor, from, at);
}

static void decode_words(struct decoder *decoder, const uintptr_t *words, uint64_t count,
                         uint64_t first_at, uint32_t from)
{
    for (uint64_t i = 0; i < count; i += 4) {
        unsigned some = count - i < 4 ? count - i : 4;
        ring_fetch_ahead(words, i, count);
        if (disguise_of_words(&decoder->is, words + i, some) & DISGUISE_OTHER)
            for (unsigned k = 0; k < some; k++)
                decode_word(decoder, words[i + k], from, node_at(first_at + i + k));
    }
}

static void decode_node(struct decoder *decoder, uint32_t number)
{
    struct node_words words = node_words(decoder->reach, number);
    do
        decode_words(decoder, words.at, words.count, words.first, number);
    while (node_words_next(decoder->reach, number, &words));
}

/* ---- All words ------------------------------------------------------------------------------ */

static void met_plainly(void *context, uintptr_t pointer UNUSED, uint32_t number, uint32_t from,
                        uint32_t at)
{
    struct decoder *decoder = context;
    if (node_verdict(&decoder->reach->nodes[number]))
        return;
    node_link(decoder->reach, number, from, at);
    node_put(decoder->reach, number, LEAK_VERDICT_HIDDEN, 0);
}

static void spread(struct decoder *decoder)
{
    struct reach *reach = decoder->reach;
    while (reach->head < reach->tail) {
        uint32_t number = reach->queue[reach->head++];
        ring_scan_node(&decoder->ring, reach, number, number, met_plainly, decoder);
        ring_put_outer(&decoder->ring, reach, number, number, met_plainly, decoder);
        ring_drain(&decoder->ring, reach, met_plainly, decoder);
        decode_node(decoder, number);
    }
}

bool decode_hidden(struct reach *reach, uint64_t guard, uint64_t xor)
{
    struct decoder decoder = {.reach = reach, .guard = guard, .xor = xor};
    const struct root_range *roots = reach->ranges.at;
    decoder.ring.beside = (const char *)reach->links;
    decoder.ring.beside_each = sizeof *reach->links;
    if (!make_filter(&decoder))
        return false;
    decoder.roots = true;
    for (uint32_t i = 0; i < reach->ranges.count; i++)
        decode_words(&decoder, (const uintptr_t *)roots[i].start, roots[i].words, 0, i);
    decoder.roots = false;
    for (uint32_t i = 0; i < reach->count; i++) {
        const struct node *node = &reach->nodes[i];
        if (node_verdict(node) >= LEAK_VERDICT_POSSIBLE &&
            node_verdict(node) != LEAK_VERDICT_HIDDEN && !(node_state(node) & NODE_BARE))
            decode_node(&decoder, i);
    }
    spread(&decoder);
    room_unmap(&reach->room, decoder.filter);
    return !reach->failed;
}
