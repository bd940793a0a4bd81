/* leak_graph_file.h - the heap graph of one leak check as a file: every block, every pointer
 * between blocks, every root word, and the call stacks of the allocations. docs/GRAPH.md has an
 * annotated dump.
 *
 *     file  = struct leak_graph_head, chunks
 *     chunk = struct leak_graph_chunk, payload
 *
 * A chunk holds whole items of one section (of a block: its head, or one of its pointers). Numbers
 * in an item are differences to the previous item of that section, also across chunks. A number is
 * a LEB128 varint of 64 bits; a signed one is written as (n << 1) ^ (n >> 63). The chunk END is the
 * last one: without it the file is incomplete.
 *
 * Version 1 had no section CONTENT: END had its number. Readers read both versions.
 *
 * The file belongs to one process and one moment. It is written once, in one pass, and never
 * changed.
 */
#ifndef LEAK_GRAPH_FILE_H
#define LEAK_GRAPH_FILE_H

#include <stddef.h>
#include <stdint.h>

#define LEAK_GRAPH_MAGIC 0x485052474b41454cull /* "LEAKGRPH" */
#define LEAK_GRAPH_VERSION 2
#define LEAK_GRAPH_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define LEAK_GRAPH_CHUNK_MOST (256u << 10) /* largest number of bytes of a payload */
#define LEAK_GRAPH_TEXT_MOST 4096          /* longest TEXT in bytes; a longer one is cut */
#define LEAK_GRAPH_SAMPLE_MOST 64          /* longest recorded content in bytes */

struct leak_graph_head {
    uint64_t magic;
    uint32_t version;
    uint32_t head_size; /* size in bytes of this struct in the file */
};

struct leak_graph_chunk {
    uint32_t magic;
    uint32_t type; /* a value of enum leak_graph_section */
    /* Bytes of the payload, which is padded with zeros to whole words of 8 bytes. */
    uint32_t length;
    uint32_t ordinal; /* number of this chunk: 0, 1, 2 … */
    uint64_t sum;     /* leak_graph_sum of the four fields above and of the payload */
};

/* The sections, in the order of the file: S(NAME, items). TEXT is a number of bytes, followed by
 * these bytes. */
#define LEAK_GRAPH_SECTION_TABLE(S)                                                                \
    S(INFO,                                                                                        \
      "one: flags, pid, start time, ns of the epoch when it started, and of the leak check, "      \
      "tick, occasion, milestone, machine, blocks, TEXT program, TEXT recording")                  \
    S(RANGES, "a range of roots: class, thread + 1 (index; 0: none), signed start - last end, "    \
              "bytes, start - start of the whole, end of the whole - end")                         \
    S(ROOTS, "a root word: ranges since the last one, 2 * words since the last one of its range "  \
             "(the first: word + 1) + inside, signed target - last target, offset if inside")      \
    S(BLOCKS, "a block, see below")                                                                \
    S(OTHERS,                                                                                      \
      "a block, or the number of blocks for a root, that holds another one without a plain "       \
      "pointer: 0 (encoded pointer) or 1 (it lies in it), signed block - last block, "             \
      "signed target - block")                                                                     \
    S(VERDICTS, "a run of blocks: their number, verdict + 8 * flags (enum leak_found_flag)")       \
    S(MODULES, "start, bytes, bias, TEXT build-id, TEXT path")                                     \
    S(THREADS, "serial, tid, TEXT name, address of its thread block")                              \
    S(FRAMES, "a frame of a stack: thread (index), pc, sp, bytes to the next frame's sp")          \
    S(NODES, "ids since the last one, parent, signed pc - last pc")                                \
    S(SITES, "ids since the last one, node")                                                       \
    S(CONTENT, "a content of several blocks: its number (8 bytes), TEXT its first bytes")          \
    S(END, "one: blocks, edges, root words")

enum leak_graph_section {
    LEAK_GRAPH_NONE = 0,
#define S(name, items) LEAK_GRAPH_##name,
    LEAK_GRAPH_SECTION_TABLE(S)
#undef S
        LEAK_GRAPH_SECTION_MAX
};

enum leak_graph_flag {
    LEAK_GRAPH_NO_WORDS = 1, /* option content=0: the first words of blocks are not recorded */
    LEAK_GRAPH_GLIBC = 2,    /* malloc is that of glibc, so the sizes of its chunks are known */
    LEAK_GRAPH_CONTENT_NUMBERS = 4, /* items of section BLOCKS have the number of the content */
};

/* An item of the section BLOCKS. Addresses ascend; the number of a block is its position in the
 * section.
 *
 *     address - address of the last block, in words of 8 bytes
 *     4 * size + enum leak_graph_word
 *     site
 *     signed tick - last tick
 *     signed count - last count       the serial of a block is T<thread>#<count>
 *     (thread * 256 + kind) xor that of the last block
 *     if VALUE: the first word of the block
 *     if CONTENT_NUMBERS: the number of its content, 8 bytes
 *     its edges, each
 *         2 * words since the last edge (for the first edge: word + 1) + inside
 *         signed number of the target - number of this block
 *         if inside: offset from the start of the target; an offset equal to its size: the byte behind it
 *     0
 *
 * A block's pointers to itself are left out. */
enum leak_graph_word {
    LEAK_GRAPH_ZERO, /* the first word is 0 or not recorded, or the block is shorter than a word */
    LEAK_GRAPH_POINTER, /* the first word is the pointer of the first edge */
    /* The first word equals that of the previous block whose site number is equal modulo
     * LEAK_GRAPH_SLOTS. */
    LEAK_GRAPH_SAME,
    LEAK_GRAPH_VALUE,
};

#define LEAK_GRAPH_SLOTS 4096

/* The number of a block's content; 0: unknown. In one file, blocks with equal numbers are equal, or
 * they begin with equal texts that end in a zero byte and fill more than half of each block. */
enum leak_graph_content {
    LEAK_GRAPH_IS_TEXT = 1, /* the lowest bit of the number: the content begins with a text */
};

/* Adds a word to a checksum. Each step is a bijection of the sum so far and of the word, so two
 * payloads that differ in one word have different sums. */
static inline uint64_t leak_graph_sum_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
    return sum ^ sum >> 29;
}

/* Returns the checksum of a chunk. chunk: its fields from magic to ordinal are set. payload: words
 * of 8 bytes, the last one padded with zeros. */
static inline uint64_t leak_graph_sum(const struct leak_graph_chunk *chunk, const uint64_t *payload)
{
    uint64_t sum = leak_graph_sum_word(0x6c, (uint64_t)chunk->magic << 32 | chunk->type);
    size_t words = ((size_t)chunk->length + 7) / 8;
    sum = leak_graph_sum_word(sum, (uint64_t)chunk->length << 32 | chunk->ordinal);
    for (size_t i = 0; i < words; i++)
        sum = leak_graph_sum_word(sum, payload[i]);
    return sum;
}

#ifdef __cplusplus
static_assert(sizeof(struct leak_graph_head) == 16 && sizeof(struct leak_graph_chunk) == 24,
              "leak_graph_file.h: the layout of graph files has changed");
#else
_Static_assert(sizeof(struct leak_graph_head) == 16 && sizeof(struct leak_graph_chunk) == 24,
               "leak_graph_file.h: the layout of graph files has changed");
#endif

#endif
