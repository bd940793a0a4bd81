/* read_tags.c - names that the program gave to what it allocated.
 *
 * A site says its tag by number. Where the name did not get into the store, or does not hold, the
 * number serves as one, so that every site's tag has a name.
 */
#include <string.h>

#include "common/store/reader_internal.h"

static void read_name(struct reading *reading, size_t tag, const uint8_t *at)
{
    struct leak_tag record;

    memcpy(&record, at, sizeof(record));
    if (!record.length)
        return; /* and those behind it: nobody has pushed so many */
    if (record.length < LEAK_TAG_NAME && strnlen(record.name, LEAK_TAG_NAME) == record.length)
        reading->store->tags[tag] = mem_copy(reading->store->mem, record.name, record.length);
    else
        reading->damaged++;
}

static void read_table(struct reading *reading, const struct chunk *chunk)
{
    const uint8_t *payload = reading->image->data + chunk->payload;
    size_t room = chunk->end - chunk->payload, head = offsetof(struct leak_tags, tag);
    struct leak_tags tags = {0};

    if (room < head)
        return;
    memcpy(&tags, payload, head);
    reading->store->tags_left_out = tags.left_out;
    for (size_t i = 0; i < LEAK_TAGS && (i + 1) * sizeof(struct leak_tag) <= room - head; i++)
        read_name(reading, i + 1, payload + head + i * sizeof(struct leak_tag));
}

static bool are_there(const struct store *store)
{
    for (size_t i = 0; i < store->site_count; i++)
        if (store->sites[i].tag)
            return true;
    return false;
}

void read_tags(struct reading *reading, const struct chunks *chunks)
{
    struct store *store = reading->store;
    const struct chunk *table = chunks_first(chunks, LEAK_CHUNK_TAGS);

    if (!table && !are_there(store))
        return;
    store->tags = mem_take_array(store->mem, LEAK_TAGS + 1, sizeof(*store->tags));
    if (table)
        read_table(reading, table);
    for (size_t i = 0; i < store->site_count; i++) {
        uint32_t tag = store->sites[i].tag;

        if (tag && !store->tags[tag])
            store->tags[tag] = mem_format(store->mem, "[tag %u]", (unsigned)tag);
    }
}
