/* read_followed.c - the blocks that follow_blocks= named; see reader_internal.h. */
#include "common/store/reader_internal.h"

static uint64_t *read_frames(struct store *store, const uint64_t *frames, uint32_t said,
                             size_t *count)
{
    uint64_t *made;

    *count = said < LEAK_FOLLOWED_FRAMES ? said : LEAK_FOLLOWED_FRAMES;
    made = arena_alloc_array(store->mem, *count, sizeof(*made));
    if (*count)
        memcpy(made, frames, *count * sizeof(*made));
    return made;
}

static void read_drop(struct reader *reader, const struct leak_drop *drop, struct store_drop *made)
{
    struct store *store = reader->store;

    *made = (struct store_drop){.event = drop->event,
                                .holder = drop->holder,
                                .holder_site = STORE_NO_SITE,
                                .jump_from = drop->jump_from,
                                .jump_to = drop->jump_to,
                                .since = drop->since,
                                .late = drop->late};
    if (!drop->event)
        return;
    made->before = read_node(reader, drop->before, store->node_count);
    made->after = read_node(reader, drop->after, store->node_count);
    made->frames = read_frames(store, drop->frames, drop->frame_count, &made->frame_count);
    if (made->holder.word.root_class >= LEAK_ROOT_CLASS_MAX)
        made->holder.word.root_class = 0;
    if (drop->holder.site)
        made->holder_site = store_find_site(store, drop->holder.site);
}

static void add_followed(struct reader *reader, const struct leak_followed *followed)
{
    struct store *store = reader->store;
    struct store_followed *made = &store->followed[store->followed_count];
    uint32_t site = store_find_site(store, followed->site);

    if (followed->state == LEAK_FOLLOWED_NONE)
        return;
    if (followed->state > LEAK_FOLLOWED_UNKNOWN || site == STORE_NO_SITE) {
        reader->damaged++;
        return;
    }
    *made = (struct store_followed){.thread = followed->thread,
                                    .count = followed->count,
                                    .state = followed->state,
                                    .site = site,
                                    .size = followed->size};
    read_drop(reader, &followed->stored, &made->stored);
    read_drop(reader, &followed->last, &made->last);
    made->used =
        read_frames(store, followed->used.frames, followed->used.frame_count, &made->used_count);
    made->used_bytes = followed->used.bytes;
    made->used_event = followed->used.event;
    store->followed_count++;
}

void read_followed(struct reader *reader, const struct chunks *chunks)
{
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_FOLLOWED);
    size_t room;

    if (!chunk)
        return;
    room = (chunk->end - chunk->payload) / sizeof(struct leak_followed);
    if (room > LEAK_FOLLOWED_MOST)
        room = LEAK_FOLLOWED_MOST;
    reader->store->followed =
        arena_alloc_array(reader->store->mem, room, sizeof(*reader->store->followed));
    for (size_t i = 0; i < room; i++) {
        struct leak_followed followed;

        copy_record(&followed, reader->image->data + chunk->payload, i, sizeof(followed));
        add_followed(reader, &followed);
    }
}
