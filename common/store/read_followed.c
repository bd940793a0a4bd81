/* read_followed.c - the blocks that follow_blocks= named; see reader_internal.h. */
#include "common/store/reader_internal.h"

static void read_drop(struct reader *reader, const struct leak_drop *drop, struct store_drop *made)
{
    struct store *store = reader->store;
    size_t count =
        drop->frame_count < LEAK_FOLLOWED_FRAMES ? drop->frame_count : LEAK_FOLLOWED_FRAMES;

    *made = (struct store_drop){
        .event = drop->event, .holder = drop->holder, .holder_site = STORE_NO_SITE};
    if (!drop->event)
        return;
    made->before = read_node(reader, drop->before, store->node_count);
    made->after = read_node(reader, drop->after, store->node_count);
    made->frames = arena_alloc_array(store->mem, count, sizeof(*made->frames));
    made->frame_count = count;
    if (count)
        memcpy(made->frames, drop->frames, count * sizeof(*made->frames));
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
