/* free_sites.c - sums up where blocks like those of a record were freed. */
#include "common/sites/sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"

/* Least number of inspected frees for which a report says in percent how many blocks each place
 * frees. */
#define LOOKS_FOR_SHARE 16

/* Most records of freed blocks (struct store_freed) that are compared with one record of the
 * report; the rest of a larger group of sites is ignored. */
#define GROUP_ROWS 512
/* Most frames of a free's stack that are compared, innermost first. */
#define STACK_FRAMES 256

/* Sites whose stacks are equal in the functions that one level of the search (levels[]) compares:
 * their level_key() is the same. */
struct site_group {
    uint32_t first; /* 1 + index of the group's first site; site_groups.next has the others */
};

/* The frees at one place whose stacks agree equally well with the record's stack. */
struct place_sum {
    const struct frame *frame, *common, *below; /* have the same meaning as in struct freed_place */
    struct common_frame agreement;              /* only set if `common` is not NULL */
    uint64_t blocks, most;                      /* most: the largest number of blocks that one
                                                 * stack freed; `node` is that stack */
    uint32_t node;
    bool apart; /* the freed blocks were allocated below `below`, too, so `common` had no part in
                 * them */
};

struct free_tally {
    struct common_frames own; /* the record's stack */
    bool others;              /* blocks of other stacks than the record's are summed up */
    struct hashmap by_place;  /* sum_key() -> 1 + index in places[] */
    struct place_sum *places;
    size_t count, capacity;
    uint64_t frees; /* number of frees of the sites' blocks, recorded or not */
    /* Numbers of recorded frees. there: by the line that allocated the block. moved: by realloc.
     * seen: all others. */
    uint64_t seen, moved, there;
    uint64_t late; /* how many of the `seen` frees happened at the end of the program */
    uint64_t allocations;
    double looks;     /* estimated number of frees whose stacks libleak inspected, among those that
                       * `seen` counts */
    bool few;         /* true: each site has so few frees that the stacks of all were inspected */
    bool uncounted;   /* the parent process allocated some blocks, or they are older than
                       * libleak, so their number is unknown */
    bool uninspected; /* some site had frees, none of which was inspected */
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
    for (size_t i = 0; i < FREE_LEVELS; i++)
        site_groups_end(&frees->levels[i]);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* A hash that identifies a place in the code: of function and line, or if the line is unknown of
 * function and instruction. */
static uint64_t place_key(const struct frame *frame)
{
    return hash_mix(frame->name_hash, frame->line ? frame->line : ~frame->offset);
}

/* ---- Frees at the end of the program --------------------------------------------------------- */

enum { NOT_ASKED, BEFORE_THE_END, AT_THE_END };

/* Says whether a return address is in exit(), which also runs when main returns. */
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

/* Says whether exit() called the frame of a node, directly or through others. Computes it once for
 * each node. */
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

/* ---- Adding up frees ------------------------------------------------------------------------- */

static size_t collect_stack(struct signatures *signatures, uint32_t node,
                            const struct frame *frames[STACK_FRAMES])
{
    size_t count = 0;

    for (; node >= LEAK_NODE_FIRST; node = signatures->store->nodes[node].parent) {
        const struct resolved_place *place = signatures_place_at_node(signatures, node);

        for (size_t i = 0; place && i < place->count && count < STACK_FRAMES; i++)
            frames[count++] = &place->frames[i];
    }
    return count;
}

/* Finds the place of a free and the innermost function that its stack has in common with the
 * record's. */
static struct place_sum inspect_free(struct free_sites *frees, const struct free_tally *tally,
                                     const struct frame *frame, uint32_t node)
{
    const struct frame *found[STACK_FRAMES];
    struct stack other = {found, collect_stack(frees->signatures, node, found), 0};
    struct place_sum sum = {.frame = frame, .node = node};

    if (!common_frame_find(&tally->own, &other, &frees->wrappers, &sum.agreement))
        return sum;
    sum.common = found[sum.agreement.other];
    if (sum.agreement.below != sum.agreement.other)
        sum.below = found[sum.agreement.below];
    return sum;
}

static uint64_t sum_key(const struct place_sum *sum)
{
    uint64_t key = place_key(sum->frame);

    if (sum->common)
        key = hash_mix(key, place_key(sum->common));
    return sum->below ? hash_mix(key, sum->below->name_hash) : key;
}

static bool has_function(const struct stack *stack, const struct frame *function)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i]->name_hash == function->name_hash)
            return true;
    return false;
}

