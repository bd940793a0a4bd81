#include "preload/process/lifecycle.h"
#include "preload/store/store.h"
#include "preload/signals/altstack.h"
#include "preload/base/arena.h"
#include "preload/heap/blocks.h"
#include "preload/heap/capture.h"
#include "preload/heap/suballoc.h"
#include "preload/process/crash.h"
#include "preload/misuse/eventlog.h"
#include "preload/misuse/errors.h"
#include "preload/heap/free_history.h"
#include "preload/heap/timeline.h"
#include "preload/process/lsan.h"
#include "preload/track/milestones.h"
#include "preload/interpose/modules.h"
#include "preload/unwind/unwind_check.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/heap/quarantine.h"
#include "preload/process/reports.h"
#include "preload/resources/resource_records.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/heap/sample.h"
#include "preload/unwind/sites.h"
#include "preload/unwind/thread_counters.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"
#include "preload/unwind/context_tree.h"

static void count_inherited(const struct block *block, void *bytes)
{
    uint64_t blocks = sample_state.bytes ? sample_count(block, true) : 1;
    sites_add_inherited(block->site, blocks, blocks * block->size);
    threads_state.live_blocks += blocks;
    *(uint64_t *)bytes += blocks * block->size;
}

bool fork_child_start_recording(struct guard *guard)
{
    struct leak_header *parent;
    uint64_t parent_size;
    if (!store_create_child(&parent, &parent_size))
        return false;
    arena_fork_child();
    milestones_fork_child();
    snapshot_fork_child();
    reports_fork_child();
    deferred_work_fork_child();
    crash_fork_child();
    altstack_fork_child();
    store_set_flag(LEAK_FLAG_FORKED |
                   (parent->flags & (LEAK_FLAG_NO_STACKS | LEAK_FLAG_FILTERED | LEAK_FLAG_LATE)));
    blocks_fork_child();
    suballoc_fork_child();
    pools_fork_child();
    free_history_fork_child();
    dropped_pointers_fork_child();
    error_table_fork_child();
    quarantine_fork_child();
    thread_counters_fork_child();
    timeline_fork_child();
    sample_fork_child();
    eventlog_fork_child();
    track_start();
    process_info_write();
    lsan_fork_child();
    modules_fork_child();
    cfi_cache_fork_child();
    unwind_check_fork_child();
    capture_fork_child();
    if (!tags_fork_child() || !context_tree_fork_child() || !sites_fork_child() ||
        !threads_fork_child(guard))
        return false;
    resources_fork_child();
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
    arena_fork_child();
    crash_fork_child();
    altstack_fork_child();
    store_set_flag(LEAK_FLAG_FORKED | LEAK_FLAG_CRASH_ONLY);
    track_start();
    process_info_write();
    modules_fork_child();
    cfi_cache_fork_child();
    store_header->ppid = parent->pid;
    store_unmap_parent(parent, parent_size);
    return true;
}
