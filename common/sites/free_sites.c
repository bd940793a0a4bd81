/* free_sites.c - see sites.h. */
#include "common/sites/sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least number of inspected frees for a meaningful share. */
#define LOOKS_FOR_SHARE 16

/* Sites with a common key. */
struct site_group {
    uint32_t first; /* index of a site + 1 */
    bool told;
    struct freed freed;
};

/* Frees of one place. */
struct place_sum {
    const struct frame *frame;
    uint64_t blocks, most; /* most: of one stack, that of `node` */
    uint32_t node;
};

struct free_tally {
    struct hashmap by_place; /* place_key() -> index + 1 */
    struct place_sum *places;
    size_t count, capacity;
    uint64_t frees; /* as counted by the sites */
    uint64_t seen, moved,
        there; /* as recorded: freed elsewhere, moved by realloc, freed by the allocating line */
    uint64_t late; /* of "seen": at the end of the program */
    double looks;  /* estimated number of inspected frees behind "seen" */
    bool few;      /* no site has more frees than are always inspected */
};

struct free_sites free_sites_begin(struct arena *mem, struct signatures *signatures)
{
    const struct store *store = signatures->store;
    struct free_sites frees = {.mem = mem, .signatures = signatures, .store = store};
    char value[8];

    frees.sampled = store->header.sample > 1;
    frees.all = store->header.sample == 1 ||
                (!frees.sampled && store_get_option(store, "free_stacks", value, sizeof(value)) &&
                 strcmp(value, "all") == 0);
    frees.wrappers = free_wrappers_find(signatures);
    if (!store->freed_count)
        return frees;
    frees.allocates = array_grow(NULL, &(size_t){0}, store->node_count + 1, 1);
    memset(frees.allocates, 0, store->node_count + 1);
    frees.late = array_grow(NULL, &(size_t){0}, store->node_count + 1, 1);
    memset(frees.late, 0, store->node_count + 1);
    for (size_t i = 0; i < store->site_count; i++)
        if (store->sites[i].node >= LEAK_NODE_FIRST)
            frees.allocates[store->sites[i].node] = 1;
    return frees;
}

static void site_groups_end(struct site_groups *families)
{
    free(families->all);
    free(families->next);
    hashmap_end(&families->of);
}

