#include "preload/heap/tags.h"
#include "preload/base/base.h"
#include "preload/heap/capture.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"
#include "preload/base/strbuf.h"

#define SLOTS 1024 /* never full: a search ends */

static struct lock lock;
static struct leak_tags *table; /* NULL: nobody has any */
static uint32_t used;
static uint16_t slots[SLOTS]; /* by name: number, 0 = empty */

static __thread struct {
    uint32_t depth; /* beyond TAGS_DEPTH they are only counted */
    uint16_t tag[TAGS_DEPTH];
} stack __attribute__((tls_model("initial-exec")));

/* ---- Names ---------------------------------------------------------------------------------- */

/* As it stands in the table: cut to fit. */
struct name {
    char bytes[LEAK_TAG_NAME];
    uint32_t length, home;
};

static struct name make_name(const char *string)
{
    struct name name;
    struct text text = STRBUF_ON(name.bytes);
    uint64_t hash = 1;
    strbuf_add(&text, string);
    name.length = text.length;
    for (uint32_t i = 0; i < name.length; i++)
        hash = hash_u64(hash + (unsigned char)name.bytes[i]);
    name.home = hash % SLOTS;
    return name;
}

/* Without a lock; 0 and the slot where it would be: it is not there. */
static unsigned find(const struct name *name, uint32_t *slot)
{
    unsigned tag;
    /* Pairs with the release in add: the table and what stands in it. */
    for (*slot = name->home; (tag = load_acquire(&slots[*slot])); *slot = (*slot + 1) % SLOTS) {
        const struct leak_tag *there = &table->tag[tag - 1];
        if (there->length == name->length && memcmp(there->name, name->bytes, name->length) == 0)
            break;
    }
    return tag;
}

static bool open_table(void)
{
    if (!table && (table = store_new_chunk(LEAK_CHUNK_TAGS, sizeof *table, 0)))
        store_publish(table, sizeof *table);
    return table != NULL;
}

static unsigned add(const struct name *name)
{
    uint32_t slot;
    struct locked locked = lock_take(&lock);
    unsigned tag = find(name, &slot); /* somebody may have been faster */
    if (!tag && open_table()) {
        if (used < LEAK_TAGS) {
            struct leak_tag *place = &table->tag[used];
            tag = ++used;
            memcpy(place->name, name->bytes, name->length);
            store_release(&place->length,
                          name->length); /* readers of the store take it from here */
            store_release(&slots[slot], tag);
        } else {
            bump(&table->left_out, 1);
        }
    }
    lock_give(&locked);
    return tag;
}

unsigned tags_find(const char *string)
{
    uint32_t slot;
    if (!string)
        return 0;
    struct name name = make_name(string);
    return find(&name, &slot);
}

static unsigned number_of(const char *string)
{
    uint32_t slot;
    if (!string || !*string)
        return 0;
    struct name name = make_name(string);
    unsigned tag = find(&name, &slot);
    return likely(tag) ? tag : add(&name);
}

/* ---- The stack of a thread ------------------------------------------------------------------- */

bool tags_push(struct guard *guard, const char *name)
{
    unsigned tag = stack.depth < TAGS_DEPTH ? number_of(name) : 0;
    if (likely(tag)) {
        capture_heed_tags();
        guard->tag = tag;
    }
    if (likely(stack.depth < TAGS_DEPTH))
        stack.tag[stack.depth] = guard->tag;
    stack.depth++;
    return tag != 0;
}

bool tags_pop(struct guard *guard)
{
    if (!stack.depth)
        return false;
    stack.depth--;
    if (likely(stack.depth < TAGS_DEPTH))
        guard->tag = stack.depth ? stack.tag[stack.depth - 1] : 0;
    return true;
}

bool tags_check(void)
{
    uint32_t slot;
    for (uint32_t i = 0; i < used; i++) {
        struct name name = make_name(table->tag[i].name);
        if (name.length != table->tag[i].length || find(&name, &slot) != i + 1)
            return false;
    }
    return used <= LEAK_TAGS;
}

/* ---- Fork ----------------------------------------------------------------------------------- */

LOCK_FOR_FORK(tags, &lock)

bool tags_fork_child(void)
{
    const struct leak_tags *parents = table;
    lock.word = 0;
    table = NULL;
    if (!parents)
        return true;
    if (!open_table())
        return false;
    memcpy(table->tag, parents->tag, sizeof table->tag);
    return true;
}