/* Says whether the function that `common` calls to free a block allocated it, too: then the block
 * never was in the hands of `common`. */
static bool is_apart(struct free_sites *frees, const struct place_sum *sum, uint32_t site_node)
{
    const struct frame *found[STACK_FRAMES];
    struct stack stack = {found, 0, 0};

    if (!sum->below)
        return false;
    stack.count = collect_stack(frees->signatures, site_node, found);
    return has_function(&stack, sum->below);
}

static void tally_place(struct free_sites *frees, struct free_tally *tally,
                        const struct frame *frame, const struct store_freed *freed,
                        uint32_t site_node)
{
    struct place_sum one = inspect_free(frees, tally, frame, freed->node), *sum;
    uint64_t *slot = hashmap_put(&tally->by_place, sum_key(&one), NULL);

    if (!*slot) {
        tally->places =
            array_grow(tally->places, &tally->capacity, tally->count + 1, sizeof(*tally->places));
        tally->places[tally->count++] = one;
        *slot = tally->count;
    }
    sum = &tally->places[*slot - 1];
    one.blocks = add_saturating(sum->blocks, freed->blocks);
    one.most = sum->most;
    one.apart = (sum->apart || !sum->blocks) && tally->others && is_apart(frees, &one, site_node);
    if (freed->blocks > sum->most) {
        one.most = freed->blocks;
        *sum = one;
    }
    sum->blocks = one.blocks;
    sum->apart = one.apart;
}

/* Estimates for how many of the frees that `freed` counts libleak inspected the stack: for the same
 * share as of all frees of the site. With sample= only frees of sampled blocks are inspected;
 * leak_store.h gives the probability of a sample. */
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

static void tally_site(struct free_sites *frees, const struct store_site *site,
                       struct free_tally *tally)
{
    const struct frame *own =
        site->freed_count ? free_wrappers_place(&frees->wrappers, site->node) : NULL;
    uint64_t told = 0;

    tally->frees = add_saturating(tally->frees, site->counts.frees);
    tally->allocations = add_saturating(tally->allocations, site->counts.allocs);
    tally->uncounted |= site->inherited || site->older;
    tally->uninspected |= site->counts.frees && !site->freed_count;

    for (size_t i = 0; i < site->freed_count; i++) {
        const struct store_freed *freed = &frees->store->freed[site->freed + i];
        const struct frame *place = free_wrappers_place(&frees->wrappers, freed->node);
        uint64_t *sum = &tally->seen;

        told = add_saturating(told, freed->blocks);
        if (freed->node >= LEAK_NODE_FIRST && frees->allocates[freed->node])
            sum = &tally->moved;
        else if (own && place && place_key(own) == place_key(place))
            sum = &tally->there;
        else if (place && freed->blocks)
            tally_place(frees, tally, place, freed, site->node);
        *sum = add_saturating(*sum, freed->blocks);
        if (sum != &tally->seen || !freed->blocks)
            continue;
        tally->looks += inspected_frees(frees, site, freed);
        if (is_freed_at_exit(frees, freed->node))
            tally->late = add_saturating(tally->late, freed->blocks);
    }
    /* If a program has very many sites, the first frees are not recorded for each of them, and
     * `told`, the number of recorded frees, is less than the site's number of frees. */
    tally->few &=
        !frees->sampled && site->counts.frees <= LEAK_FREED_FIRST && told == site->counts.frees;
}

static struct free_tally begin_tally(const struct free_sites *frees, const struct record *record)
{
    struct stack own = {record->frames, record->frame_count, record->ending};

    return (struct free_tally){.few = true, .own = common_frames_of(&own, &frees->wrappers)};
}

/* Adds up the frees of several sites. rows: most records of freed blocks (struct store_freed) to
 * read. */
static void tally_up(struct free_sites *frees, struct site_list sites, size_t rows,
                     struct free_tally *tally)
{
    size_t read = 0;

