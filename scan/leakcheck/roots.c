/* roots.c - finds the memory outside of the heap that may contain pointers. */
#include "scan/leakcheck/roots.h"

#include <stdlib.h>
#include <string.h>

#include "scan/image/registers.h"

#define PIECE (1u << 20)
#define THREAD_MOST 4096u /* most bytes of struct pthread, the description of a thread */
/* Most bytes of a RELRO mapping; a larger one is from a damaged core. */
#define RELRO_MOST (1u << 28)

/* Memory [start, end) that is no root. */
struct hole {
    uint64_t start, end;
};

struct holes {
    struct hole *hole;
    size_t count, capacity;
};

static void add_hole(struct holes *holes, uint64_t start, uint64_t end)
{
    if (start >= end)
        return;
    holes->hole = array_grow(holes->hole, &holes->capacity, holes->count + 1, sizeof(*holes->hole));
    holes->hole[holes->count++] = (struct hole){start, end};
}

/* Returns the lowest address at which the stack of a thread may begin. Since glibc 2.42 guard pages
 * have no mapping of their own, so a mapping may contain several stacks. Above each stack is the
 * description of its thread, to which tls points. */
static uint64_t stack_start(const struct image *image, const struct image_mapping *mapping,
                            uint64_t sp)
{
    uint64_t start = mapping->start;

    for (size_t i = 0; i < image->thread_count; i++) {
        uint64_t end = (image->threads[i].tls + THREAD_MOST) & -(uint64_t)IMAGE_PAGE;

        if (image->threads[i].tls >= start && end > start && end <= sp)
            start = end;
    }
    return start;
}

/* Adds the unused part of a thread's own stack, below its stack pointer, as a hole. If the
 * thread has switched to another stack (a fibre's), other stacks may be beside that, so nothing
 * of it is certainly unused. */
static void add_dead_stack(struct holes *holes, const struct image *image,
                           const struct image_thread *thread)
{
    const struct image_mapping *mapping = thread->sp ? image_find(image, thread->sp) : NULL;
    uint64_t anchor = thread->tls;

    if (!mapping)
        return;
    if (image->main_stack >= mapping->start && image->main_stack < mapping->end)
        anchor = image->main_stack;
    if (anchor >= mapping->start && anchor < mapping->end && thread->sp > REGISTERS_RED_ZONE)
        add_hole(holes, stack_start(image, mapping, thread->sp),
                 (thread->sp - REGISTERS_RED_ZONE) & ~(uint64_t)7);
}

static int compare_holes(const void *one, const void *other)
{
    return COMPARE(((const struct hole *)one)->start, ((const struct hole *)other)->start);
}

static void find_holes(struct holes *holes, const struct image *image,
                       const struct glibc_heap *heap)
{
    for (size_t i = 0; i < heap->chunks.region_count; i++)
        add_hole(holes, heap->chunks.regions[i].start, heap->chunks.regions[i].stop);
    for (size_t i = 0; i < heap->arena_count; i++) {
        uint64_t arena = heap->arenas[i].address, size = glibc_heap_arena_size(heap->layout);

        add_hole(holes, i ? arena & -(uint64_t)IMAGE_PAGE : arena, arena + size);
    }
    for (size_t i = 0; i < image->thread_count; i++)
        add_dead_stack(holes, image, &image->threads[i]);
    if (holes->count)
        qsort(holes->hole, holes->count, sizeof(*holes->hole), compare_holes);
}

static void add_range(struct roots *roots, uint64_t start, uint64_t end, bool starts_only)
{
    uint64_t word = roots->image->word;

    start = (start + word - 1) & -word;
    end &= -word;
    if (start >= end)
        return;
    roots->ranges =
        array_grow(roots->ranges, &roots->capacity, roots->count + 1, sizeof(*roots->ranges));
    roots->ranges[roots->count++] = (struct root_range){start, end, starts_only};
    roots->bytes += end - start;
}

static bool is_root(const struct image_mapping *mapping, const struct objects *objects)
{
    const struct object *object;

    if (mapping->shared || !(mapping->access & IMAGE_READ) || (mapping->access & IMAGE_EXECUTE))
        return false;
    if (mapping->path &&
        (strcmp(mapping->path, "[vvar]") == 0 || strcmp(mapping->path, "[vsyscall]") == 0))
        return false;
    if (mapping->access & IMAGE_WRITE)
        return true;
    object = objects_find(objects, mapping->start);
    return object && mapping->start < object->data_end && object->data_start < mapping->end &&
           mapping->end - mapping->start <= RELRO_MOST;
}

/* Adds a mapping without its holes. *at: the first hole that may end above the mapping's start. */
static void add_mapping(struct roots *roots, const struct image_mapping *mapping,
                        const struct holes *holes, size_t *at, bool starts_only)
{
    uint64_t start = mapping->start;

    while (*at < holes->count && holes->hole[*at].end <= start)
        (*at)++;
    for (size_t i = *at; i < holes->count && holes->hole[i].start < mapping->end; i++) {
        if (holes->hole[i].start > start)
            add_range(roots, start, holes->hole[i].start, starts_only);
        if (holes->hole[i].end > start)
            start = holes->hole[i].end;
    }
    if (start < mapping->end)
        add_range(roots, start, mapping->end, starts_only);
}

void roots_find(struct roots *roots, struct image *image, const struct objects *objects,
                const struct glibc_heap *heap)
{
    const struct object *libc = objects_libc(objects);
    struct holes holes = {0};
    size_t at = 0;

    *roots = (struct roots){.image = image};
    find_holes(&holes, image, heap);
    for (size_t i = 0; i < image->mapping_count; i++) {
        const struct image_mapping *mapping = &image->mappings[i];
        bool of_libc = libc && mapping->start < libc->data_end && libc->data_start < mapping->end;

        if (is_root(mapping, objects))
            add_mapping(roots, mapping, &holes, &at, of_libc);
    }
    free(holes.hole);
}

void roots_end(struct roots *roots)
{
    free(roots->ranges);
}

void roots_each(const struct roots *roots, roots_visit *visit, void *context)
{
    struct image *image = roots->image;
    uint64_t *words = malloc(PIECE / image->word * sizeof(*words));

    for (size_t i = 0; words && i < roots->count; i++) {
        const struct root_range *range = &roots->ranges[i];

        for (uint64_t at = range->start, next; at < range->end; at = next) {
            next = (at + PIECE) & -(uint64_t)PIECE;
            if (next > range->end)
                next = range->end;
            if (image_read_pages(image, at, (uint8_t *)words, next - at))
                visit(context, words, image_widen(image, words, next - at), range->starts_only);
        }
    }
    for (size_t i = 0; i < image->thread_count; i++)
        visit(context, image->threads[i].words, image->threads[i].word_count, false);
    free(words);
}
