/* read_followed.c - reads the blocks that the option follow_blocks= named, their reference count,
 * and the functions that they went through. */
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
    if (followed->state > LEAK_FOLLOWED_LOST_BELOW || site == STORE_NO_SITE) {
        reader->damaged++;
        return;
    }
    *made = (struct store_followed){.thread = followed->thread & ~LEAK_FOLLOWED_BY_STACK,
                                    .by_stack = followed->thread & LEAK_FOLLOWED_BY_STACK,
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

/* The words of the block that may count references, and the code that changed them. */
struct counters {
    const struct leak_counter *words;
    uint32_t word_count;
    const struct leak_counting *countings; /* LEAK_COUNTINGS_MOST records */
};

#define FIRST_COUNT_MOST 2 /* a block begins with the reference of its maker, or with two of them */

/* Says whether a word of the block is a reference count: it began with a small value, changed by one
 * at a time, was above 1, went down, and is not 0 at the end. */
static bool is_reference_count(const struct counters *read, uint32_t word)
{
    const struct leak_counter *counter = &read->words[word];
    bool down = false;

    for (size_t i = 0; i < LEAK_COUNTINGS_MOST && read->countings[i].frame_count; i++)
        down |= read->countings[i].word == word && read->countings[i].by == -1;
    return down && !counter->is_none && counter->first <= FIRST_COUNT_MOST && counter->most > 1 &&
           counter->value > 0;
}

static void read_counter(struct store *store, const struct counters *read, uint32_t word)
{
    struct store_counter *made = &store->counter;

    *made = (struct store_counter){
        .found = true,
        .offset = word * sizeof(int32_t),
        .first = read->words[word].first,
        .value = read->words[word].value,
        .countings = arena_alloc_array(store->mem, LEAK_COUNTINGS_MOST, sizeof(*made->countings))};
    for (size_t i = 0; i < LEAK_COUNTINGS_MOST && read->countings[i].frame_count; i++) {
        const struct leak_counting *from = &read->countings[i];
        struct store_counting *to = &made->countings[made->counting_count];
        uint32_t most = LEAK_COUNTING_FRAMES;

        if (from->word != word)
            continue;
        *to = (struct store_counting){.by = from->by, .times = from->times};
        to->frames =
            read_frames(store, from->frames, from->frame_count < most ? from->frame_count : most,
                        &to->frame_count);
        made->counting_count++;
    }
}

static void find_counter(struct store *store, const struct counters *read)
{
    for (uint32_t word = 0; word < read->word_count && !store->counter.found; word++)
        if (is_reference_count(read, word))
            read_counter(store, read, word);
}

static void read_counters(struct reader *reader, const struct chunks *chunks)
{
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_COUNTERS);
    struct leak_counters read;

    if (!chunk || chunk->end - chunk->payload < sizeof(read))
        return;
    copy_record(&read, reader->image->data + chunk->payload, 0, sizeof(read));
    find_counter(reader->store, &(struct counters){read.words, LEAK_COUNTERS, read.countings});
}

static void read_way(struct store *store, const struct leak_way *read, struct store_way *made)
{
    uint32_t count = read->frame_count < LEAK_WAY_FRAMES ? read->frame_count : LEAK_WAY_FRAMES;

    *made = (struct store_way){.how = read->how,
                               .number = read->number,
                               .variable = read->variable,
                               .left_at = read->left_at,
                               .jump_count = read->jump_count};
    if (made->jump_count > LEAK_WAY_JUMPS)
        made->jump_count = LEAK_WAY_JUMPS;
    memcpy(made->jumps, read->jumps, sizeof(made->jumps));
    made->frames = read_frames(store, read->frames, count, &made->frame_count);
}

static void read_passed(struct store *store, const struct leak_trail *read)
{
    struct store_trail *trail = &store->trail;

    for (uint32_t back = 0; back < LEAK_WAYS_PASSED && back < read->passed_count; back++) {
        uint32_t number = read->passed_count - back;
        const struct leak_way *way = &read->passed[(number - 1) % LEAK_WAYS_PASSED];

        if (way->frame_count && way->number == number)
            read_way(store, way, &trail->passed[trail->passed_count++]);
    }
}

static void read_trail(struct reader *reader, const struct chunks *chunks)
{
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_TRAIL);
    struct store *store = reader->store;
    struct leak_trail read;

    if (!chunk || chunk->end - chunk->payload < sizeof(read))
        return;
    copy_record(&read, reader->image->data + chunk->payload, 0, sizeof(read));
    store->trail.found = true;
    store->trail.ended =
        arena_alloc_array(store->mem, LEAK_WAYS_ENDED, sizeof(*store->trail.ended));
    for (size_t i = 0; i < LEAK_WAYS_ENDED && read.ended[i].frame_count; i++)
        read_way(store, &read.ended[i], &store->trail.ended[store->trail.ended_count++]);
    if (read.is_cut)
        return;
    read_passed(store, &read);
    find_counter(store, &(struct counters){read.words, LEAK_WAY_COUNTERS, read.countings});
}

void read_followed(struct reader *reader, const struct chunks *chunks)
{
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_FOLLOWED);
    size_t room;

    read_counters(reader, chunks);
    read_trail(reader, chunks);
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
