#include "preload/resources/handle_table.h"

#define PAGES (HANDLES_MAX / RESOURCES_A_PAGE)
#define BUCKETS 4096

/* All records, by page. The number of a record is its index over all pages + 1; the number 0 ends a
 * list of records. */
static struct resource_page *pages[PAGES];
static uint32_t last_number, first_free, bad_closes, releases, pending;
static uint32_t buckets[BUCKETS];
static struct lock table_lock; /* guards all variables above */

static struct resource_page *handle_page(uint32_t number)
{
    return pages[(number - 1) / RESOURCES_A_PAGE];
}

static struct resource_record *handle_record(uint32_t number)
{
    return &handle_page(number)->record[(number - 1) % RESOURCES_A_PAGE];
}

static bool is_bad(const struct leak_resource *it)
{
    return it->state == LEAK_RESOURCE_BAD_CLOSE;
}

/* Returns the key by which a record is found: for a bad close the node of its call stack, for a
 * count of releases the key of its two stacks, otherwise the address of the resource. */
static uint64_t record_key(const struct leak_resource *it)
{
    return is_bad(it) ? it->again.node : it->id;
}

static uint64_t release_key(uint32_t opened, uint32_t closed)
{
    /* No address and no descriptor has the highest bit set. */
    return 1ull << 63 | (uint64_t)opened << 31 | closed;
}

static uint32_t *handle_bucket(unsigned type, uint64_t key)
{
    return &buckets[hash_u64(key ^ (uint64_t)type << 56) % BUCKETS];
}

/* Returns the number of the record with a key; 0: there is none. Type FD stands for bad closes
 * here, because descriptors have a table of their own. */
static uint32_t find_record(unsigned type, uint64_t key)
{
    uint32_t number = *handle_bucket(type, key);
    while (number) {
        const struct resource_record *record = handle_record(number);
        if (record->it.type == type && record_key(&record->it) == key)
            break;
        number = record->next;
    }
    return number;
}

static void link_record(uint32_t number)
{
    struct resource_record *record = handle_record(number);
    uint32_t *bucket = handle_bucket(record->it.type, record_key(&record->it));
    record->next = *bucket;
    *bucket = number;
}

static void unlink_record(uint32_t number)
{
    struct resource_record *record = handle_record(number);
    uint32_t *at = handle_bucket(record->it.type, record_key(&record->it));
    while (*at != number)
        at = &handle_record(*at)->next;
    *at = record->next;
}

static void publish_record(uint32_t number)
{
    resource_record_publish(handle_page(number), handle_record(number));
}

/* Takes a free record and returns its number; 0: there is no room. */
static uint32_t allocate_record(void)
{
    uint32_t number = first_free;
    if (number) {
        first_free = handle_record(number)->next;
        return number;
    }
    uint32_t page = last_number / RESOURCES_A_PAGE;
    if (page >= PAGES || (!pages[page] && !(pages[page] = resource_page_create())))
        return 0;
    return ++last_number;
}

static void free_record(uint32_t number)
{
    struct resource_record *record = handle_record(number);
    record->stamp++;
    record->it.state = LEAK_RESOURCE_FREE;
    publish_record(number);
    record->next = first_free;
    first_free = number;
}

static void remove_record(uint32_t number)
{
    unlink_record(number);
    free_record(number);
}

/* ---- Resources that are known by an address -------------------------------------------------- */

/* Adds a record, or replaces the old one of this address, and returns its number; the caller holds
 * the lock. 0: there is no room. */
static uint32_t insert_handle(const struct news *news, struct leak_mark mark)
{
    uint32_t number = find_record(news->type, news->id);
    if (number)
        unlink_record(number);
    else if (!(number = allocate_record()))
        return 0;
    struct resource_record *record = handle_record(number);
    record->stamp++;
    resource_record_fill(record, news);
    record->it.opened = mark;
    record->it.state = LEAK_RESOURCE_OPEN;
    pending += (news->flags & LEAK_RESOURCE_PENDING) != 0;
    link_record(number);
    return number;
}

bool handle_table_add(struct guard *guard UNUSED, const struct news *news, struct leak_mark mark)
{
    struct locked locked = lock_take(&table_lock);
    uint32_t number = mark.node ? insert_handle(news, mark) : 0;
    if (number)
        publish_record(number);
    lock_give(&locked);
    if (number)
        resource_count_opened(news->type);
    else
        resource_count_missed();
    return number != 0;
}

