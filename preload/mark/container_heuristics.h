/* container_heuristics.h - blocks that their programs hold by a pointer to somewhere inside, behind
 * a head.
 *
 * Judged by what stands in the block alone: the pointer's owner is not known. What looks alike by
 * chance is held then, so a shape that says little must be of few places.
 */
#ifndef PRELOAD_MARK_CONTAINER_HEURISTICS_H
#define PRELOAD_MARK_CONTAINER_HEURISTICS_H

#include "preload/base/base.h"

/* new T[n] of a class with a destructor: n stands before the first T. Of no T at all the pointer is
 * one to the end. A buffer behind its own length looks the same, with things of one byte. */
static inline bool shape_is_array(const uintptr_t *head, uint64_t size)
{
    return size >= 8 &&
           (head[0] == 0 ? size == 8 : head[0] <= size - 8 && (size - 8) % head[0] == 0);
}

/* std::string before C++11: length, capacity, count of users, then the text and its NUL. */
static inline bool shape_is_string(const uintptr_t *head, uint64_t size)
{
    return size > 24 && head[0] <= head[1] && head[1] < size - 24;
}

#define SHAPE_EMPTY 0xff /* of a hash table's place; less than 0x80: it is taken */
#define SHAPE_GONE 0x80
#define SHAPE_PLACES_LEAST 4

/* The bytes of a table for its places: behind them stand the first group's once more, so that a
 * group can be read from any place on. Of a table smaller than a group the rest is empty. */
static inline bool shape_repeats(const uint8_t *bytes, uint64_t places)
{
    const unsigned group = ARCH_HASH_GROUP;
    uint64_t behind = places < group ? group : places;
    for (unsigned i = 0; i < group && i < places; i++)
        if (bytes[i] != bytes[behind + i])
            return false;
    for (uint64_t i = places; i < group; i++)
        if (bytes[i] != SHAPE_EMPTY)
            return false;
    return true;
}

/* Never is a table full. */
static inline bool shape_has_empty(const uint8_t *bytes, uint64_t places)
{
    bool empty = false;
    for (uint64_t i = 0; i < places; i++) {
        if (bytes[i] > SHAPE_GONE && bytes[i] != SHAPE_EMPTY)
            return false;
        empty = empty || bytes[i] == SHAPE_EMPTY;
    }
    return empty;
}

/* A HashMap or HashSet of Rust's: the things, up to where it points to, and a byte for the place of
 * each. */
static inline bool shape_is_table(uintptr_t block, uint64_t offset, uint64_t size)
{
    const uint8_t *bytes = (const uint8_t *)block + offset;
    uint64_t places = size - offset - ARCH_HASH_GROUP;
    if (offset >= size || size - offset <= ARCH_HASH_GROUP || offset % 8)
        return false;
    return places >= SHAPE_PLACES_LEAST && !(places & (places - 1)) && offset >= places &&
           offset % (places < ARCH_HASH_GROUP ? ARCH_HASH_GROUP : places) == 0 &&
           shape_repeats(bytes, places) && shape_has_empty(bytes, places);
}

#endif
