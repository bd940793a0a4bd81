/* image.c - reads memory of an image, and keeps copies of ranges. */
#include "scan/image/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PIECE (1u << 20) /* the largest number of bytes that are read by one call */

void image_begin(struct image *image, struct arena *mem)
{
    *image = (struct image){.mem = mem, .word = 8};
}

void image_drop_copies(struct image *image)
{
    for (size_t i = 0; i < image->copy_count; i++)
        munmap(image->copies[i].bytes, image->copies[i].end - image->copies[i].start);
    image->copy_count = 0;
}

void image_end(struct image *image)
{
    image_drop_copies(image);
    free(image->copies);
    free(image->mappings);
    free(image->threads);
}

void image_add_mapping(struct image *image, const struct image_mapping *mapping)
{
    if (mapping->start >= mapping->end || mapping->end > IMAGE_END)
        return;
    image->mappings = array_grow(image->mappings, &image->mapping_capacity,
                                 image->mapping_count + 1, sizeof(*mapping));
    image->mappings[image->mapping_count++] = *mapping;
}

struct image_thread *image_add_thread(struct image *image, pid_t tid)
{
    image->threads = array_grow(image->threads, &image->thread_capacity, image->thread_count + 1,
                                sizeof(*image->threads));
    image->threads[image->thread_count] = (struct image_thread){.tid = tid};
    return &image->threads[image->thread_count++];
}

static int compare_mappings(const void *one, const void *other)
{
    const struct image_mapping *a = one, *b = other;

    return COMPARE(a->start, b->start);
}

bool image_sort(struct image *image)
{
    if (image->mapping_count)
        qsort(image->mappings, image->mapping_count, sizeof(*image->mappings), compare_mappings);
    return image_check(image);
}

bool image_check(const struct image *image)
{
    for (size_t i = 1; i < image->mapping_count; i++)
        if (image->mappings[i].start < image->mappings[i - 1].end)
            return false;
    for (size_t i = 1; i < image->copy_count; i++)
        if (image->copies[i].start < image->copies[i - 1].end)
            return false;
    return true;
}

static bool mapping_ends_below(const void *item, const void *key)
{
    return ((const struct image_mapping *)item)->end <= *(const uint64_t *)key;
}

const struct image_mapping *image_find_next(const struct image *image, uint64_t address)
{
    size_t i = array_lower_bound(image->mappings, image->mapping_count, sizeof(*image->mappings),
                                 mapping_ends_below, &address);

    return i < image->mapping_count ? &image->mappings[i] : NULL;
}

const struct image_mapping *image_find(const struct image *image, uint64_t address)
{
    const struct image_mapping *next = image_find_next(image, address);

    return next && next->start <= address ? next : NULL;
}

static bool copy_ends_below(const void *item, const void *key)
{
    return ((const struct image_copy *)item)->end <= *(const uint64_t *)key;
}

/* Returns the index of the first copy that ends above an address; copy_count: there is none. */
static size_t find_copy(const struct image *image, uint64_t address)
{
    return array_lower_bound(image->copies, image->copy_count, sizeof(*image->copies),
                             copy_ends_below, &address);
}

/* Reads from a copy, or from the source up to the next copy. Returns the number of bytes read. */
static size_t read_some(struct image *image, uint64_t address, void *buffer, size_t size)
{
    size_t at = find_copy(image, address);
    const struct image_copy *copy = at < image->copy_count ? &image->copies[at] : NULL;

    if (copy && copy->start <= address) {
        if (size > copy->end - address)
            size = copy->end - address;
        memcpy(buffer, copy->bytes + (address - copy->start), size);
        return size;
    }
    if (copy && size > copy->start - address)
        size = copy->start - address;
    return image->read(image, address, buffer, size);
}

/* Returns the number of bytes up to the next page, at most `size`. */
static size_t rest_of_page(uint64_t address, size_t size)
{
    size_t rest = IMAGE_PAGE - address % IMAGE_PAGE;

    return rest < size ? rest : size;
}

bool image_read(struct image *image, uint64_t address, void *buffer, size_t size)
{
    uint8_t *to = buffer;
    bool whole = true;

    while (size) {
        size_t done = address < IMAGE_END ? read_some(image, address, to, size) : 0;

        if (!done) {
            done = rest_of_page(address, size);
            memset(to, 0, done);
            whole = false;
        }
        address += done;
        to += done;
        size -= done;
    }
    return whole;
}

