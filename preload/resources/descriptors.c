#include "preload/resources/descriptors.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <limits.h>

#define PAGES (DESCRIPTORS_MOST / RECORDS_A_PAGE + 1)
#define STRIPES 16

static struct record_page *pages[PAGES];
static uint32_t page_count; /* pages above were never made */
static struct lock making;  /* guards both */
static struct lock locks[STRIPES];

static struct record_page *page_of(int fd)
{
    return load_acquire(&pages[(unsigned)fd / RECORDS_A_PAGE]);
}

static struct record *record_of(struct record_page *page, int fd)
{
    return &page->record[(unsigned)fd % RECORDS_A_PAGE];
}

static struct lock *lock_of(int fd)
{
    return &locks[(unsigned)fd % STRIPES];
}

/* NULL: no such number, or no memory. */
static struct record_page *reach(int fd)
{
    if (unlikely((unsigned)fd >= DESCRIPTORS_MOST))
        return NULL;
    struct record_page *page = page_of(fd);
    if (likely(page))
        return page;
    uint32_t number = (unsigned)fd / RECORDS_A_PAGE;
    struct locked locked = lock_take(&making);
    if (!pages[number]) {
        /* Pairs with the acquire in page_of. */
        store_release(&pages[number], records_make_page());
        if (pages[number] && number >= page_count)
            page_count = number + 1;
    }
    lock_give(&locked);
    return pages[number];
}

/* ---- Coming -------------------------------------------------------------------------------- */

static void came(int fd, const struct news *news, struct leak_mark mark, uint64_t owner)
{
    struct record_page *page = mark.node ? reach(fd) : NULL;
    if (unlikely(!page)) {
        records_missed();
        return;
    }
    struct record *record = record_of(page, fd);
    struct locked locked = lock_take(lock_of(fd));
    record->stamp++;
    records_fill(record, news);
    record->it.type = LEAK_RESOURCE_FD;
    record->it.fd = fd;
    record->it.id = fd;
    record->it.owner = owner;
    record->it.opened = mark;
    record->it.state = LEAK_RESOURCE_OPEN;
    records_publish(page, record);
    lock_give(&locked);
    if (!owner)
        records_count(LEAK_RESOURCE_FD);
}

void descriptors_came(struct guard *guard, const struct frame *caller, struct news *news)
{
    if (!records_foreign(guard))
        came(news->id, news, records_mark(guard, caller), 0);
}

void descriptors_came_with(struct guard *guard, struct leak_mark mark, int fd, uint64_t owner)
{
    struct news news = {.sort = LEAK_SORT_STREAM};
    if (!records_foreign(guard))
        came(fd, &news, mark, owner);
}

/* A copy knows what the first one was; a stream keeps its number whatever stands behind it. */
void descriptors_came_like(struct guard *guard, const struct frame *caller, int like, int fd,
                           bool onto)
{
    struct leak_resource from, before;
    char name[32];
    struct text text = TEXT_ON(name);
    struct news news = {.sort = LEAK_SORT_DUP, .name = name};
    if (records_foreign(guard))
        return;
    if (descriptors_find(like, &from) && from.name_length) {
        news.name = from.name;
        news.length = from.name_length;
        news.name_form = from.name_form;
    } else {
        text_add(&text, "descriptor ");
        text_add_number(&text, like);
    }
    uint64_t owner = onto && descriptors_find(fd, &before) ? before.owner : 0;
    came(fd, &news, records_mark(guard, caller), owner);
}

/* ---- Going --------------------------------------------------------------------------------- */

uint64_t descriptors_stamp(int fd)
{
    struct record_page *page = (unsigned)fd < DESCRIPTORS_MOST ? page_of(fd) : NULL;
    return page ? load_relaxed(&record_of(page, fd)->stamp) : 0;
}

/* The lock is held. */
static void close_record(struct record_page *page, struct record *record, struct leak_mark mark)
{
    if (record->it.state != LEAK_RESOURCE_OPEN) { /* it came without our seeing it */
        record->it.opened = (struct leak_mark){0};
        record->it.name_length = 0;
        record->it.sort = LEAK_SORT_NONE;
    }
    record->stamp++;
    record->it.state = LEAK_RESOURCE_CLOSED;
    record->it.closed = mark;
    records_publish(page, record);
}

