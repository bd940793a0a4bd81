#include "preload/resources/resource_records.h"
#include "preload/memory/arena.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/track/track.h"

_Static_assert(sizeof(struct leak_resource) == 160,
               "24 of them and the head of a chunk fill a page");
_Static_assert(sizeof(struct leak_resource_totals) == sizeof(struct leak_resource), "one place");
_Static_assert(sizeof(struct resource_page) <= LEAK_PAGE, "and so are the private ones");

static struct lock totals_lock; /* held while the totals are created */
static struct leak_resource_totals *totals;

/* ---- Pages of records, and their copies in the file ------------------------------------------ */

static struct leak_resource *create_twin(void)
{
    uint64_t size = RESOURCES_A_PAGE * sizeof(struct leak_resource);
    struct leak_resource *twin = store_new_chunk(LEAK_CHUNK_RESOURCES, size, 0);
    if (twin)
        store_publish(twin, size);
    return twin;
}

struct resource_page *resource_page_create(void)
{
    struct resource_page *page = arena_map(sizeof *page);
    if (page)
        page->twin = create_twin();
    return page;
}

void resource_record_publish(struct resource_page *page, struct resource_record *record)
{
    if (unlikely(!page->twin))
        return;
    struct leak_resource *twin = &page->twin[record - page->record];
    const struct leak_resource *from = &record->it;
    size_t begin = sizeof from->state, end = offsetof(struct leak_resource, name);
    bool seen = (from->state == LEAK_RESOURCE_OPEN && !from->owner) ||
                from->state == LEAK_RESOURCE_BAD_CLOSE || from->state == LEAK_RESOURCE_RELEASED;
    store_relaxed(&twin->state, LEAK_RESOURCE_FREE);
    if (!seen)
        return;
    fence_release();
    memcpy((char *)twin + begin, (const char *)from + begin, end - begin + from->name_length);
    /* A reader of the file that sees the new state sees all members that were written before. */
    store_release(&twin->state, from->state);
}

void resource_page_inherit(struct resource_page *page)
{
    page->twin = create_twin();
    for (size_t i = 0; i < RESOURCES_A_PAGE; i++) {
        struct resource_record *record = &page->record[i];
        if (record->it.state != LEAK_RESOURCE_OPEN)
            continue;
        record->it.flags |= LEAK_RESOURCE_INHERITED;
        resource_record_publish(page, record);
    }
}

/* ---- Filling a record ------------------------------------------------------------------------ */

/* Copies the name of the resource. If it is too long, a text loses its beginning (a path keeps its
 * end), a socket address its end. */
static void fill_name(struct leak_resource *it, const struct news *news)
{
    const char *name = news->name;
    size_t length = news->length;
    it->name_length = 0;
    if (!name)
        return;
    if (!length && news->name_form == LEAK_NAME_TEXT)
        length = strlen(name);
    if (length > sizeof it->name) {
        if (news->name_form == LEAK_NAME_TEXT)
            name += length - sizeof it->name;
        length = sizeof it->name;
        it->flags |= LEAK_RESOURCE_CUT;
    }
    memcpy(it->name, name, length);
    it->name_length = length;
}

void resource_record_fill(struct resource_record *record, const struct news *news)
{
    struct leak_resource *it = &record->it;
    it->type = news->type;
    it->sort = news->sort;
    it->flags = news->flags;
    it->name_form = news->name_form;
    it->count = 1;
    it->id = news->id;
    it->bytes = news->bytes;
    it->owner = 0;
    it->fd = news->fd;
    fill_name(it, news);
}

struct leak_mark resource_mark_caller(struct guard *guard, const struct frame *caller)
{
    struct leak_mark mark = {0};
    mark.node = track_capture_stack(guard, caller, &mark.thread);
    mark.tick = store_header->epoch;
    return mark;
}

bool resource_is_vfork_child(struct guard *guard)
{
    if (likely(!guard->vforks))
        return false;
    if (sys_getpid() != store_header->pid)
        return true;
    guard->vforks = false; /* this is the parent, so the vfork child has ended or called exec */
    return false;
}

/* ---- Totals ---------------------------------------------------------------------------------- */

static struct leak_resource_totals *create_totals(void)
{
    struct locked locked = lock_take(&totals_lock);
    if (!totals) {
        struct leak_resource_totals *made = (void *)create_twin();
        if (made)
            store_release(&made->state, LEAK_RESOURCE_TOTALS); /* tells readers: these are totals */
        /* Pairs with load_acquire in count_at: a thread that sees the address also sees the
         * content. */
        store_release(&totals, made);
    }
    lock_give(&locked);
    return totals;
}

static void count_at(size_t at)
{
    struct leak_resource_totals *sums = load_acquire(&totals);
    if (unlikely(!sums) && !(sums = create_totals()))
        return;
    uint64_t *word = (uint64_t *)((char *)sums + at);
    if (*lock_single_threaded)
        bump(word, 1);
    else
        add_relaxed(word, 1);
}

void resource_count_opened(enum leak_resource_type type)
{
    count_at(offsetof(struct leak_resource_totals, opened) + type * sizeof(uint64_t));
}

void resource_count_missed(void)
{
    count_at(offsetof(struct leak_resource_totals, missed));
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(resource_records, &totals_lock)

void resource_records_fork_child(void)
{
    totals_lock.word = 0;
    totals = NULL;
}
