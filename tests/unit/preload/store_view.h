/* store_view.h - a store as a reader sees it, by include/leak_store.h alone: none of the runtime's
 * code. */
#ifndef TESTS_STORE_VIEW_H
#define TESTS_STORE_VIEW_H

#include "leak_store.h"

/* The next valid chunk of a type (0: any) at or after *offset, or NULL; *offset moves behind it. */
static inline const struct leak_chunk *view_chunk(const struct leak_header *header, uint32_t type,
                                                  uint64_t *offset)
{
    if (*offset < LEAK_PAGE)
        *offset = LEAK_PAGE;
    uint64_t used = __atomic_load_n(&header->used, __ATOMIC_ACQUIRE);
    while (*offset + LEAK_PAGE <= used && *offset + LEAK_PAGE <= header->file_size) {
        const struct leak_chunk *chunk =
            (const struct leak_chunk *)((const char *)header + *offset);
        if (__atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) != LEAK_CHUNK_MAGIC ||
            chunk->offset != *offset || chunk->size < LEAK_PAGE || chunk->size % LEAK_PAGE ||
            chunk->size > header->file_size - *offset) {
            *offset += LEAK_PAGE;
            continue;
        }
        *offset += chunk->size;
        if (!type || chunk->type == type)
            return chunk;
    }
    return NULL;
}

/* The record of an id: in the chunk that begins nearest before it. The rest of a chunk's last page
 * is room for records that are never published. */
static inline const void *view_record(const struct leak_header *header, uint32_t type, size_t size,
                                      uint32_t id)
{
    uint64_t offset = 0, nearest = 0;
    const struct leak_chunk *chunk;
    const void *record = NULL;
    while ((chunk = view_chunk(header, type, &offset))) {
        uint64_t room = (chunk->size - sizeof *chunk) / size;
        if (chunk->first < nearest || id < chunk->first || id - chunk->first >= room)
            continue;
        nearest = chunk->first;
        record = (const char *)(chunk + 1) + (id - chunk->first) * size;
    }
    return record;
}

static inline const struct leak_site *view_site(const struct leak_header *header, uint32_t id)
{
    return view_record(header, LEAK_CHUNK_SITES, sizeof(struct leak_site), id);
}

/* Without what is the writer's own. */
static inline struct leak_node view_node(const struct leak_header *header, uint32_t id)
{
    const struct leak_node *node =
        view_record(header, LEAK_CHUNK_NODES, sizeof(struct leak_node), id);
    return (struct leak_node){.pc = node->pc & LEAK_PC_MOST,
                              .parent = node->parent & LEAK_NODE_MOST,
                              .number = node->number};
}

/* The next chunk of slots that has an owner and is whole; NULL at the end. */
static inline const struct leak_slots *view_slots(const struct leak_header *header,
                                                  uint64_t *offset)
{
    const struct leak_chunk *chunk;
    while ((chunk = view_chunk(header, LEAK_CHUNK_SLOTS, offset))) {
        const struct leak_slots *slots = (const struct leak_slots *)(chunk + 1);
        uint64_t room = (chunk->size - sizeof *chunk - sizeof *slots) / sizeof slots->slot[0];
        if (slots->thread && slots->count <= room)
            return slots;
    }
    return NULL;
}

/* folded(site) + sum over threads of slots(site), by the rule beside struct leak_slots. */
static inline struct leak_counts view_counts(const struct leak_header *header, uint32_t id)
{
    const struct leak_site *site = view_site(header, id);
    const struct leak_slots *slots;
    struct leak_counts sum = {0, 0, 0, 0};
    if (!site)
        return sum;
    sum = site->counts;
    for (uint64_t offset = 0; (slots = view_slots(header, &offset));)
        if (__atomic_load_n(&slots->fold_site, __ATOMIC_ACQUIRE) == id)
            sum = slots->fold;
    for (uint64_t offset = 0; (slots = view_slots(header, &offset));)
        for (uint32_t i = 0; i < slots->count; i++) {
            const struct leak_slot *slot = &slots->slot[i];
            if (__atomic_load_n(&slot->site, __ATOMIC_ACQUIRE) != id ||
                (slots->fold_site == id && slots->fold_slot == i))
                continue;
            sum.allocs += slot->counts.allocs;
            sum.bytes += slot->counts.bytes;
            sum.frees += slot->counts.frees;
            sum.freed_bytes += slot->counts.freed_bytes;
        }
    return sum;
}

#endif
