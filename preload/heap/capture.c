/* capture.c - finds sites and context tree nodes for call stacks; disables and enables recording;
 * keeps tags. */
#include "preload/heap/capture.h"
#include "preload/base/base.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/lock.h"
#include "preload/base/strbuf.h"
#include "preload/contexts/context_tree.h"
#include "preload/unwind/unwind.h"

struct capture_state capture_state;
static bool all_disabled, tags_enabled;
/* Recording was disabled when the process started, and has not been enabled yet. */
static bool never_enabled;

static bool python_found; /* a Python interpreter has been loaded at some time */

/* Examines an object that modules_find has found. Once an object is a Python interpreter, hooks
 * read Python frames, too. */
static void look_for_python(const struct link_map *object)
{
    if (python_find_runtime(object)) {
        store_relaxed(&python_found, true);
        add_relaxed(&capture_state.reasons, 1);
    }
}

void capture_forget_objects(uintptr_t start, uintptr_t end)
{
    if (python_forget_runtime(start, end))
        add_relaxed(&capture_state.reasons, -1);
}

void capture_start(void)
{
    if (options_current.python == PYTHON_AUTO && options_current.site_stacks)
        modules_state.on_object = look_for_python;
    unwind_by(options_current.unwind == UNWIND_FP    ? UNWIND_BY_RECORDS
              : options_current.unwind == UNWIND_CFI ? UNWIND_BY_TABLES
                                                     : UNWIND_BY_TABLES_AND_RECORDS);
    if (ARCH_SLOTS_VARY)
        guard_callbacks.passes = unwind_passes;
    if (!options_current.site_stacks)
        capture_state.reasons |= CAPTURE_FLAT;
    if (!options_current.start || options_current.start_after || *options_current.start_at) {
        capture_disable_all(true);
        never_enabled = true;
        store_set_flag(LEAK_FLAG_NEVER_ENABLED);
    }
}

void capture_fork_child(void)
{
    if (never_enabled)
        store_set_flag(LEAK_FLAG_NEVER_ENABLED);
}

/* Notes that recording was enabled for the first time. A fork child without a recording file of its
 * own still maps that of its parent, and must not change that file. */
static void record_first_enable(void)
{
    never_enabled = false;
    if (store_header && store_header->pid == sys_getpid())
        store_clear_flag(LEAK_FLAG_NEVER_ENABLED);
}

bool capture_disable_all(bool disable)
{
    if (exchange_relaxed(&all_disabled, disable) == disable)
        return false;
    capture_state.disabled_ever = true;
    add_relaxed(&capture_state.reasons, disable ? 1 : -1);
    if (!disable && never_enabled)
        record_first_enable();
    return true;
}

void capture_enable_all(void)
{
    capture_disable_all(false);
}

/* Disables or enables recording in the calling thread. If a thread ends while recording is disabled
 * in it, capture_state.reasons stays raised: hooks of other threads then make one unnecessary
 * call. */
bool capture_disable(struct guard *guard, bool disable)
{
    if (disable ? guard->disabled == UINT16_MAX : !guard->disabled)
        return false;
    guard->disabled += disable ? 1 : -1;
    capture_state.disabled_ever = true;
    add_relaxed(&capture_state.reasons, disable ? 1 : -1);
    return true;
}

/* Returns the one site, without a call stack, of all allocations of a sort (kind and tag). root:
 * what the site has instead of a stack. "sites" caches one site for each kind; sites with a tag are
 * not cached. */
static uint32_t stackless_site(struct guard *guard, struct thread *thread, unsigned sort,
                               uint32_t *sites, enum leak_root root)
{
    struct unwind_trace *trace = &thread->trace;
    bool cached = sort < LEAK_KIND_MAX;
    if (likely(cached && sites[sort]))
        return sites[sort];
    trace->cut = trace->depth = trace->shared = 0;
    trace->end = root;
    uint32_t site = context_tree_site(guard, trace, sort);
    if (cached)
        sites[sort] = site;
    return site;
}

uint32_t capture_older_site(struct guard *guard, struct thread *thread, uint64_t size)
{
    struct unwind_trace *trace = &thread->trace;
    trace->cut = trace->shared = 0;
    trace->depth = 1;
    trace->paths = false;
    trace->end = LEAK_ROOT_NO_STACKS;
    trace->step[0] = (struct unwind_step){.pc = LEAK_OLDER_PC + size};
    uint32_t site = context_tree_site(guard, trace, LEAK_KIND_MALLOC);
    /* The frame in the trace is made up: the thread's next stack must not share it. */
    trace->depth = 0;
    trace->shareable = false;
    return site;
}

