/* read_file.c - copies a recording file without its holes, and lets each part of the reader
 * parse its chunks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/store/reader_internal.h"
#include "common/store/store_dir.h"

static const char *const error_text[] = {
#define E(name, words) words,
    READ_ERROR_TABLE(E)
#undef E
};

void read_error_text(const struct read_error *trouble, char *text, size_t size)
{
    const char *format = error_text[trouble->code], *number = strstr(format, "%llu");
    int n;

    if (number)
        n = snprintf(text, size, "%.*s%llu%s", (int)(number - format), format,
                     (unsigned long long)trouble->number, number + strlen("%llu"));
    else
        n = snprintf(text, size, "%s", format);
    if (trouble->os && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ": %s", strerror(trouble->os));
}

#define ATTEMPTS 8
#define SKIP_BELOW ((size_t)1 << 20) /* in a smaller file all bytes are read, holes included */

static void unmap_image(struct store_image *image)
{
    if (image->mapped) {
        munmap((void *)image->data, image->mapped);
        free((void *)image->extents);
    }
    memset(image, 0, sizeof(*image));
}

static bool set_trouble(struct read_error *trouble, enum error_code code, int os, uint64_t number)
{
    *trouble = (struct read_error){.code = code, .os = os, .number = number};
    return false;
}

/* Reads up to size bytes at offset. Returns their number, which is smaller at the end of the
 * file, or -1. */
static ssize_t read_at(int fd, uint8_t *to, size_t size, size_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, to + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static bool read_file_header(int fd, struct leak_header *header, struct read_error *trouble)
{
    ssize_t n;

    memset(header, 0, sizeof(*header));
    n = read_at(fd, (uint8_t *)header, sizeof(*header), 0);
    if (n < 0)
        return set_trouble(trouble, ERROR_READ, errno, 0);
    if ((size_t)n < sizeof(header->magic))
        return set_trouble(trouble, n ? ERROR_SHORT : ERROR_EMPTY, 0, (uint64_t)n);
    return true;
}

/* Finds the next range of data at or after `at`. False: there is no data up to `size`. */
static bool next_extent(int fd, size_t at, size_t size, struct extent *found)
{
    off_t start, end;

    if (at >= size)
        return false;
    *found = (struct extent){at, size};
    if (size < SKIP_BELOW)
        return true;
    start = lseek(fd, (off_t)at, SEEK_DATA);
    if (start < 0)
        return errno != ENXIO; /* ENXIO: only a hole is left; another error: the file system
                                * cannot show holes, so all is data */
    if ((size_t)start >= size)
        return false;
    end = lseek(fd, start, SEEK_HOLE);
    found->start = (size_t)start & ~(size_t)(LEAK_PAGE - 1);
    if (end > start && (size_t)end < size)
        found->end = (size_t)end;
    return true;
}

static bool copy_extents(int fd, struct store_image *image, struct read_error *trouble)
{
    struct extent *extents = (struct extent *)image->extents;
    size_t capacity = image->extent_count;
    struct extent found;
    size_t at = 0;

    image->extent_count = 0;
    while (next_extent(fd, at, image->size, &found)) {
        uint8_t *to = (uint8_t *)image->data + found.start;

        if (read_at(fd, to, found.end - found.start, found.start) < 0)
            return set_trouble(trouble, ERROR_READ, errno, 0);
        extents = array_grow(extents, &capacity, image->extent_count + 1, sizeof(*extents));
        extents[image->extent_count++] = found;
        image->extents = extents;
        at = found.end;
    }
    return true;
}

static bool copy_file(int fd, const struct leak_header *header, struct store_image *image,
                      struct read_error *trouble)
{
    struct stat status;
    uint64_t size;
    void *memory;

    if (fstat(fd, &status) < 0)
        return set_trouble(trouble, ERROR_READ, errno, 0);
    size = (uint64_t)status.st_size;
    if (size > header->used && header->used >= sizeof(*header))
        size = header->used;
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED)
        return set_trouble(trouble, ERROR_MEMORY, 0, size);
    *image = (struct store_image){.data = memory, .size = size, .mapped = size};
    if (copy_extents(fd, image, trouble))
        return true;
    unmap_image(image);
    return false;
}

static bool load_descriptor(int fd, struct store_image *image, struct read_error *trouble)
{
    struct leak_header header, after;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!read_file_header(fd, &header, trouble))
            return false;
        if (!store_header_is_readable(&header))
            header.used = sizeof(header); /* the header alone is copied, which is enough to say why
                                           * the file cannot be read */
        /* The number of folds is read before and after the copy. If it differs, counts moved
         * between slots and sites meanwhile, and the copy is made again. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!copy_file(fd, &header, image, trouble))
            return false;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (read_file_header(fd, &after, trouble) && after.folds == header.folds) {
            image->steady = true;
            return true;
        }
        if (attempt + 1 < ATTEMPTS)
            unmap_image(image);
    }
    return true;
}

static bool load_image(const char *path, struct store_image *image, struct read_error *trouble)
{
    struct stat status;
    bool good;
    /* O_NONBLOCK: opening a named pipe must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return set_trouble(trouble, ERROR_OPEN, errno, 0);
    if (fstat(fd, &status) < 0)
        good = set_trouble(trouble, ERROR_READ, errno, 0);
    else if (!S_ISREG(status.st_mode))
        good = set_trouble(trouble, ERROR_NOT_A_FILE, 0, 0);
    else
        good = load_descriptor(fd, image, trouble);
    image->owner = (struct file_owner){status.st_uid, status.st_gid};
    close(fd);
    return good;
}

/* ---- Parsing all parts, in their order ------------------------------------------------------- */

