#include "preload/resources/descriptors.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"

#include <limits.h>

#define PAGES (DESCRIPTORS_MAX / RESOURCES_A_PAGE + 1)
#define STRIPES 16

static struct resource_page *pages[PAGES];
static uint32_t page_count;    /* index of the highest page that was created, + 1 */
static struct lock pages_lock; /* guards pages and page_count */
static struct lock descriptor_locks[STRIPES];

/* Finds the page with the record of a descriptor. NULL: the number is too high, or the page was not
 * created. */
static struct resource_page *find_page(int fd)
{
    return (unsigned)fd < DESCRIPTORS_MAX ? load_acquire(&pages[(unsigned)fd / RESOURCES_A_PAGE])
                                          : NULL;
}

static struct resource_record *descriptor_record(struct resource_page *page, int fd)
{
    return &page->record[(unsigned)fd % RESOURCES_A_PAGE];
}

static struct lock *descriptor_lock(int fd)
{
    return &descriptor_locks[(unsigned)fd % STRIPES];
}

/* Finds the page with the record of a descriptor, and creates it if necessary. NULL: the number is
 * too high, or there is no memory. */
static struct resource_page *ensure_page(int fd)
{
    if (unlikely((unsigned)fd >= DESCRIPTORS_MAX))
        return NULL;
    struct resource_page *page = find_page(fd);
    if (likely(page))
        return page;
    uint32_t number = (unsigned)fd / RESOURCES_A_PAGE;
    struct locked locked = lock_take(&pages_lock);
    if (!pages[number]) {
        /* Pairs with load_acquire in find_page: a thread that sees the page's address also sees its
         * content. */
        store_release(&pages[number], resource_page_create());
        if (pages[number] && number >= page_count)
            page_count = number + 1;
    }
    lock_give(&locked);
    return pages[number];
}

/* ---- Recording open descriptors -------------------------------------------------------------- */

static void add_record(int fd, const struct news *news, struct leak_mark mark, uint64_t owner)
{
    struct resource_page *page = mark.node ? ensure_page(fd) : NULL;
    if (unlikely(!page)) {
        resource_count_missed();
        return;
    }
    struct resource_record *record = descriptor_record(page, fd);
    struct locked locked = lock_take(descriptor_lock(fd));
    record->stamp++;
    resource_record_fill(record, news);
    record->it.type = LEAK_RESOURCE_FD;
    record->it.fd = fd;
    record->it.id = fd;
    record->it.owner = owner;
    record->it.opened = mark;
    record->it.state = LEAK_RESOURCE_OPEN;
    resource_record_publish(page, record);
    lock_give(&locked);
    if (!owner)
        resource_count_opened(LEAK_RESOURCE_FD);
}

void descriptors_add(struct guard *guard, const struct frame *caller, struct news *news)
{
    if (!resource_is_vfork_child(guard))
        add_record(news->id, news, resource_mark_caller(guard, caller), 0);
}

void descriptors_add_owned(struct guard *guard, struct leak_mark mark, int fd, uint64_t owner)
{
    struct news news = {.sort = LEAK_SORT_STREAM};
    if (!resource_is_vfork_child(guard))
        add_record(fd, &news, mark, owner);
}

/* A copy gets the name of the original. When dup2 replaces an open descriptor, the record keeps the
 * owner of the replaced one. */
void descriptors_add_copy(struct guard *guard, const struct frame *caller, int like, int fd,
                          bool onto)
{
    struct leak_resource from, before;
    char name[32];
    struct strbuf text = STRBUF_ON(name);
    struct news news = {.sort = LEAK_SORT_DUP, .name = name};
    if (resource_is_vfork_child(guard))
        return;
    if (descriptors_find(like, &from) && from.name_length) {
        news.name = from.name;
        news.length = from.name_length;
        news.name_form = from.name_form;
    } else {
        strbuf_add(&text, "descriptor ");
        strbuf_add_number(&text, like);
    }
    uint64_t owner = onto && descriptors_find(fd, &before) ? before.owner : 0;
    add_record(fd, &news, resource_mark_caller(guard, caller), owner);
}

/* ---- Recording closes ------------------------------------------------------------------------ */

uint64_t descriptors_stamp(int fd)
{
    struct resource_page *page = find_page(fd);
    return page ? load_relaxed(&descriptor_record(page, fd)->stamp) : 0;
}