void descriptors_went(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp)
{
    struct record_page *page;
    if (records_foreign(guard) || !(page = reach(fd)))
        return;
    struct leak_mark mark = records_mark(guard, caller);
    struct record *record = record_of(page, fd);
    struct locked locked = lock_take(lock_of(fd));
    if (record->stamp == stamp)
        close_record(page, record, mark);
    lock_give(&locked);
}

/* The numbers of a page that are open and lie in the range, each closed, or what else is to be
 * done. */
static void each_open(uint32_t number, unsigned first, unsigned last,
                      void (*visit)(struct record_page *page, struct record *record, void *context),
                      void *context)
{
    struct record_page *page = load_acquire(&pages[number]);
    for (uint32_t i = 0; page && i < RECORDS_A_PAGE; i++) {
        unsigned fd = number * RECORDS_A_PAGE + i;
        if (fd < first || fd > last)
            continue;
        struct locked locked = lock_take(lock_of(fd));
        if (page->record[i].it.state == LEAK_RESOURCE_OPEN)
            visit(page, &page->record[i], context);
        lock_give(&locked);
    }
}

static void close_visited(struct record_page *page, struct record *record, void *mark)
{
    close_record(page, record, *(const struct leak_mark *)mark);
}

void descriptors_range_went(struct guard *guard, const struct frame *caller, unsigned first,
                            unsigned last)
{
    if (records_foreign(guard))
        return;
    struct leak_mark mark = records_mark(guard, caller);
    for (uint32_t i = first / RECORDS_A_PAGE; i < page_count && i <= last / RECORDS_A_PAGE; i++)
        each_open(i, first, last, close_visited, &mark);
}

/* ---- Bad closes ----------------------------------------------------------------------------- */

void descriptors_bad(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp)
{
    struct leak_resource bad = {.type = LEAK_RESOURCE_FD, .flags = LEAK_RESOURCE_NEVER};
    if (records_foreign(guard))
        return;
    struct leak_mark mark = records_mark(guard, caller);
    struct record_page *page = (unsigned)fd < DESCRIPTORS_MOST ? page_of(fd) : NULL;
    if (page) {
        struct record *record = record_of(page, fd);
        struct locked locked = lock_take(lock_of(fd));
        bool other = record->stamp != stamp; /* just been closed, or opened, by another thread */
        if (record->it.state == LEAK_RESOURCE_CLOSED) {
            bad = record->it;
        } else if (record->it.state == LEAK_RESOURCE_OPEN) {
            if (!other) /* somebody closed it without our seeing it */
                close_record(page, record, (struct leak_mark){0});
            other = true;
        }
        lock_give(&locked);
        if (other && bad.flags & LEAK_RESOURCE_NEVER)
            return;
    }
    bad.id = bad.fd = fd;
    bad.again = mark;
    if (mark.node)
        belongings_bad_close(guard, &bad);
}

void descriptors_check_owner(struct guard *guard, const struct frame *caller, int fd,
                             const struct belonging *owner)
{
    struct record_page *page = (unsigned)fd < DESCRIPTORS_MOST ? page_of(fd) : NULL;
    struct leak_resource bad, stream;
    if (!page || records_foreign(guard))
        return;
    const struct leak_resource *it = &record_of(page, fd)->it;
    if (likely(load_relaxed(&it->state) == LEAK_RESOURCE_OPEN &&
               load_relaxed(&it->owner) == owner->id))
        return;
    struct locked locked = lock_take(lock_of(fd));
    bad = *it;
    lock_give(&locked);
    bool taken = bad.state == LEAK_RESOURCE_OPEN;
    if (bad.state == LEAK_RESOURCE_FREE || (taken && bad.owner == owner->id) ||
        (taken && !bad.closed.node) || !belongings_get(owner->number, &stream))
        return;
    stream.type = LEAK_RESOURCE_FD;
    stream.flags = taken ? LEAK_RESOURCE_TAKEN : 0;
    stream.id = fd;
    stream.closed = bad.closed;
    stream.again = records_mark(guard, caller);
    if (stream.again.node)
        belongings_bad_close(guard, &stream);
}

