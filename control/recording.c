/* recording.c - reads the recording file of a running process; described in recording.h. */
#include "control/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/store/store.h"
#include "common/store/store_dir.h"

/* default of the option snapshot_signal, then its lowest and highest value */
#define SIGNAL_USUAL 62
#define SIGNAL_LEAST 34
#define SIGNAL_MOST 64
#define OPTIONS_MOST (64u << 10)
#define FOUND_AT_ONCE 64

/* ---- Page 0 ---------------------------------------------------------------------------------- */

static enum recording_status check_header(const struct leak_header *header)
{
    size_t needed = offsetof(struct leak_header, request) + sizeof(header->request);

    if (header->magic != LEAK_STORE_MAGIC) {
        errno = EINVAL;
        return RECORDING_UNUSABLE;
    }
    return store_header_is_readable(header) && header->header_size >= needed
               ? RECORDING_OK
               : RECORDING_OTHER_VERSION;
}

enum recording_status recording_open(struct recording *recording, const char *path)
{
    enum recording_status status = RECORDING_UNUSABLE;
    struct stat info;
    void *page;

    recording->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (recording->fd < 0)
        return errno == EACCES || errno == EPERM ? RECORDING_FORBIDDEN : RECORDING_UNUSABLE;
    if (fstat(recording->fd, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_size >= (off_t)LEAK_PAGE) {
        page = mmap(NULL, LEAK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, recording->fd, 0);
        if (page != MAP_FAILED) {
            recording->header = page;
            status = check_header(page);
            if (status == RECORDING_OK)
                return status;
            munmap(page, LEAK_PAGE);
        }
    }
    close(recording->fd);
    return status;
}

void recording_close(struct recording *recording)
{
    munmap(recording->header, LEAK_PAGE);
    close(recording->fd); /* releases the lock, too */
}

bool recording_lock(struct recording *recording)
{
    /* On a file system without locks, only the states of the mailbox keep two leakctl processes
     * apart. */
    return flock(recording->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static struct leak_request_file *request_file(const struct recording *recording)
{
    return (struct leak_request_file *)((char *)recording->header + LEAK_REQUEST_FILE_AT);
}

void recording_put_graph_file(struct recording *recording, const char *path)
{
    struct leak_request_file *file = request_file(recording);

    *file = (struct leak_request_file){0};
    memcpy(file->path, path, strnlen(path, sizeof(file->path) - 1));
}

int recording_graph_error(const struct recording *recording, uint64_t milestone)
{
    const struct leak_request_file *file = request_file(recording);

    /* Pairs with the store (release) in the process. A version of libleak without graph files never
     * sets the milestone. */
    if (__atomic_load_n(&file->milestone, __ATOMIC_ACQUIRE) != milestone)
        return -ENOTSUP;
    return file->error;
}

/* ---- Reading chunks -------------------------------------------------------------------------- */

static bool read_recording(const struct recording *recording, void *to, size_t size,
                           uint64_t offset)
{
    return pread(recording->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Goes from chunk to chunk; begins with {.next = LEAK_PAGE}. */
struct walk {
    /* offsets in the file of the next chunk, and of the payload of this one */
    uint64_t next, payload;
    struct leak_chunk chunk;
};

static bool find_chunk(const struct recording *recording, uint32_t type, struct walk *walk)
{
    uint64_t used = __atomic_load_n(&recording->header->used, __ATOMIC_ACQUIRE);
    struct leak_chunk *chunk = &walk->chunk;

    while (walk->next < used && read_recording(recording, chunk, sizeof(*chunk), walk->next)) {
        bool valid = chunk->magic == LEAK_CHUNK_MAGIC && chunk->offset == walk->next &&
                     chunk->size >= LEAK_PAGE && chunk->size % LEAK_PAGE == 0 &&
                     chunk->size <= used - walk->next;

        walk->payload = walk->next + sizeof(*chunk);
        walk->next += valid ? chunk->size : LEAK_PAGE;
        if (valid && chunk->type == type && chunk->length &&
            chunk->length <= chunk->size - sizeof(*chunk))
            return true;
    }
    return false;
}

int recording_signal(const struct recording *recording)
{
    char value[16];
    long signal = SIGNAL_USUAL;

    for (struct walk walk = {.next = LEAK_PAGE};
         find_chunk(recording, LEAK_CHUNK_OPTIONS, &walk);) {
        size_t length = walk.chunk.length < OPTIONS_MOST ? walk.chunk.length : OPTIONS_MOST;
        char *text = calloc(1, length + 1);
        struct store store = {.options = text};

        if (text && read_recording(recording, text, length, walk.payload) &&
            store_get_option(&store, "snapshot_signal", value, sizeof(value)))
            signal = strtol(value, NULL, 10);
        free(text);
    }
    return signal >= SIGNAL_LEAST && signal <= SIGNAL_MOST ? (int)signal : SIGNAL_USUAL;
}

/* ---- Finding leak checks --------------------------------------------------------------------- */

static bool next_leak_check(const struct recording *recording, struct walk *walk,
                            struct leak_snapshot *head)
{
    while (find_chunk(recording, LEAK_CHUNK_SNAPSHOT, walk))
        if (walk->chunk.length >= sizeof(*head) &&
            read_recording(recording, head, sizeof(*head), walk->payload) &&
            head->head_size == sizeof(*head))
            return true;
    return false;
}

static void count_found(struct leak_check_totals *totals, const struct leak_found *found)
{
    if (found->verdict == LEAK_VERDICT_LOST) {
        totals->lost_blocks += found->blocks;
        totals->lost_bytes += found->bytes;
    } else if (found->verdict == LEAK_VERDICT_INDIRECT) {
        totals->indirect_blocks += found->blocks;
        totals->indirect_bytes += found->bytes;
    }
}

static bool sum_found(const struct recording *recording, const struct walk *walk,
                      struct leak_check_totals *totals)
{
    uint64_t length = walk->chunk.length;
    struct leak_table table = totals->head.found;
    struct leak_found found[FOUND_AT_ONCE];

    if (table.at > length || table.count > (length - table.at) / sizeof(*found))
        return false;
    for (uint32_t i = 0, n; i < table.count; i += n) {
        n = table.count - i < FOUND_AT_ONCE ? table.count - i : FOUND_AT_ONCE;
        if (!read_recording(recording, found, n * sizeof(*found),
                            walk->payload + table.at + (uint64_t)i * sizeof(*found)))
            return false;
        for (uint32_t k = 0; k < n; k++)
            count_found(totals, &found[k]);
    }
    return true;
}

bool recording_find_leak_check(const struct recording *recording, uint64_t milestone,
                               struct leak_check_totals *totals)
{
    *totals = (struct leak_check_totals){0};
    for (struct walk walk = {.next = LEAK_PAGE}; next_leak_check(recording, &walk, &totals->head);)
        if (totals->head.milestone == milestone)
            return sum_found(recording, &walk, totals);
    return false;
}

bool recording_find_failed_check(const struct recording *recording, uint64_t when_ns,
                                 struct leak_snapshot *head)
{
    struct leak_snapshot one, *newest = NULL;

    for (struct walk walk = {.next = LEAK_PAGE}; next_leak_check(recording, &walk, &one);)
        if (one.rung == LEAK_RUNG_NONE && one.when_ns >= when_ns &&
            (!newest || one.when_ns >= newest->when_ns)) {
            *head = one;
            newest = head;
        }
    return newest != NULL;
}
