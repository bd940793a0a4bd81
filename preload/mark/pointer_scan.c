/* pointer_scan.c - one walk over all blocks, from the lowest address on, through the ring.
 *
 * The processor fetches what lies ahead, but not across pages: one word of a block further on is
 * asked for, so that its page has been found when its turn comes.
 */
#include "preload/mark/pointer_scan.h"
#include "preload/mark/prefetch_ring.h"

#define READ_MOST 4096 /* bytes of a block: leads_at reads it again for each step of a path */
#define SMALL 512      /* a few lines of the cache: in any order they come in one after the other */
#define IN_VAIN_MOST (512u << 10)
#define AHEAD 16 /* blocks */

struct reading {
    struct reach *reach;
    uint64_t
        in_vain; /* bytes of large blocks: of each that becomes UNREAD, less each that does not */
    bool failed;
    struct ring ring;
};

/* Of all that marking can do without, it takes no more than a quarter of the memory that is left.
 */
static bool is_affordable(const struct reach *reach, uint64_t count, size_t each)
{
    return count <= (reach->room.most - reach->room.used) / 4 / each;
}

static ALWAYS_INLINE void add_lead(struct reading *reading, uint32_t to)
{
    struct pile *leads = &reading->reach->leads;
    uint32_t *place = NULL;
    if (likely(leads->count < leads->fits) ||
        (leads->count < UINT32_MAX / 2 &&
         is_affordable(reading->reach, 2 * leads->count, sizeof *place)))
        place = pile_add(&reading->reach->room, leads, sizeof *place);
    if (likely(place))
        *place = to;
    else
        reading->failed = true;
}

/* Blocks leave the ring in their order: what was added last is of the same one, if anything is. */
static ALWAYS_INLINE void met(void *context, uintptr_t pointer, uint32_t number, uint32_t from,
                              uint32_t at UNUSED)
{
    struct reading *reading = context;
    struct reach *reach = reading->reach;
    struct lead *lead = &reach->lead[from];
    if (number == from || lead->count == UNREAD || reading->failed)
        return;
    if (unlikely(pointer != reach->nodes[number].address)) {
        reach->leads.count -= lead->count > 1 ? lead->count : 0;
        lead->count = UNREAD;
        uint64_t size = node_size(&reach->nodes[from]);
        reading->in_vain += size > SMALL ? 2 * size : 0;
        return;
    }
    uint32_t before = lead->first;
    if (lead->count == 0)
        lead->first = number;
    if (lead->count == 1) {
        lead->first = (uint32_t)reach->leads.count;
        add_lead(reading, before);
    }
    if (lead->count++)
        add_lead(reading, number);
}

static ALWAYS_INLINE unsigned read_block(struct reading *reading, const struct disguise *is,
                                         uint32_t number)
{
    struct node_words words = node_words(reading->reach, number);
    return ring_read_words(&reading->ring, reading->reach, is, &words, number, met, reading);
}

/* Some were lost before: nobody wants to know where they lead to. Arenas are full of pointers
 * inside others: where most large blocks are such, they are left to marking. */
static ALWAYS_INLINE bool is_wanted(struct reading *reading, const struct node *node)
{
    uint64_t size = node_size(node);
    if (likely(size <= SMALL))
        return !node_verdict(node);
    if (size > READ_MOST || node_verdict(node) || reading->in_vain > IN_VAIN_MOST)
        return false;
    reading->in_vain -= size < reading->in_vain ? size : reading->in_vain;
    return true;
}

static void read_all(struct reading *reading, const struct disguise *given)
{
    struct reach *reach = reading->reach;
    const struct disguise is = *given;
    for (uint32_t i = 0; i < reach->count && !reading->failed; i++) {
        struct node *node = &reach->nodes[i];
        if (likely(reach->count - i > AHEAD))
            __builtin_prefetch((const void *)node[AHEAD].address);
        bool wanted = is_wanted(reading, node);
        reach->lead[i] = (struct lead){.count = wanted ? 0 : UNREAD};
        if (wanted)
            node_change(node, 0, read_block(reading, &is, i));
    }
    ring_drain(&reading->ring, reach, met, reading);
}

void leads_find(struct reach *reach, const struct disguise *is)
{
    struct reading reading = {.reach = reach};
    reading.ring.beside = (const char *)reach->nodes;
    reading.ring.beside_each = sizeof *reach->nodes;
    if (reach->outer || !is_affordable(reach, reach->count, sizeof *reach->lead))
        return;
    reach->lead = room_map_raw(&reach->room, reach->count, sizeof *reach->lead);
    if (!reach->lead)
        return;
    if (is_affordable(reach, reach->count, sizeof(uint32_t)))
        pile_reserve(&reach->room, &reach->leads, reach->count, sizeof(uint32_t));
    read_all(&reading, is);
    if (reading.failed)
        leads_end(reach);
}

void leads_end(struct reach *reach)
{
    pile_end(&reach->room, &reach->leads);
    room_unmap(&reach->room, reach->lead);
    reach->lead = NULL;
}

uint64_t leads_at(const struct reach *reach, uint32_t from, uint32_t to)
{
    const struct node *node = &reach->nodes[from];
    const uintptr_t *words = (const uintptr_t *)node->address;
    uint64_t at = 0, last = node_size(node) / 8 - 1;
    while (at < last && node_pointer(words[at]) != reach->nodes[to].address)
        at++;
    return at;
}
