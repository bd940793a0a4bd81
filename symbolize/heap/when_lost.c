/* when_lost.c - finds where the last pointer to a block was lost; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <inttypes.h>
#include <string.h>

/* If the last pointer was in a stack or register, a further run begins to execute step by step this
 * many allocations and frees before the pointer appeared there; if it appeared more than
 * STACK_CALLS_MOST calls before the loss, this many calls before the loss. */
#define STACK_CALLS 5
#define STACK_CALLS_MOST 200

/* Most bytes of code from the last jump of a function to its end in which find_line_before() looks
 * up lines; in longer code it finds none. */
#define END_BYTES 256
/* A jump that goes forward by at most this many lines is not taken for one to the end of its
 * function (find_way_jump(), find_longest_jump()). */
#define JUMPED_LINES 2

struct when_lost_builder {
    struct arena *mem;
    struct signatures signatures;
    struct root_paths paths;
    struct free_wrappers wrappers;
    struct process *process;
};

/* ---- The variable or block that held the last pointer ---------------------------------------- */

static const struct frame *site_frame(struct when_lost_builder *builder, uint32_t site)
{
    uint32_t node = builder->signatures.store->sites[site].node;

    return free_wrappers_place(&builder->wrappers, node)
               ?: root_paths_site_frame(&builder->paths, site);
}

static const char *block_words(struct when_lost_builder *builder, const struct store_drop *drop)
{
    uint64_t offset = drop->holder.word.address - drop->holder.block;

    return arena_format(builder->mem, "+%" PRIu64 " in a block of %" PRIu64 " bytes", offset,
                        drop->holder.size);
}

static const struct root *drop_root(struct when_lost_builder *builder,
                                    const struct store_drop *drop)
{
    bool is_root = drop->event && !drop->holder.block && drop->holder.word.root_class;

    return is_root ? roots_describe_word(&builder->paths.roots, &drop->holder.word) : NULL;
}

static const char *holder_words(struct when_lost_builder *builder, const struct store_drop *drop,
                                const struct root *root)
{
    return drop->holder.block ? block_words(builder, drop) : root ? root->words : NULL;
}

/* ---- The function that lost the pointer, and the lines between which it did ------------------ */

static bool is_same_function(const struct frame *a, const struct frame *b)
{
    return a->name_hash == b->name_hash;
}

static bool is_other_line(const struct frame *frame, const struct frame *than)
{
    return frame && frame->line && !(than && than->line == frame->line);
}

/* Returns the user frame of the stack, searched from index i outwards; a wrapper only if there is
 * no other user frame. */
static const struct frame *user_frame(const struct when_lost_builder *builder,
                                      const struct stack *stack, size_t i)
{
    size_t user = i < stack->count ? frame_first_user(stack->frames + i, stack->count - i) : 0;

    for (size_t k = i + user; k < stack->count; k++)
        if (stack->frames[k]->role == FRAME_USER &&
            !free_wrappers_contain(&builder->wrappers, stack->frames[k]))
            return stack->frames[k];
    return i + user < stack->count ? stack->frames[i + user] : NULL;
}

/* Finds the innermost function that is in both stacks, before and after the loss, and its line in
 * each. */
static void find_common_function(const struct when_lost_builder *builder, struct lost_place *place)
{
    const struct stack *before = &place->before, *after = &place->after;
    size_t i = before->count, k = after->count;

    while (i && k && before->frames[i - 1] == after->frames[k - 1]) {
        i--;
        k--;
    }
    if (i && k && is_same_function(before->frames[i - 1], after->frames[k - 1]) &&
        frame_is_user_code(before->frames[i - 1])) {
        place->from = before->frames[i - 1];
        place->to = after->frames[k - 1];
    } else {
        place->from = user_frame(builder, before, i);
        place->to = user_frame(builder, after, k);
    }
    if (!place->from || !place->to || !is_same_function(place->from, place->to))
        place->from = place->to = place->from ? place->from : place->to;
}

/* Sets place->returned if the pointer was in a local variable of a function that has returned: the
 * stack before the loss has this function, the stack after it does not. Not called for a stack word
 * that is no variable: it may be a register that a callee saved. */
