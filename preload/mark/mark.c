/* mark.c - the marking passes, breadth first, in this order; below each pass the verdict that it
 * gives.
 *
 *     ignored, roots | header idioms | reachable before | candidates | decoded | the rest
 *                       reachable                       |  possible  | hidden  | lost
 *
 * All passes use one queue: a marked node enters it, and a pass ends when the queue is empty. While
 * the reachable nodes are found, an interior pointer makes a node a candidate only; candidates that
 * no better pointer reaches become possible. pointer_scan.c has already read most blocks and
 * recorded to which blocks they point; marking reads the rest, each block when it leaves the
 * queue. */
#include "preload/mark/mark_passes.h"
#include "preload/mark/pointer_filter.h"
#include "preload/mark/reachability.h"
#include "preload/mark/prefetch_ring.h"
#include "preload/mark/container_heuristics.h"
#include "preload/mark/header_idioms.h"

/* ---- Meaning of a pointer ---------------------------------------------------------------------
 * A pointer to the start of a block holds it; so does a pointer behind a known container header.
 * Any other interior pointer, or one to the byte behind the end, may be a coincidence. */

struct mark_pass {
    struct reach *reach;
    reach_is_vtable *is_vtable;
    enum leak_verdict verdict;
    bool roots;    /* true while root ranges are scanned, false while nodes are */
    bool learning; /* true: interior pointers are only counted, and verdicts are tentative */
    bool learned;  /* true: idioms were searched for, so nothing more is counted for them */
    struct header_idioms *idioms; /* NULL: there are no idioms, or they are not known yet */
    struct pointer_filter filter;
    struct prefetch_ring ring;
};

static bool is_container_head(const struct mark_pass *pass, const struct mark_node *node,
                              uint64_t offset)
{
    const uintptr_t *head = (const uintptr_t *)node_address(node);
    uint64_t size = node_size(pass->reach, node);
    if (offset == WORD && container_is_array(head, size))
        return true;
    if (offset == 3 * WORD && container_is_string(head, size))
        return true;
    if (container_is_exception(head, offset, size))
        return true;
    if (offset && container_is_hash_table(node_address(node), offset, size))
        return true;
    /* A C++ object held by its second base class: the subobject begins with a pointer to a virtual
     * table, and so does the whole object. */
    return pass->is_vtable && offset % WORD == 0 && offset + WORD <= size &&
           pass->is_vtable(head[0]) && pass->is_vtable(head[offset / WORD]);
}

/* Returns the address of the word that contains the pointer, if that word is a static variable; 0:
 * it is in other memory. */
static uintptr_t variable_word(const struct mark_pass *pass, uint32_t from, uint32_t at)
{
    const struct root_range *roots = pass->reach->ranges.at;
    return pass->roots && roots[from].variables ? roots[from].start + WORD * at : 0;
}

/* Says whether an address lies inside a block, but not at its start. */
static bool is_inside_block(const struct reach *reach, uintptr_t address)
{
    uint32_t rank = 0;
    if (address - reach->low > reach->span)
        return false;
    const struct rank_index_word *word = rank_index_word(&reach->index, address, &rank);
    if (word)
        rank = rank_index_rank_in(word, address);
    const struct mark_node *node = &reach->nodes[rank - 1];
    return rank && address != node_address(node) &&
           address - node_address(node) < node_size(reach, node);
}

/* Says whether an object that names its type begins at this offset. Only objects of GObject begin
 * behind the fourth word. Their first word leads to the class, which is static or a block of its
 * own: a pointer inside a block, as arenas are full of, is rejected before it is followed. */
static bool is_typed(const struct reach *reach, uintptr_t block, uint64_t offset, uint64_t size)
{
    if (!reach->is_typed_object || offset % (2 * WORD) || size < offset + WORD)
        return false;
    if (offset > 4 * WORD && is_inside_block(reach, *(const uintptr_t *)(block + offset)))
        return false;
    return reach->is_typed_object(block, offset, size);
}

/* Says whether the pointer leads behind a header that the program, or a function that calls malloc,
 * always puts before such objects. */
