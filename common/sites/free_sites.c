/* free_sites.c - sums up frees by place; see free_sites.h. */
#include "common/sites/free_sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Frees that must have been looked at to tell a share of an estimate. */
#define LOOKS_FOR_SHARE 16

/* Sites whose blocks are of one kind: the same place asked for them. */
struct family {
    uint32_t first; /* index of a site + 1 */
    bool told;
    struct freed freed;
};

/* Frees while they are being added up. */
struct heap {
    const struct frame *frame;
    uint64_t blocks, most; /* most: of one stack, that of node */
    uint32_t node;
};

struct tally {
    struct map by_place; /* place_key() -> index + 1 */
    struct heap *heaps;
    size_t count, capacity;
    uint64_t frees;              /* as the sites count them */
    uint64_t seen, moved, there; /* as the records have it: freed elsewhere, moved by realloc, freed
                                    by the line that allocates */
    uint64_t late;               /* of "seen": when the program ended */
    double looks; /* how many frees were looked at for "seen", at least about so many */
    bool few;     /* no site has more than are looked at in any case */
};

struct frees frees_begin(struct mem *mem, struct signatures *signatures)
{
    const struct store *store = signatures->store;
    struct frees frees = {.mem = mem, .signatures = signatures, .store = store};
    char value[8];

    frees.sampled = store->header.sample > 1;
    frees.all = store->header.sample == 1 ||
                (!frees.sampled && store_get_option(store, "free_stacks", value, sizeof(value)) &&
                 strcmp(value, "all") == 0);
    frees.funnels = funnels_find(signatures);
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

static void families_end(struct families *families)
{
    free(families->all);
    free(families->next);
    hashmap_end(&families->of);
}

void frees_end(struct frees *frees)
{
    funnels_end(&frees->funnels);
    free(frees->allocates);
    free(frees->late);
    families_end(&frees->places);
    families_end(&frees->functions);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The same function and line; without a line, the same instruction. */
static uint64_t place_key(const struct frame *frame)
{
    return hash_mix(frame->name_hash, frame->line ? frame->line : ~frame->offset);
}

/* ---- The end of the program ------------------------------------------------------------------ */

enum { NOT_ASKED, BEFORE_THE_END, AT_THE_END };

/* main's return, too, goes through exit. */
static bool is_exit(const struct place *place)
{
    for (size_t i = 0; place && i < place->count; i++) {
        const struct frame *frame = &place->frames[i];

        if (frame->role == FRAME_RUNTIME && frame->function &&
            (strcmp(frame->function, "exit") == 0 || strcmp(frame->function, "quick_exit") == 0))
            return true;
    }
    return false;
}

/* Is there an exit between it and the start of its thread? Asked once of each node. */
static bool is_late(struct frees *frees, uint32_t node)
{
    const struct store_node *nodes = frees->store->nodes;
    uint32_t top = node;
    uint8_t answer;

    while (top >= LEAK_NODE_FIRST && !frees->late[top] &&
           !is_exit(signatures_place(frees->signatures, top)))
        top = nodes[top].parent;
    answer = top < LEAK_NODE_FIRST ? BEFORE_THE_END : frees->late[top];
    if (answer == NOT_ASKED)
        answer = frees->late[top] = AT_THE_END;
    for (; node != top; node = nodes[node].parent)
        frees->late[node] = answer;
    return answer == AT_THE_END;
}

/* ---- Adding up ------------------------------------------------------------------------------- */

static void add_place(struct tally *tally, const struct frame *frame,
                      const struct store_freed *freed)
{
    uint64_t *slot = hashmap_put(&tally->by_place, place_key(frame), NULL);
    struct heap *heap;

    if (!*slot) {
        tally->heaps =
            array_grow(tally->heaps, &tally->capacity, tally->count + 1, sizeof(*tally->heaps));
        tally->heaps[tally->count++] = (struct heap){.frame = frame, .node = freed->node};
        *slot = tally->count;
    }
    heap = &tally->heaps[*slot - 1];
    heap->blocks = add_saturating(heap->blocks, freed->blocks);
    if (freed->blocks > heap->most) {
        heap->most = freed->blocks;
        heap->node = freed->node;
        heap->frame = frame;
    }
}

/* How many of those blocks' frees were looked at, about: their part of the looks at all frees of
 * the site. With sample= these are the frees of samples, which are met with the chance that
 * leak_store.h says. */
static double looks_at(const struct frees *frees, const struct store_site *site,
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

static void add_site(struct frees *frees, const struct store_site *site, struct tally *tally)
{
    const struct frame *own = site->freed_count ? funnels_place(&frees->funnels, site->node) : NULL;

    tally->frees = add_saturating(tally->frees, site->counts.frees);
    tally->few &= !frees->sampled && site->counts.frees <= LEAK_FREED_FIRST;
    for (size_t i = 0; i < site->freed_count; i++) {
        const struct store_freed *freed = &frees->store->freed[site->freed + i];
        const struct frame *place = funnels_place(&frees->funnels, freed->node);
        uint64_t *sum = &tally->seen;

        if (freed->node >= LEAK_NODE_FIRST && frees->allocates[freed->node])
            sum = &tally->moved;
        else if (own && place && place_key(own) == place_key(place))
            sum = &tally->there;
        else if (place && freed->blocks)
            add_place(tally, place, freed);
        *sum = add_saturating(*sum, freed->blocks);
        if (sum != &tally->seen || !freed->blocks)
            continue;
        tally->looks += looks_at(frees, site, freed);
        if (is_late(frees, freed->node))
            tally->late = add_saturating(tally->late, freed->blocks);
    }
}

static struct tally tally_up(struct frees *frees, struct site_list sites)
{
    struct tally tally = {.few = true};

    for (uint32_t at = sites.first; at; at = sites.next[at - 1])
        add_site(frees, &frees->store->sites[at - 1], &tally);
    return tally;
}

/* The largest first, as many as are told. */
static void sort_largest(struct tally *tally)
{
    for (size_t i = 0; i < FREED_PLACES && i < tally->count; i++)
        for (size_t k = i + 1; k < tally->count; k++)
            if (tally->heaps[k].blocks > tally->heaps[i].blocks) {
                struct heap larger = tally->heaps[k];

                tally->heaps[k] = tally->heaps[i];
                tally->heaps[i] = larger;
            }
}

static struct freed settle(struct frees *frees, struct tally *tally)
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
            tally->heaps[i].frame, (double)tally->heaps[i].blocks / (double)tally->seen};
    if (freed.places) {
        freed.frame_count =
            signatures_trace(frees->signatures, tally->heaps[0].node, found, &ending);
        frames = arena_alloc_array(frees->mem, freed.frame_count, sizeof(*frames));
        memcpy(frames, found, freed.frame_count * sizeof(*frames));
        freed.frames = frames;
    }
    free(tally->heaps);
    hashmap_end(&tally->by_place);
    return freed;
}

/* ---- Families -------------------------------------------------------------------------------- */

typedef uint64_t common_key(const struct frame *place, uint32_t kind);

static uint64_t same_place(const struct frame *place, uint32_t kind)
{
    return hash_mix(place_key(place), kind);
}

static uint64_t same_function(const struct frame *place, uint32_t kind)
{
    (void)kind;
    return place->name_hash;
}

static void make_families(struct frees *frees, struct families *families, common_key *key)
{
    const struct store *store = frees->store;

    families->next = array_grow(NULL, &(size_t){0}, store->site_count, sizeof(*families->next));
    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];
        const struct frame *place = NULL;
        uint64_t *slot;