static void find_returned_function(struct lost_place *place, const struct root *root)
{
    const struct stack *before = &place->before, *after = &place->after;
    size_t i = 0, outer = 0;

    while (i < before->count && !(before->frames[i]->function && root->function &&
                                  strcmp(before->frames[i]->function, root->function) == 0))
        i++;
    while (outer < before->count && outer < after->count &&
           before->frames[before->count - 1 - outer] == after->frames[after->count - 1 - outer])
        outer++;
    if (i == before->count || i + outer >= before->count)
        return;
    for (size_t k = 0; k + outer < after->count; k++)
        if (is_same_function(after->frames[k], before->frames[i]))
            return; /* the function has not returned, or was called again */
    place->from = place->to = before->frames[i];
    place->returned = true;
}

/* Finds the line of the function from which the program jumped to the instruction that lost the
 * pointer, for example to the function's end. If the jump was the return from a function that it
 * had called, it is the line of that call. NULL = the line is unknown, or the same as that of the
 * instruction. */
static const struct frame *find_jump(struct when_lost_builder *builder,
                                     const struct store_drop *drop, const struct frame *lost_in)
{
    const uint64_t ends[] = {drop->jump_from + 1, drop->jump_to};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends) && drop->jump_from; i++) {
        struct stack stack = stack_from_pcs(builder->mem, &builder->signatures, &ends[i], 1);

        for (size_t k = 0; k < stack.count; k++)
            if (is_same_function(stack.frames[k], lost_in))
                return stack.frames[0]->line != lost_in->line ? stack.frames[0] : NULL;
    }
    return NULL;
}

/* ---- What else the function frees that freed the holder -------------------------------------- */

#define FREES_MOST 16 /* lines; a function with more of them is no list of members */

/* Returns the frame of a function in a stack; NULL: it has none. */
static const struct frame *frame_in(struct stack stack, const struct frame *function)
{
    for (size_t i = 0; i < stack.count; i++)
        if (is_same_function(stack.frames[i], function))
            return stack.frames[i];
    return NULL;
}

/* Returns the frame of a function among those of one address: the function there, and those that it
 * is inlined into. NULL: the address is in another function. */
static const struct frame *frame_at(struct when_lost_builder *builder, uint64_t pc,
                                    const struct frame *function)
{
    return frame_in(stack_from_pcs(builder->mem, &builder->signatures, &pc, 1), function);
}

/* Returns the stack of the functions at a node: the one there, and those that it is inlined into;
 * without frames if the node is no call. */
static struct stack stack_at_node(struct when_lost_builder *builder, uint32_t node)
{
    uint64_t pc = builder->signatures.store->nodes[node].pc;

    return pc < LEAK_KIND_PCS ? (struct stack){0}
                              : stack_from_pcs(builder->mem, &builder->signatures, &pc, 1);
}

static bool has_line(const struct stack *stack, uint32_t line)
{
    for (size_t i = 0; i < stack->count; i++)
        if (stack->frames[i]->line == line)
            return true;
    return false;
}

/* Says whether a stack also allocates: then it is one of realloc, which moves a block. */
static bool is_of_realloc(const struct store *store, uint32_t node)
{
    for (size_t i = 0; i < store->site_count; i++)
        if (store->sites[i].node == node)
            return true;
    return false;
}

/* The lines of a function at which it frees blocks. */
struct freeing_lines {
    const struct frame *function; /* NULL: none was found yet */
    struct stack lines;           /* ascending */
    bool other_functions;         /* there are lines of other functions, too */
};

static struct freeing_lines begin_lines(struct when_lost_builder *builder,
                                        const struct frame *function)
{
    return (struct freeing_lines){
        .function = function,
        .lines.frames = arena_alloc_array(builder->mem, FREES_MOST + 1, sizeof(function))};
}

static void add_line(struct freeing_lines *to, const struct frame *frame)
{
    const struct frame **frames = (const struct frame **)to->lines.frames;
    size_t i = to->lines.count;

    if (to->function && !is_same_function(to->function, frame))
        to->other_functions = true;
    to->function = frame;
    if (i > FREES_MOST || !frame->line || has_line(&to->lines, frame->line))
        return;
    for (; i && frames[i - 1]->line > frame->line; i--)
        frames[i] = frames[i - 1];
    frames[i] = frame;
    to->lines.count++;
}