/* Records that a descriptor was closed; the caller holds the lock of the descriptor. */
static void close_record(struct resource_page *page, struct resource_record *record,
                         struct leak_mark mark)
{
    /* If libleak did not see how the descriptor was opened, what the record says of an earlier
     * opening is cleared. */
    if (record->it.state != LEAK_RESOURCE_OPEN) {
        record->it.opened = (struct leak_mark){0};
        record->it.name_length = 0;
        record->it.sort = LEAK_SORT_NONE;
    }
    record->stamp++;
    record->it.state = LEAK_RESOURCE_CLOSED;
    record->it.closed = mark;
    resource_record_publish(page, record);
}

void descriptors_close(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp)
{
    struct resource_page *page;
    if (resource_is_vfork_child(guard) || !(page = ensure_page(fd)))
        return;
    struct leak_mark mark = resource_mark_caller(guard, caller);
    struct resource_record *record = descriptor_record(page, fd);
    struct leak_mark opened = {0};
    struct locked locked = lock_take(descriptor_lock(fd));
    if (record->stamp == stamp) {
        if (record->it.state == LEAK_RESOURCE_OPEN && !record->it.owner &&
            !(record->it.flags & LEAK_RESOURCE_INHERITED))
            opened = record->it.opened;
        close_record(page, record, mark);
    }
    lock_give(&locked);
    handle_table_add_release(LEAK_RESOURCE_FD, &opened, &mark);
}

/* Calls visit for each open descriptor from first to last whose record is in page number "number".
 * The lock of the descriptor is held during the call. */
static void visit_open(uint32_t number, unsigned first, unsigned last,
                       void (*visit)(struct resource_page *page, struct resource_record *record,
                                     void *context),
                       void *context)
{
    struct resource_page *page = load_acquire(&pages[number]);
    for (uint32_t i = 0; page && i < RESOURCES_A_PAGE; i++) {
        unsigned fd = number * RESOURCES_A_PAGE + i;
        if (fd < first || fd > last)
            continue;
        struct locked locked = lock_take(descriptor_lock(fd));
        if (page->record[i].it.state == LEAK_RESOURCE_OPEN)
            visit(page, &page->record[i], context);
        lock_give(&locked);
    }
}

static void close_visited(struct resource_page *page, struct resource_record *record, void *mark)
{
    close_record(page, record, *(const struct leak_mark *)mark);
}

void descriptors_close_range(struct guard *guard, const struct frame *caller, unsigned first,
                             unsigned last)
{
    if (resource_is_vfork_child(guard))
        return;
    struct leak_mark mark = resource_mark_caller(guard, caller);
    for (uint32_t i = first / RESOURCES_A_PAGE; i < page_count && i <= last / RESOURCES_A_PAGE; i++)
        visit_open(i, first, last, close_visited, &mark);
}

/* ---- Recording closes that failed ------------------------------------------------------------ */

