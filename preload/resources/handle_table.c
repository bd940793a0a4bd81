#include "preload/resources/handle_table.h"

#define PAGES (BELONGINGS_MOST / RECORDS_A_PAGE)
#define BUCKETS 4096

/* A record's number is its place + 1; 0 ends a list. */
static struct record_page *pages[PAGES];
static uint32_t last_number, first_free, bad_closes, pending;
static uint32_t buckets[BUCKETS];
static struct lock lock; /* guards all of it */

static struct record_page *page_of(uint32_t number)
{
    return pages[(number - 1) / RECORDS_A_PAGE];
}

static struct record *record_of(uint32_t number)
{
    return &page_of(number)->record[(number - 1) % RECORDS_A_PAGE];
}

static bool is_bad(const struct leak_resource *it)
{
    return it->state == LEAK_RESOURCE_BAD_CLOSE;
}

/* Bad closes are known by the stack that made them. */
static uint64_t key_of(const struct leak_resource *it)
{
    return is_bad(it) ? it->again.node : it->id;
}

static uint32_t *bucket_of(unsigned type, uint64_t key)
{
    return &buckets[hash_u64(key ^ (uint64_t)type << 56) % BUCKETS];
}

/* FD stands for bad closes here: descriptors have a table of their own. */
static uint32_t find(unsigned type, uint64_t key)
{
    uint32_t number = *bucket_of(type, key);
    while (number) {
        const struct record *record = record_of(number);
        if (record->it.type == type && key_of(&record->it) == key)
            break;
        number = record->next;
    }
    return number;
}

static void link_in(uint32_t number)
{
    struct record *record = record_of(number);
    uint32_t *bucket = bucket_of(record->it.type, key_of(&record->it));
    record->next = *bucket;
    *bucket = number;
}

static void link_out(uint32_t number)
{
    struct record *record = record_of(number);
    uint32_t *at = bucket_of(record->it.type, key_of(&record->it));
    while (*at != number)
        at = &record_of(*at)->next;
    *at = record->next;
}

static void publish(uint32_t number)
{
    records_publish(page_of(number), record_of(number));
}

/* A place; 0: there is no room. */
static uint32_t take(void)
{
    uint32_t number = first_free;
    if (number) {
        first_free = record_of(number)->next;
        return number;
    }
    uint32_t page = last_number / RECORDS_A_PAGE;
    if (page >= PAGES || (!pages[page] && !(pages[page] = records_make_page())))
        return 0;
    return ++last_number;
}

static void give(uint32_t number)
{
    struct record *record = record_of(number);
    record->stamp++;
    record->it.state = LEAK_RESOURCE_FREE;
    publish(number);
    record->next = first_free;
    first_free = number;
}

/* ---- Coming and going ------------------------------------------------------------------------ */

/* The lock is held. */
static uint32_t put(const struct news *news, struct leak_mark mark)
{
    uint32_t number = find(news->type, news->id);
    if (number)
        link_out(number);
    else if (!(number = take()))
        return 0;
    struct record *record = record_of(number);
    record->stamp++;
    records_fill(record, news);
    record->it.opened = mark;
    record->it.state = LEAK_RESOURCE_OPEN;
    pending += (news->flags & LEAK_RESOURCE_PENDING) != 0;
    link_in(number);
    return number;
}

bool belongings_came(struct guard *guard UNUSED, const struct news *news, struct leak_mark mark)
{
    struct locked locked = lock_take(&lock);
    uint32_t number = mark.node ? put(news, mark) : 0;
    if (number)
        publish(number);
    lock_give(&locked);
    if (number)
        records_count(news->type);
    else
        records_missed();
    return number != 0;
}

struct belonging belongings_find(enum leak_resource_type type, uint64_t id)
{
    struct belonging found = {.id = id};
    struct locked locked = lock_take(&lock);
    found.number = find(type, id);
    if (found.number) {
        found.stamp = record_of(found.number)->stamp;
        found.fd = record_of(found.number)->it.fd;
    }
    lock_give(&locked);
    return found;
}

bool belongings_get(uint32_t number, struct leak_resource *out)
{
    struct locked locked = lock_take(&lock);
    *out = record_of(number)->it;
    lock_give(&locked);
    return out->state == LEAK_RESOURCE_OPEN;
}

bool belongings_went(struct guard *guard UNUSED, const struct belonging *belonging)
{
    if (!belonging->number)
        return false;
    struct locked locked = lock_take(&lock);
    bool there = record_of(belonging->number)->stamp == belonging->stamp;
    if (there) {
        link_out(belonging->number);
        give(belonging->number);
    }
    lock_give(&locked);
    return there;
}

bool belongings_move(struct guard *guard UNUSED, enum leak_resource_type type, uint64_t from,
                     uint64_t to)
{
    struct locked locked = lock_take(&lock);
    uint32_t number = find(type, from), old = number ? find(type, to) : 0;
    if (old) {
        link_out(old);
        give(old);
    }
    if (number) {
        link_out(number);
        record_of(number)->it.id = to;
        link_in(number);
        publish(number);
    }
    lock_give(&locked);
    return number != 0;
}

