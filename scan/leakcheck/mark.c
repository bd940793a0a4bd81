/* mark.c - marks the blocks that roots reach, in passes. */
#include "scan/leakcheck/mark.h"

#include <stdlib.h>
#include <string.h>

#include "scan/leakcheck/containers.h"
#include "scan/image/registers.h"

#define UNMARKED VERDICT_MAX
#define FRAMES_OF_MALLOC 512 /* bytes of the stack that frames of malloc may take */

/* The passes, which differ in what a word that points to a block means. */
enum pass { PASS_REACHABLE, PASS_POSSIBLE, PASS_HIDDEN };

static void mark_block(struct marking *marking, uint32_t number, enum verdict verdict)
{
    marking->verdict[number] = (uint8_t)verdict;
    marking->queue = array_grow(marking->queue, &marking->queue_capacity, marking->queued + 1,
                                sizeof(*marking->queue));
    marking->queue[marking->queued++] = number;
}

/* Returns the number of the unmarked block that an address refers to; CHUNK_NONE: none. */
static uint32_t find_unmarked(const struct marking *marking, uint64_t address)
{
    const struct heap_map *chunks = &marking->heap->chunks;
    uint32_t number;

    if (address - chunks->low > chunks->high - chunks->low)
        return CHUNK_NONE;
    number = heap_map_find(chunks, address);
    return number != CHUNK_NONE && marking->verdict[number] == UNMARKED &&
                   mark_is_block(marking, number)
               ? number
               : CHUNK_NONE;
}

static bool is_held(const struct marking *marking, uint32_t number, uint64_t offset)
{
    const struct heap_map *chunks = &marking->heap->chunks;
    struct container_place place = {
        .address = heap_map_block(chunks, number), .offset = offset, .word = chunks->word};

    if (!offset)
        return true;
    place.size = heap_map_block_size(chunks, number);
    place.bytes = heap_map_block_bytes(chunks, number);
    return container_is_held(marking->objects, &place);
}

/* ---- Reachable and possibly lost blocks ------------------------------------------------------ */

/* Says whether a pointer is a link with a color or a flag in its low bits, as in the trees of
 * tsearch. Then it leads from a block to another of the same size. */
static bool is_tagged_link(const struct marking *marking, uint32_t from, uint32_t to,
                           uint64_t offset)
{
    const struct chunk *chunks = marking->heap->chunks.chunk;

    return from != CHUNK_NONE && offset < marking->heap->chunks.word &&
           chunk_size(&chunks[from]) == chunk_size(&chunks[to]);
}

/* Marks the block that a word points to. from: the block that contains the word; CHUNK_NONE: a root
 * contains it. starts_only: only a pointer to the start of a block counts. */
static void take_word(struct marking *marking, uint64_t word, uint32_t from, enum pass pass,
                      bool starts_only)
{
    uint32_t number = find_unmarked(marking, word);
    uint64_t offset;

    if (number == CHUNK_NONE)
        return;
    offset = word - heap_map_block(&marking->heap->chunks, number);
    if (pass != PASS_REACHABLE)
        mark_block(marking, number, pass == PASS_POSSIBLE ? VERDICT_POSSIBLE : VERDICT_HIDDEN);
    else if (offset && starts_only)
        return;
    else if (is_tagged_link(marking, from, number, offset) || is_held(marking, number, offset))
        mark_block(marking, number, VERDICT_REACHABLE);
    else
        marking->inside[number] = 1;
}

static void take_words(struct marking *marking, uint32_t from, enum pass pass)
{
    const uint8_t *bytes = heap_map_block_bytes(&marking->heap->chunks, from);
    uint64_t size = heap_map_block_size(&marking->heap->chunks, from);
    unsigned width = marking->heap->chunks.word;

    for (uint64_t at = 0; at + width <= size; at += width)
        take_word(marking, image_word(bytes + at, width), from, pass, false);
}

static void spread(struct marking *marking, enum pass pass)
{
    while (marking->queued) {
        uint32_t number = marking->queue[--marking->queued];

        take_words(marking, number, pass);
    }
}

static void visit_root(void *context, const uint64_t *words, size_t count, bool starts_only)
{
    struct marking *marking = context;

    for (size_t i = 0; i < count; i++)
        if (words[i])
            take_word(marking, words[i], CHUNK_NONE, PASS_REACHABLE, starts_only);
    spread(marking, PASS_REACHABLE);
}