bool image_read_word(struct image *image, uint64_t address, uint64_t *word)
{
    *word = 0;
    return image_read(image, address, word, image->word);
}

size_t image_widen(const struct image *image, uint64_t *words, size_t size)
{
    size_t count = size / image->word;

    for (size_t i = count; image->word == 4 && i-- > 0;)
        words[i] = image_word((const uint8_t *)words + 4 * i, 4);
    return count;
}

/* ---- Copies of memory ------------------------------------------------------------------------ */

/* Reads a piece; pages that the process never wrote become zeros without being read. False: it
 * wrote none of the pages. */
static bool read_piece(struct image *image, uint64_t start, uint8_t *to, size_t size)
{
    bool untouched[PIECE / IMAGE_PAGE], some = false;
    size_t pages = size / IMAGE_PAGE, copy = find_copy(image, start);

    if (!image->find_untouched || start % IMAGE_PAGE || size % IMAGE_PAGE ||
        (copy < image->copy_count && image->copies[copy].start < start + size) ||
        !image->find_untouched(image, start, pages, untouched)) {
        image_read(image, start, to, size);
        return true;
    }
    for (size_t i = 0, end; i < pages; i = end) {
        for (end = i + 1; end < pages && untouched[end] == untouched[i]; end++)
            ;
        if (untouched[i])
            memset(to + i * IMAGE_PAGE, 0, (end - i) * IMAGE_PAGE);
        else
            image_read(image, start + i * IMAGE_PAGE, to + i * IMAGE_PAGE, (end - i) * IMAGE_PAGE);
        some |= !untouched[i];
    }
    return some;
}

bool image_read_pages(struct image *image, uint64_t address, uint8_t *buffer, size_t size)
{
    bool some = false;

    for (uint64_t next = address, end = address + size; next < end;) {
        uint64_t stop = (next + PIECE) & ~(uint64_t)(PIECE - 1);

        if (stop > end)
            stop = end;
        some |= read_piece(image, next, buffer + (next - address), stop - next);
        next = stop;
    }
    return some;
}

static const uint8_t *copy_around(const struct image *image, uint64_t start, uint64_t end)
{
    size_t at = find_copy(image, start);
    const struct image_copy *copy = at < image->copy_count ? &image->copies[at] : NULL;

    return copy && copy->start <= start && end <= copy->end ? copy->bytes + (start - copy->start)
                                                            : NULL;
}

/* Removes the copies in [start, end), so that a new copy, which has their contents, can replace
 * them. Returns the index for the new copy. */
static size_t make_room(struct image *image, uint64_t start, uint64_t end)
{
    size_t first = find_copy(image, start), last = first;

    while (last < image->copy_count && image->copies[last].start < end) {
        munmap(image->copies[last].bytes, image->copies[last].end - image->copies[last].start);
        last++;
    }
    memmove(&image->copies[first], &image->copies[last],
            (image->copy_count - last) * sizeof(*image->copies));
    image->copy_count -= last - first;
    return first;
}

/* Widens [*start, *end) so that it contains all copies that it overlaps. */
static void widen(const struct image *image, uint64_t *start, uint64_t *end)
{
    for (size_t i = find_copy(image, *start);
         i < image->copy_count && image->copies[i].start < *end; i++) {
        if (image->copies[i].start < *start)
            *start = image->copies[i].start;
        if (image->copies[i].end > *end)
            *end = image->copies[i].end;
    }
}

const uint8_t *image_keep(struct image *image, uint64_t start, uint64_t end)
{
    const uint8_t *known = copy_around(image, start, end);
    uint64_t from = start, to = end;
    uint8_t *bytes;
    size_t at;

    if (known || start >= end || end > IMAGE_END)
        return known;
    widen(image, &from, &to);
    bytes = mmap(NULL, to - from, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    image_read_pages(image, from, bytes, to - from);
    image->copies = array_grow(image->copies, &image->copy_capacity, image->copy_count + 1,
                               sizeof(*image->copies));
    at = make_room(image, from, to);
    memmove(&image->copies[at + 1], &image->copies[at],
            (image->copy_count - at) * sizeof(*image->copies));
    image->copies[at] = (struct image_copy){.start = from, .end = to, .bytes = bytes};
    image->copy_count++;
    return bytes + (start - from);
}
