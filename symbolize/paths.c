/* paths.c - see paths.h. */
#include "symbolize/paths.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_KEPT 12 /* of a path: the first half and the last */

struct longest {
    const struct path *path;
    uint64_t bytes;
};

struct paths paths_begin(struct mem *mem, struct signatures *signatures)
{
    const struct store_look *look = signatures->store->look;
    struct paths paths = {.mem = mem, .signatures = signatures, .store = signatures->store};

    paths.roots = roots_begin(mem, signatures);
    if (look) {
        paths.longest = mem_take_array(mem, look->root_count, sizeof(*paths.longest));
        paths.titles = mem_more(NULL, &(size_t){0}, paths.store->site_count + 1, sizeof(void *));
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
    const struct store_look *look = signatures->store->look;

    for (size_t i = 0; look && i < look->step_count; i++)
        if (look->steps[i].site != STORE_NO_SITE)
            signatures_want(signatures, signatures->store->sites[look->steps[i].site].node);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* Where the blocks of a site come from, found once. */
static const struct frame *title_of(struct paths *paths, uint32_t site)
{
    const struct frame *found[TRACE_MAX];
    struct record record = {.frames = found};
    uint32_t ending;

    if (paths->titles[site])
        return paths->titles[site];
    record.frame_count =
        signatures_trace(paths->signatures, paths->store->sites[site].node, found, &ending);
    record.user = frame_user(found, record.frame_count);
    return paths->titles[site] = record_title(&record);
}

static struct path_step told(struct paths *paths, const struct store_step *step)
{
    struct path_step made = {.offset = step->offset, .into = step->into, .size = step->size};

    if (step->site == STORE_NO_SITE)
        return made;
    made.known = true;
    made.signature = signatures_of(paths->signatures, paths->store->sites[step->site].node);
    made.frame = title_of(paths, step->site);
    return made;
}

const struct path *paths_tell(struct paths *paths, uint32_t index, uint64_t bytes)
{
    const struct store_look *look = paths->store->look;
    const struct store_found *found = &look->found[index];
    struct path_step *steps;
    struct path *path;
    size_t count = found->path_count, head = count;

    if (found->root == STORE_NONE)
        return NULL;
    path = mem_take(paths->mem, sizeof(*path));
    path->root = roots_name(&paths->roots, found->root);
    if (count > STEPS_KEPT) {
        path->skipped = count - STEPS_KEPT;
        path->skipped_at = head = STEPS_KEPT / 2;
        count = STEPS_KEPT;
    }
    path->steps = steps = mem_take_array(paths->mem, count, sizeof(*steps));
    path->count = count;
    for (size_t i = 0; i < count; i++)
        steps[i] = told(paths, &look->steps[found->path + i + (i < head ? 0 : path->skipped)]);
    if (bytes >= paths->longest[found->root].bytes)
        paths->longest[found->root] = (struct longest){path, bytes};
    return path;
}

/* ---- Owners --------------------------------------------------------------------------------- */

struct merging {
    struct owner owner;
    uint64_t of; /* bytes of the record its path leads to */
};

static int by_bytes(const void *left, const void *right)
{
    const struct merging *a = left, *b = right;

    if (a->owner.bytes != b->owner.bytes)
        return a->owner.bytes > b->owner.bytes ? -1 : 1;
    return strcmp(a->owner.root->words, b->owner.root->words);
}

/* Roots of one name are one owner: the words of a table, the frames of a recursion. */
static void merge(struct merging *merging, const struct leak_held *held,
                  const struct longest *longest)
{
    merging->owner.bytes = add_saturating(merging->owner.bytes, held->bytes);
    merging->owner.blocks = add_saturating(merging->owner.blocks, held->blocks);
    if (longest->path && (!merging->owner.path || longest->bytes > merging->of)) {
        merging->owner.path = longest->path;
        merging->of = longest->bytes;
    }
}

void paths_owners(struct paths *paths, struct process *process)
{
    const struct store_look *look = paths->store->look;
    struct merging *all;
    struct map by_name = {0};
    size_t count = 0;

    if (!look || !look->root_count)
        return;
    all = mem_take_array(paths->mem, look->root_count, sizeof(*all));
    for (size_t i = 0; i < look->root_count; i++) {
        const struct root *root;
        uint64_t *slot;

        if (!look->roots[i].blocks)
            continue;
        root = roots_name(&paths->roots, (uint32_t)i);
        slot = map_put(&by_name, hash_text(8, root->words, strlen(root->words)), NULL);
        if (!*slot) {
            all[count].owner.root = root;
            *slot = ++count;
        }
        merge(&all[*slot - 1], &look->roots[i], &paths->longest[i]);
    }
    map_end(&by_name);
    qsort(all, count, sizeof(*all), by_bytes);
    process->owners = mem_take_array(paths->mem, count, sizeof(*process->owners));
    process->owner_count = count;
    for (size_t i = 0; i < count; i++)
        process->owners[i] = all[i].owner;
}
