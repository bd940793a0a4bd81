/* containers.c - recognizes containers to which programs point behind a header. */
#include "scan/leakcheck/containers.h"

#include <string.h>

#define SLACK 15u /* most bytes of a block that were not requested */
#define ALIGN_MOST 4096u
#define LINE 64u
/* Bytes at the start of an object in which the block's address may be stored. */
#define OWN_FIELDS 512u

static uint64_t word_at(const struct container_place *place, uint64_t offset)
{
    return offset <= place->size && place->size - offset >= place->word
               ? image_word(place->bytes + offset, place->word)
               : 0;
}

/* Says whether a size, or one up to SLACK bytes smaller, is a multiple of the divisor. */
static bool may_divide(uint64_t divisor, uint64_t size)
{
    return divisor && divisor <= size && size % divisor <= SLACK;
}

static bool fills(uint64_t wanted, uint64_t size)
{
    return wanted <= size && size - wanted <= SLACK + 8;
}

/* Recognizes new T[n] of a class with a destructor, whose elements follow n; also a buffer
 * behind its length. */
static bool is_array(const struct container_place *place)
{
    uint64_t count = word_at(place, 0), rest = place->size - place->word;

    if (place->offset != place->word || place->size < place->word)
        return false;
    return count ? may_divide(count, rest) : rest <= SLACK + 8;
}

/* Recognizes std::string in its form before C++11. */
static bool is_string(const struct container_place *place)
{
    uint64_t length = word_at(place, 0), capacity = word_at(place, place->word);
    const uint64_t header = 3 * place->word;

    if (place->offset != header || place->size <= header || length > capacity ||
        capacity >= place->size)
        return false;
    for (uint64_t width = 1; width <= 4; width *= 2)
        if (fills((capacity + 1) * width, place->size - header))
            return true;
    return false;
}

/* Recognizes a C++ exception by the vendor number that libstdc++ stores in its
 * _Unwind_Exception. */
static bool is_exception(const struct container_place *place)
{
    const uint64_t header = place->word == 4 ? 96 : 128, unwinder = header - 32;

    return (place->offset == 16 || place->offset == unwinder || place->offset == header) &&
           place->size >= header && image_word(place->bytes + unwinder, 8) == 0x474e5543432b2b00;
}

static bool has_second_base(const struct objects *objects, const struct container_place *place)
{
    return place->offset % place->word == 0 &&
           objects_is_vtable(objects, word_at(place, place->offset)) &&
           objects_is_vtable(objects, word_at(place, 0));
}

/* Recognizes the control bytes of a Rust hash table: behind them is a copy of their first group. */
static bool is_hash_table(const struct container_place *place)
{
    enum { GROUP = 16, EMPTY = 0xff, DELETED = 0x80 };
    const uint8_t *bytes = place->bytes + place->offset;
    uint64_t rest = place->size - place->offset, buckets = 1;
    bool empty = false;

    while (buckets * 2 + GROUP <= rest)
        buckets *= 2;
    if (place->offset % place->word || rest <= GROUP || buckets < 4 || place->offset < buckets ||
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
    for (uint64_t at = place->offset; at + place->word <= fields_end(place); at += place->word)
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

/* Recognizes the first aligned address of a block, if the block's own address is stored in front
 * of it or in the object there. */
static bool is_aligned(const struct container_place *place)
{
    uint64_t offset = place->offset;

    if (offset < place->word || offset >= place->size || (place->address + offset) % 16 ||
        offset > ALIGN_MOST + 16)
        return false;
    if (word_at(place, offset - place->word) == place->address &&
        (offset < 2 * place->word || word_at(place, offset - 2 * place->word) != place->address))
        return true;
    return (place->address + offset) % LINE == 0 && offset <= LINE &&
           (object_has_start(place) || counts_back(place));
}

/* Recognizes, behind a header, an object that contains its own address and is no empty list. */
static bool knows_itself(const struct container_place *place)
{
    uint64_t object = place->address + place->offset;
    const unsigned word = place->word;
    unsigned own = 0, in_a_row = 0;

    if (place->offset % word || place->offset > LINE || place->offset >= place->size)
        return false;
    for (uint64_t at = place->offset + word; at + word <= fields_end(place); at += word) {
        bool here = word_at(place, at) == object;

        own += here;
        in_a_row += here && word_at(place, at - word) == object;
    }
    return own && !in_a_row;
}

/* Recognizes a string of redis: length, capacity and type are in front, the numbers in 1, 2, 4
 * or 8 bytes each. */
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

/* Recognizes g_rc_box_alloc: reference count, size, private part and magic number are in front. */
static bool is_glib_box(const struct container_place *place)
{
    const uint64_t header = 4 * place->word;

    return place->offset == header && place->size > header &&
           (uint32_t)word_at(place, 3 * place->word) == 0x44ae2bf0u &&
           word_at(place, place->word) <= place->size - header;
}

bool container_is_held(const struct objects *objects, const struct container_place *place)
{
    if (place->offset >= place->size)
        return is_array(place);
    return is_array(place) || is_string(place) || is_exception(place) || is_hash_table(place) ||
           is_aligned(place) || knows_itself(place) || is_sds(place) || is_glib_box(place) ||
           has_second_base(objects, place);
}