static void walk_stack(struct guard *guard, struct thread *thread, const struct frame *caller,
                       unsigned sort)
{
    struct unwind_trace *trace = &thread->trace;
    unsigned limit = options_current.depth;
    unwind_open(trace);
    unwind_find(guard, &thread->bounds, caller, limit, trace);
    context_tree_prefetch(trace, sort);
    unwind_commit(&thread->bounds, trace);
    bump(&thread->record->walks, 1);
    bump(&thread->record->frames_walked, trace->depth - trace->shared);
    bump(&thread->record->frames_shared, trace->shared);
}

/* Returns the context tree node of the C frames alone, without Python frames. *walked: true if the
 * stack was unwound, so that the thread's trace now contains these frames. */
static uint32_t find_c_node(struct guard *guard, struct thread *thread, const struct frame *caller,
                            bool *walked)
{
    struct unwind_trace *trace = &thread->trace;
    uint32_t node =
        stack_cache_find(&thread->stack_cache, thread->bounds.low, caller, STACK_CACHE_FREE);
    *walked = !node;
    if (node)
        return node;
    walk_stack(guard, thread, caller, LEAK_PC_FREE);
    node = context_tree_free_node(guard, trace);
    unwind_close(trace);
    if (node)
        stack_cache_add(&thread->stack_cache, thread->bounds.low, trace, STACK_CACHE_FREE, node);
    return node;
}

/* Returns the site of the stack in which Python frames are merged into the C frames. */
static uint32_t capture_merged_site(struct guard *guard, struct thread *thread,
                                    const struct frame *caller, unsigned sort, bool walked)
{
    if (!walked) {
        walk_stack(guard, thread, caller, LEAK_PC_FREE);
        unwind_close(&thread->trace);
    }
    return context_tree_site(guard, python_merge(thread->python, &thread->bounds, &thread->trace),
                             sort);
}

/* Returns the site of an allocation in a process with Python; with the sort of a free it returns
 * the node of the free's stack. Sites are cached: the key is the number of the C frames, which the
 * stack cache knows, and a hash of the Python frames. */
static uint32_t capture_python_site(struct guard *guard, struct thread *thread,
                                    const struct frame *caller, unsigned sort)
{
    modules_refresh(guard);
    struct python_thread *python = NULL;
    if (load_relaxed(&python_found) && !thread->stand_in)
        python = python_thread_of(&thread->python);
    if (!python || !python_read_frames(python, &thread->bounds, caller->sp, options_current.depth))
        return capture_usual_site(guard, thread, caller, sort);
    bool walked;
    uint32_t node = find_c_node(guard, thread, caller, &walked);
    uint32_t site = python_find_number(python, node, sort);
    if (!site && node && (site = capture_merged_site(guard, thread, caller, sort, walked)))
        python_remember(python, node, sort, site);
    return site;
}

NOINLINE uint32_t capture_other_site(struct guard *guard, struct thread *thread,
                                     const struct frame *caller, enum leak_kind kind)
{
    unsigned sort = kind + ((unsigned)guard->tag << LEAK_TAG_SHIFT);
    if (load_relaxed(&all_disabled) || guard->disabled)
        return stackless_site(guard, thread, sort, thread->disabled_sites, LEAK_ROOT_DISABLED);
    if (!options_current.site_stacks)
        return stackless_site(guard, thread, sort, thread->flat_sites, LEAK_ROOT_NO_STACKS);
    return capture_python_site(guard, thread, caller, sort);
}

NOINLINE uint32_t capture_walked_site(struct guard *guard, struct thread *thread,
                                      const struct frame *caller, unsigned sort)
{
    struct unwind_trace *trace = &thread->trace;
    modules_refresh(guard);
    walk_stack(guard, thread, caller, sort);
    uint32_t site = context_tree_site(guard, trace, sort);
    unwind_close(trace);
    if (likely(site))
        stack_cache_add(&thread->stack_cache, thread->bounds.low, trace, sort, site);
    return site;
}

NOINLINE uint32_t capture_node(struct guard *guard, struct thread *thread,
                               const struct frame *caller)
{
    free_history_count_capture(&thread->freed);
    modules_refresh(guard);
    bool walked;
    return find_c_node(guard, thread, caller, &walked);
}

uint32_t capture_call(struct guard *guard, const struct frame *caller, bool wanted,
                      const struct thread **thread)
{
    struct locked shared;
    struct thread *self = threads_self(guard, &shared);
    *thread = self;
    if (unlikely(!self))
        return 0;
    uint32_t node = LEAK_ROOT_NO_STACKS;
    if (wanted && load_relaxed(&python_found))
        node = capture_python_site(guard, self, caller, LEAK_PC_FREE);
    else if (wanted)
        node = capture_node(guard, self, caller);
    threads_done(self, &shared);
    return node;
}

/* ---- Names of tags --------------------------------------------------------------------------- */

#define TAG_SLOTS 1024 /* size of a hash table: above LEAK_TAGS, so there are empty slots */

