#include "preload/leakcheck/all_locks.h"
#include "preload/signals/altstack.h"
#include "preload/base/arena.h"
#include "preload/heap/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/misuse/errors.h"
#include "preload/leakcheck/exit_callbacks.h"
#include "preload/heap/free_history.h"
#include "preload/heap/timeline.h"
#include "preload/store/append_file.h"
#include "preload/interpose/modules.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/heap/pools.h"
#include "preload/heap/quarantine.h"
#include "preload/resources/resource_records.h"
#include "preload/roots/roots.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/unwind/sites.h"
#include "preload/unwind/thread_counters.h"
#include "preload/heap/tags.h"
#include "preload/heap/threads.h"
#include "preload/unwind/context_tree.h"
#include "preload/leakcheck/dontfork.h"

void quiet_begin(void)
{
    farewell_fork_lock();
    tags_fork_lock();
    roots_fork_lock();
    unforked_fork_lock();
    altstack_fork_lock();
    history_fork_lock();
    threads_fork_lock();
    append_file_fork_lock();
    slots_fork_lock();
    modules_fork_lock();
    rows_fork_lock();
    tree_fork_lock();
    sites_fork_lock();
    freed_fork_lock();
    orphans_fork_lock();
    blocks_fork_lock();
    carved_fork_lock();
    pools_fork_lock();
    error_table_fork_lock();
    quarantine_fork_lock();
    resources_fork_lock();
    arena_fork_lock();
}

void quiet_end(void)
{
    arena_fork_unlock();
    quarantine_fork_unlock();
    error_table_fork_unlock();
    resources_fork_unlock();
    pools_fork_unlock();
    carved_fork_unlock();
    blocks_fork_unlock();
    orphans_fork_unlock();
    freed_fork_unlock();
    sites_fork_unlock();
    tree_fork_unlock();
    rows_fork_unlock();
    modules_fork_unlock();
    slots_fork_unlock();
    append_file_fork_unlock();
    threads_fork_unlock();
    history_fork_unlock();
    altstack_fork_unlock();
    unforked_fork_unlock();
    roots_fork_unlock();
    tags_fork_unlock();
    farewell_fork_unlock();
}