struct handle_ref handle_table_find(enum leak_resource_type type, uint64_t id)
{
    struct handle_ref found = {.id = id};
    struct locked locked = lock_take(&table_lock);
    found.number = find_record(type, id);
    if (found.number) {
        found.stamp = handle_record(found.number)->stamp;
        found.fd = handle_record(found.number)->it.fd;
    }
    lock_give(&locked);
    return found;
}

bool handle_table_get(uint32_t number, struct leak_resource *out)
{
    struct locked locked = lock_take(&table_lock);
    *out = handle_record(number)->it;
    lock_give(&locked);
    return out->state == LEAK_RESOURCE_OPEN;
}

bool handle_table_remove(struct guard *guard UNUSED, const struct handle_ref *ref)
{
    if (!ref->number)
        return false;
    struct locked locked = lock_take(&table_lock);
    bool there = handle_record(ref->number)->stamp == ref->stamp;
    if (there)
        remove_record(ref->number);
    lock_give(&locked);
    return there;
}

bool handle_table_move(struct guard *guard UNUSED, enum leak_resource_type type, uint64_t from,
                       uint64_t to)
{
    struct locked locked = lock_take(&table_lock);
    uint32_t number = find_record(type, from), old = number ? find_record(type, to) : 0;
    if (old)
        remove_record(old);
    if (number) {
        unlink_record(number);
        handle_record(number)->it.id = to;
        link_record(number);
        publish_record(number);
    }
    lock_give(&locked);
    return number != 0;
}

void handle_table_add_release(enum leak_resource_type type, const struct leak_mark *opened,
                              const struct leak_mark *closed)
{
    if (!opened->node || !closed->node)
        return;
    uint64_t key = release_key(opened->node, closed->node);
    struct locked locked = lock_take(&table_lock);
    uint32_t number = find_record(type, key);
    if (number) {
        handle_record(number)->it.count++;
        publish_record(number);
    } else if (releases < RELEASES_MAX && (number = allocate_record())) {
        struct resource_record *record = handle_record(number);
        releases++;
        record->stamp++;
        record->it = (struct leak_resource){.state = LEAK_RESOURCE_RELEASED,
                                            .type = type,
                                            .count = 1,
                                            .id = key,
                                            .opened = *opened,
                                            .closed = *closed,
                                            .fd = -1};
        link_record(number);
        publish_record(number);
    }
    lock_give(&locked);
}

void handle_table_release(struct guard *guard, const struct handle_ref *ref,
                          const struct leak_mark *closed)
{
    struct leak_resource it;
    if (ref->number && handle_table_get(ref->number, &it) && handle_table_remove(guard, ref))
        handle_table_add_release(it.type, &it.opened, closed);
}

void handle_table_add_bad_close(struct guard *guard UNUSED, const struct leak_resource *bad)
{
    struct locked locked = lock_take(&table_lock);
    uint32_t number = find_record(LEAK_RESOURCE_FD, bad->again.node);
    if (number) {
        struct leak_resource *it = &handle_record(number)->it;
        it->count++;
        if (it->id != bad->id && (it->flags | bad->flags) & LEAK_RESOURCE_NEVER)
            it->flags |= LEAK_RESOURCE_SWEEP;
        publish_record(number);
    } else if (bad_closes < BAD_CLOSES_MAX && (number = allocate_record())) {
        struct resource_record *record = handle_record(number);
        bad_closes++;
        record->stamp++;
        record->it = *bad;
        record->it.type = LEAK_RESOURCE_FD;
        record->it.count = 1;
        record->it.state = LEAK_RESOURCE_BAD_CLOSE;
        link_record(number);
        publish_record(number);
    }
    lock_give(&locked);
    if (!number)
        resource_count_missed();
}

/* ---- Library handles ------------------------------------------------------------------------- */

void handle_table_unref(struct guard *guard UNUSED, const struct handle_ref *ref)
{
    struct locked locked = lock_take(&table_lock);
    struct resource_record *record = handle_record(ref->number);
    if (record->stamp == ref->stamp) {
        if (record->it.count > 1) {
            record->it.count--;
            publish_record(ref->number);
        } else {
            remove_record(ref->number);
        }
    }
    lock_give(&locked);
}

/* Counts a fresh record of a library in an older record with the same call stack, if there is one;
 * the caller holds the lock. True: the fresh record is not needed any more. */