static bool is_header(const struct mark_pass *pass, const struct mark_node *node, uint64_t offset,
                      uintptr_t variable)
{
    const struct reach *reach = pass->reach;
    if (!reach->callers)
        return false;
    uintptr_t block = node_address(node);
    uint64_t size = node_size(reach, node);
    return container_is_aligned(block, offset, size) ||
           container_knows_itself(block, offset, size) || container_is_sds(block, offset, size) ||
           (variable && container_links_back(block, offset, size, variable)) ||
           container_is_glib_box((const uintptr_t *)block, offset, size) ||
           is_typed(reach, block, offset, size) ||
           (pass->idioms && header_idioms_allow(pass->idioms, reach, node - reach->nodes, offset));
}

static ALWAYS_INLINE void set_parent(const struct mark_pass *pass, uint32_t node, uint32_t from,
                                     uint32_t at)
{
    if (pass->roots)
        node_set_root(pass->reach, node, from, at);
    else
        node_set_parent(pass->reach, node, from, at);
}

static bool counts_starts_only(const struct mark_pass *pass, uint32_t from)
{
    return pass->roots && ((const struct root_range *)pass->reach->ranges.at)[from].starts_only;
}

/* Returns LEAK_FOUND_TAGGED for an offset that looks like a tag, otherwise 0: programs store tags
 * in the low bits of aligned pointers. */
static unsigned tag_flag(uint64_t offset)
{
    return offset % WORD && offset < 16 ? LEAK_FOUND_TAGGED : 0;
}

static void mark_by_header(struct reach *reach, uint32_t number)
{
    node_mark(reach, number, LEAK_VERDICT_REACHABLE, 0);
    node_change_state(&reach->nodes[number], 0, NODE_BY_HEADER);
}

/* Records the offset of an interior pointer. True: it was recorded, and is the lowest offset of the
 * block so far. */
static bool note_interior(struct mark_pass *pass, uint32_t number, uint64_t offset)
{
    struct reach *reach = pass->reach;
    if (!reach->callers || offset >= node_size(reach, &reach->nodes[number]))
        return false;
    if (!reach->interior)
        reach->interior = scan_arena_map(&reach->arena, reach->count, sizeof *reach->interior);
    if (!reach->interior)
        return false;
    struct interior *known = &reach->interior[number];
    uint32_t at = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
    bool lowest = !known->low || at < known->low;
    known->low = lowest ? at : known->low;
    known->high = at > known->high ? at : known->high;
    known->high_reachable = pass->learning ? known->high_reachable : known->high;
    return lowest;
}

/* Handles an interior pointer to a block. Of several interior pointers the one with the lowest
 * offset becomes the block's link: there the content behind a header begins. */
static NOINLINE void visit_interior(struct mark_pass *pass, uint32_t number, uint64_t offset,
                                    uint32_t from, uint32_t at)
{
    struct reach *reach = pass->reach;
    struct mark_node *node = &reach->nodes[number];
    bool lowest = note_interior(pass, number, offset);
    if (is_container_head(pass, node, offset)) {
        set_parent(pass, number, from, at);
        node_mark(reach, number, LEAK_VERDICT_REACHABLE, 0);
        node_change_state(node, 0, NODE_CANDIDATE);
    } else if (is_header(pass, node, offset, variable_word(pass, from, at))) {
        set_parent(pass, number, from, at);
        mark_by_header(reach, number);
    } else if (lowest || !(node_state(node) & NODE_CANDIDATE)) {
        set_parent(pass, number, from, at);
        node_change_state(node, LEAK_FOUND_TAGGED * NODE_FLAGS,
                          NODE_CANDIDATE | tag_flag(offset) * NODE_FLAGS);
    }
}

static ALWAYS_INLINE void visit_from_reachable(void *context, uintptr_t pointer, uint32_t number,
                                               uint32_t from, uint32_t at)
{
    struct mark_pass *pass = context;
    struct mark_node *node = &pass->reach->nodes[number];
    uint64_t offset = pointer - node_address(node);
    if (offset && counts_starts_only(pass, from))
        return;
    if (pass->roots)
        node_change_state(node, 0, NODE_ROOT_TARGET);
    else
        node_record_edge(pass->reach, from, number);
    if (node_verdict(node)) {
        if (offset && !pass->learned)
            note_interior(pass, number, offset);
    } else if (likely(offset == 0)) {
        set_parent(pass, number, from, at);
        node_mark(pass->reach, number, LEAK_VERDICT_REACHABLE, 0);
    } else {
        visit_interior(pass, number, offset, from, at);
    }
}