static struct lock tags_lock;
/* The table of tag names in the recording file; NULL: no tag was used yet. */
static struct leak_tags *tags_table;
static uint32_t tags_used;
/* Hash table by tag name: number of the tag, from 1; 0: empty slot. */
static uint16_t tag_slots[TAG_SLOTS];

static __thread struct {
    uint32_t depth; /* number of tags on the stack; those above TAGS_DEPTH are only counted */
    uint16_t tag[TAGS_DEPTH];
} tag_stack __attribute__((tls_model("initial-exec")));

/* The name of a tag, cut to the length that the table of tags has room for. */
struct tag_name {
    char bytes[LEAK_TAG_NAME];
    uint32_t length, home;
};

static struct tag_name make_tag_name(const char *string)
{
    struct tag_name name;
    struct strbuf text = STRBUF_ON(name.bytes);
    uint64_t hash = 1;
    strbuf_add(&text, string);
    name.length = text.length;
    for (uint32_t i = 0; i < name.length; i++)
        hash = hash_u64(hash + (unsigned char)name.bytes[i]);
    name.home = hash % TAG_SLOTS;
    return name;
}

/* Finds the number of a tag without taking a lock. 0: the name is not in the table, and *slot is an
 * empty slot for it. */
static unsigned find_tag(const struct tag_name *name, uint32_t *slot)
{
    unsigned tag;
    /* Acquire, so that the name that add_tag wrote before is visible here. */
    for (*slot = name->home; (tag = load_acquire(&tag_slots[*slot]));
         *slot = (*slot + 1) % TAG_SLOTS) {
        const struct leak_tag *there = &tags_table->tag[tag - 1];
        if (there->length == name->length && memcmp(there->name, name->bytes, name->length) == 0)
            break;
    }
    return tag;
}

static bool open_tag_table(void)
{
    if (!tags_table && (tags_table = store_new_chunk(LEAK_CHUNK_TAGS, sizeof *tags_table, 0)))
        store_publish(tags_table, sizeof *tags_table);
    return tags_table != NULL;
}

static unsigned add_tag(const struct tag_name *name)
{
    uint32_t slot;
    struct locked locked = lock_take(&tags_lock);
    unsigned tag = find_tag(name, &slot); /* another thread may have added the tag meanwhile */
    if (!tag && open_tag_table()) {
        if (tags_used < LEAK_TAGS) {
            struct leak_tag *place = &tags_table->tag[tags_used];
            tag = ++tags_used;
            memcpy(place->name, name->bytes, name->length);
            /* Makes the tag visible to readers of the recording file. */
            store_release(&place->length, name->length);
            store_release(&tag_slots[slot], tag);
        } else {
            bump(&tags_table->left_out, 1);
        }
    }
    lock_give(&locked);
    return tag;
}

unsigned tags_find(const char *string)
{
    uint32_t slot;
    if (!string)
        return 0;
    struct tag_name name = make_tag_name(string);
    return find_tag(&name, &slot);
}

static unsigned find_or_add_tag(const char *string)
{
    uint32_t slot;
    if (!string || !*string)
        return 0;
    struct tag_name name = make_tag_name(string);
    unsigned tag = find_tag(&name, &slot);
    return likely(tag) ? tag : add_tag(&name);
}

/* ---- The stack of tags of a thread ----------------------------------------------------------- */

bool tags_push(struct guard *guard, const char *name)
{
    unsigned tag = tag_stack.depth < TAGS_DEPTH ? find_or_add_tag(name) : 0;
    if (likely(tag)) {
        /* The first tag makes hooks read their thread's tag from now on. */
        if (unlikely(!load_relaxed(&tags_enabled)) && !exchange_relaxed(&tags_enabled, true))
            add_relaxed(&capture_state.reasons, 1);
        guard->tag = tag;
    }
    if (likely(tag_stack.depth < TAGS_DEPTH))
        tag_stack.tag[tag_stack.depth] = guard->tag;
    tag_stack.depth++;
    return tag != 0;
}

bool tags_pop(struct guard *guard)
{
    if (!tag_stack.depth)
        return false;
    tag_stack.depth--;
    if (likely(tag_stack.depth < TAGS_DEPTH))
        guard->tag = tag_stack.depth ? tag_stack.tag[tag_stack.depth - 1] : 0;
    return true;
}

bool tags_check(void)
{
    uint32_t slot;
    for (uint32_t i = 0; i < tags_used; i++) {
        struct tag_name name = make_tag_name(tags_table->tag[i].name);
        if (name.length != tags_table->tag[i].length || find_tag(&name, &slot) != i + 1)
            return false;
    }
    return tags_used <= LEAK_TAGS;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(tags, &tags_lock)

bool tags_fork_child(void)
{
    const struct leak_tags *parents = tags_table;
    tags_lock.word = 0;
    tags_table = NULL;
    if (!parents)
        return true;
    if (!open_tag_table())
        return false;
    memcpy(tags_table->tag, parents->tag, sizeof tags_table->tag);
    return true;
}