/* ---- What is known --------------------------------------------------------------------------- */

bool descriptors_own(struct guard *guard, int fd, uint64_t owner)
{
    struct record_page *page = (unsigned)fd < DESCRIPTORS_MOST ? page_of(fd) : NULL;
    if (!page || records_foreign(guard))
        return false;
    struct record *record = record_of(page, fd);
    struct locked locked = lock_take(lock_of(fd));
    bool known = record->it.state == LEAK_RESOURCE_OPEN;
    if (known) {
        record->it.owner = owner;
        records_publish(page, record);
    }
    lock_give(&locked);
    return known;
}

void descriptors_address(struct guard *guard, int fd, const void *address, size_t length,
                         enum leak_name_form form)
{
    struct record_page *page = (unsigned)fd < DESCRIPTORS_MOST ? page_of(fd) : NULL;
    if (!page || !address || records_foreign(guard))
        return;
    struct record *record = record_of(page, fd);
    struct locked locked = lock_take(lock_of(fd));
    if (record->it.state == LEAK_RESOURCE_OPEN) {
        record->it.name_form = form;
        record->it.name_length = length < sizeof record->it.name ? length : sizeof record->it.name;
        memcpy(record->it.name, address, record->it.name_length);
        records_publish(page, record);
    }
    lock_give(&locked);
}

bool descriptors_find(int fd, struct leak_resource *out)
{
    struct record_page *page = (unsigned)fd < DESCRIPTORS_MOST ? page_of(fd) : NULL;
    if (!page)
        return false;
    struct locked locked = lock_take(lock_of(fd));
    *out = record_of(page, fd)->it;
    lock_give(&locked);
    return out->state == LEAK_RESOURCE_OPEN;
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

static bool inherit(int fd, void *context UNUSED)
{
    char link[40], path[PATH_MAX];
    struct text text = TEXT_ON(link);
    struct record_page *page = reach(fd);
    if (!page)
        return true;
    text_add_descriptor(&text, fd);
    ssize_t length = fd > 2 ? sys_readlink(link, path, sizeof path) : 0;
    struct news news = {.type = LEAK_RESOURCE_FD,
                        .name = length > 0 ? path : NULL,
                        .length = length > 0 ? length : 0,
                        .id = fd,
                        .fd = fd};
    struct record *record = record_of(page, fd);
    records_fill(record, &news);
    record->it.state = LEAK_RESOURCE_OPEN;
    record->it.flags |= LEAK_RESOURCE_INHERITED;
    records_publish(page, record);
    return true;
}

void descriptors_start(struct guard *guard UNUSED)
{
    inherit(0, NULL); /* which is no number of a folder's */
    sys_each_number("/proc/self/fd", inherit, NULL);
    descriptors_settle(); /* the one that read them */
}

/* A place that is not open goes back to "never". */
static void settle(struct record_page *page, struct record *record, void *context UNUSED)
{
    if (sys_is_open(record->it.fd))
        return;
    record->it.state = LEAK_RESOURCE_FREE;
    records_publish(page, record);
}

void descriptors_settle(void)
{
    for (uint32_t i = 0; i < page_count; i++)
        each_open(i, 0, UINT32_MAX, settle, NULL);
}

void descriptors_fork_lock(void)
{
    lock_take_raw(&making);
    for (int i = 0; i < STRIPES; i++)
        lock_take_raw(&locks[i]);
}

void descriptors_fork_unlock(void)
{
    for (int i = 0; i < STRIPES; i++)
        lock_give_raw(&locks[i]);
    lock_give_raw(&making);
}

void descriptors_fork_child(void)
{
    making.word = 0;
    for (int i = 0; i < STRIPES; i++)
        locks[i].word = 0;
    for (uint32_t i = 0; i < page_count; i++)
        if (pages[i])
            records_inherit_page(pages[i]);
}
