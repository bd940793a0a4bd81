/* all_locks.c - the locks of the runtime in lock order (fork_snapshot.h). */
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/signals/altstack.h"
#include "preload/base/arena.h"
#include "preload/heap/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/misuse/errors.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/heap/free_history.h"
#include "preload/heap/timeline.h"
#include "preload/store/append_file.h"
#include "preload/interpose/modules.h"
#include "preload/heap/dropped_pointers.h"
#include "preload/heap/quarantine.h"
#include "preload/resources/resource_records.h"
#include "preload/roots/roots.h"
#include "preload/unwind/cfi_cache.h"
#include "preload/unwind/sites.h"
#include "preload/unwind/thread_counters.h"
#include "preload/heap/capture.h"
#include "preload/heap/threads.h"
#include "preload/unwind/context_tree.h"

void all_locks_acquire(void)
{
    exit_callbacks_fork_lock();
    tags_fork_lock();
    roots_fork_lock();
    dontfork_fork_lock();
    altstack_fork_lock();
    timeline_fork_lock();
    threads_fork_lock();
    append_file_fork_lock();
    thread_counters_fork_lock();
    modules_fork_lock();
    cfi_cache_fork_lock();
    context_tree_fork_lock();
    sites_fork_lock();
    free_history_fork_lock();
    dropped_pointers_fork_lock();
    blocks_fork_lock();
    suballoc_fork_lock();
    pools_fork_lock();
    error_table_fork_lock();
    quarantine_fork_lock();
    resources_fork_lock();
    arena_fork_lock();
}

void all_locks_release(void)
{
    arena_fork_unlock();
    quarantine_fork_unlock();
    error_table_fork_unlock();
    resources_fork_unlock();
    pools_fork_unlock();
    suballoc_fork_unlock();
    blocks_fork_unlock();
    dropped_pointers_fork_unlock();
    free_history_fork_unlock();
    sites_fork_unlock();
    context_tree_fork_unlock();
    cfi_cache_fork_unlock();
    modules_fork_unlock();
    thread_counters_fork_unlock();
    append_file_fork_unlock();
    threads_fork_unlock();
    timeline_fork_unlock();
    altstack_fork_unlock();
    dontfork_fork_unlock();
    roots_fork_unlock();
    tags_fork_unlock();
    exit_callbacks_fork_unlock();
}
