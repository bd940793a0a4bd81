/* store_file.c - copies a store file, holes skipped; see store_file.h. */
#include "common/store/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leak_store.h"
#include "common/base/arena.h"

#define ATTEMPTS 8
#define SKIP_BELOW ((size_t)1 << 20) /* a smaller file is not worth asking for its holes */

static bool fail(struct trouble *trouble, enum error_code code, int os, uint64_t number)
{
    *trouble = (struct trouble){.code = code, .os = os, .number = number};
    return false;
}

/* Up to size bytes from offset; the number read, short when the file ends, or -1. */
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

static bool read_header(int fd, struct leak_header *header, struct trouble *trouble)
{
    ssize_t n;

    memset(header, 0, sizeof(*header));
    n = read_at(fd, (uint8_t *)header, sizeof(*header), 0);
    if (n < 0)
        return fail(trouble, ERROR_READ, errno, 0);
    if ((size_t)n < sizeof(header->magic))
        return fail(trouble, n ? ERROR_SHORT : ERROR_EMPTY, 0, (uint64_t)n);
    return true;
}

/* Where the next data is at or after `at`; *end is where it stops. False: no more below `size`. */
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
        return errno != ENXIO; /* ENXIO: only a hole is left; else a file system without holes */
    if ((size_t)start >= size)
        return false;
    end = lseek(fd, start, SEEK_HOLE);
    found->start = (size_t)start & ~(size_t)(LEAK_PAGE - 1);
    if (end > start && (size_t)end < size)
        found->end = (size_t)end;
    return true;
}

static bool copy_extents(int fd, struct image *image, struct trouble *trouble)
{
    struct extent *extents = (struct extent *)image->extents;
    size_t capacity = image->extent_count;
    struct extent found;
    size_t at = 0;

    image->extent_count = 0;
    while (next_extent(fd, at, image->size, &found)) {
        uint8_t *to = (uint8_t *)image->data + found.start;

        if (read_at(fd, to, found.end - found.start, found.start) < 0)
            return fail(trouble, ERROR_READ, errno, 0);
        extents = mem_more(extents, &capacity, image->extent_count + 1, sizeof(*extents));
        extents[image->extent_count++] = found;
        image->extents = extents;
        at = found.end;
    }
    return true;
}

static bool copy_once(int fd, const struct leak_header *header, struct image *image,
                      struct trouble *trouble)
{
    struct stat status;
    uint64_t size;
    void *memory;

    if (fstat(fd, &status) < 0)
        return fail(trouble, ERROR_READ, errno, 0);
    size = (uint64_t)status.st_size;
    if (size > header->used && header->used >= sizeof(*header))
        size = header->used;
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    if (memory == MAP_FAILED)
        return fail(trouble, ERROR_MEMORY, 0, size);
    *image = (struct image){.data = memory, .size = size, .mapped = size};
    if (copy_extents(fd, image, trouble))
        return true;
    image_end(image);
    return false;
}

static bool load_from(int fd, struct image *image, struct trouble *trouble)
{
    struct leak_header header, after;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!read_header(fd, &header, trouble))
            return false;
        if (header.magic != LEAK_STORE_MAGIC || header.version != LEAK_STORE_VERSION)
            header.used = sizeof(header); /* enough for the reader to say what it is */
        /* What is copied is read after the first count and before the second. */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!copy_once(fd, &header, image, trouble))
            return false;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (read_header(fd, &after, trouble) && after.folds == header.folds) {
            image->steady = true;
            return true;
        }
        if (attempt + 1 < ATTEMPTS)
            image_end(image);
    }
    return true;
}

bool image_load(const char *path, struct image *image, struct trouble *trouble)
{
    struct stat status;
    bool good;
    /* O_NONBLOCK: opening a named pipe must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return fail(trouble, ERROR_OPEN, errno, 0);
    if (fstat(fd, &status) < 0)
        good = fail(trouble, ERROR_READ, errno, 0);
    else if (!S_ISREG(status.st_mode))
        good = fail(trouble, ERROR_NOT_A_FILE, 0, 0);
    else
        good = load_from(fd, image, trouble);
    close(fd);
    return good;
}

struct image image_borrow(const uint8_t *data, size_t size, struct extent *extent)
{
    *extent = (struct extent){0, size};
    return (struct image){
        .data = data, .size = size, .extents = extent, .extent_count = 1, .steady = true};
}

void image_end(struct image *image)
{
    if (image->mapped) {
        munmap((void *)image->data, image->mapped);
        free((void *)image->extents);
    }
    memset(image, 0, sizeof(*image));
}
