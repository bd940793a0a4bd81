#include "preload/resources/resource_records.h"
#include "preload/base/arena.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/track/track.h"

_Static_assert(sizeof(struct leak_resource) == 160, "24 of them and a chunk's head are a page");
_Static_assert(sizeof(struct leak_resource_totals) == sizeof(struct leak_resource), "one place");
_Static_assert(sizeof(struct record_page) <= LEAK_PAGE, "and so are the private ones");

uint32_t records_tracked;

static struct lock lock; /* guards making the totals */
static struct leak_resource_totals *totals;

bool records_read_types(const char *list, size_t length, uint32_t *out)
{
    static const char *const words[] = {NULL,
#define X(name, word) word,
                                        LEAK_RESOURCE_TABLE(X)
#undef X
    };
    return text_read_set(list, length, words, ARRAY_LENGTH(words), out);
}

/* ---- Pages -------------------------------------------------------------------------------- */

static struct leak_resource *make_twin(void)
{
    uint64_t size = RECORDS_A_PAGE * sizeof(struct leak_resource);
    struct leak_resource *twin = store_chunk(LEAK_CHUNK_RESOURCES, size, 0);
    if (twin)
        store_publish(twin, size);
    return twin;
}

struct record_page *records_make_page(void)
{
    struct record_page *page = arena_map(sizeof *page);
    if (page)
        page->twin = make_twin();
    return page;
}

void records_publish(struct record_page *page, struct record *record)
{
    if (unlikely(!page->twin))
        return;
    struct leak_resource *twin = &page->twin[record - page->record];
    const struct leak_resource *from = &record->it;
    size_t begin = sizeof from->state, end = offsetof(struct leak_resource, name);
    bool seen = (from->state == LEAK_RESOURCE_OPEN && !from->owner) ||
                from->state == LEAK_RESOURCE_BAD_CLOSE;
    store_relaxed(&twin->state, LEAK_RESOURCE_FREE);
    if (!seen)
        return;
    fence_release();
    memcpy((char *)twin + begin, (const char *)from + begin, end - begin + from->name_length);
    store_release(&twin->state, from->state); /* for readers of the store */
}

void records_inherit_page(struct record_page *page)
{
    page->twin = make_twin();
    for (size_t i = 0; i < RECORDS_A_PAGE; i++) {
        struct record *record = &page->record[i];
        if (record->it.state != LEAK_RESOURCE_OPEN)
            continue;
        record->it.flags |= LEAK_RESOURCE_INHERITED;
        records_publish(page, record);
    }
}

/* ---- Records ------------------------------------------------------------------------------ */

/* Of a long path the end says more. */
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

void records_fill(struct record *record, const struct news *news)
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

struct leak_mark records_mark(struct guard *guard, const struct frame *caller)
{
    struct leak_mark mark = {0};
    mark.node = track_stack(guard, caller, &mark.thread);
    mark.tick = store_header->epoch;
    return mark;
}

bool records_foreign(struct guard *guard)
{
    if (likely(!guard->vforks))
        return false;
    if (sys_getpid() != store_header->pid)
        return true;
    guard->vforks = false; /* we are the parent, and the child has gone its way */
    return false;
}

/* ---- Totals ------------------------------------------------------------------------------- */

static struct leak_resource_totals *make_totals(void)
{
    struct locked locked = lock_take(&lock);
    if (!totals) {
        struct leak_resource_totals *made = (void *)make_twin();
        if (made)
            store_release(&made->state, LEAK_RESOURCE_TOTALS); /* for readers of the store */
        store_release(&totals, made);                          /* pairs with the acquire in count */
    }
    lock_give(&locked);
    return totals;
}

static void count(size_t at)
{
    struct leak_resource_totals *sums = load_acquire(&totals);
    if (unlikely(!sums) && !(sums = make_totals()))
        return;
    uint64_t *word = (uint64_t *)((char *)sums + at);
    if (*lock_alone)
        bump(word, 1);
    else
        add_relaxed(word, 1);
}

void records_count(enum leak_resource_type type)
{
    count(offsetof(struct leak_resource_totals, opened) + type * sizeof(uint64_t));
}

void records_missed(void)
{
    count(offsetof(struct leak_resource_totals, missed));
}

/* ---- Fork --------------------------------------------------------------------------------- */

LOCK_FOR_FORK(records, &lock)

void records_fork_child(void)
{
    lock.word = 0;
    totals = NULL;
}