/* The size of the header in each version. Fields at the end that an older version lacks are read
 * as zero. */
static const uint32_t header_sizes[] = {0, 400, 408, sizeof(struct leak_header)};
_Static_assert(sizeof(header_sizes) / sizeof(*header_sizes) == LEAK_STORE_VERSION + 1,
               "read_file.c: a new version of recording files needs the size of its header");

static bool check_header(const struct store_image *image, struct store *store,
                         struct read_error *trouble)
{
    struct leak_header *header = &store->header;
    uint64_t magic = 0;

    *trouble = (struct read_error){.code = ERROR_SHORT, .number = image->size};
    if (image->size < sizeof(magic))
        return false;
    memcpy(&magic, image->data, sizeof(magic));
    if (magic != LEAK_STORE_MAGIC) {
        trouble->code = magic ? ERROR_NOT_A_STORE : ERROR_UNFINISHED;
        return false;
    }
    memcpy(header, image->data, image->size < sizeof(*header) ? image->size : sizeof(*header));
    if (image->size >= offsetof(struct leak_header, header_size) &&
        !store_header_is_readable(header)) {
        trouble->code = header->version > LEAK_STORE_VERSION ? ERROR_NEWER : ERROR_NO_VERSION;
        trouble->number = header->version;
        return false;
    }
    if (image->size < sizeof(*header))
        return false;
    if (header->header_size != header_sizes[header->version]) {
        *trouble = (struct read_error){.code = ERROR_HEADER, .number = header->header_size};
        return false;
    }
    memset((char *)header + header->header_size, 0, sizeof(*header) - header->header_size);
    store->host = arena_copy(store->mem, header->host, strnlen(header->host, sizeof(header->host)));
    return true;
}

static void add_notes(struct reader *reader, size_t skipped)
{
    struct store *store = reader->store;
    const struct store_image *image = reader->image;

    if (store->header.used > image->size)
        store->broken = "cut off";
    else if (skipped || (reader->damaged && store->header.end_how != LEAK_END_NONE))
        store->broken = "damaged";
    if (store->header.used > image->size)
        store_add_note(store, "the store is cut off: %llu of %llu bytes are there",
                       (unsigned long long)image->size, (unsigned long long)store->header.used);
    if (reader->damaged && store->header.end_how == LEAK_END_NONE)
        store_add_note(store, "%zu records were still being written and were left out",
                       reader->damaged);
    else if (reader->damaged)
        store_add_note(store, "the store is damaged: %zu records do not hold and were left out",
                       reader->damaged);
    if (skipped)
        store_add_note(store, "the store is damaged: %zu pages belong to no valid part", skipped);
    if (!image->steady)
        store_add_note(store, "the process kept changing the store while it was read: "
                              "numbers may be off by what it allocated meanwhile");
}

static void read_chunks(struct reader *reader, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        read_packed(reader, &chunks->chunk[i]);
        read_arrays_note(reader, &chunks->chunk[i]);
    }
    read_packed_end(reader);
    read_arrays(reader);
    read_tags(reader, chunks);
    read_counts(reader, chunks);
    read_frees(reader, chunks);
    read_events(reader, chunks);
    for (size_t i = 0; i < chunks->count; i++)
        read_resources(reader, &chunks->chunk[i]);
    read_milestones(reader, chunks);
    read_leak_check(reader, chunks);
    read_followed(reader, chunks);
    read_crash(reader, chunks);
    read_history(reader, chunks);
}

bool reader_parse(struct arena *mem, const struct store_image *image, struct store *store,
                  struct read_error *trouble)
{
    struct reader reader = {.image = image, .store = store};
    struct chunks chunks;

    *store = (struct store){.mem = mem, .owner = image->owner};
    if (!check_header(image, store, trouble))
        return false;
    store->fork_chain = store->header.flags & LEAK_FLAG_FORKED ? NULL : "";
    chunks = chunks_find(image, store->header.used);
    read_chunks(&reader, &chunks);
    add_notes(&reader, chunks.skipped);
    chunks_end(&chunks);
    runs_end(&reader.nodes);
    runs_end(&reader.sites);
    runs_end(&reader.threads);
    runs_end(&reader.variances);
    runs_end(&reader.temporary);
    runs_end(&reader.freed);
    return true;
}

bool reader_open(struct arena *mem, const char *path, struct store *store,
                 struct read_error *trouble)
{
    struct store_image image;
    bool good;

    if (!load_image(path, &image, trouble))
        return false;
    good = reader_parse(mem, &image, store, trouble);
    store->path = path;
    unmap_image(&image);
    return good;
}