/* Returns the function at a node into which all others there are inlined; NULL: it is none of the
 * program, or a wrapper of free. */
static const struct frame *outer_function(struct when_lost_builder *builder, uint32_t node)
{
    struct stack stack = stack_at_node(builder, node);
    const struct frame *outer = stack.count ? stack.frames[stack.count - 1] : NULL;
    return outer && outer->role == FRAME_USER && !free_wrappers_contain(&builder->wrappers, outer)
               ? outer
               : NULL;
}

static bool has_user_caller(const struct lost_place *place)
{
    size_t i = 0;

    while (i < place->at.count && place->at.frames[i] != place->from)
        i++;
    for (i++; i < place->at.count; i++)
        if (place->at.frames[i]->role == FRAME_USER)
            return true;
    return false;
}

/* Finds the lines at which other blocks were freed before the holder: of place->from, called by the
 * same functions; or, if the line that freed the holder called a function that freed others, as
 * `delete` calls a destructor, of that one. The first function of the program, main, may free many
 * objects, so nothing is said of it. freeing: the node of the stack that freed the holder. */
static void find_other_frees(struct when_lost_builder *builder, uint32_t freeing,
                             struct lost_place *place)
{
    const struct store *store = builder->signatures.store;
    struct freeing_lines here = begin_lines(builder, place->from);
    struct freeing_lines called = begin_lines(builder, NULL);
    uint32_t parent;

    while (freeing >= LEAK_NODE_FIRST && !frame_in(stack_at_node(builder, freeing), place->from))
        freeing = store->nodes[freeing].parent;
    if (freeing < LEAK_NODE_FIRST || !place->from->line)
        return;
    parent = store->nodes[freeing].parent;
    for (size_t i = 0; i < store->freed_count; i++) {
        uint32_t node = store->freed[i].node, inner = LEAK_ROOT_NONE;

        while (node >= LEAK_NODE_FIRST && store->nodes[node].parent != parent) {
            inner = node;
            node = store->nodes[node].parent;
        }
        const struct frame *frame = node >= LEAK_NODE_FIRST && node != freeing
                                        ? frame_in(stack_at_node(builder, node), place->from)
                                        : NULL;
        if (!frame || frame->line > place->from->line || is_of_realloc(store, store->freed[i].node))
            continue;
        if (frame->line < place->from->line)
            add_line(&here, frame);
        else if (inner >= LEAK_NODE_FIRST && (frame = outer_function(builder, inner)))
            add_line(&called, frame);
    }
    if (called.lines.count && called.lines.count <= FREES_MOST && !called.other_functions)
        place->frees = called.lines;
    else if (here.lines.count <= FREES_MOST && has_user_caller(place))
        place->frees = here.lines;
}

/* ---- The place ------------------------------------------------------------------------------- */

static struct lost_place describe_drop(struct when_lost_builder *builder,
                                       const struct store_drop *drop)
{
    struct lost_place place = {.known = drop->event != 0};
    const struct root *root = drop_root(builder, drop);

    if (!place.known)
        return place;
    if (!root || root->class != LEAK_ROOT_CLASS_STACKS || root->variable || !drop->frame_count)
        /* a stack word without a variable is a register that a callee saved: it is not named */
        place.holder = holder_words(builder, drop, root);
    if (drop->holder.block && drop->holder_site != STORE_NO_SITE)
        place.holder_maker = site_frame(builder, drop->holder_site);
    place.in_memory = drop->holder.block || (root && root->class != LEAK_ROOT_CLASS_STACKS);
    place.was_saved = root && root->class == LEAK_ROOT_CLASS_STACKS && !root->variable;
    place.before = stack_from_node(builder->mem, &builder->signatures, drop->before);
    place.after = stack_from_node(builder->mem, &builder->signatures, drop->after);
    place.holder_freed = drop->holder.block && !drop->frame_count && drop->before == drop->after;
    if (drop->frame_count)
        place.at =
            stack_from_pcs(builder->mem, &builder->signatures, drop->frames, drop->frame_count);
    else if (place.holder_freed)
        place.at = place.after;
    if (place.at.count && (place.from = place.to = user_frame(builder, &place.at, 0))) {
        place.jumped_from = find_jump(builder, drop, place.from);
        if (place.holder_freed)
            find_other_frees(builder, drop->after, &place);
        return place;
    }
    find_common_function(builder, &place);
    if (root && root->class == LEAK_ROOT_CLASS_STACKS && root->variable)
        find_returned_function(&place, root);
    return place;
}

