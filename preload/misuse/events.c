#include "preload/misuse/events.h"
#include "preload/base/atomic.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"

static struct lock lock;
static struct leak_events *table; /* NULL: none was met yet */
static uint32_t used;
static bool no_room; /* not even for the table */

/* The address is no part of it: a loop meets many. A wild one has nothing else. */
static bool is_same(const struct leak_event *a, const struct leak_event *b)
{
    return a->type == b->type && a->form == b->form && a->place == b->place && a->site == b->site &&
           a->node == b->node && a->pc == b->pc && a->freed_pc == b->freed_pc &&
           a->block_pool == b->block_pool && a->call_pool == b->call_pool;
}

static struct leak_event *find(const struct leak_event *event)
{
    for (uint32_t i = 0; i < used; i++)
        if (is_same(&table->event[i], event))
            return &table->event[i];
    return NULL;
}

static void open_table(void)
{
    if (table || no_room)
        return;
    table = store_chunk(LEAK_CHUNK_EVENTS, sizeof *table, 0);
    no_room = !table;
    if (table)
        store_publish(table, sizeof *table);
}

static void put(const struct leak_event *event)
{
    struct leak_event *place = &table->event[used++], made = *event;
    made.type = LEAK_EVENT_NONE;
    made.count = 1;
    made.last_tick = event->tick;
    *place = made;
    store_release(&place->type, event->type); /* readers of the store take it from here */
}

bool events_add(struct guard *guard UNUSED, const struct leak_event *event)
{
    bool fresh = false;
    struct locked locked = lock_take(&lock);
    open_table();
    struct leak_event *known = table ? find(event) : NULL;
    if (known) {
        bump(&known->count, 1);
        store_relaxed(&known->last_tick, event->tick);
    } else if (table && used < LEAK_EVENTS) {
        put(event);
        fresh = true;
    } else if (table) {
        bump(&table->left_out, 1);
    }
    lock_give(&locked);
    return fresh;
}

bool events_check(void)
{
    for (uint32_t i = 0; i < used; i++)
        if (!table->event[i].type || !table->event[i].count ||
            find(&table->event[i]) < &table->event[i])
            return false;
    return used <= LEAK_EVENTS;
}

/* ---- Fork ----------------------------------------------------------------------------------- */

LOCK_FOR_FORK(events, &lock)

void events_fork_child(void)
{
    lock.word = 0;
    table = NULL;
    used = 0;
    no_room = false;
}