static bool merge_library(uint32_t fresh)
{
    const struct leak_resource *it = &handle_record(fresh)->it;
    for (uint32_t n = *handle_bucket(it->type, it->id); n; n = handle_record(n)->next) {
        struct leak_resource *other = &handle_record(n)->it;
        if (n != fresh && other->type == it->type && other->id == it->id &&
            other->opened.node == it->opened.node) {
            other->count++;
            publish_record(n);
            return true;
        }
    }
    return false;
}

static void resolve_library(uint32_t number, uint64_t (*where)(const char *name))
{
    struct leak_resource *it = &handle_record(number)->it;
    char name[LEAK_RESOURCE_NAME + 1];
    memcpy(name, it->name, it->name_length);
    name[it->name_length] = '\0';
    unlink_record(number);
    it->id = where(name);
    it->flags &= ~LEAK_RESOURCE_PENDING;
    if (it->id) {
        link_record(number);
        if (!merge_library(number)) {
            publish_record(number);
            return;
        }
        unlink_record(number);
    }
    free_record(number);
}

void handle_table_resolve_libraries(uint64_t (*where)(const char *name))
{
    struct locked locked = lock_take(&table_lock);
    for (uint32_t number = 1; pending && number <= last_number; number++) {
        const struct leak_resource *it = &handle_record(number)->it;
        if (it->state != LEAK_RESOURCE_OPEN || !(it->flags & LEAK_RESOURCE_PENDING))
            continue;
        resolve_library(number, where);
        pending--;
    }
    lock_give(&locked);
}

/* ---- Mapped regions -------------------------------------------------------------------------- */

uint32_t handle_table_add_region(struct guard *guard UNUSED, const struct leak_resource *like,
                                 uint64_t start, uint64_t size)
{
    struct locked locked = lock_take(&table_lock);
    uint32_t number = allocate_record();
    if (number) {
        struct resource_record *record = handle_record(number);
        record->stamp++;
        record->it = *like;
        record->it.id = start;
        record->it.bytes = size;
        record->it.state = LEAK_RESOURCE_OPEN;
        publish_record(number);
    }
    lock_give(&locked);
    if (!number)
        resource_count_missed();
    return number;
}

void handle_table_set_region(uint32_t number, uint64_t start, uint64_t size)
{
    struct locked locked = lock_take(&table_lock);
    handle_record(number)->it.id = start;
    handle_record(number)->it.bytes = size;
    publish_record(number);
    lock_give(&locked);
}

void handle_table_remove_region(uint32_t number)
{
    struct locked locked = lock_take(&table_lock);
    free_record(number);
    lock_give(&locked);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

LOCK_FOR_FORK(handle_table, &table_lock)

/* Removes from the child the records of threads, which only the parent has, and of errors and
 * releases, which the parent's file has. */
void handle_table_fork_child(void)
{
    table_lock.word = 0;
    bad_closes = releases = 0;
    for (uint32_t number = 1; number <= last_number; number++) {
        struct resource_record *record = handle_record(number);
        if (is_bad(&record->it) || record->it.state == LEAK_RESOURCE_RELEASED ||
            (record->it.state == LEAK_RESOURCE_OPEN && record->it.type == LEAK_RESOURCE_THREAD)) {
            unlink_record(number);
            /* The page's twin (its copy in the recording file) is in the parent's file. With NULL
             * free_record does not write to it. */
            handle_page(number)->twin = NULL;
            free_record(number);
        }
    }
    for (uint32_t i = 0; i < PAGES && pages[i]; i++)
        resource_page_inherit(pages[i]);
}

bool handle_table_check(void)
{
    uint32_t linked = 0, spare = 0, known = 0;
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (uint32_t n = buckets[i]; n && linked <= last_number;
             n = handle_record(n)->next, linked++)
            if (handle_record(n)->it.state == LEAK_RESOURCE_FREE ||
                handle_bucket(handle_record(n)->it.type, record_key(&handle_record(n)->it)) !=
                    &buckets[i])
                return false;
    for (uint32_t n = first_free; n && spare <= last_number; n = handle_record(n)->next, spare++)
        if (handle_record(n)->it.state != LEAK_RESOURCE_FREE)
            return false;
    for (uint32_t n = 1; n <= last_number; n++)
        known += handle_record(n)->it.state != LEAK_RESOURCE_FREE &&
                 handle_record(n)->it.type != LEAK_RESOURCE_MMAP;
    return linked == known && last_number - spare - linked <= last_number;
}