        if (site->freed_count)
            place = funnels_place(&frees->funnels, site->node);
        if (!place)
            continue;
        slot = hashmap_put(&families->of, key(place, site->kind), NULL);
        if (!*slot) {
            families->all = array_grow(families->all, &families->capacity, families->count + 1,
                                     sizeof(*families->all));
            families->all[families->count++] = (struct family){0};
            *slot = families->count;
        }
        families->next[i] = families->all[*slot - 1].first;
        families->all[*slot - 1].first = (uint32_t)i + 1;
    }
}

/* How the blocks of a family are freed, whatever their path; NULL: there is none. */
static const struct freed *family_freed(struct frees *frees, struct families *families,
                                        common_key *key, uint64_t wanted)
{
    struct family *family;
    uint64_t at;

    if (!families->next)
        make_families(frees, families, key);
    at = hashmap_get(&families->of, wanted);
    if (!at)
        return NULL;
    family = &families->all[at - 1];
    if (!family->told) {
        struct tally tally = tally_up(frees, (struct site_list){family->first, families->next});

        family->freed = settle(frees, &tally);
        family->told = true;
    }
    return &family->freed;
}

/* What a function allocates; what it frees itself says nothing of what it leaves. */
static struct freed beside(struct frees *frees, uint64_t function)
{
    const struct freed *freed = family_freed(frees, &frees->functions, same_function, function);

    return freed && freed->places && freed->place[0].frame->name_hash != function
               ? *freed
               : (struct freed){0};
}

void frees_tell_opened(struct frees *frees, struct process *process)
{
    for (size_t i = 0; i < process->resource_count; i++) {
        struct record *record = &process->resources[i].record;
        const struct frame *title = record_title_frame(record);

        if (title && !process->resources[i].bad_close)
            record->beside = beside(frees, title->name_hash);
    }
}

/* Stacks that freed nothing: certain only where each free is accounted for. */
static bool freed_none(const struct frees *frees, const struct tally *tally)
{
    return !tally->seen && !tally->there && tally->moved == tally->frees &&
           (frees->all || tally->few);
}

void frees_tell(struct frees *frees, struct site_list sites, struct record *record)
{
    struct tally tally = tally_up(frees, sites);
    const struct frame *place =
        funnels_place(&frees->funnels, frees->store->sites[sites.first - 1].node);
    const struct freed *others;

    record->freed = settle(frees, &tally);
    if (place && frees->store->freed_count && freed_none(frees, &tally)) {
        others = family_freed(frees, &frees->places, same_place, same_place(place, record->kind));
        if (others && others->places) {
            record->freed = *others;
            record->freed.other_path = true;
        } else {
            record->beside = beside(frees, place->name_hash);
        }
    }
    record->freed.blocks = tally.frees;
}