/* ---- The verdicts of the first examination of the process ------------------------------------ */

static bool earlier_is_below(const void *item, const void *key)
{
    return ((const struct earlier_verdict *)item)->address < *(const uint64_t *)key;
}

/* Returns the verdict that the first examination of the process found for a block.
 * VERDICT_REACHABLE also for a block that did not exist then, or had another size. */
static enum verdict earlier_verdict(const struct earlier_verdicts *earlier, uint64_t address,
                                    uint64_t size)
{
    size_t i = array_lower_bound(earlier->block, earlier->count, sizeof(*earlier->block),
                                 earlier_is_below, &address);

    return i < earlier->count && earlier->block[i].address == address &&
                   earlier->block[i].size == size
               ? earlier->block[i].verdict
               : VERDICT_REACHABLE;
}

/* Gives blocks that had this verdict in the first examination of the process the same verdict now,
 * if they have none yet. */
static void apply_earlier(struct marking *marking, const struct earlier_verdicts *earlier,
                          enum verdict verdict, enum pass pass)
{
    const struct heap_map *chunks = &marking->heap->chunks;

    for (uint32_t i = 0; earlier && i < chunks->count; i++)
        if (marking->verdict[i] == UNMARKED && mark_is_block(marking, i) &&
            earlier_verdict(earlier, heap_map_block(chunks, i), chunk_size(&chunks->chunk[i])) ==
                verdict) {
            mark_block(marking, i, verdict);
            spread(marking, pass);
        }
}

void mark_remember(const struct marking *marking, struct earlier_verdicts *earlier)
{
    const struct heap_map *chunks = &marking->heap->chunks;

    for (uint32_t i = 0; i < chunks->count; i++) {
        if (marking->verdict[i] == VERDICT_REACHABLE || !mark_is_block(marking, i))
            continue;
        earlier->block = array_grow(earlier->block, &earlier->capacity, earlier->count + 1,
                                    sizeof(*earlier->block));
        earlier->block[earlier->count++] =
            (struct earlier_verdict){.address = heap_map_block(chunks, i),
                                     .size = chunk_size(&chunks->chunk[i]),
                                     .verdict = marking->verdict[i]};
    }
}

void mark_forget(struct earlier_verdicts *earlier)
{
    free(earlier->block);
    *earlier = (struct earlier_verdicts){0};
}

/* ---- Hidden blocks --------------------------------------------------------------------------- */

static void take_form(struct marking *marking, uint64_t form)
{
    uint32_t number = find_unmarked(marking, form);

    if (number != CHUNK_NONE && heap_map_block(&marking->heap->chunks, number) == form)
        mark_block(marking, number, VERDICT_HIDDEN);
}

static void decode_word(struct marking *marking, uint64_t word)
{
    bool narrow = marking->heap->chunks.word == 4;
    unsigned bits = narrow ? 32 : 48; /* bits of an address */
    uint64_t rotated = narrow ? (uint32_t)(word >> 9 | word << 23) : word >> 17 | word << 47;

    take_form(marking, word & 0xfffffffffff0);
    for (unsigned k = 1; k <= 4; k++)
        if (!(word >> (bits - k)))
            take_form(marking, word << k);
    take_form(marking, narrow ? (uint32_t)~word : ~word);
    if (marking->guard)
        take_form(marking, rotated ^ marking->guard);
}

static void decode_words(void *context, const uint64_t *words, size_t count, bool starts_only)
{
    (void)starts_only;
    for (size_t i = 0; i < count; i++)
        if (words[i])
            decode_word(context, words[i]);
}

static void decode_block(struct marking *marking, uint32_t number)
{
    const uint8_t *bytes = heap_map_block_bytes(&marking->heap->chunks, number);
    uint64_t size = heap_map_block_size(&marking->heap->chunks, number);
    unsigned width = marking->heap->chunks.word;

    for (uint64_t at = 0; at + width <= size; at += width) {
        uint64_t word = image_word(bytes + at, width);

        if (word)
            decode_word(marking, word);
    }
}

/* Marks as hidden all blocks that hidden blocks lead to, by plain or encoded pointers. */
static void spread_hidden(struct marking *marking)
{
    while (marking->queued) {
        uint32_t number = marking->queue[--marking->queued];

        take_words(marking, number, PASS_HIDDEN);
        decode_block(marking, number);
    }
}