void free_sites_end(struct free_sites *frees)
{
    free_wrappers_end(&frees->wrappers);
    free(frees->allocates);
    free(frees->late);
    site_groups_end(&frees->places);
    site_groups_end(&frees->functions);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The same function and line; without a line, the same instruction. */
static uint64_t place_key(const struct frame *frame)
{
    return hash_mix(frame->name_hash, frame->line ? frame->line : ~frame->offset);
}

/* ---- The end of the program ------------------------------------------------------------------ */

enum { NOT_ASKED, BEFORE_THE_END, AT_THE_END };

/* A return from main also goes through exit. */
static bool is_exit(const struct resolved_place *place)
{
    for (size_t i = 0; place && i < place->count; i++) {
        const struct frame *frame = &place->frames[i];

        if (frame->role == FRAME_RUNTIME && frame->function &&
            (strcmp(frame->function, "exit") == 0 || strcmp(frame->function, "quick_exit") == 0))
            return true;
    }
    return false;
}

/* Is there an exit between the node and the start of its thread? Computed once for each node. */
static bool is_freed_at_exit(struct free_sites *frees, uint32_t node)
{
    const struct store_node *nodes = frees->store->nodes;
    uint32_t top = node;
    uint8_t answer;

    while (top >= LEAK_NODE_FIRST && !frees->late[top] &&
           !is_exit(signatures_place_at_node(frees->signatures, top)))
        top = nodes[top].parent;
    answer = top < LEAK_NODE_FIRST ? BEFORE_THE_END : frees->late[top];
    if (answer == NOT_ASKED)
        answer = frees->late[top] = AT_THE_END;
    for (; node != top; node = nodes[node].parent)
        frees->late[node] = answer;
    return answer == AT_THE_END;
}

/* ---- Adding up ------------------------------------------------------------------------------- */

static void tally_place(struct free_tally *tally, const struct frame *frame,
                        const struct store_freed *freed)
{
    uint64_t *slot = hashmap_put(&tally->by_place, place_key(frame), NULL);
    struct place_sum *sum;

    if (!*slot) {
        tally->places =
            array_grow(tally->places, &tally->capacity, tally->count + 1, sizeof(*tally->places));
        tally->places[tally->count++] = (struct place_sum){.frame = frame, .node = freed->node};
        *slot = tally->count;
    }
    sum = &tally->places[*slot - 1];
    sum->blocks = add_saturating(sum->blocks, freed->blocks);
    if (freed->blocks > sum->most) {
        sum->most = freed->blocks;
        sum->node = freed->node;
        sum->frame = frame;
    }
}

/* Estimates how many frees of these blocks were inspected: their share of the inspected frees of
 * the site. With sample= only frees of sampled blocks are inspected; leak_store.h gives the
 * probability of a sample. */
static double inspected_frees(const struct free_sites *frees, const struct store_site *site,
                              const struct store_freed *freed)
{
    double blocks = (double)freed->blocks, all = (double)site->counts.frees;

    if (frees->sampled)
        return blocks *
               -expm1(-((double)freed->bytes / blocks + 1) / (double)frees->store->header.sample);
    if (all <= LEAK_FREED_MANY)
        return blocks / LEAK_FREED_ONE_IN;
    return blocks / all *
           ((double)LEAK_FREED_MANY / LEAK_FREED_ONE_IN +
            (all - LEAK_FREED_MANY) / LEAK_FREED_ONE_IN_MANY);
}

static void site_totals_read_site(struct free_sites *frees, const struct store_site *site,
                                  struct free_tally *tally)
{
    const struct frame *own =
        site->freed_count ? free_wrappers_place(&frees->wrappers, site->node) : NULL;

    tally->frees = add_saturating(tally->frees, site->counts.frees);
    tally->few &= !frees->sampled && site->counts.frees <= LEAK_FREED_FIRST;
    for (size_t i = 0; i < site->freed_count; i++) {
        const struct store_freed *freed = &frees->store->freed[site->freed + i];
        const struct frame *place = free_wrappers_place(&frees->wrappers, freed->node);
        uint64_t *sum = &tally->seen;

        if (freed->node >= LEAK_NODE_FIRST && frees->allocates[freed->node])
            sum = &tally->moved;
        else if (own && place && place_key(own) == place_key(place))
            sum = &tally->there;
        else if (place && freed->blocks)
            tally_place(tally, place, freed);
        *sum = add_saturating(*sum, freed->blocks);
        if (sum != &tally->seen || !freed->blocks)
            continue;
        tally->looks += inspected_frees(frees, site, freed);
        if (is_freed_at_exit(frees, freed->node))
            tally->late = add_saturating(tally->late, freed->blocks);
    }
}

static struct free_tally tally_up(struct free_sites *frees, struct site_list sites)
{
    struct free_tally tally = {.few = true};

    for (uint32_t at = sites.first; at; at = sites.next[at - 1])
        site_totals_read_site(frees, &frees->store->sites[at - 1], &tally);
    return tally;
}

/* Moves the FREED_PLACES largest to the front. */
static void sort_largest(struct free_tally *tally)
{
    for (size_t i = 0; i < FREED_PLACES && i < tally->count; i++)
        for (size_t k = i + 1; k < tally->count; k++)
            if (tally->places[k].blocks > tally->places[i].blocks) {
                struct place_sum larger = tally->places[k];

                tally->places[k] = tally->places[i];
                tally->places[i] = larger;
            }
}

static struct freed finish_tally(struct free_sites *frees, struct free_tally *tally)
{
    struct freed freed = {.exact = frees->all || tally->few, .sampled = frees->sampled};
    const struct frame *found[TRACE_MAX];
    const struct frame **frames;
    uint32_t ending;

    freed.enough = freed.exact || tally->looks >= LOOKS_FOR_SHARE;
    freed.of = tally->frees;
    if (freed.exact || tally->moved || tally->there)
        freed.of = freed.enough ? tally->seen : 0;
    freed.late = tally->seen ? (double)tally->late / (double)tally->seen : 0;
    sort_largest(tally);
    for (size_t i = 0; i < FREED_PLACES && i < tally->count; i++)
        freed.place[freed.places++] = (struct freed_place){
            tally->places[i].frame, (double)tally->places[i].blocks / (double)tally->seen};
    if (freed.places) {
        freed.frame_count =
            signatures_node_frames(frees->signatures, tally->places[0].node, found, &ending);
        frames = arena_alloc_array(frees->mem, freed.frame_count, sizeof(*frames));
        memcpy(frames, found, freed.frame_count * sizeof(*frames));
        freed.frames = frames;
    }
    free(tally->places);
    hashmap_end(&tally->by_place);
    return freed;
}

/* ---- Families -------------------------------------------------------------------------------- */

typedef uint64_t group_key(const struct frame *place, uint32_t kind);

static uint64_t same_place(const struct frame *place, uint32_t kind)
{
    return hash_mix(place_key(place), kind);
}

static uint64_t same_function(const struct frame *place, uint32_t kind)
{
    (void)kind;
    return place->name_hash;
}

static void make_site_groups(struct free_sites *frees, struct site_groups *families, group_key *key)
{
    const struct store *store = frees->store;

    families->next = array_grow(NULL, &(size_t){0}, store->site_count, sizeof(*families->next));
    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];
        const struct frame *place = NULL;
        uint64_t *slot;

        if (site->freed_count)
            place = free_wrappers_place(&frees->wrappers, site->node);
        if (!place)
            continue;
        slot = hashmap_put(&families->of, key(place, site->kind), NULL);
        if (!*slot) {
            families->all = array_grow(families->all, &families->capacity, families->count + 1,
                                       sizeof(*families->all));
            families->all[families->count++] = (struct site_group){0};
            *slot = families->count;
        }
        families->next[i] = families->all[*slot - 1].first;
        families->all[*slot - 1].first = (uint32_t)i + 1;
    }
}

