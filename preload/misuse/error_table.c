#include "preload/misuse/errors.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"

static struct lock table_lock;
static struct leak_events *table; /* NULL: there was no error so far */
static uint32_t event_count;
static bool table_failed; /* there was no memory for the table */

/* Two events count as the same when all but the address agree: a loop may release many addresses.
 * So two invalid frees, which involve no block, are the same if their caller is. */
static bool is_same_event(const struct leak_event *a, const struct leak_event *b)
{
    return a->type == b->type && a->form == b->form && a->place == b->place && a->site == b->site &&
           a->node == b->node && a->pc == b->pc && a->freed_pc == b->freed_pc &&
           a->block_pool == b->block_pool && a->call_pool == b->call_pool;
}

static struct leak_event *find_event(const struct leak_event *event)
{
    for (uint32_t i = 0; i < event_count; i++)
        if (is_same_event(&table->event[i], event))
            return &table->event[i];
    return NULL;
}

static void create_table(void)
{
    if (table || table_failed)
        return;
    table = store_new_chunk(LEAK_CHUNK_EVENTS, sizeof *table, 0);
    table_failed = !table;
    if (table)
        store_publish(table, sizeof *table);
}

static void append_event(const struct leak_event *event)
{
    struct leak_event *place = &table->event[event_count++], made = *event;
    made.type = LEAK_EVENT_NONE;
    made.count = 1;
    made.last_tick = event->tick;
    *place = made;
    store_release(&place->type, event->type); /* readers of the file ignore a record of type NONE */
}

bool error_table_add(struct guard *guard UNUSED, const struct leak_event *event)
{
    bool fresh = false;
    struct locked locked = lock_take(&table_lock);
    create_table();
    struct leak_event *known = table ? find_event(event) : NULL;
    if (known) {
        bump(&known->count, 1);
        store_relaxed(&known->last_tick, event->tick);
    } else if (table && event_count < LEAK_EVENTS) {
        append_event(event);
        fresh = true;
    } else if (table) {
        bump(&table->left_out, 1);
    }
    lock_give(&locked);
    return fresh;
}

bool error_table_check(void)
{
    for (uint32_t i = 0; i < event_count; i++)
        if (!table->event[i].type || !table->event[i].count ||
            find_event(&table->event[i]) < &table->event[i])
            return false;
    return event_count <= LEAK_EVENTS;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(error_table, &table_lock)

void error_table_fork_child(void)
{
    table_lock.word = 0;
    table = NULL;
    event_count = 0;
    table_failed = false;
}
