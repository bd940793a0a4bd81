/* chunks.c - finds the chunks of a recording file, and the records of arrays that were written. */
#include "common/store/reader_internal.h"

#include <stdlib.h>

#include "common/base/arena.h"

/* Says whether a chunk begins at an offset. If the file was cut off, the chunk may reach beyond
 * the image, but never beyond the size that the header says is in use: else a damaged size would
 * hide the chunks behind it. */
static bool is_chunk_at(const struct store_image *image, uint64_t used, size_t at,
                        struct leak_chunk *chunk)
{
    uint64_t limit = used > image->size ? used : image->size;

    if (image->size - at < sizeof(*chunk))
        return false;
    memcpy(chunk, image->data + at, sizeof(*chunk));
    return chunk->magic == LEAK_CHUNK_MAGIC && chunk->offset == at && chunk->size >= LEAK_PAGE &&
           chunk->size % LEAK_PAGE == 0 && chunk->size <= limit - at;
}

/* Says whether a page was reserved but not published: then its first word is zero. */
static bool is_unpublished(const uint8_t *page, size_t rest)
{
    uint32_t magic = 0;

    memcpy(&magic, page, rest < sizeof(magic) ? rest : sizeof(magic));
    return magic == 0;
}

static void add_chunk(struct chunks *chunks, const struct store_image *image, size_t at,
                      const struct leak_chunk *found)
{
    struct chunk *chunk;
    size_t end = found->size > image->size - at ? image->size : at + (size_t)found->size;

    chunks->chunk =
        array_grow(chunks->chunk, &chunks->capacity, chunks->count + 1, sizeof(*chunks->chunk));
    chunk = &chunks->chunk[chunks->count++];
    *chunk = (struct chunk){
        .type = found->type, .first = found->first, .payload = at + sizeof(*found), .end = end};
    chunk->length =
        found->length > end - chunk->payload ? end - chunk->payload : (size_t)found->length;
}

struct chunks chunks_find(const struct store_image *image, uint64_t used)
{
    struct chunks chunks = {0};
    size_t at = LEAK_PAGE; /* behind the page with the file's header */

    for (size_t i = 0; i < image->extent_count; i++) {
        if (at < image->extents[i].start)
            at = image->extents[i].start & ~(size_t)(LEAK_PAGE - 1);
        while (at < image->extents[i].end) {
            size_t rest = image->size - at;
            struct leak_chunk found;

            if (is_chunk_at(image, used, at, &found)) {
                add_chunk(&chunks, image, at, &found);
                at = found.size > rest ? image->size : at + (size_t)found.size;
                continue;
            }
            chunks.skipped += !is_unpublished(image->data + at, rest);
            at += rest < LEAK_PAGE ? rest : LEAK_PAGE;
        }
    }
    return chunks;
}

void chunks_end(struct chunks *chunks)
{
    free(chunks->chunk);
    memset(chunks, 0, sizeof(*chunks));
}

const struct chunk *chunks_first(const struct chunks *chunks, uint32_t type)
{
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == type)
            return &chunks->chunk[i];
    return NULL;
}

void runs_add(struct runs *runs, const struct store_image *image, const struct chunk *chunk,
              size_t skip, size_t size, uint64_t limit)
{
    size_t start, room;

    if (chunk->end - chunk->payload < skip)
        return;
    start = chunk->payload + skip;
    room = (chunk->end - start) / size;
    if (room > limit)
        room = (size_t)limit;
    for (size_t i = 0; i < image->extent_count; i++) {
        const struct extent *extent = &image->extents[i];
        size_t from = 0, to = room;

        if (extent->end <= start || extent->start >= start + room * size)
            continue;
        if (extent->start > start)
            from = (extent->start - start) / size;
        if (extent->end < start + room * size)
            to = (extent->end - start + size - 1) / size;
        runs->run = array_grow(runs->run, &runs->capacity, runs->count + 1, sizeof(*runs->run));
        runs->run[runs->count++] = (struct run){.at = image->data + start + from * size,
                                                .first = chunk->first + from,
                                                .count = to - from};
    }
}

static int by_first(const void *left, const void *right)
{
    const struct run *a = left, *b = right;

    return COMPARE(a->first, b->first) ?: COMPARE(a->at, b->at);
}

size_t runs_index(struct runs *runs, size_t base, size_t *total)
{
    size_t kept = 0;
    uint64_t next = 0; /* lowest id above those of all records so far */
    size_t dropped = 0;

    *total = base;
    if (runs->count)
        qsort(runs->run, runs->count, sizeof(*runs->run), by_first);
    for (size_t i = 0; i < runs->count; i++) {
        struct run run = runs->run[i];

        if (run.first < next || run.first > UINT32_MAX || run.count > UINT32_MAX - run.first ||
            run.count > UINT32_MAX - *total) {
            dropped++;
            continue;
        }
        next = run.first + run.count;
        run.base = *total;
        *total += run.count;
        runs->run[kept++] = run;
    }
    runs->count = kept;
    return dropped;
}

static bool ends_at_or_below(const void *item, const void *id)
{
    const struct run *run = item;

    return run->first + run->count <= *(const uint64_t *)id;
}

size_t runs_find(const struct runs *runs, uint64_t id)
{
    size_t i = array_lower_bound(runs->run, runs->count, sizeof(*runs->run), ends_at_or_below, &id);

    return i < runs->count && runs->run[i].first <= id
               ? runs->run[i].base + (size_t)(id - runs->run[i].first)
               : SIZE_MAX;
}

void runs_end(struct runs *runs)
{
    free(runs->run);
    memset(runs, 0, sizeof(*runs));
}