    for (uint32_t at = sites.first; at && read < rows; at = sites.next[at - 1]) {
        tally_site(frees, &frees->store->sites[at - 1], tally);
        read += frees->store->sites[at - 1].freed_count;
    }
}

/* Says whether a report shows place a before place b. Places that agree equally well and have
 * equally many frees are ordered by name and line, so that two runs give the same order. */
static bool comes_first(const struct place_sum *a, const struct place_sum *b)
{
    int order = a->common && b->common ? common_frame_compare(&a->agreement, &b->agreement)
                                       : (a->common == NULL) - (b->common == NULL);

    if (order)
        return order < 0;
    if (a->blocks != b->blocks)
        return a->blocks > b->blocks;
    return sum_key(a) < sum_key(b);
}

static void move_to(struct free_tally *tally, size_t from, size_t to)
{
    struct place_sum moved = tally->places[from];

    tally->places[from] = tally->places[to];
    tally->places[to] = moved;
}

/* Moves the FREED_PLACES best places to the front; if the most frequent place is not among them,
 * it replaces the last. Returns the index of the most frequent place. */
static size_t sort_places(struct free_tally *tally)
{
    size_t most = 0;

    for (size_t i = 0; i < FREED_PLACES && i < tally->count; i++)
        for (size_t k = i + 1; k < tally->count; k++)
            if (comes_first(&tally->places[k], &tally->places[i]))
                move_to(tally, k, i);
    for (size_t i = 1; i < tally->count; i++)
        if (tally->places[i].blocks > tally->places[most].blocks)
            most = i;
    if (most < FREED_PLACES)
        return most;
    move_to(tally, most, FREED_PLACES - 1);
    return FREED_PLACES - 1;
}

/* Says whether a frame is main, which every stack has. */
static bool is_main(const struct frame *frame)
{
    return frame->function && strcmp(frame->function, "main") == 0;
}

/* Says whether the common function is most likely the one to fix. It is not if it hands the blocks
 * on to a function that may keep or forget them: then that function may be to blame. It is if it
 * frees them itself or calls a function that exists to release. What it does with blocks of other
 * stacks counts too, unless these are allocated and freed apart from it. A block that grows is
 * replaced where it was allocated, which says nothing about its last piece. */
static bool is_likely_fix(const struct free_tally *tally, const struct place_sum *sum)
{
    if (sum->agreement.inner > COMMON_CLOSE || is_main(sum->common))
        return false;
    if (!sum->below)
        return !name_says_growth(sum->common->function);
    return name_says_release(sum->below->function) || (tally->others && !sum->apart);
}

