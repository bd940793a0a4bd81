/* container_heuristics.h - recognises containers that programs hold by a pointer that leads behind
 * a header at the start of the block.
 *
 * Each heuristic judges by the content of the block alone: the owner of the pointer is unknown. A
 * false match hides a leak, so a heuristic with a weak signature must be limited to few offsets.
 * mark.c calls them. */
#ifndef PRELOAD_MARK_CONTAINER_HEURISTICS_H
#define PRELOAD_MARK_CONTAINER_HEURISTICS_H

#include "preload/base/base.h"

/* Recognises what new T[n] returns for a class with a destructor: n is stored before the first T,
 * and the pointer leads behind n. For n = 0 it points to the end of the block. A byte buffer whose
 * length is stored before it looks the same. */
static inline bool container_is_array(const uintptr_t *head, uint64_t size)
{
    return size >= WORD &&
           (head[0] == 0 ? size == WORD : head[0] <= size - WORD && (size - WORD) % head[0] == 0);
}

#define CONTAINER_STRING (3 * WORD)

/* Recognises a std::string from before C++11: length, capacity and reference count, then the text
 * and its NUL, in characters of 1, 2 or 4 bytes. Header and capacity together fill the block. */
static inline bool container_is_string(const uintptr_t *head, uint64_t size)
{
    if (size <= CONTAINER_STRING || head[0] > head[1] || head[1] >= size - CONTAINER_STRING)
        return false;
    uint64_t characters = head[1] + 1, bytes = size - CONTAINER_STRING;
    return characters == bytes || characters * 2 == bytes || characters * 4 == bytes;
}

#define CONTAINER_ALIGN_LEAST 16
#define CONTAINER_ALIGN_MOST 4096
#define CONTAINER_LINE 64 /* size of a cache line in bytes, to which some objects are aligned */
/* Number of bytes at the beginning of an object in which a pointer to the start of its block is
 * searched. */
#define CONTAINER_OWN_FIELDS 512

/* Says whether an object stores the start of its block in one of its first words. */
static inline bool container_knows_start(uintptr_t block, uint64_t offset, uint64_t size)
{
    uint64_t end = size - offset < CONTAINER_OWN_FIELDS ? size : offset + CONTAINER_OWN_FIELDS;
    for (uint64_t at = offset; at + WORD <= end; at += WORD)
        if (*(const uintptr_t *)(uintptr_t)(block + at) == block)
            return true;
    return false;
}

/* Says whether the byte before an object holds the distance to the start of the block, and all
 * bytes of the block before that byte are 0, as in blocks of XXH3_createState. */
static inline bool container_counts_back(uintptr_t block, uint64_t offset)
{
    const uint8_t *header = (const uint8_t *)block;
    for (uint64_t at = 0; at + 1 < offset; at++)
        if (header[at])
            return false;
    return header[offset - 1] == offset;
}

/* Recognises an object at the first aligned address of its block. The program needs the start of
 * the block for free, so it is stored in the word before the object or, with the alignment of a
 * cache line, in the object. Two words before the object with this address are an empty list head,
 * and do not count. */
static inline bool container_is_aligned(uintptr_t block, uint64_t offset, uint64_t size)
{
    uintptr_t pointer = block + offset;
    const uintptr_t *at = (const uintptr_t *)pointer;
    if (offset < WORD || offset >= size || pointer % CONTAINER_ALIGN_LEAST ||
        offset > CONTAINER_ALIGN_MOST + CONTAINER_ALIGN_LEAST)
        return false;
    if (at[-1] == block && (offset < 2 * WORD || at[-2] != block))
        return true;
    return pointer % CONTAINER_LINE == 0 && offset <= CONTAINER_LINE &&
           (container_knows_start(block, offset, size) || container_counts_back(block, offset));
}

/* Recognises an object behind a header that contains its own address, as the main thread of a Lua
 * interpreter does. An empty list or tree in an object also contains its own address: in its first
 * word, or twice in a row. */
static inline bool container_knows_itself(uintptr_t block, uint64_t offset, uint64_t size)
{
    uint64_t end = size - offset < CONTAINER_OWN_FIELDS ? size : offset + CONTAINER_OWN_FIELDS;
    uintptr_t object = block + offset;
    unsigned own = 0, in_a_row = 0;
    if (offset % WORD || offset > CONTAINER_LINE || offset >= size)
        return false;
    for (uint64_t at = offset; at + WORD <= end; at += WORD) {
        bool here = *(const uintptr_t *)(uintptr_t)(block + at) == object;
        own += here && at != offset;
        in_a_row +=
            here && at != offset && *(const uintptr_t *)(uintptr_t)(block + at - WORD) == object;
    }
    return own && !in_a_row;
}

#define CONTAINER_LINK_WORDS 4 /* the largest number of words in a link of a list or tree */

/* Recognises an object with a link inside that is the only member of a list or tree whose head is a
 * variable: the link points back to the word of the variable that points to it. If that word is in
 * a block, this proves nothing: a member of a list looks the same, and the object may be a lost
 * list while its member is alive. */
static inline bool container_links_back(uintptr_t block, uint64_t offset, uint64_t size,
                                        uintptr_t word)
{
    const uintptr_t *at = (const uintptr_t *)(block + offset);
    uint64_t words = offset % WORD || offset >= size ? 0 : (size - offset) / WORD;
    for (uint64_t i = 0; i < words && i < CONTAINER_LINK_WORDS; i++)
        if (at[i] == word)
            return true;
    return false;
}