/* ---- Adding the places of losses to the records ---------------------------------------------- */

static uint32_t count_agreeing(const struct when_lost *when, const struct frame *frame)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < when->lost && frame; i++)
        count += when->blocks[i].place.from && is_same_function(when->blocks[i].place.from, frame);
    return count;
}

static uint32_t rate_place(const struct when_lost *when, size_t i)
{
    const struct lost_place *place = &when->blocks[i].place;

    return 2 * count_agreeing(when, place->from) + (place->at.count > 0);
}

/* Chooses the place for the record: the function that lost most blocks, and of its places one where
 * the instruction is known. */
static void choose_place(struct when_lost *when)
{
    when->chosen = 0;
    for (uint32_t i = 1; i < when->lost; i++)
        if (rate_place(when, i) > rate_place(when, when->chosen))
            when->chosen = i;
    when->place = when->blocks[when->chosen].place;
    when->then = when->blocks[when->chosen].then;
    when->agreed = count_agreeing(when, when->place.from);
}

/* Returns the number of the call (of an allocation or a free, counted from the block's allocation)
 * at which a further run has to begin to execute step by step. stored: the last pointer was in
 * memory other than a stack, and one call before the loss is enough. Words in stacks may seem to
 * hold a block long after it was lost, so the steps begin before these words appeared, unless that
 * takes too long. */
static uint32_t find_step(const struct store_drop *drop, bool stored)
{
    uint32_t back = stored ? 1 : STACK_CALLS;

    if (!stored && drop->event - drop->since < STACK_CALLS_MOST)
        back = drop->event - drop->since + STACK_CALLS;
    return drop->event > back ? drop->event - back : 0;
}

/* Says whether the block was used after the last pointer outside of stacks was overwritten: then
 * the program had the pointer in a stack or register, and not only in a copy that it no longer
 * needs. */
static bool is_used_later(const struct store_followed *followed)
{
    return followed->last.event > followed->stored.event && followed->used_count &&
           followed->used_event >= followed->stored.event;
}

static struct lost_block describe_lost(struct when_lost_builder *builder,
                                       const struct store_followed *followed)
{
    struct lost_place stored = describe_drop(builder, &followed->stored);
    struct lost_place last = describe_drop(builder, &followed->last);
    struct lost_block block = {
        .thread = followed->thread, .count = followed->count, .by_stack = followed->by_stack};

    bool kept = stored.known && !is_used_later(followed);

    block.place = kept ? stored : last;
    if (kept && followed->last.event > followed->stored.event)
        block.then = last;
    block.late = !kept && followed->last.late;
    block.step_at = find_step(kept ? &followed->stored : &followed->last, kept);
    return block;
}

static void describe_use(struct when_lost_builder *builder, const struct store_followed *followed,
                         struct when_lost *made)
{
    if (followed->state == LEAK_FOLLOWED_FREED || !followed->used_count)
        return;
    made->used =
        stack_from_pcs(builder->mem, &builder->signatures, followed->used, followed->used_count);
    made->user = user_frame(builder, &made->used, 0);
    made->used_bytes = followed->used_bytes < followed->size ? followed->used_bytes : 0;
}

/* Says whether a member function of a standard container changed the count: then it is the number of
 * elements. Functions of std::shared_ptr count references. */
