/* containers.c - see containers.h. */
#include "scan/leakcheck/containers.h"

#include <string.h>

#define SLACK 15u /* bytes of a block that were not requested */
#define ALIGN_MOST 4096u
#define LINE 64u
#define OWN_FIELDS 512u /* bytes of an object in which its start may be kept */

static uint64_t word_at(const struct container_place *place, uint64_t offset)
{
    uint64_t word = 0;

    if (offset <= place->size && place->size - offset >= 8)
        memcpy(&word, place->bytes + offset, sizeof(word));
    return word;
}

/* Whether a size between so many bytes and SLACK less is a multiple. */
static bool may_divide(uint64_t divisor, uint64_t size)
{
    return divisor && divisor <= size && size % divisor <= SLACK;
}

static bool fills(uint64_t wanted, uint64_t size)
{
    return wanted <= size && size - wanted <= SLACK + 8;
}

/* new T[n] with a destructor, or a buffer behind its length. */
static bool is_array(const struct container_place *place)
{
    uint64_t count = word_at(place, 0), rest = place->size - 8;

    if (place->offset != 8 || place->size < 8)
        return false;
    return count ? may_divide(count, rest) : rest <= SLACK + 8;
}

/* Recognizes std::string in its form before C++11. */
static bool is_string(const struct container_place *place)
{
    uint64_t length = word_at(place, 0), capacity = word_at(place, 8);

    if (place->offset != 24 || place->size <= 24 || length > capacity || capacity >= place->size)
        return false;
    for (uint64_t width = 1; width <= 4; width *= 2)
        if (fills((capacity + 1) * width, place->size - 24))
            return true;
    return false;
}

/* An exception of libstdc++: the class of the unwinder's part. */
static bool is_exception(const struct container_place *place)
{
    return (place->offset == 16 || place->offset == 96 || place->offset == 128) &&
           place->size >= 128 && word_at(place, 96) == 0x474e5543432b2b00;
}

static bool has_second_base(const struct objects *objects, const struct container_place *place)
{
    return place->offset % 8 == 0 && objects_is_vtable(objects, word_at(place, place->offset)) &&
           objects_is_vtable(objects, word_at(place, 0));
}

/* The control bytes of a Rust hash table: the first group is repeated behind them. */
static bool is_hash_table(const struct container_place *place)
{
    enum { GROUP = 16, EMPTY = 0xff, DELETED = 0x80 };
    const uint8_t *bytes = place->bytes + place->offset;
    uint64_t rest = place->size - place->offset, buckets = 1;
    bool empty = false;

    while (buckets * 2 + GROUP <= rest)
        buckets *= 2;
    if (place->offset % 8 || rest <= GROUP || buckets < 4 || place->offset < buckets ||
        !fills(buckets + GROUP, rest) || place->offset % (buckets < GROUP ? GROUP : buckets))
        return false;
    for (uint64_t i = 0; i < GROUP; i++)
        if (i < buckets ? bytes[i] != bytes[(buckets < GROUP ? GROUP : buckets) + i]
                        : bytes[i] != EMPTY)
            return false;
    for (uint64_t i = 0; i < buckets; i++) {
        if (bytes[i] > DELETED && bytes[i] != EMPTY)
            return false;
        empty |= bytes[i] == EMPTY;
    }
    return empty;
}

static uint64_t fields_end(const struct container_place *place)
{
    return place->size - place->offset < OWN_FIELDS ? place->size : place->offset + OWN_FIELDS;
}

static bool object_has_start(const struct container_place *place)
{
    for (uint64_t at = place->offset; at + 8 <= fields_end(place); at += 8)
        if (word_at(place, at) == place->address)
            return true;
    return false;
}

static bool counts_back(const struct container_place *place)
{
    for (uint64_t at = 0; at + 1 < place->offset; at++)
        if (place->bytes[at])
            return false;
    return place->bytes[place->offset - 1] == place->offset;
}

/* The first aligned address: what free needs stands in front of it, or in the object. */
static bool is_aligned(const struct container_place *place)
{
    uint64_t offset = place->offset;

    if (offset < 8 || offset >= place->size || (place->address + offset) % 16 ||
        offset > ALIGN_MOST + 16)
        return false;
    if (word_at(place, offset - 8) == place->address &&
        (offset < 16 || word_at(place, offset - 16) != place->address))
        return true;
    return (place->address + offset) % LINE == 0 && offset <= LINE &&
           (object_has_start(place) || counts_back(place));
}

/* An object behind a header that contains its own address, but is no empty list. */
static bool knows_itself(const struct container_place *place)
{
    uint64_t object = place->address + place->offset;
    unsigned own = 0, in_a_row = 0;

    if (place->offset % 8 || place->offset > LINE || place->offset >= place->size)
        return false;
    for (uint64_t at = place->offset + 8; at + 8 <= fields_end(place); at += 8) {
        bool here = word_at(place, at) == object;

        own += here;
        in_a_row += here && word_at(place, at - 8) == object;
    }
    return own && !in_a_row;
}

/* A string of redis: length, capacity and type in front, of 1, 2, 4 or 8 bytes each. */
static bool is_sds(const struct container_place *place)
{
    uint64_t width = (place->offset - 1) / 2, length = 0, capacity = 0, room;

    if (place->offset % 2 == 0 || !width || (width & (width - 1)) || width > 8 ||
        place->offset >= place->size)
        return false;
    memcpy(&length, place->bytes, width);
    memcpy(&capacity, place->bytes + width, width);
    room = place->size - place->offset - 1;
    return (place->bytes[place->offset - 1] & 7) == 1 + __builtin_ctzll(width) &&
           capacity + SLACK + 8 >= room && capacity <= room + place->size / 4 + 24 &&
           length <= capacity && (length > room || !place->bytes[place->offset + length]);
}

/* Recognizes g_rc_box_alloc: references, size, private part, magic number. */
static bool is_glib_box(const struct container_place *place)
{
    return place->offset == 32 && place->size > 32 && (uint32_t)word_at(place, 24) == 0x44ae2bf0u &&
           word_at(place, 8) <= place->size - 32;
}

bool container_is_held(const struct objects *objects, const struct container_place *place)
{
    if (place->offset >= place->size)
        return is_array(place);
    return is_array(place) || is_string(place) || is_exception(place) || is_hash_table(place) ||
           is_aligned(place) || knows_itself(place) || is_sds(place) || is_glib_box(place) ||
           has_second_base(objects, place);
}
