/* root_paths.c - see root_paths.h. */
#include "symbolize/heap/root_paths.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_KEPT 12 /* of a path: the first half and the last */

struct paths paths_begin(struct mem *mem, struct signatures *signatures)
{
    const struct store_leak_check *look = signatures->store->look;
    struct paths paths = {.mem = mem, .signatures = signatures, .store = signatures->store};

    paths.roots = roots_begin(mem, signatures);
    if (look) {
        paths.longest = arena_alloc_array(mem, look->root_count, sizeof(*paths.longest));
        paths.titles = array_grow(NULL, &(size_t){0}, paths.store->site_count + 1, sizeof(void *));
        memset(paths.titles, 0, paths.store->site_count * sizeof(void *));
    }
    return paths;
}

void paths_end(struct paths *paths)
{
    free(paths->titles);
    roots_end(&paths->roots);
}

void paths_want(struct signatures *signatures)
{
    const struct store_leak_check *look = signatures->store->look;

    for (size_t i = 0; look && i < look->step_count; i++)
        if (look->steps[i].site != STORE_NO_SITE)
            signatures_want(signatures, signatures->store->sites[look->steps[i].site].node);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

const struct frame *paths_title(struct paths *paths, uint32_t site)
{
    const struct frame *found[TRACE_MAX];
    struct record record = {.frames = found};
    uint32_t ending;

    if (paths->titles[site])
        return paths->titles[site];
    record.frame_count =
        signatures_trace(paths->signatures, paths->store->sites[site].node, found, &ending);
    record.user = frame_first_user(found, record.frame_count);
    return paths->titles[site] = record_title_frame(&record);
}

static struct path_step told(struct paths *paths, const struct store_step *step)
{
    struct path_step made = {.offset = step->offset, .into = step->into, .size = step->size};

    if (step->site == STORE_NO_SITE)
        return made;
    made.known = true;
    made.signature = signatures_of(paths->signatures, paths->store->sites[step->site].node);
    made.frame = paths_title(paths, step->site);
    return made;
}

const struct path *paths_tell(struct paths *paths, uint32_t index, uint64_t bytes)
{
    const struct store_leak_check *look = paths->store->look;
    const struct store_found *found = &look->found[index];
    struct path_step *steps;
    struct path *path;
    size_t count = found->path_count, head = count;

    if (found->root == STORE_NONE)
        return NULL;
    path = arena_alloc(paths->mem, sizeof(*path));
    path->root = roots_name(&paths->roots, found->root);
    if (count > STEPS_KEPT) {
        path->skipped = count - STEPS_KEPT;
        path->skipped_at = head = STEPS_KEPT / 2;
        count = STEPS_KEPT;
    }
    path->steps = steps = arena_alloc_array(paths->mem, count, sizeof(*steps));
    path->count = count;
    for (size_t i = 0; i < count; i++)
        steps[i] = told(paths, &look->steps[found->path + i + (i < head ? 0 : path->skipped)]);
    if (bytes >= paths->longest[found->root].bytes)
        paths->longest[found->root] = (struct longest){path, bytes};
    return path;
}