static bool counts_elements(const struct counting *counting)
{
    static const char *const of_references[] = {"_Sp_", "shared", "count", "atomic"};
    const char *name = counting->stack.count ? counting->stack.frames[0]->function : NULL;

    if (!name || strncmp(name, "std::", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof(of_references) / sizeof(of_references[0]); i++)
        if (strstr(name, of_references[i]))
            return false;
    return true;
}

static void describe_counter(struct when_lost_builder *builder, struct when_lost *made)
{
    const struct store_counter *read = &builder->signatures.store->counter;
    struct counter *counter = &made->counter;

    if (!read->found || !made->lost)
        return;
    *counter = (struct counter){.offset = read->offset,
                                .first = read->first,
                                .value = read->value,
                                .countings = arena_alloc_array(builder->mem, read->counting_count,
                                                               sizeof(*counter->countings)),
                                .counting_count = read->counting_count};
    for (size_t i = 0; i < read->counting_count; i++) {
        const struct store_counting *from = &read->countings[i];
        struct counting *to = &counter->countings[i];

        *to = (struct counting){.by = from->by,
                                .times = from->times,
                                .stack = stack_from_pcs(builder->mem, &builder->signatures,
                                                        from->frames, from->frame_count)};
        to->user = user_frame(builder, &to->stack, 0);
        if (counts_elements(to)) {
            *counter = (struct counter){.offset = 0};
            return;
        }
    }
}

/* ---- The functions that the block went through ----------------------------------------------- */

/* Finds the last line but one of the code that a function executed from the return of its last
 * callee to its end. NULL: the code has one line only, or END_BYTES or more, or the last jump was
 * within the function: the code behind it may be an end that many lines share. */
static const struct frame *find_line_before(struct when_lost_builder *builder,
                                            const struct store_way *way,
                                            const struct frame *function, const struct frame *last)
{
    uint64_t from = way->jump_count ? way->jumps[way->jump_count - 1].to : way->left_at;
    const struct frame *found = NULL;

    if (from != way->left_at &&
        frame_at(builder, way->jumps[way->jump_count - 1].from + 1, function))
        return NULL;
    for (uint64_t pc = way->left_at; pc > from && way->left_at - from < END_BYTES && !found; pc--) {
        found = frame_at(builder, pc, function);
        if (!is_other_line(found, last))
            found = NULL;
    }
    return found;
}

/* Finds the line from which a function ended: the last one before the line of its last instruction,
 * which many ends of the function share. */
static const struct frame *find_end(struct when_lost_builder *builder, const struct store_way *way,
                                    const struct frame *function)
{
    const struct frame *last = frame_at(builder, way->left_at, function);
    const struct frame *before =
        way->how & LEAK_WAY_THROWN ? NULL : find_line_before(builder, way, function, last);

    if (before)
        return before;
    for (size_t i = way->how & LEAK_WAY_THROWN ? 0 : way->jump_count; i--;) {
        const struct frame *from = frame_at(builder, way->jumps[i].from + 1, function);
        /* a jump from another function is the return of a callee, and leads behind the call */
        const struct frame *to = frame_at(builder, way->jumps[i].to + (from != NULL), function);

        if (is_other_line(to, last))
            return to;
        if (is_other_line(from, last))
            return from;
    }
    return last;
}

/* Finds the line that a function executed before its end, if other lines lie between the two: goes
 * back through the code between its last jumps. */
static const struct frame *find_way_jump(struct when_lost_builder *builder,
                                         const struct store_way *way, const struct frame *function,
                                         const struct frame *end)
{
    uint64_t pc = way->left_at;
    uint32_t line = end ? end->line : 0;

    for (size_t i = way->how & LEAK_WAY_THROWN ? 0 : way->jump_count; i-- && line;) {
        for (; pc > way->jumps[i].to && pc - way->jumps[i].to < END_BYTES; pc--) {
            const struct frame *at = frame_at(builder, pc, function);

            if (at && at->line && at->line + JUMPED_LINES < line)
                return at;
            if (at && at->line && at->line < line)
                line = at->line;
        }
        if (!frame_at(builder, way->jumps[i].from + 1, function))
            return NULL;
        pc = way->jumps[i].from + 1;
    }
    return NULL;
}

/* Finds the line from which an inlined function ended: that of the last jump into it or out of it.
 * NULL: there was no such jump. */
static const struct frame *find_inlined_end(struct when_lost_builder *builder,
                                            const struct store_way *way,
                                            const struct frame *function)
{
    for (size_t i = way->jump_count; i--;) {
        const struct frame *to = frame_at(builder, way->jumps[i].to + 1, function);
        const struct frame *from = frame_at(builder, way->jumps[i].from + 1, function);

        if (to || from)
            return to ? to : from;
    }
    return NULL;
}

/* Finds the line from which a function jumped over most lines on its way to a line behind them all:
 * `goto done` at an error, while the jumps behind it skip a line or two of the code that cleans up.
 * NULL: there was no such jump. */
static const struct frame *find_longest_jump(struct when_lost_builder *builder,
                                             const struct store_way *way,
                                             const struct frame *function)
{
    const struct frame *found = NULL;
    uint32_t longest = JUMPED_LINES, least = function->line;

    for (size_t i = way->jump_count; i-- && least;) {
        const struct frame *from = frame_at(builder, way->jumps[i].from + 1, function);
        const struct frame *to = frame_at(builder, way->jumps[i].to + (from != NULL), function);

        if (!to || !to->line || to->line > least)
            break;
        least = to->line;
        if (!from)
            continue; /* a callee returned */
        if (to->line > from->line && to->line - from->line > longest) {
            longest = to->line - from->line;
            found = from;
        }
        least = from->line < least ? from->line : least;
    }
    return found;
}

static bool is_told_by_place(const struct lost_place *place, const struct frame *frame)
{
    return place->from && is_same_function(place->from, frame);
}

static const struct frame *find_way_end(struct when_lost_builder *builder,
                                        const struct store_way *way, const struct frame *function)
{
    if (function->inlined)
        return find_inlined_end(builder, way, function);
    return way->how && way->left_at ? find_end(builder, way, function) : NULL;
}

/* Makes room in made->ways[] for one more function, which is farther out. Removes the function
 * before it if that returned the block, because it only handed the block on; and removes the
 * innermost function if the array is full. */
static void make_room(struct when_lost *made)
{
    if (made->way_count && made->ways[made->way_count - 1].returned)
        made->way_count--;
    if (made->way_count == WAYS_MOST)
        memmove(made->ways, made->ways + 1, --made->way_count * sizeof(*made->ways));
}

/* Adds to made->ways[] how the functions at one address of the allocation's call stack ended: a
 * function, and those that it is inlined into. A function that ended by the line that called the
 * inner one is left out. False: one of them has lost the block, so functions farther out add
 * nothing. */
static bool add_ways(struct when_lost_builder *builder, const struct store_way *way,
                     struct when_lost *made)
{
    struct stack stack = stack_from_pcs(builder->mem, &builder->signatures, way->frames, 1);

    for (size_t i = 0; i < stack.count; i++) {
        const struct frame *function = stack.frames[i], *end;

        if (is_told_by_place(&made->place, function))
            return false;
        if (function->role != FRAME_USER || free_wrappers_contain(&builder->wrappers, function))
            continue;
        end = find_way_end(builder, way, function);
        if (!is_other_line(end, function))
            continue;
        make_room(made);
        made->ways[made->way_count++] = (struct way){
            .function = function,
            .end = end,
            .jumped_from = function->inlined ? NULL : find_way_jump(builder, way, function, end),
            .thrown = way->how & LEAK_WAY_THROWN,
            .returned = way->how & LEAK_WAY_RETURNED && !function->inlined,
            .stack = {stack.frames + i, stack.count - i, stack.ending}};
    }
    return true;
}

/* Says whether the last pointer to the block was in memory other than stacks. Then the functions
 * that allocated it have done what they should. */
static bool was_stored(const struct when_lost *made)
{
    return made->place.holder && !made->then.known && made->place.in_memory;
}

static void describe_passed(struct when_lost_builder *builder, const struct store_trail *trail,
                            struct when_lost *made)
{
    for (size_t i = 0; i < trail->passed_count; i++) {
        const struct store_way *way = &trail->passed[i];
        struct stack stack =
            stack_from_pcs(builder->mem, &builder->signatures, way->frames, way->frame_count);
        const struct frame *function = stack.count ? stack.frames[0] : NULL;

        if (!function || function->role != FRAME_USER || !function->line ||
            free_wrappers_contain(&builder->wrappers, function) ||
            (way->variable && (!made->place.holder || made->place.in_memory)))
            continue;
        if (made->user && is_same_function(function, made->user))
            return; /* the report names this function as the last user of the block */
        made->passed = (struct way){.function = function,
                                    .end = find_way_end(builder, way, function),
                                    .thrown = way->how & LEAK_WAY_THROWN,
                                    .variable = way->variable,
                                    .stack = stack};
        return;
    }
}

/* If the pointer was lost at the end of a function that allocated the block, finds the line from
 * which the function went to its end. */
static void describe_way_to_end(struct when_lost_builder *builder, const struct store_way *way,
                                struct when_lost *made)
{
    struct lost_place *place = &made->place;
    const struct frame *end, *jump;

    if (!place->at.count || !place->from || !way->left_at)
        return;
    end = frame_at(builder, way->left_at, place->from);
    jump =
        end && end->line == place->from->line ? find_longest_jump(builder, way, place->from) : NULL;
    if (jump)
        place->jumped_from = jump;
}

static void describe_trail(struct when_lost_builder *builder, struct when_lost *made)
{
    const struct store_trail *trail = &builder->signatures.store->trail;

    made->has_way |= trail->found;
    if (!trail->ended_count || was_stored(made))
        return;
    for (size_t i = 0; i < trail->ended_count; i++)
        describe_way_to_end(builder, &trail->ended[i], made);
    describe_passed(builder, trail, made);
    made->ways = arena_alloc_array(builder->mem, WAYS_MOST, sizeof(*made->ways));
    /* if a variable with the pointer was passed on later, the functions that ended have stored the
     * pointer as they should */
    for (size_t i = 0; i < trail->ended_count && !made->passed.variable; i++)
        if (!add_ways(builder, &trail->ended[i], made) || !trail->ended[i].how)
            break;
}

/* Finds the function that called, from two of its lines, what allocated the block and what lost it.
 * Says nothing about a function that no other function of the program has called, like main. */
static void find_shared_caller(struct when_lost_builder *builder, uint32_t site,
                               struct when_lost *made)
{
    const struct stack *loss = made->place.at.count ? &made->place.at : &made->place.after;
    struct stack allocation = stack_from_node(builder->mem, &builder->signatures,
                                              builder->signatures.store->sites[site].node);
    size_t i = allocation.count, k = loss->count;
    bool called = false;

    made->allocates = made->loses = NULL;
    while (i && k && allocation.frames[i - 1] == loss->frames[k - 1]) {
        called |= allocation.frames[i - 1]->role == FRAME_USER;
        i--;
        k--;
    }
    if (!called || !i || !k || !is_same_function(allocation.frames[i - 1], loss->frames[k - 1]) ||
        !is_other_line(loss->frames[k - 1], allocation.frames[i - 1]) ||
        allocation.frames[i - 1]->role != FRAME_USER ||
        is_told_by_place(&made->place, loss->frames[k - 1]))
        return;
    made->allocates = allocation.frames[i - 1];
    made->loses = loss->frames[k - 1];
}

static void add_followed(struct when_lost_builder *builder, const struct store_followed *followed,
                         struct when_lost *made)
{
    struct lost_block block = {.place.known = false};

    made->followed++;
    made->freed += followed->state == LEAK_FOLLOWED_FREED;
    made->below += followed->state == LEAK_FOLLOWED_LOST_BELOW;
    if (followed->state == LEAK_FOLLOWED_LOST)
        block = describe_lost(builder, followed);
    if (block.place.known && made->lost < WHEN_LOST_MOST) {
        made->blocks[made->lost++] = block;
        choose_place(made);
        find_shared_caller(builder, followed->site, made);
    }
    describe_use(builder, followed, made);
    describe_counter(builder, made);
}

/* Says whether the innermost frame of the stack is in `function`, or inlined into it. */
static bool is_within(const struct stack *stack, const struct frame *function)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (is_same_function(function, stack->frames[i]))
            return true;
        if (!stack->frames[i]->inlined)
            return false;
    }
    return false;
}

