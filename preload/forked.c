#include "preload/forked.h"
#include "preload/about.h"
#include "preload/altstack.h"
#include "preload/arena.h"
#include "preload/asked.h"
#include "preload/blocks.h"
#include "preload/capture.h"
#include "preload/carved.h"
#include "preload/crash.h"
#include "preload/eventlog.h"
#include "preload/events.h"
#include "preload/freed.h"
#include "preload/history.h"
#include "preload/lsan.h"
#include "preload/milestones.h"
#include "preload/modules.h"
#include "preload/oracle.h"
#include "preload/orphans.h"
#include "preload/pools.h"
#include "preload/quarantine.h"
#include "preload/reports.h"
#include "preload/resources.h"
#include "preload/rows.h"
#include "preload/sample.h"
#include "preload/sites.h"
#include "preload/slots.h"
#include "preload/snapshot.h"
#include "preload/store.h"
#include "preload/tags.h"
#include "preload/threads.h"
#include "preload/track.h"
#include "preload/tree.h"

static void inherit(const struct block *block, void *bytes)
{
    uint64_t blocks = sample_bytes ? sample_count(block, true) : 1;
    sites_inherit(block->site, blocks, blocks * block->size);
    threads_blocks += blocks;
    *(uint64_t *)bytes += blocks * block->size;
}

bool forked_begin(struct guard *guard)
{
    struct leak_header *parent;
    uint64_t parent_size;
    if (!store_create_child(&parent, &parent_size))
        return false;
    arena_fork_child();
    milestones_fork_child();
    snapshot_fork_child();
    reports_fork_child();
    asked_fork_child();
    crash_fork_child();
    altstack_fork_child();
    store_flag(LEAK_FLAG_FORKED |
               (parent->flags & (LEAK_FLAG_NO_STACKS | LEAK_FLAG_FILTERED | LEAK_FLAG_LATE)));
    blocks_fork_child();
    carved_fork_child();
    pools_fork_child();
    freed_fork_child();
    orphans_fork_child();
    events_fork_child();
    quarantine_fork_child();
    slots_fork_child();
    history_fork_child();
    sample_fork_child();
    eventlog_fork_child();
    track_begin();
    about_put();
    lsan_fork_child();
    modules_fork_child();
    rows_fork_child();
    oracle_fork_child();
    capture_fork_child();
    if (!tags_fork_child() || !tree_fork_child() || !sites_fork_child() ||
        !threads_fork_child(guard))
        return false;
    resources_fork_child();
    blocks_each(inherit, &store_header->live_bytes);
    carved_each(inherit, &store_header->live_bytes);
    store_header->peak_bytes = store_header->live_bytes;
    store_header->ppid = parent->pid; /* who it inherited from: a daemon's parent is gone by now */
    store_forget(parent, parent_size);
    return true;
}

bool forked_begin_bare(void)
{
    struct leak_header *parent;
    uint64_t parent_size;
    if (!store_create_child(&parent, &parent_size))
        return false;
    arena_fork_child();
    crash_fork_child();
    altstack_fork_child();
    store_flag(LEAK_FLAG_FORKED | LEAK_FLAG_CRASH_ONLY);
    track_begin();
    about_put();
    modules_fork_child();
    rows_fork_child();
    store_header->ppid = parent->pid;
    store_forget(parent, parent_size);
    return true;
}