static bool some_unmarked(const struct marking *marking)
{
    for (uint32_t i = 0; i < marking->heap->chunks.count; i++)
        if (marking->verdict[i] == UNMARKED && mark_is_block(marking, i))
            return true;
    return false;
}

static void find_hidden(struct marking *marking, const struct roots *roots)
{
    if (!some_unmarked(marking))
        return;
    roots_each(roots, decode_words, marking);
    for (uint32_t i = 0; i < marking->heap->chunks.count; i++)
        if (marking->verdict[i] == VERDICT_REACHABLE || marking->verdict[i] == VERDICT_POSSIBLE)
            decode_block(marking, i);
    spread_hidden(marking);
}

/* ---- The passes in their order --------------------------------------------------------------- */

static uint64_t read_guard(struct image *image)
{
    uint64_t guard = 0;

    if (registers_guard(image->word) && image->thread_count && image->threads[0].tls)
        image_read_word(image, image->threads[0].tls + registers_guard(image->word), &guard);
    return guard;
}

/* Marks the table of each thread's TLS blocks, to which the C library has only a pointer behind
 * its first entry. */
static void take_thread_tables(struct marking *marking, struct image *image)
{
    for (size_t i = 0; i < image->thread_count; i++) {
        uint64_t table;

        if (image->threads[i].tls &&
            image_read_word(image, image->threads[i].tls + registers_dtv(image->word), &table))
            take_word(marking, table - 2 * image->word, CHUNK_NONE, PASS_REACHABLE, true);
    }
    spread(marking, PASS_REACHABLE);
}

/* Marks blocks whose chunk a word points to: a thread that was stopped in malloc or free has the
 * address of the chunk, but not yet or no longer that of the block. */
static void take_chunks(struct marking *marking, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (heap_map_at(&marking->heap->chunks, words[i]) != CHUNK_NONE)
            take_word(marking, words[i] + heap_map_header(&marking->heap->chunks), CHUNK_NONE,
                      PASS_REACHABLE, true);
}

static void take_chunks_in_hand(struct marking *marking, struct image *image)
{
    uint64_t frames[FRAMES_OF_MALLOC / 4];

    for (size_t i = 0; i < image->thread_count; i++) {
        const struct image_thread *thread = &image->threads[i];

        if (thread->waits)
            continue;
        take_chunks(marking, thread->words, thread->word_count);
        image_read(image, thread->sp & -(uint64_t)image->word, frames, FRAMES_OF_MALLOC);
        take_chunks(marking, frames, image_widen(image, frames, FRAMES_OF_MALLOC));
    }
    spread(marking, PASS_REACHABLE);
}

static void find_possible(struct marking *marking)
{
    for (uint32_t i = 0; i < marking->heap->chunks.count; i++)
        if (marking->inside[i] && marking->verdict[i] == UNMARKED) {
            mark_block(marking, i, VERDICT_POSSIBLE);
            spread(marking, PASS_POSSIBLE);
        }
}

bool mark_run(struct marking *marking, struct objects *objects, struct glibc_heap *heap,
              const struct roots *roots, const struct earlier_verdicts *earlier)
{
    size_t count = heap->chunks.count;

    *marking = (struct marking){.objects = objects, .heap = heap};
    marking->verdict = malloc(count + 1);
    marking->inside = calloc(count + 1, 1);
    if (!marking->verdict || !marking->inside)
        return false;
    memset(marking->verdict, UNMARKED, count + 1);
    marking->guard = read_guard(roots->image);
    roots_each(roots, visit_root, marking);
    take_thread_tables(marking, roots->image);
    take_chunks_in_hand(marking, roots->image);
    apply_earlier(marking, earlier, VERDICT_REACHABLE, PASS_REACHABLE);
    find_possible(marking);
    apply_earlier(marking, earlier, VERDICT_POSSIBLE, PASS_POSSIBLE);
    find_hidden(marking, roots);
    apply_earlier(marking, earlier, VERDICT_HIDDEN, PASS_HIDDEN);
    return true;
}

void mark_doubt_lost(struct marking *marking)
{
    for (uint32_t i = 0; i < marking->heap->chunks.count; i++)
        if (marking->verdict[i] == UNMARKED && mark_is_block(marking, i))
            marking->verdict[i] = VERDICT_POSSIBLE;
}

void mark_end(struct marking *marking)
{
    free(marking->verdict);
    free(marking->inside);
    free(marking->queue);
}