static bool contains_function(const struct stack *stack, const struct frame *function)
{
    return function && frame_in(*stack, function);
}

/* Says whether the place that a further run found may replace the known one. A place that a stack
 * word or register kept the block until (block->late) must be in the function of the known place:
 * in another function, the run has followed a copy of the pointer that the program no longer
 * uses. But if the second run lost sight of a saved register, this register belongs to a function
 * that was being executed then; and a variable of a library's function is a copy of its caller's. */
static bool may_refine(const struct when_lost *made, const struct lost_block *block)
{
    const struct lost_place *known = &made->place;

    return !block->late || !known->from || is_same_function(known->from, block->place.from) ||
           is_within(&block->place.at, known->from) ||
           ((known->was_saved || known->from->role != FRAME_USER) &&
            contains_function(&known->before, block->place.from));
}

static bool is_same_block(const struct store_followed *followed, const struct lost_block *block)
{
    return (followed->by_stack && block->by_stack) ||
           (followed->thread == block->thread && followed->count == block->count);
}

/* Replaces the place where the chosen block was lost by the more precise place that a further run
 * found. */
static void refine_followed(struct when_lost_builder *builder,
                            const struct store_followed *followed, struct when_lost *made)
{
    struct lost_block block;

    if (followed->state != LEAK_FOLLOWED_LOST || !made->lost ||
        !is_same_block(followed, &made->blocks[made->chosen]))
        return;
    block = describe_lost(builder, followed);
    if (!made->used.count)
        describe_use(builder, followed, made);
    if (!made->counter.counting_count)
        describe_counter(builder, made);
    describe_trail(builder, made);
    if (builder->signatures.store->trail.found)
        return; /* this run has not watched the uses of the block, which may correct the place */
    if (!block.place.at.count || made->place.at.count || !may_refine(made, &block))
        return;
    made->place = block.place;
    made->then = block.then;
    find_shared_caller(builder, followed->site, made);
}