static struct freed_place describe_place(const struct free_tally *tally,
                                         const struct place_sum *sum)
{
    struct freed_place at = {.frame = sum->frame,
                             .share = (double)sum->blocks / (double)tally->seen};

    if (sum->common)
        at.inner = sum->agreement.inner;
    if (sum->common && at.inner <= COMMON_NEAR) {
        at.common = sum->common;
        at.below = sum->below;
        at.close = is_likely_fix(tally, sum);
    }
    return at;
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
    freed.most = sort_places(tally);
    for (size_t i = 0; i < FREED_PLACES && i < tally->count; i++)
        freed.place[freed.places++] = describe_place(tally, &tally->places[i]);
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

/* ---- Groups of sites with similar stacks ----------------------------------------------------- */

/* The levels of the search for frees of similar blocks, used when no block from the record's own
 * stacks was freed. Each level searches the frees of more stacks: first those that share the
 * allocating line and the most callers, then all of the allocating function, at last those of
 * functions that it calls, which allocate the members of an object. */
static const struct {
    unsigned functions; /* so many of the user's functions, from the innermost on, must be equal */
    bool line;          /* the innermost function's line and the kind of the blocks must be
                         * equal, too */
    unsigned callees;   /* number of innermost functions that are skipped in the stacks that are
                         * compared with the record's */
} levels[FREE_LEVELS] = {{8, true, 0},  {6, true, 0},  {5, true, 0},  {4, true, 0},  {3, true, 0},
                         {2, true, 0},  {1, true, 0},  {4, false, 0}, {2, false, 0}, {1, false, 0},
                         {1, false, 1}, {1, false, 2}, {1, false, 3}};

#define CALLEES (FREE_LEVELS - 3) /* index of the first level whose `callees` is not 0 */
/* Least share of the frees that one function must have to count as the destructor. */
#define CALLEES_AGREE 0.8

/* A hash of the functions that a level compares, without the first `skipped` ones; frames are
 * innermost first. 0: the stack has fewer functions. */
static uint64_t level_key(const struct free_sites *frees, size_t level,
                          const struct frame *const *frames, size_t count, unsigned skipped,
                          uint32_t kind)
{
    unsigned left = levels[level].functions;
    uint64_t key = kind;

    for (size_t i = 0; i < count && left; i++) {
        const struct frame *frame = frames[i];

        if (frame->role != FRAME_USER || !frame->module ||
            free_wrappers_contain(&frees->wrappers, frame))
            continue;
        if (skipped) {
            skipped--;
            continue;
        }
        if (left-- == levels[level].functions)
            key = levels[level].line ? hash_mix(place_key(frame), kind) : frame->name_hash;
        else
            key = hash_mix(key, frame->name_hash);
    }
    return left ? 0 : key;
}

static void make_site_groups(struct free_sites *frees, size_t level)
{
    const struct store *store = frees->store;
    struct site_groups *groups = &frees->levels[level];
    const struct frame *found[STACK_FRAMES];

    groups->next = array_grow(NULL, &(size_t){0}, store->site_count, sizeof(*groups->next));
    for (size_t i = 0; i < store->site_count; i++) {
        const struct store_site *site = &store->sites[i];
        uint64_t key = 0, *slot;

        if (site->freed_count)
            key =
                level_key(frees, level, found, collect_stack(frees->signatures, site->node, found),
                          levels[level].callees, site->kind);
        if (!key)
            continue;
        slot = hashmap_put(&groups->of, key, NULL);
        if (!*slot) {
            groups->all =
                array_grow(groups->all, &groups->capacity, groups->count + 1, sizeof(*groups->all));
            groups->all[groups->count++] = (struct site_group){0};
            *slot = groups->count;
        }
        groups->next[i] = groups->all[*slot - 1].first;
        groups->all[*slot - 1].first = (uint32_t)i + 1;
    }
}

/* Adds the frees of the group of sites that a level compares with the record, if there is such a
 * group. */
static void tally_group(struct free_sites *frees, size_t level, const struct record *record,
                        struct free_tally *tally)
{
    struct site_groups *groups = &frees->levels[level];
    uint64_t key = level_key(frees, level, record->frames, record->frame_count, 0, record->kind),
             at;

    if (!key)
        return;
    if (!groups->next)
        make_site_groups(frees, level);
    at = hashmap_get(&groups->of, key);
    tally->others = true;
    if (at)
        tally_up(frees, (struct site_list){groups->all[at - 1].first, groups->next}, GROUP_ROWS,
                 tally);
}

/* Sums up how the blocks of the group of sites that a level compares with the record are freed. */
static struct freed freed_by_group(struct free_sites *frees, size_t level,
                                   const struct record *record)
{
    struct free_tally tally = begin_tally(frees, record);

    tally_group(frees, level, record, &tally);
    return finish_tally(frees, &tally);
}

static const struct frame *freeing_function(const struct freed_place *at)
{
    return at->below ? at->below : at->frame;
}

static const struct frame *summed_function(const struct place_sum *sum)
{
    return sum->below ? sum->below : sum->frame;
}

/* The function that frees nearly all blocks, in several places: a destructor; NULL = none. A
 * function in the record's own stack, or main, is no destructor. */
static const struct frame *find_destructor(const struct free_tally *tally)
{
    const struct frame *function;
    uint64_t blocks = 0;
    size_t places = 0, most = 0;

    for (size_t i = 1; i < tally->count; i++)
        if (tally->places[i].blocks > tally->places[most].blocks)
            most = i;
    if (!tally->count)
        return NULL;
    function = summed_function(&tally->places[most]);
    for (size_t i = 0; i < tally->count; i++)
        if (summed_function(&tally->places[i])->name_hash == function->name_hash) {
            blocks = add_saturating(blocks, tally->places[i].blocks);
            places++;
        }
    if (places < 2 || (double)blocks < CALLEES_AGREE * (double)tally->seen ||
        has_function(&tally->own.stack, function) || is_main(function))
        return NULL;
    return function;
}

/* The places where members of an object are freed: blocks allocated by functions that the
 * record's function calls. */
static struct freed freed_by_callees(struct free_sites *frees, const struct record *record)
{
    struct free_tally tally = begin_tally(frees, record);
    const struct frame *destructor;
    struct freed freed;

    if (is_main(record_title_frame(record)))
        return (struct freed){0};
    for (size_t level = CALLEES; level < FREE_LEVELS; level++)
        tally_group(frees, level, record, &tally);
    destructor = find_destructor(&tally);
    freed = finish_tally(frees, &tally);
    if (!destructor || freeing_function(&freed.place[0])->name_hash != destructor->name_hash)
        return (struct freed){0};
    return freed;
}

/* The places where other blocks that the record's function allocates are freed; none if that
 * function frees them itself. */
static struct freed freed_by_function(struct free_sites *frees, const struct record *record)
{
    const struct frame *title = record_title_frame(record);

    for (size_t level = 0; title && level < CALLEES; level++) {
        struct freed freed =
            levels[level].line ? (struct freed){0} : freed_by_group(frees, level, record);

        if (freed.places)
            return freed.place[0].frame->name_hash != title->name_hash ? freed : (struct freed){0};
    }
    return title ? freed_by_callees(frees, record) : (struct freed){0};
}

/* The places where blocks are freed that the record's line allocates when it has other callers. */
static struct freed freed_by_line(struct free_sites *frees, const struct record *record)
{
    for (size_t level = 0; level < FREE_LEVELS && levels[level].line; level++) {
        struct freed freed = freed_by_group(frees, level, record);

        if (freed.places)
            return freed;
    }
    return (struct freed){0};
}

void free_sites_fill_resources(struct free_sites *frees, struct process *process)
{
    for (size_t i = 0; i < process->resource_count; i++)
        if (!process->resources[i].bad_close)
            process->resources[i].record.beside =
                freed_by_function(frees, &process->resources[i].record);
}

/* Says whether it is certain that no block of the summed-up stacks was freed other than by realloc:
 * the stacks of all frees were inspected, and all were calls of realloc. */
static bool freed_none(const struct free_sites *frees, const struct free_tally *tally)
{
    return !tally->seen && !tally->there && tally->moved == tally->frees &&
           (frees->all || tally->few);
}

/* The number of blocks that the summed-up stacks allocated. A block that realloc moved counts for
 * the stack of its last realloc. 0: unknown. The first free of each place is always inspected, so
 * moves are noticed; their number is known only if all frees were inspected, or all were moves. */
static uint64_t count_allocated(const struct free_sites *frees, const struct free_tally *tally)
{
    uint64_t moved = tally->moved;

    if (tally->uncounted || tally->uninspected)
        return 0;
    if (moved && !frees->all && !tally->few) {
        if (tally->seen || tally->there)
            return 0;
        moved = tally->frees;
    }
    return tally->allocations > moved ? tally->allocations - moved : 0;
}

void free_sites_fill(struct free_sites *frees, struct site_list sites, struct record *record)
{
    struct free_tally tally = begin_tally(frees, record);
    uint64_t blocks, allocated;
    bool none;

    tally_up(frees, sites, SIZE_MAX, &tally);
    allocated = count_allocated(frees, &tally);
    none = record->frame_count && frees->store->freed_count && freed_none(frees, &tally);
    blocks = tally.frees;
    record->freed = finish_tally(frees, &tally);
    if (none) {
        struct freed others = freed_by_line(frees, record);

        if (others.places) {
            record->freed = others;
            record->freed.other_path = true;
        } else {
            record->beside = freed_by_function(frees, record);
            record->beside.place[0].close = false; /* other blocks than the record's are freed
                                                    * here, so it is less certain where to look */
        }
    }
    record->freed.blocks = blocks;
    record->freed.allocated = allocated;
}
