/* fork_child.c - a fork child gets a recording of its own (lifecycle.h). */
#include "preload/process/lifecycle.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/sample.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/threads.h"
#include "preload/store/store.h"
#include "preload/track/track.h"
#include "preload/unwind/sites.h"

static void count_inherited(const struct block *block, void *bytes)
{
    uint64_t blocks = sample_state.bytes ? sample_count(block, true) : 1;
    sites_add_inherited(block->site, blocks, blocks * block->size);
    threads_state.live_blocks += blocks;
    *(uint64_t *)bytes += blocks * block->size;
}

/* ---- The steps of all modules, from lifecycle.def ------------------------------------------- */

/* These two begin anew as they began in the parent. */
#define track_fork_child track_start
#define process_info_fork_child process_info_write

#define ALWAYS(name)                                                                               \
    void name##_fork_child(void);                                                                  \
    static bool name##_child(struct guard *guard UNUSED)                                           \
    {                                                                                              \
        name##_fork_child();                                                                       \
        return true;                                                                               \
    }
#define MAY_FAIL(name)                                                                             \
    bool name##_fork_child(void);                                                                  \
    static bool name##_child(struct guard *guard UNUSED)                                           \
    {                                                                                              \
        return name##_fork_child();                                                                \
    }
#define GUARD(name)                                                                                \
    bool name##_fork_child(struct guard *guard);                                                   \
    static bool name##_child(struct guard *guard)                                                  \
    {                                                                                              \
        return name##_fork_child(guard);                                                           \
    }
#define NEVER(name)

#define MODULE(name, file, lock, step, child, crash) child(name)
#include "preload/lifecycle.def"

enum { FULL, CRASH };

static const struct {
    bool (*start)(struct guard *guard);
    bool crash;
} child_steps[] = {
#define ROW(name, step, crash) [step - 1] = {name##_child, crash == CRASH},
#define ROW_ALWAYS ROW
#define ROW_MAY_FAIL ROW
#define ROW_GUARD ROW
#define ROW_NEVER(name, step, crash)
#define MODULE(name, file, lock, step, child, crash) ROW_##child(name, step, crash)
#include "preload/lifecycle.def"
};

#define STEPS_ALWAYS +1
#define STEPS_MAY_FAIL +1
#define STEPS_GUARD +1
#define STEPS_NEVER
/* Two rows with one step overwrite each other, which is a warning; so equal counts mean no gap. */
_Static_assert(sizeof child_steps / sizeof *child_steps == 0
#define MODULE(name, file, lock, step, child, crash) STEPS_##child
#include "preload/lifecycle.def"
               ,
               "preload/lifecycle.def: the steps of fork children are 1, 2, 3 ... without a gap");

/* False: no memory. */
static bool run_child_steps(struct guard *guard, bool only_crash)
{
    for (size_t i = 0; i < sizeof child_steps / sizeof *child_steps; i++)
        if ((child_steps[i].crash || !only_crash) && !child_steps[i].start(guard))
            return false;
    return true;
}

/* ---- The recording of the child ------------------------------------------------------------- */

bool fork_child_start_recording(struct guard *guard)
{
    struct leak_header *parent;
    uint64_t parent_size;
    if (!store_create_child(&parent, &parent_size))
        return false;
    store_set_flag(LEAK_FLAG_FORKED | (parent->flags & (LEAK_FLAG_NO_STACKS | LEAK_FLAG_FILTERED |
                                                        LEAK_FLAG_LATE | LEAK_FLAG_EXIT_LOOK)));
    if (!run_child_steps(guard, false))
        return false;
    blocks_each(count_inherited, &store_header->live_bytes);
    suballoc_each(count_inherited, &store_header->live_bytes);
    store_header->peak_bytes = store_header->live_bytes;
    store_header->ppid =
        parent->pid; /* from whom it inherits: the parent of a daemon has ended by now */
    store_unmap_parent(parent, parent_size);
    return true;
}

bool fork_child_start_crash_only(void)
{
    struct leak_header *parent;
    uint64_t parent_size;
    if (!store_create_child(&parent, &parent_size))
        return false;
    store_set_flag(LEAK_FLAG_FORKED | LEAK_FLAG_CRASH_ONLY);
    if (!run_child_steps(NULL, true))
        return false;
    store_header->ppid = parent->pid;
    store_unmap_parent(parent, parent_size);
    return true;
}
