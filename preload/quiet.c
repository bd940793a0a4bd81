#include "preload/quiet.h"
#include "preload/altstack.h"
#include "preload/arena.h"
#include "preload/blocks.h"
#include "preload/carved.h"
#include "preload/events.h"
#include "preload/farewell.h"
#include "preload/freed.h"
#include "preload/history.h"
#include "preload/journal.h"
#include "preload/modules.h"
#include "preload/orphans.h"
#include "preload/pools.h"
#include "preload/quarantine.h"
#include "preload/resources.h"
#include "preload/roots.h"
#include "preload/rows.h"
#include "preload/sites.h"
#include "preload/slots.h"
#include "preload/tags.h"
#include "preload/threads.h"
#include "preload/tree.h"
#include "preload/unforked.h"

void quiet_begin(void)
{
    farewell_fork_lock();
    tags_fork_lock();
    roots_fork_lock();
    unforked_fork_lock();
    altstack_fork_lock();
    history_fork_lock();
    threads_fork_lock();
    journal_fork_lock();
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
    events_fork_lock();
    quarantine_fork_lock();
    resources_fork_lock();
    arena_fork_lock();
}

void quiet_end(void)
{
    arena_fork_unlock();
    quarantine_fork_unlock();
    events_fork_unlock();
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
    journal_fork_unlock();
    threads_fork_unlock();
    history_fork_unlock();
    altstack_fork_unlock();
    unforked_fork_unlock();
    roots_fork_unlock();
    tags_fork_unlock();
    farewell_fork_unlock();
}