void belongings_bad_close(struct guard *guard UNUSED, const struct leak_resource *bad)
{
    struct locked locked = lock_take(&lock);
    uint32_t number = find(LEAK_RESOURCE_FD, bad->again.node);
    if (number) {
        struct leak_resource *it = &record_of(number)->it;
        it->count++;
        if (it->id != bad->id && (it->flags | bad->flags) & LEAK_RESOURCE_NEVER)
            it->flags |= LEAK_RESOURCE_SWEEP;
        publish(number);
    } else if (bad_closes < BELONGINGS_BAD_MOST && (number = take())) {
        struct record *record = record_of(number);
        bad_closes++;
        record->stamp++;
        record->it = *bad;
        record->it.type = LEAK_RESOURCE_FD;
        record->it.count = 1;
        record->it.state = LEAK_RESOURCE_BAD_CLOSE;
        link_in(number);
        publish(number);
    }
    lock_give(&locked);
    if (!number)
        records_missed();
}

/* ---- Libraries ------------------------------------------------------------------------------ */

void belongings_less(struct guard *guard UNUSED, const struct belonging *belonging)
{
    struct locked locked = lock_take(&lock);
    struct record *record = record_of(belonging->number);
    if (record->stamp == belonging->stamp) {
        if (record->it.count > 1) {
            record->it.count--;
            publish(belonging->number);
        } else {
            link_out(belonging->number);
            give(belonging->number);
        }
    }
    lock_give(&locked);
}

/* The lock is held. Opened before by the same stack: once more. */
static bool once_more(uint32_t fresh)
{
    const struct leak_resource *it = &record_of(fresh)->it;
    for (uint32_t n = *bucket_of(it->type, it->id); n; n = record_of(n)->next) {
        struct leak_resource *other = &record_of(n)->it;
        if (n != fresh && other->type == it->type && other->id == it->id &&
            other->opened.node == it->opened.node) {
            other->count++;
            publish(n);
            return true;
        }
    }
    return false;
}

static void settle(uint32_t number, uint64_t (*where)(const char *name))
{
    struct leak_resource *it = &record_of(number)->it;
    char name[LEAK_RESOURCE_NAME + 1];
    memcpy(name, it->name, it->name_length);
    name[it->name_length] = '\0';
    link_out(number);
    it->id = where(name);
    it->flags &= ~LEAK_RESOURCE_PENDING;
    if (it->id) {
        link_in(number);
        if (!once_more(number)) {
            publish(number);
            return;
        }
        link_out(number);
    }
    give(number);
}

void belongings_settle(uint64_t (*where)(const char *name))
{
    struct locked locked = lock_take(&lock);
    for (uint32_t number = 1; pending && number <= last_number; number++) {
        const struct leak_resource *it = &record_of(number)->it;
        if (it->state != LEAK_RESOURCE_OPEN || !(it->flags & LEAK_RESOURCE_PENDING))
            continue;
        settle(number, where);
        pending--;
    }
    lock_give(&locked);
}

/* ---- Regions -------------------------------------------------------------------------------- */

uint32_t belongings_region(struct guard *guard UNUSED, const struct leak_resource *like,
                           uint64_t start, uint64_t size)
{
    struct locked locked = lock_take(&lock);
    uint32_t number = take();
    if (number) {
        struct record *record = record_of(number);
        record->stamp++;
        record->it = *like;
        record->it.id = start;
        record->it.bytes = size;
        record->it.state = LEAK_RESOURCE_OPEN;
        publish(number);
    }
    lock_give(&locked);
    if (!number)
        records_missed();
    return number;
}

void belongings_region_is(uint32_t number, uint64_t start, uint64_t size)
{
    struct locked locked = lock_take(&lock);
    record_of(number)->it.id = start;
    record_of(number)->it.bytes = size;
    publish(number);
    lock_give(&locked);
}

void belongings_region_went(uint32_t number)
{
    struct locked locked = lock_take(&lock);
    give(number);
    lock_give(&locked);
}

/* ---- Fork ----------------------------------------------------------------------------------- */

LOCK_FOR_FORK(belongings, &lock)

/* Its parent's threads are not there, and its parent's mistakes are told there. */
void belongings_fork_child(void)
{
    lock.word = 0;
    bad_closes = 0;
    for (uint32_t number = 1; number <= last_number; number++) {
        struct record *record = record_of(number);
        if (is_bad(&record->it) ||
            (record->it.state == LEAK_RESOURCE_OPEN && record->it.type == LEAK_RESOURCE_THREAD)) {
            link_out(number);
            page_of(number)->twin = NULL; /* still the parent's */
            give(number);
        }
    }
    for (uint32_t i = 0; i < PAGES && pages[i]; i++)
        records_inherit_page(pages[i]);
}

bool belongings_check(void)
{
    uint32_t linked = 0, spare = 0, known = 0;
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (uint32_t n = buckets[i]; n && linked <= last_number; n = record_of(n)->next, linked++)
            if (record_of(n)->it.state == LEAK_RESOURCE_FREE ||
                bucket_of(record_of(n)->it.type, key_of(&record_of(n)->it)) != &buckets[i])
                return false;
    for (uint32_t n = first_free; n && spare <= last_number; n = record_of(n)->next, spare++)
        if (record_of(n)->it.state != LEAK_RESOURCE_FREE)
            return false;
    for (uint32_t n = 1; n <= last_number; n++)
        known += record_of(n)->it.state != LEAK_RESOURCE_FREE &&
                 record_of(n)->it.type != LEAK_RESOURCE_MMAP;
    return linked == known && last_number - spare - linked <= last_number;
}