static ALWAYS_INLINE void visit_from_possible(void *context, uintptr_t pointer, uint32_t number,
                                              uint32_t from, uint32_t at)
{
    struct mark_pass *pass = context;
    const struct mark_node *node = &pass->reach->nodes[number];
    node_record_edge(pass->reach, from, number);
    if (pass->learning && pointer != node_address(node) &&
        node_verdict(node) != LEAK_VERDICT_REACHABLE)
        note_interior(pass, number, pointer - node_address(node));
    if (node_verdict(node))
        return;
    set_parent(pass, number, from, at);
    node_mark(pass->reach, number, pass->verdict, tag_flag(pointer - node_address(node)));
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static void scan_roots(struct mark_pass *pass)
{
    struct reach *reach = pass->reach;
    const struct root_range *roots = reach->ranges.at;
    pass->roots = true;
    for (uint32_t i = 0; i < reach->ranges.count; i++)
        ring_scan_words(&pass->ring, reach, (const uintptr_t *)roots[i].start, roots[i].words, 0, i,
                        visit_from_reachable, pass);
    ring_drain(&pass->ring, reach, visit_from_reachable, pass);
    pass->roots = false;
}

/* Says whether a block was read while idioms were learned, and all blocks to which it points are
 * marked: then reading it again would change nothing. */
static bool has_only_marked_targets(const struct mark_pass *pass, uint32_t number)
{
    const struct reach *reach = pass->reach;
    if (!pass->learned || reach->outer || reach->targets_lost || !reach->targets_of ||
        reach->targets_of[number].count == SCAN_UNREAD)
        return false;
    struct node_edges edges = pointer_scan_edges(reach, number);
    for (uint32_t i = 0; i < edges.count; i++)
        if (!node_verdict(&reach->nodes[edges.to[i]]))
            return false;
    return true;
}

static ALWAYS_INLINE void push_targets(struct mark_pass *pass, const struct pointer_filter *filter,
                                       uint32_t number, ring_visit *visit)
{
    struct reach *reach = pass->reach;
    uint32_t count;
    if (likely(reach->targets_of) && pointer_scan_targets(reach, number, &count)) {
        for (uint32_t i = 0; i < count; i++)
            ring_push_node(&pass->ring, reach, pointer_scan_target(reach, number, i), number, visit,
                           pass);
        return;
    }
    if (has_only_marked_targets(pass, number))
        return;
    struct node_words words = node_words_first(reach, number);
    unsigned state = ring_scan_filtered(&pass->ring, reach, filter, &words, number, visit, pass);
    while (node_words_next(reach, number, &words))
        state &= ring_scan_filtered(&pass->ring, reach, filter, &words, number, visit, pass);
    if (unlikely(reach->outer) && ring_push_outer(&pass->ring, reach, number, number, visit, pass))
        state &= NODE_NO_ENCODED;
    node_change_state(&reach->nodes[number], 0, state);
}

static ALWAYS_INLINE void drain_queue(struct mark_pass *pass, ring_visit *visit)
{
    struct reach *reach = pass->reach;
    const struct pointer_filter filter = pass->filter;
    for (;;) {
        if (reach->head == reach->tail)
            ring_drain(&pass->ring, reach, visit, pass);
        if (reach->head == reach->tail)
            return;
        if (likely(reach->targets_of))
            pointer_scan_prefetch(reach, reach->head);
        else
            node_prefetch(reach, reach->head);
        /* In a list each block points only to the next one, so there is no other work during its
         * cache misses: prefetch its content without a delay. */
        pass->ring.eager = reach->tail - reach->head < 4;
        push_targets(pass, &filter, reach->queue[reach->head++], visit);
    }
}

static NOINLINE void spread_reachable(struct mark_pass *pass)
{
    drain_queue(pass, visit_from_reachable);
}

static NOINLINE void spread_possible(struct mark_pass *pass)
{
    drain_queue(pass, visit_from_possible);
}

/* Marks the unmarked nodes that an earlier check or the program has classified as "before" (enum
 * reach_prior), although no pointer to them was found. */
static void mark_prior(struct reach *reach, enum reach_prior before, enum leak_verdict verdict,
                       unsigned flags)
{
    for (uint32_t i = 0; reach->priors >> before & 1 && i < reach->count; i++)
        if (node_prior(&reach->nodes[i]) == before && !node_verdict(&reach->nodes[i])) {
            node_set_parent(reach, i, NODE_NONE, 0);
            node_mark(reach, i, verdict, flags);
        }
}

static void mark_candidates(struct reach *reach)
{
    for (uint32_t i = 0; i < reach->count; i++) {
        unsigned state = node_state(&reach->nodes[i]);
        if ((state & NODE_CANDIDATE) && !(state & NODE_VERDICT))
            node_mark(reach, i, LEAK_VERDICT_POSSIBLE, state / NODE_FLAGS & LEAK_FOUND_TAGGED);
    }
}

static uint32_t mark_rest(struct reach *reach, enum leak_verdict verdict)
{
    uint32_t rest = 0;
    for (uint32_t i = 0; i < reach->count; i++)
        if (!node_verdict(&reach->nodes[i])) {
            rest++;
            node_change_state(&reach->nodes[i], 0, verdict);
        }
    return rest;
}

/* ---- Learning header idioms ------------------------------------------------------------------ */

/* Takes back all verdicts that were given since the queue ended at index `tail`. */
static void rewind_queue(struct reach *reach, uint32_t tail)
{
    for (uint32_t turn = tail; turn < reach->tail; turn++) {
        struct mark_node *node = &reach->nodes[reach->queue[turn]];
        unsigned tagged = node_state(node) & NODE_CANDIDATE ? 0 : LEAK_FOUND_TAGGED * NODE_FLAGS;
        node_change_state(node, NODE_VERDICT | tagged, 0);
    }
    reach->head = reach->tail = tail;
    reach->targets_source = NODE_NONE; /* all blocks that were read have their edges recorded */
}

/* Follows all interior pointers tentatively, to learn by which offsets the program holds blocks. */
static struct header_idioms *learn_idioms(struct mark_pass *pass)
{
    struct reach *reach = pass->reach;
    uint32_t tail = reach->tail;
    if (!reach->interior)
        return NULL;
    pass->verdict = LEAK_VERDICT_POSSIBLE;
    pass->learning = true;
    mark_candidates(reach);
    spread_possible(pass);
    struct header_idioms *idioms = header_idioms_find(reach);
    rewind_queue(reach, tail);
    pass->learning = false;
    return idioms;
}

static void mark_idioms(struct mark_pass *pass)
{
    struct reach *reach = pass->reach;
    for (uint32_t i = 0; pass->idioms && i < reach->count; i++) {
        unsigned state = node_state(&reach->nodes[i]);
        if ((state & NODE_CANDIDATE) && !(state & NODE_VERDICT) &&
            (header_idioms_allow(pass->idioms, reach, i, node_pointer_offset(reach, i)) ||
             header_idioms_allow(pass->idioms, reach, i, reach->interior[i].high_reachable)))
            mark_by_header(reach, i);
    }
    spread_reachable(pass);
}

bool reach_mark(struct reach *reach, const struct reach_encodings *codes,
                reach_is_vtable *is_vtable)
{
    struct mark_pass pass = {
        .reach = reach,
        .is_vtable = is_vtable,
        .filter = pointer_filter_make(reach->low, reach->span, codes->guard, codes->xor_key)};
    pass.ring.row = (const char *)reach->links;
    pass.ring.row_size = sizeof *reach->links;
    pointer_scan_run(reach, &pass.filter);
    mark_prior(reach, REACH_IGNORED, LEAK_VERDICT_REACHABLE, LEAK_FOUND_IGNORED);
    scan_roots(&pass);
    spread_reachable(&pass);
    pass.idioms = learn_idioms(&pass);
    pass.learned = true;
    mark_idioms(&pass);
    mark_prior(reach, REACH_WAS_REACHABLE, LEAK_VERDICT_REACHABLE, LEAK_FOUND_DROPPED);
    spread_reachable(&pass);
    header_idioms_free(pass.idioms, reach);

    pass.verdict = LEAK_VERDICT_POSSIBLE;
    mark_candidates(reach);
    /* First spread the candidates: the nodes found from them get a path, and mark_prior below marks
     * only the others, without a path. */
    spread_possible(&pass);
    mark_prior(reach, REACH_WAS_POSSIBLE, LEAK_VERDICT_POSSIBLE, 0);
    spread_possible(&pass);

    if (mark_rest(reach, LEAK_VERDICT_NONE)) {
        mark_prior(reach, REACH_WAS_HIDDEN, LEAK_VERDICT_HIDDEN, 0);
        if (!encoded_pointers_find(reach, codes->guard, codes->xor_key))
            reach->failed = true;
        mark_rest(reach, LEAK_VERDICT_LOST);
    }
    scan_arena_unmap(&reach->arena, reach->interior);
    reach->interior = NULL;
    return !reach->failed;
}
