/* fork_child.c - begins a recording of its own for a fork child (lifecycle.h). */
#include "preload/process/lifecycle.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/sample.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/threads.h"
#include "preload/store/store.h"
#include "preload/contexts/sites.h"

static void count_inherited(const struct block *block, void *bytes)
{
    uint64_t blocks = sample_state.bytes ? sample_count(block, true) : 1;
    sites_add_inherited(block->site, blocks, blocks * block->size);
    threads_state.live_blocks += blocks;
    *(uint64_t *)bytes += blocks * block->size;
}

/* ---- The steps of all modules, from lifecycle.def -------------------------------------------- */

/* Two modules have no function of their own for a fork child: their function for the start runs
 * again. */
#define track_fork_child track_start
#define process_info_fork_child process_info_write

#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    LIFECYCLE_##child(name, fork_child)
#include "preload/lifecycle.def"

static const struct lifecycle_step child_steps[LIFECYCLE_CHILDREN] = {
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    LIFECYCLE_ROW_##child(name, child_step, scope)
#include "preload/lifecycle.def"
};

/* ---- Beginning the recording ----------------------------------------------------------------- */

bool fork_child_start_recording(struct guard *guard)
{
    struct leak_header *parent;
    uint64_t parent_size;
    if (!store_create_child(&parent, &parent_size))
        return false;
    store_set_flag(LEAK_FLAG_FORKED | (parent->flags & (LEAK_FLAG_NO_STACKS | LEAK_FLAG_FILTERED |
                                                        LEAK_FLAG_LATE | LEAK_FLAG_EXIT_LOOK)));
    if (!lifecycle_run(child_steps, LIFECYCLE_CHILDREN, false, guard, NULL))
        return false;
    blocks_each(count_inherited, &store_header->live_bytes);
    suballoc_each(count_inherited, &store_header->live_bytes);
    store_header->peak_bytes = store_header->live_bytes;
    /* The process from which the child inherits; in a daemon, the real parent has already ended. */
    store_header->ppid = parent->pid;
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
    if (!lifecycle_run(child_steps, LIFECYCLE_CHILDREN, true, NULL, NULL))
        return false;
    store_header->ppid = parent->pid;
    store_unmap_parent(parent, parent_size);
    return true;
}