static bool is_sample(const struct record *record, const struct store_followed *followed)
{
    for (size_t i = 0; i < record->sample_count; i++)
        if (record->samples[i].thread.serial == followed->thread &&
            record->samples[i].count == followed->count)
            return true;
    return false;
}

/* Finds the record with this signature; if the store is of a further run, only if the block was
 * chosen from this record: in that run another record may have the block. A reachable record may
 * have the signature, too; it is skipped. NULL: there is none. */
static struct record *find_record(struct process *process, const struct store_followed *followed,
                                  uint64_t signature, uint32_t run)
{
    for (size_t i = 0; i < process->record_count; i++)
        if (process->records[i].signature == signature &&
            process->records[i].verdict != VERDICT_REACHABLE &&
            (!run || followed->by_stack || is_sample(&process->records[i], followed)))
            return &process->records[i];
    return NULL;
}

/* Returns what further runs have found for the record; makes it if there is none. If an earlier run
 * did not see a block being lost, one that finds its blocks by their call stacks begins anew. */
static struct when_lost *results_of(struct arena *mem, struct record *record, uint32_t run,
                                    bool by_stack)
{
    if (!record->when_lost)
        record->when_lost = arena_alloc(mem, sizeof(*record->when_lost));
    struct when_lost *when = (struct when_lost *)record->when_lost;

    if (when->run && when->run != run && !when->lost && by_stack)
        *when = (struct when_lost){.run = 0};
    when->run = when->run ? when->run : run;
    return when;
}