void descriptors_bad_close(struct guard *guard, const struct frame *caller, int fd, uint64_t stamp)
{
    struct leak_resource bad = {.type = LEAK_RESOURCE_FD, .flags = LEAK_RESOURCE_NEVER};
    if (resource_is_vfork_child(guard))
        return;
    struct leak_mark mark = resource_mark_caller(guard, caller);
    struct resource_page *page = find_page(fd);
    if (page) {
        struct resource_record *record = descriptor_record(page, fd);
        struct locked locked = lock_take(descriptor_lock(fd));
        /* true: another thread has just closed or opened the descriptor */
        bool other = record->stamp != stamp;
        if (record->it.state == LEAK_RESOURCE_CLOSED) {
            bad = record->it;
        } else if (record->it.state == LEAK_RESOURCE_OPEN) {
            /* libleak has recorded the descriptor as open, so it did not see how it was closed */
            if (!other)
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
        handle_table_add_bad_close(guard, &bad);
}

void descriptors_check_owner(struct guard *guard, const struct frame *caller, int fd,
                             const struct handle_ref *owner)
{
    struct resource_page *page = find_page(fd);
    struct leak_resource bad, stream;
    if (!page || resource_is_vfork_child(guard))
        return;
    const struct leak_resource *it = &descriptor_record(page, fd)->it;
    if (likely(load_relaxed(&it->state) == LEAK_RESOURCE_OPEN &&
               load_relaxed(&it->owner) == owner->id))
        return;
    struct locked locked = lock_take(descriptor_lock(fd));
    bad = *it;
    lock_give(&locked);
    bool taken = bad.state == LEAK_RESOURCE_OPEN;
    if (bad.state == LEAK_RESOURCE_FREE || (taken && bad.owner == owner->id) ||
        (taken && !bad.closed.node) || !handle_table_get(owner->number, &stream))
        return;
    stream.type = LEAK_RESOURCE_FD;
    stream.flags = taken ? LEAK_RESOURCE_TAKEN : 0;
    stream.id = fd;
    stream.closed = bad.closed;
    stream.again = resource_mark_caller(guard, caller);
    if (stream.again.node)
        handle_table_add_bad_close(guard, &stream);
}

/* ---- Owners of descriptors, and addresses of sockets ----------------------------------------- */

bool descriptors_set_owner(struct guard *guard, int fd, uint64_t owner)
{
    struct resource_page *page = find_page(fd);
    if (!page || resource_is_vfork_child(guard))
        return false;
    struct resource_record *record = descriptor_record(page, fd);
    struct locked locked = lock_take(descriptor_lock(fd));
    bool known = record->it.state == LEAK_RESOURCE_OPEN;
    if (known) {
        record->it.owner = owner;
        resource_record_publish(page, record);
    }
    lock_give(&locked);
    return known;
}

void descriptors_set_address(struct guard *guard, int fd, const void *address, size_t length,
                             enum leak_name_form form)
{
    struct resource_page *page = find_page(fd);
    if (!page || !address || resource_is_vfork_child(guard))
        return;
    struct resource_record *record = descriptor_record(page, fd);
    struct locked locked = lock_take(descriptor_lock(fd));
    if (record->it.state == LEAK_RESOURCE_OPEN) {
        record->it.name_form = form;
        record->it.name_length = length < sizeof record->it.name ? length : sizeof record->it.name;
        memcpy(record->it.name, address, record->it.name_length);
        resource_record_publish(page, record);
    }
    lock_give(&locked);
}

bool descriptors_find(int fd, struct leak_resource *out)
{
    struct resource_page *page = find_page(fd);
    if (!page)
        return false;
    struct locked locked = lock_take(descriptor_lock(fd));
    *out = descriptor_record(page, fd)->it;
    lock_give(&locked);
    return out->state == LEAK_RESOURCE_OPEN;
}

/* ---- Start of the process, and synchronizing with the kernel --------------------------------- */

static bool inherit_descriptor(int fd, void *context UNUSED)
{
    char link[40], path[PATH_MAX];
    struct strbuf text = STRBUF_ON(link);
    struct resource_page *page = ensure_page(fd);
    if (!page)
        return true;
    strbuf_add_fd_path(&text, fd);
    ssize_t length = fd > 2 ? sys_readlink(link, path, sizeof path) : 0;
    struct news news = {.type = LEAK_RESOURCE_FD,
                        .name = length > 0 ? path : NULL,
                        .length = length > 0 ? length : 0,
                        .id = fd,
                        .fd = fd};
    struct resource_record *record = descriptor_record(page, fd);
    resource_record_fill(record, &news);
    record->it.state = LEAK_RESOURCE_OPEN;
    record->it.flags |= LEAK_RESOURCE_INHERITED;
    resource_record_publish(page, record);
    return true;
}

void descriptors_start(struct guard *guard UNUSED)
{
    inherit_descriptor(0, NULL); /* sys_each_numbered_entry does not visit 0 */
    sys_each_numbered_entry("/proc/self/fd", inherit_descriptor, NULL);
    /* Remove the record of the descriptor that read the directory; it is closed now. */
    descriptors_sync();
}

/* Marks the record of a descriptor as unused if the kernel has closed the descriptor, unseen by
 * libleak. */
static void free_if_closed(struct resource_page *page, struct resource_record *record,
                           void *context UNUSED)
{
    if (sys_is_open(record->it.fd))
        return;
    record->it.state = LEAK_RESOURCE_FREE;
    resource_record_publish(page, record);
}

void descriptors_sync(void)
{
    for (uint32_t i = 0; i < page_count; i++)
        visit_open(i, 0, UINT32_MAX, free_if_closed, NULL);
}

void descriptors_fork_lock(void)
{
    lock_take_raw(&pages_lock);
    for (int i = 0; i < STRIPES; i++)
        lock_take_raw(&descriptor_locks[i]);
}

void descriptors_fork_unlock(void)
{
    for (int i = 0; i < STRIPES; i++)
        lock_give_raw(&descriptor_locks[i]);
    lock_give_raw(&pages_lock);
}

void descriptors_fork_child(void)
{
    pages_lock.word = 0;
    for (int i = 0; i < STRIPES; i++)
        descriptor_locks[i].word = 0;
    for (uint32_t i = 0; i < page_count; i++)
        if (pages[i])
            resource_page_inherit(pages[i]);
}
