/* reader.c - believes nothing and keeps what holds; see reader.h and, for the parts,
 * reader_internal.h. */
#include "common/store/reader.h"

#include <string.h>

#include "common/store/reader_internal.h"

static bool read_header(const struct image *image, struct store *store, struct trouble *trouble)
{
    struct leak_header *header = &store->header;
    uint64_t magic = 0;

    *trouble = (struct trouble){.code = ERROR_SHORT, .number = image->size};
    if (image->size < sizeof(magic))
        return false;
    memcpy(&magic, image->data, sizeof(magic));
    if (magic != LEAK_STORE_MAGIC) {
        trouble->code = magic ? ERROR_NOT_A_STORE : ERROR_UNFINISHED;
        return false;
    }
    memcpy(header, image->data, image->size < sizeof(*header) ? image->size : sizeof(*header));
    if (image->size >= offsetof(struct leak_header, header_size) &&
        header->version != LEAK_STORE_VERSION) {
        *trouble = (struct trouble){.code = ERROR_VERSION, .number = header->version};
        return false;
    }
    if (image->size < sizeof(*header))
        return false;
    if (header->header_size != sizeof(*header)) {
        *trouble = (struct trouble){.code = ERROR_HEADER, .number = header->header_size};
        return false;
    }
    store->host = mem_copy(store->mem, header->host, strnlen(header->host, sizeof(header->host)));
    return true;
}

static void note_oddities(struct reading *reading, size_t skipped)
{
    struct store *store = reading->store;
    const struct image *image = reading->image;

    if (store->header.used > image->size)
        store_note(store, "the store is cut off: %llu of %llu bytes are there",
                   (unsigned long long)image->size, (unsigned long long)store->header.used);
    if (reading->damaged && store->header.end_how == LEAK_END_NONE)
        store_note(store, "%zu records were still being written and were left out",
                   reading->damaged);
    else if (reading->damaged)
        store_note(store, "the store is damaged: %zu records do not hold and were left out",
                   reading->damaged);
    if (skipped)
        store_note(store, "the store is damaged: %zu pages belong to no valid part", skipped);
    if (!image->steady)
        store_note(store, "the process kept changing the store while it was read: "
                          "numbers may be off by what it allocated meanwhile");
}

static void read_chunks(struct reading *reading, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        read_packed(reading, &chunks->chunk[i]);
        read_arrays_note(reading, &chunks->chunk[i]);
    }
    read_packed_end(reading);
    read_arrays(reading);
    read_tags(reading, chunks);
    read_counts(reading, chunks);
    read_frees(reading, chunks);
    read_events(reading, chunks);
    for (size_t i = 0; i < chunks->count; i++)
        read_resources(reading, &chunks->chunk[i]);
    read_milestones(reading, chunks);
    read_look(reading, chunks);
    read_crash(reading, chunks);
    read_history(reading, chunks);
}

bool reader_parse(struct mem *mem, const struct image *image, struct store *store,
                  struct trouble *trouble)
{
    struct reading reading = {.image = image, .store = store};
    struct chunks chunks;

    *store = (struct store){.mem = mem};
    if (!read_header(image, store, trouble))
        return false;
    chunks = chunks_find(image, store->header.used);
    read_chunks(&reading, &chunks);
    note_oddities(&reading, chunks.skipped);
    chunks_end(&chunks);
    runs_end(&reading.nodes);
    runs_end(&reading.sites);
    runs_end(&reading.threads);
    runs_end(&reading.variances);
    runs_end(&reading.freed);
    return true;
}

bool reader_open(struct mem *mem, const char *path, struct store *store, struct trouble *trouble)
{
    struct image image;
    bool good;

    if (!image_load(path, &image, trouble))
        return false;
    good = reader_parse(mem, &image, store, trouble);
    store->path = path;
    image_end(&image);
    return good;
}
