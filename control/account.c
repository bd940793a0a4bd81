/* account.c - see account.h. */
#include "control/account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/store/store.h"

#define SIGNAL_USUAL 62 /* option snapshot_signal, where the store says nothing of it … */
#define SIGNAL_LEAST 34 /* … and what it may be */
#define SIGNAL_MOST 64
#define OPTIONS_MOST (64u << 10)
#define FOUND_AT_ONCE 64

/* ---- Page 0 ---------------------------------------------------------------------------------- */

static enum account_trouble check(const struct leak_header *header)
{
    bool whole = header->magic == LEAK_STORE_MAGIC && header->version == LEAK_STORE_VERSION;
    size_t needed = offsetof(struct leak_header, request) + sizeof(header->request);

    if (!whole) {
        errno = EINVAL;
        return ACCOUNT_UNUSABLE;
    }
    return header->header_size < needed ? ACCOUNT_OTHER_VERSION : ACCOUNT_GOOD;
}

enum account_trouble account_open(struct account *account, const char *path)
{
    enum account_trouble trouble = ACCOUNT_UNUSABLE;
    struct stat status;
    void *page;

    account->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (account->fd < 0)
        return errno == EACCES || errno == EPERM ? ACCOUNT_FORBIDDEN : ACCOUNT_UNUSABLE;
    if (fstat(account->fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= (off_t)LEAK_PAGE) {
        page = mmap(NULL, LEAK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, account->fd, 0);
        if (page != MAP_FAILED) {
            account->header = page;
            trouble = check(page);
            if (trouble == ACCOUNT_GOOD)
                return trouble;
            munmap(page, LEAK_PAGE);
        }
    }
    close(account->fd);
    return trouble;
}

void account_close(struct account *account)
{
    munmap(account->header, LEAK_PAGE);
    close(account->fd); /* and with it goes the lock */
}

bool account_lock(struct account *account)
{
    /* Where the file system has no locks the states of the request alone keep two apart. */
    return flock(account->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static bool read_at(const struct account *account, void *to, size_t size, uint64_t offset)
{
    return pread(account->fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* A way along the chunks; begins with {.next = LEAK_PAGE}. */
struct walk {
    uint64_t next, payload; /* offsets */
    struct leak_chunk chunk;
};

static bool next_chunk(const struct account *account, uint32_t type, struct walk *walk)
{
    uint64_t used = __atomic_load_n(&account->header->used, __ATOMIC_ACQUIRE);
    struct leak_chunk *chunk = &walk->chunk;

    while (walk->next < used && read_at(account, chunk, sizeof(*chunk), walk->next)) {
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

int account_signal(const struct account *account)
{
    char value[16];
    long signal = SIGNAL_USUAL;

    for (struct walk walk = {.next = LEAK_PAGE}; next_chunk(account, LEAK_CHUNK_OPTIONS, &walk);) {
        size_t length = walk.chunk.length < OPTIONS_MOST ? walk.chunk.length : OPTIONS_MOST;
        char *text = calloc(1, length + 1);
        struct store store = {.options = text};

        if (text && read_at(account, text, length, walk.payload) &&
            store_get_option(&store, "snapshot_signal", value, sizeof(value)))
            signal = strtol(value, NULL, 10);
        free(text);
    }
    return signal >= SIGNAL_LEAST && signal <= SIGNAL_MOST ? (int)signal : SIGNAL_USUAL;
}

/* ---- Looks ----------------------------------------------------------------------------------- */

static bool next_look(const struct account *account, struct walk *walk, struct leak_snapshot *head)
{
    while (next_chunk(account, LEAK_CHUNK_SNAPSHOT, walk))
        if (walk->chunk.length >= sizeof(*head) &&
            read_at(account, head, sizeof(*head), walk->payload) &&
            head->head_size == sizeof(*head))
            return true;
    return false;
}

static void count(struct account_look *look, const struct leak_found *found)
{
    if (found->verdict == LEAK_VERDICT_LOST) {
        look->lost_blocks += found->blocks;
        look->lost_bytes += found->bytes;
    } else if (found->verdict == LEAK_VERDICT_INDIRECT) {
        look->indirect_blocks += found->blocks;
        look->indirect_bytes += found->bytes;
    }
}

static bool add_up(const struct account *account, const struct walk *walk,
                   struct account_look *look)
{
    uint64_t length = walk->chunk.length;
    struct leak_table table = look->head.found;
    struct leak_found found[FOUND_AT_ONCE];

    if (table.at > length || table.count > (length - table.at) / sizeof(*found))
        return false;
    for (uint32_t i = 0, n; i < table.count; i += n) {
        n = table.count - i < FOUND_AT_ONCE ? table.count - i : FOUND_AT_ONCE;
        if (!read_at(account, found, n * sizeof(*found),
                     walk->payload + table.at + (uint64_t)i * sizeof(*found)))
            return false;
        for (uint32_t k = 0; k < n; k++)
            count(look, &found[k]);
    }
    return true;
}

bool account_look(const struct account *account, uint64_t milestone, struct account_look *look)
{
    *look = (struct account_look){0};
    for (struct walk walk = {.next = LEAK_PAGE}; next_look(account, &walk, &look->head);)
        if (look->head.milestone == milestone)
            return add_up(account, &walk, look);
    return false;
}

bool account_trouble_since(const struct account *account, uint64_t when_ns,
                           struct leak_snapshot *head)
{
    struct leak_snapshot one, *newest = NULL;

    for (struct walk walk = {.next = LEAK_PAGE}; next_look(account, &walk, &one);)
        if (one.rung == LEAK_RUNG_NONE && one.when_ns >= when_ns &&
            (!newest || one.when_ns >= newest->when_ns)) {
            *head = one;
            newest = head;
        }
    return newest != NULL;
}