/* How the blocks of a group are freed, whatever their stack; NULL: no such group. */
static const struct freed *group_freed(struct free_sites *frees, struct site_groups *families,
                                       group_key *key, uint64_t wanted)
{
    struct site_group *family;
    uint64_t at;

    if (!families->next)
        make_site_groups(frees, families, key);
    at = hashmap_get(&families->of, wanted);
    if (!at)
        return NULL;
    family = &families->all[at - 1];
    if (!family->told) {
        struct free_tally tally =
            tally_up(frees, (struct site_list){family->first, families->next});

        family->freed = finish_tally(frees, &tally);
        family->told = true;
    }
    return &family->freed;
}

/* Where blocks that a function allocates are freed, unless it frees them itself. */
static struct freed freed_by_function(struct free_sites *frees, uint64_t function)
{
    const struct freed *freed = group_freed(frees, &frees->functions, same_function, function);

    return freed && freed->places && freed->place[0].frame->name_hash != function
               ? *freed
               : (struct freed){0};
}

void free_sites_fill_resources(struct free_sites *frees, struct process *process)
{
    for (size_t i = 0; i < process->resource_count; i++) {
        struct record *record = &process->resources[i].record;
        const struct frame *title = record_title_frame(record);

        if (title && !process->resources[i].bad_close)
            record->beside = freed_by_function(frees, title->name_hash);
    }
}

/* Did the stacks free nothing? Certain only where every free was inspected. */
static bool freed_none(const struct free_sites *frees, const struct free_tally *tally)
{
    return !tally->seen && !tally->there && tally->moved == tally->frees &&
           (frees->all || tally->few);
}

void free_sites_fill(struct free_sites *frees, struct site_list sites, struct record *record)
{
    struct free_tally tally = tally_up(frees, sites);
    const struct frame *place =
        free_wrappers_place(&frees->wrappers, frees->store->sites[sites.first - 1].node);
    const struct freed *others;

    record->freed = finish_tally(frees, &tally);
    if (place && frees->store->freed_count && freed_none(frees, &tally)) {
        others = group_freed(frees, &frees->places, same_place, same_place(place, record->kind));
        if (others && others->places) {
            record->freed = *others;
            record->freed.other_path = true;
        } else {
            record->beside = freed_by_function(frees, place->name_hash);
        }
    }
    record->freed.blocks = tally.frees;
}