/* Says whether the process of a further run corresponds to the one of the report: the same forks led
 * to it. */
static bool is_same_process(const struct store *store, const struct process *process)
{
    return store->fork_chain && process->fork_chain &&
           strcmp(store->fork_chain, process->fork_chain) == 0;
}

size_t when_lost_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                      uint32_t run, struct process *process)
{
    struct when_lost_builder builder = {.mem = mem, .process = process};
    size_t found = 0;

    if (!store->followed_count || (run && !is_same_process(store, process)))
        return 0;
    builder.signatures = signatures_begin(resolver, store);
    for (size_t i = 0; i < store->followed_count; i++)
        signatures_request(&builder.signatures, store->sites[store->followed[i].site].node);
    signatures_resolve(&builder.signatures);
    builder.paths = root_paths_begin(mem, &builder.signatures);
    builder.wrappers = free_wrappers_find(&builder.signatures);
    for (size_t i = 0; i < store->followed_count; i++) {
        const struct store_followed *followed = &store->followed[i];
        struct record *record = find_record(
            process, followed,
            signatures_of_node(&builder.signatures, store->sites[followed->site].node), run);

        if (!record)
            continue;
        found++;
        struct when_lost *when = results_of(mem, record, run, followed->by_stack);
        if (when->run == run)
            add_followed(&builder, followed, when);
        else
            refine_followed(&builder, followed, when);
    }
    free_wrappers_end(&builder.wrappers);
    root_paths_end(&builder.paths);
    signatures_end(&builder.signatures);
    return found;
}
