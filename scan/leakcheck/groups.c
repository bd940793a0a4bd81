/* groups.c - groups blocks by verdict, size, and class or kind of content. */
#include "scan/leakcheck/groups.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hashmap.h"
#include "common/encode/encode.h"

#define TEXT_LEAST 4 /* least number of characters that count as a text */
#define LOOKED_AT 64 /* bytes of content that are examined */

const char *const content_word[] = {"object", "text", "zeros", "data"};

struct making {
    struct groups *groups;
    const struct marking *marking;
    struct hashmap by_key; /* hash of a group's key -> 1 + index in groups->group[] */
};

/* ---- Kinds of content ------------------------------------------------------------------------ */

static bool is_text(const uint8_t *bytes, size_t size)
{
    size_t length = 0;

    while (length < size &&
           (isprint(bytes[length]) || bytes[length] == '\n' || bytes[length] == '\t'))
        length++;
    return length >= TEXT_LEAST && (length == size || !bytes[length]);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

/* Says whether the first word of a block is a pointer. Then the block does not count as text, even
 * if all bytes of the pointer are printable. */
static bool is_pointer(const struct making *making, const uint8_t *bytes)
{
    struct image *image = making->marking->objects->image;

    return image_find(image, image_word(bytes, image->word));
}

static enum content_kind kind_of(const struct making *making, const uint8_t *bytes, size_t size,
                                 uint64_t *vtable)
{
    *vtable = image_word(bytes, making->marking->objects->image->word);
    if (objects_is_vtable(making->marking->objects, *vtable))
        return CONTENT_OBJECT;
    *vtable = 0;
    size = size < LOOKED_AT ? size : LOOKED_AT;
    if (is_zero(bytes, size))
        return CONTENT_ZEROS;
    return is_text(bytes, size) && !is_pointer(making, bytes) ? CONTENT_TEXT : CONTENT_DATA;
}

/* ---- Making groups --------------------------------------------------------------------------- */

static void name_group(const struct making *making, struct group *group)
{
    struct objects *objects = making->marking->objects;
    const struct object *object = objects_find(objects, group->vtable);

    if (!group->vtable || !object)
        return;
    group->class_name = objects_class(objects, group->vtable);
    group->place = arena_format(objects->image->mem, "%s+0x%lx", object->path,
                                (unsigned long)(group->vtable - object->bias));
}

/* Returns the number of bytes of content to show; of a text, those before its end. */
static size_t shown_length(const struct group *group, const uint8_t *bytes)
{
    size_t length = group->block_size < LOOKED_AT ? group->block_size : LOOKED_AT;

    return group->kind == CONTENT_TEXT ? strnlen((const char *)bytes, length) : length;
}

static struct group *find_group(struct making *making, const struct group *wanted,
                                const uint8_t *bytes)
{
    struct groups *groups = making->groups;
    uint64_t key = hash_mix(hash_mix(hash_mix(wanted->verdict, wanted->block_size), wanted->kind),
                            wanted->vtable);
    bool fresh;
    uint64_t *slot = hashmap_put(&making->by_key, key, &fresh);
    struct group *group;

    if (!fresh)
        return &groups->group[*slot - 1];
    groups->group =
        array_grow(groups->group, &groups->capacity, groups->count + 1, sizeof(*groups->group));
    group = &groups->group[groups->count++];
    *slot = groups->count;
    *group = *wanted;
    name_group(making, group);
    hex_line(bytes, shown_length(wanted, bytes), group->content, sizeof(group->content));
    return group;
}

static struct group *add_block(struct making *making, uint32_t number, enum verdict verdict)
{
    const struct heap_map *chunks = &making->marking->heap->chunks;
    const uint8_t *bytes = heap_map_block_bytes(chunks, number);
    struct group wanted = {.verdict = verdict, .block_size = heap_map_block_size(chunks, number)};
    struct group *group;

    wanted.kind = kind_of(making, bytes, wanted.block_size, &wanted.vtable);
    group = find_group(making, &wanted, bytes);
    if (group->sample_count < GROUP_SAMPLES)
        group->samples[group->sample_count++] = heap_map_block(chunks, number);
    group->blocks++;
    group->bytes += wanted.block_size;
    return group;
}

static void add_lost(struct making *making, const struct lost_graph *graph)
{
    const struct heap_map *chunks = &making->marking->heap->chunks;

    for (uint32_t i = 0; i < graph->count; i++) {
        const struct lost_chunk *block = &graph->block[i];
        struct group *group;

        if (block->owner != i)
            continue;
        group = add_block(making, block->chunk, VERDICT_LOST);
        group->cycles += block->cycle;
        group->indirect_blocks += block->retained_blocks - 1;
        group->indirect_bytes += block->retained_bytes - heap_map_block_size(chunks, block->chunk);
    }
}

static int compare_groups(const void *one, const void *other)
{
    const struct group *a = one, *b = other;
    uint64_t of_a = a->bytes + a->indirect_bytes, of_b = b->bytes + b->indirect_bytes;

    if (a->verdict != b->verdict)
        return COMPARE(a->verdict, b->verdict);
    if (of_a != of_b)
        return COMPARE(of_b, of_a);
    return COMPARE(a->samples[0], b->samples[0]);
}

static void count_totals(struct groups *groups, const struct marking *marking)
{
    const struct heap_map *chunks = &marking->heap->chunks;

    for (uint32_t i = 0; i < chunks->count; i++)
        if (mark_is_block(marking, i) && marking->verdict[i] < VERDICT_MAX) {
            groups->totals[marking->verdict[i]].blocks++;
            groups->totals[marking->verdict[i]].bytes += heap_map_block_size(chunks, i);
        }
    for (size_t i = 0; i < groups->count; i++)
        groups->totals[groups->group[i].verdict].records++;
}

void groups_make(struct groups *groups, const struct marking *marking,
                 const struct lost_graph *graph, bool reachable)
{
    struct making making = {.groups = groups, .marking = marking};

    *groups = (struct groups){0};
    add_lost(&making, graph);
    for (uint32_t i = 0; i < marking->heap->chunks.count; i++) {
        enum verdict verdict = marking->verdict[i];

        if (mark_is_block(marking, i) &&
            (verdict == VERDICT_POSSIBLE || verdict == VERDICT_HIDDEN ||
             (verdict == VERDICT_REACHABLE && reachable)))
            add_block(&making, i, verdict);
    }
    hashmap_end(&making.by_key);
    if (groups->count)
        qsort(groups->group, groups->count, sizeof(*groups->group), compare_groups);
    count_totals(groups, marking);
}

void groups_end(struct groups *groups)
{
    free(groups->group);
}
