/* container_heuristics.h - containers that programs hold by a pointer behind a header.
 *
 * Each heuristic judges by the content of the block alone: the owner of the pointer is unknown. A
 * false match hides a leak, so a heuristic with a weak signature must be limited to few offsets.
 * mark.c calls them.
 */
#ifndef PRELOAD_MARK_CONTAINER_HEURISTICS_H
#define PRELOAD_MARK_CONTAINER_HEURISTICS_H

#include "preload/base/base.h"

/* new T[n] of a class with a destructor: n stands in front of the first T. For n = 0 the pointer is
 * one to the end. A byte buffer behind its own length looks the same. */
static inline bool container_is_array(const uintptr_t *head, uint64_t size)
{
    return size >= 8 &&
           (head[0] == 0 ? size == 8 : head[0] <= size - 8 && (size - 8) % head[0] == 0);
}

/* std::string before C++11: length, capacity, reference count, then the text and its NUL. One
 * without capacity has no room beside its NUL: zeros in a larger block are no string. */
static inline bool container_is_string(const uintptr_t *head, uint64_t size)
{
    return size > 24 && head[0] <= head[1] && (head[1] || size == 25) && head[1] < size - 24;
}

#define CONTAINER_GNU_EXCEPTION 0x474e5543432b2b00 /* "GNUCC++", the class of its exceptions */

/* An exception of libstdc++: its header is 128 bytes, and ends with the unwinder's. An exception_ptr
 * points to the object behind it, the list of caught ones to the header behind the reference count,
 * frames that are left to the unwinder's part. */
static inline bool container_is_exception(const uintptr_t *head, uint64_t offset, uint64_t size)
{
    return (offset == 128 || offset == 96 || offset == 16) && size >= 128 &&
           head[12] == CONTAINER_GNU_EXCEPTION;
}

#define CONTAINER_EMPTY 0xff /* control byte of a bucket; less than 0x80: it is in use */
#define CONTAINER_DELETED 0x80
#define CONTAINER_MIN_BUCKETS 4

/* The control bytes of a hash table: the first group is repeated behind them, so that a group can
 * be loaded at any bucket. In a table smaller than a group the rest is empty. */
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

/* A hash table is never full. */
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

/* A HashMap or HashSet of Rust: the entries, up to where the pointer points, then one control byte
 * for each bucket. */
static inline bool container_is_hash_table(uintptr_t block, uint64_t offset, uint64_t size)
{
    const uint8_t *bytes = (const uint8_t *)block + offset;
    uint64_t buckets = size - offset - ARCH_HASH_GROUP;
    if (offset >= size || size - offset <= ARCH_HASH_GROUP || offset % 8)
        return false;
    return buckets >= CONTAINER_MIN_BUCKETS && !(buckets & (buckets - 1)) && offset >= buckets &&
           offset % (buckets < ARCH_HASH_GROUP ? ARCH_HASH_GROUP : buckets) == 0 &&
           container_bytes_repeat(bytes, buckets) && container_has_empty(bytes, buckets);
}

#endif