/* The largest number of bytes by which malloc rounds up a requested size, for allocators in common
 * use. */
#define CONTAINER_ROUNDED_UP(size) ((size) / 4 + 24)

/* Recognises a string of redis (sds). Its length and capacity, of 1, 2, 4 or 8 bytes each, and a
 * byte with its type lie before it, a NUL behind it. The capacity fills what malloc returned, which
 * may be more than was requested. */
static inline bool container_is_sds(uintptr_t block, uint64_t offset, uint64_t size)
{
    const uint8_t *text = (const uint8_t *)block + offset;
    uint64_t length = 0, capacity = 0, width = (offset - 1) / 2;
    if (offset % 2 == 0 || !width || (width & (width - 1)) || width > 8 || offset >= size)
        return false;
    uint64_t room = size - offset - 1;
    memcpy(&length, (const void *)block, width);
    memcpy(&capacity, (const uint8_t *)block + width, width);
    return (text[-1] & 7) == 1 + __builtin_ctzll(width) && capacity >= room &&
           capacity - room <= CONTAINER_ROUNDED_UP(size) && length <= capacity &&
           (length > room || !text[length]);
}

#define CONTAINER_GLIB_BOX 0x44ae2bf0u /* GLib's magic number in the header of a box */
#define CONTAINER_GLIB_HEADER (4 * WORD)

/* Recognises what g_rc_box_alloc and g_atomic_rc_box_alloc return. The header is: references, size,
 * a private part, a magic number. */
static inline bool container_is_glib_box(const uintptr_t *head, uint64_t offset, uint64_t size)
{
    return offset == CONTAINER_GLIB_HEADER && size > offset &&
           (uint32_t)head[3] == CONTAINER_GLIB_BOX && head[1] <= size - offset;
}

/* "GNUCC++" as a number: the class that libstdc++ writes into the headers of its exceptions. */
#define CONTAINER_GNU_EXCEPTION 0x474e5543432b2b00

/* Size of an exception's header in bytes. */
#define CONTAINER_EXCEPTION (sizeof(uintptr_t) == 8 ? 128 : 96)
#define CONTAINER_UNWINDER 32

/* Recognises an exception of libstdc++. Its header begins with the reference count and ends with
 * the unwinder's part, whose first word is the class. An exception_ptr points to the object behind
 * the header, the list of caught exceptions to the word behind the reference count (offset 16), and
 * frames through which the exception is propagating point to the unwinder's part. */
static inline bool container_is_exception(const uintptr_t *head, uint64_t offset, uint64_t size)
{
    const uint64_t unwinder = CONTAINER_EXCEPTION - CONTAINER_UNWINDER;
    return (offset == CONTAINER_EXCEPTION || offset == unwinder || offset == 16) &&
           size >= CONTAINER_EXCEPTION &&
           *(const uint64_t *)(head + unwinder / WORD) == CONTAINER_GNU_EXCEPTION;
}

/* Control bytes of a Rust hash table, one for each bucket: CONTAINER_EMPTY: never used;
 * CONTAINER_DELETED: the entry was removed; below 0x80: in use. */
#define CONTAINER_EMPTY 0xff
#define CONTAINER_DELETED 0x80
#define CONTAINER_MIN_BUCKETS 4

/* Says whether the control bytes of a Rust hash table end as they must: the first group
 * (ARCH_HASH_GROUP bytes) is repeated behind the last one, so that the program can load a whole
 * group at any bucket. If the table is smaller than a group, the remaining bytes are those of empty
 * buckets. */
static inline bool container_bytes_repeat(const uint8_t *bytes, uint64_t buckets)
{
    const unsigned group = ARCH_HASH_GROUP;
    uint64_t copy = buckets < group ? group : buckets;
    for (unsigned i = 0; i < group && i < buckets; i++)
        if (bytes[i] != bytes[copy + i])
            return false;
    for (uint64_t i = buckets; i < group; i++)
        if (bytes[i] != CONTAINER_EMPTY)
            return false;
    return true;
}

/* Says whether a Rust hash table has an empty bucket, as it always must, and no invalid control
 * byte. */
static inline bool container_has_empty(const uint8_t *bytes, uint64_t buckets)
{
    bool empty = false;
    for (uint64_t i = 0; i < buckets; i++) {
        if (bytes[i] > CONTAINER_DELETED && bytes[i] != CONTAINER_EMPTY)
            return false;
        empty = empty || bytes[i] == CONTAINER_EMPTY;
    }
    return empty;
}

/* Recognises a HashMap or HashSet of Rust: first the entries, up to the address that the pointer
 * has, then one control byte for each bucket. */
static inline bool container_is_hash_table(uintptr_t block, uint64_t offset, uint64_t size)
{
    const uint8_t *bytes = (const uint8_t *)block + offset;
    uint64_t buckets = size - offset - ARCH_HASH_GROUP;
    if (offset >= size || size - offset <= ARCH_HASH_GROUP || offset % WORD)
        return false;
    return buckets >= CONTAINER_MIN_BUCKETS && !(buckets & (buckets - 1)) && offset >= buckets &&
           offset % (buckets < ARCH_HASH_GROUP ? ARCH_HASH_GROUP : buckets) == 0 &&
           container_bytes_repeat(bytes, buckets) && container_has_empty(bytes, buckets);
}

#endif
