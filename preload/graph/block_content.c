#include "preload/graph/block_content.h"
#include "leak_escape.h"
#include "leak_graph_file.h"

#include <sys/auxv.h>
#include <time.h>

#include "preload/base/sys.h"

#define LANES 4
#define LANES_FROM 64 /* smallest size in bytes of a block that is hashed in four lanes */

/* Mixes a word into a hash. Each bit of the word changes about half of the bits of the hash, so any
 * bits of the hash can select a set of slots. */
static ALWAYS_INLINE uint64_t mix_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0xbf58476d1ce4e5b9ull;
    sum = (sum ^ sum >> 32) * 0x94d049bb133111ebull;
    return sum ^ sum >> 29;
}

/* Makes the secret by hashing the random bytes that the kernel gave the process (AT_RANDOM). The
 * program uses these bytes, too, so the secret must not reveal them. */
void block_content_start(struct block_content *content)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t words[2] = {0};
    if (random)
        memcpy(words, random, sizeof words);
    content->secret = sys_clock_ns(CLOCK_MONOTONIC) + (uint64_t)sys_getpid();
    for (unsigned i = 0; i < 2; i++)
        content->secret = mix_word(content->secret, words[i]);
}

/* ---- Numbers of contents --------------------------------------------------------------------- */

static ALWAYS_INLINE uint64_t load_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Hashes a large content in four independent lanes, because the CPU can compute them at the same
 * time: each step of one lane waits for the step before. */
static uint64_t hash_bytes(uint64_t sum, const uint8_t *at, uint64_t size)
{
    if (size >= LANES_FROM) {
        uint64_t lane[LANES] = {sum, sum + 1, sum + 2, sum + 3};
        for (; size >= sizeof lane; at += sizeof lane, size -= sizeof lane)
            for (unsigned i = 0; i < LANES; i++)
                lane[i] = mix_word(lane[i], load_word(at + 8 * i));
        for (unsigned i = 0; i < LANES; i++)
            sum = mix_word(sum, lane[i]);
    }
    for (; size >= 8; at += 8, size -= 8)
        sum = mix_word(sum, load_word(at));
    uint64_t rest = 0;
    memcpy(&rest, at, size);
    return mix_word(sum, rest);
}

/* Returns the length of the UTF-8 character at "at", where "size" bytes are left. 0: there is no
 * valid character, or a control character. */
static size_t character_bytes(const uint8_t *at, uint64_t size)
{
    char first[5] = "";
    if (*at < 0x80)
        return (*at >= ' ' && *at != 0x7f) || (*at >= '\t' && *at <= '\r');
    memcpy(first, at, size < 4 ? size : 4);
    return leak_utf8_length(first);
}

/* Returns the length of the text up to the first zero byte, if that text fills more than half of
 * the block. 0: the block holds no such text. */
static uint64_t text_length(const uint8_t *at, uint64_t size)
{
    uint64_t length = 0;
    while (length < size && at[length]) {
        size_t bytes = character_bytes(at + length, size - length);
        if (!bytes)
            return 0;
        length += bytes;
    }
    return length < size && 2 * (length + 1) > size ? length : 0;
}

static uint64_t content_number(uint64_t secret, const uint8_t *at, uint64_t size)
{
    uint64_t length = text_length(at, size);
    if (length)
        return hash_bytes(mix_word(secret, length), at, length) | LEAK_GRAPH_IS_TEXT;
    uint64_t number = hash_bytes(mix_word(secret, ~size), at, size) & ~(uint64_t)LEAK_GRAPH_IS_TEXT;
    return number ? number : 2;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static void note_sample(struct content_slot *set, uint64_t number, uintptr_t address, uint64_t size)
{
    struct content_slot *least = set;
    for (struct content_slot *slot = set; slot < set + BLOCK_CONTENT_WAYS; slot++) {
        if (slot->number == number) {
            slot->bytes += size;
            slot->copies++;
            return;
        }
        if (slot->bytes < least->bytes)
            least = slot;
    }
    *least = (struct content_slot){.number = number,
                                   .bytes = least->bytes + size,
                                   .address = address,
                                   .size = size,
                                   .copies = 1};
}

uint64_t block_content_add(struct block_content *content, uintptr_t address, uint64_t size)
{
    if (!size)
        return 0;
    uint64_t number = content_number(content->secret, (const uint8_t *)address, size);
    note_sample(content->slot[number / 2 % BLOCK_CONTENT_SETS], number, address, size);
    return number;
}

void block_content_each_sample(const struct block_content *content,
                               void (*visit)(void *context, const struct content_slot *slot),
                               void *context)
{
    for (unsigned set = 0; set < BLOCK_CONTENT_SETS; set++)
        for (unsigned way = 0; way < BLOCK_CONTENT_WAYS; way++)
            if (content->slot[set][way].copies > 1)
                visit(context, &content->slot[set][way]);
}
