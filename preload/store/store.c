#include "preload/store/store.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/log.h"
#include "preload/options/options.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "leak_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* The size of the file in bytes if nothing limits it. The file is sparse: only the pages that were
 * written take disk space. */
#define SIZE_WANTED (1ull << 30)
#define SIZE_LEAST (256ull << 10)
/* The size of the file with kernels before 5.14, which allocate all of it at the start. */
#define SIZE_PREALLOCATED (32ull << 20)
#define SIZE_PREPARED (4ull << 20) /* size that is allocated before the program enters a sandbox */
/* Number of bytes behind a reserved chunk that are allocated in advance, for the next chunks; at
 * most a quarter of the file. */
#define AHEAD_MOST (64ull << 10)

struct leak_header *store_header;

static struct {
    uint64_t size;
    uint64_t charged; /* bytes of chunks in the file, counted with arena_charge */
    /* Pages below this offset are allocated, or will be by the thread that reserved them. */
    uint64_t populated;
    char directory[512];
    char name[40];
    char path[640];
    bool in_file;
    bool preallocated; /* every page of the file is allocated already (kernels before 5.14) */
    bool said_full;
    /* In a process that could not create a file: the header of its nearest ancestor that has
     * one. */
    struct leak_header *nearest;
} store;

const char *store_path(void)
{
    return store.path;
}

void store_count_untracked(enum leak_untracked why, uint64_t count)
{
    if (store_header)
        add_relaxed(&store_header->untracked[why], count);
}

void store_count_process(enum leak_untracked why, int64_t count)
{
    if (store.nearest)
        add_relaxed(&store.nearest->untracked[why], count);
    else
        store_count_untracked(why, count);
}

/* Says whether a directory belongs to another user who alone may write there. Owner and mode
 * decide, not what this process may do now: a user other than root loses capabilities in exec. */
static bool is_of_another_user(const char *directory)
{
    struct stat info;
    unsigned user = sys_geteuid();
    return user && sys_lstat(directory, &info) == 0 && info.st_uid != user &&
           !(info.st_mode & (S_IWGRP | S_IWOTH));
}

bool store_is_writable(void)
{
    if (!store.in_file)
        return !store.nearest;
    if (is_of_another_user(store.directory))
        return false;
    int error = sys_access_effective(store.directory, W_OK | X_OK);
    /* ENOENT is no obstacle: the next process makes the directory. */
    return error != -EACCES && error != -EROFS && error != -ENOTDIR;
}

static void count_abandoned(void)
{
    store_count_untracked(LEAK_UNTRACKED_ABANDONED, 1);
}

void store_set_flag(enum leak_header_flag flag)
{
    or_relaxed(&store_header->flags, flag);
}

void store_clear_flag(enum leak_header_flag flag)
{
    __atomic_fetch_and(&store_header->flags, ~(uint32_t)flag, __ATOMIC_RELAXED);
}

/* ---- The directory of the recording file ----------------------------------------------------- */

/* Makes the directory of the recording file if it is missing. is_private: fails unless the
 * directory belongs to this user and no other user may use it. */
static int make_directory(const char *path, bool is_private)
{
    struct stat info;
    int made = sys_mkdir(path, 0700);
    if (made < 0 && made != -EEXIST && made != -EROFS && made != -EACCES && made != -EPERM)
        return made;
    int found = sys_lstat(path, &info);
    if (found < 0)
        return made < 0 ? made : found;
    if (is_private &&
        (!S_ISDIR(info.st_mode) || info.st_uid != sys_geteuid() || info.st_mode & 077))
        return -EPERM;
    return 0;
}

static bool pick_default_directory(char **envp)
{
    const char *bases[] = {options_getenv(envp, "XDG_RUNTIME_DIR"), "/dev/shm", "/tmp"};
    for (size_t i = 0; i < ARRAY_LENGTH(bases); i++) {
        if (!bases[i] || bases[i][0] != '/')
            continue;
        struct strbuf path = STRBUF_ON(store.directory);
        strbuf_add_all(&path, bases[i], "/libleak-", NULL);
        strbuf_add_number(&path, sys_geteuid());
        if (!path.cut && make_directory(store.directory, true) == 0)
            return true;
    }
    return false;
}

const char *store_error_text(int error)
{
    static const struct {
        int error;
        const char *words;
    } table[] = {
        {EACCES, "permission denied"},
        {EROFS, "read-only file system"},
        {ENOSPC, "no space left"},
        {EDQUOT, "quota reached"},
        {ENOENT, "no such directory"},
        {ENOTDIR, "not a directory"},
        {EMFILE, "no descriptor left"},
        {ENFILE, "no descriptor left"},
        {EFBIG, "file size limit"},
        {EPERM, "refused: a sandbox, or a directory of another user"},
        {ENOMEM, "no memory"},
        {EFAULT, "no space left"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        if (table[i].error == -error)
            return table[i].words;
    return "it cannot be written";
}

/* ---- Creating and mapping the file ----------------------------------------------------------- */

/* Returns the largest size of the file that disk space allows. The program may need the same disk,
 * so the file leaves it an eighth of what is free now; each process computes that for its own file.
 * The result is at least SIZE_LEAST, even if less space is free. */
static uint64_t disk_share(int fd)
{
    uint64_t share = sys_disk_free(fd) / 8 * 7 / LEAK_PAGE * LEAK_PAGE;
    return share < SIZE_LEAST ? SIZE_LEAST : share;
}

/* Returns the largest size of the file that a limit of the address space allows. Nearly all of the
 * address space is left to the program. */
static uint64_t space_share(uint64_t limit)
{
    return limit / 16 & -sys_page_size();
}

static uint64_t wanted_size(int fd)
{
    uint64_t size = SIZE_WANTED, file = sys_rlimit(RLIMIT_FSIZE), space = sys_rlimit(RLIMIT_AS);
    uint64_t share = disk_share(fd);
    if (share < size)
        size = share;
    if (file < size)
        size = file / LEAK_PAGE * LEAK_PAGE;
    if (space_share(space) < size)
        size = space_share(space);
    return size;
}

static int create_unique_file(void)
{
    int fd = -EEXIST;
    for (uint64_t n = 1; fd == -EEXIST && n < 10000; n++) {
        struct strbuf path = STRBUF_ON(store.path);
        strbuf_add_all(&path, store.directory, "/", store.name, ".", NULL);
        strbuf_add_number(&path, sys_getpid());
        strbuf_add(&path, ".");
        strbuf_add_number(&path, n);
        strbuf_add(&path, ".leak");
        fd = path.cut
                 ? -ENAMETOOLONG
                 : sys_open(store.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    return fd;
}

/* Gives the file a size by writing zeros, where a sandbox forbids ftruncate. */
static int write_zeros(int fd)
{
    static const char zeros[64 << 10];
    for (uint64_t written = 0; written < SIZE_PREPARED; written += sizeof zeros)
        if (sys_write(fd, zeros, sizeof zeros) != sizeof zeros)
            return -ENOSPC;
    store.size = store.populated = SIZE_PREPARED;
    return 0;
}

static int set_size(int fd)
{
    int error = store.size < SIZE_LEAST ? -EFBIG : sys_truncate(fd, store.size);
    return error < 0 && error != -EFBIG && sandbox_restricts ? write_zeros(fd) : error;
}

/* Maps fd and allocates its first page. Returns NULL, with a negative errno in *error, when that
 * fails. */
static struct leak_header *map_file(int fd, int *error)
{
    store.size = wanted_size(fd);
    store.populated = 0;
    store.preallocated = false;
    *error = set_size(fd);
    if (*error < 0)
        return NULL;
    struct leak_header *header = sys_map_file(fd, store.size);
    while (!header && store.size / 4 >= SIZE_LEAST) {
        store.size /= 4;
        header = sys_map_file(fd, store.size);
    }
    if (!header) {
        *error = -ENOMEM;
        return NULL;
    }
    *error = store.populated ? 0 : sys_advise(header, LEAK_PAGE, MADV_POPULATE_WRITE);
    if (*error == -EINVAL) {
        /* Kernels before 5.14 have no MADV_POPULATE_WRITE. All pages are allocated now: a page
         * without disk space would raise SIGBUS later. */
        sys_unmap(header, store.size);
        store.size = store.size < SIZE_PREALLOCATED ? store.size : SIZE_PREALLOCATED;
        *error = sys_allocate(fd, store.size);
        header = *error < 0 ? NULL : sys_map_file(fd, store.size);
        store.preallocated = true;
        return header;
    }
    if (*error < 0) {
        sys_unmap(header, store.size);
        return NULL;
    }
    sys_advise(header, store.size, MADV_DONTDUMP);
    return header;
}

static struct leak_header *create_file(int *error)
{
    int fd = create_unique_file();
    *error = fd;
    if (fd < 0)
        return NULL;
    struct leak_header *header = map_file(fd, error);
    sys_close(fd);
    if (!header)
        sys_unlink(store.path);
    return header;
}

static uint64_t read_start_time(void)
{
    char buffer[1024];
    if (sys_read_file("/proc/self/stat", buffer, sizeof buffer) <= 0)
        return 0;
    /* Field 2, the name of the program, may contain spaces and brackets. */
    const char *at = strrchr(buffer, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    const char *end = at ? strchr(at, ' ') : NULL;
    uint64_t ticks = 0;
    if (end)
        parse_number(at, end - at, &ticks);
    return ticks;
}

static void fill_header(struct leak_header *header)
{
    header->version = LEAK_STORE_VERSION;
    header->header_size = sizeof *header;
    header->machine = LEAK_CPU_MACHINE;
    header->file_size = store.size;
    header->used = LEAK_PAGE;
    header->pid = sys_getpid();
    header->ppid = sys_getppid();
    header->start_time = read_start_time();
    header->started_ns = sys_clock_ns(CLOCK_REALTIME);
    header->peak_ns = header->started_ns;
    header->restricted_ns = sandbox_restricts ? header->started_ns : 0;
    if (sys_read_file("/proc/sys/kernel/hostname", header->host, sizeof header->host) > 0) {
        char *newline = strchr(header->host, '\n');
        if (newline)
            *newline = '\0';
    }
    /* Pairs with load_acquire in the readers of the file: from here on the page is a valid
     * header. */
    store_release(&header->magic, LEAK_STORE_MAGIC);
}

static void log_no_file(int error)
{
    log_line("no recording file in ", store.directory, ": ", store_error_text(error),
             "; the recording is in memory only and ends with the process. "
             "Set LIBLEAK_OPTIONS=dir=DIRECTORY to a writable one",
             NULL);
}

/* Fills the header and sets store_header. header: the mapped file; NULL: there is no file, and the
 * recording goes to memory. False: there is no memory. */
static bool begin_recording(struct leak_header *header)
{
    store.in_file = header != NULL;
    if (!header) {
        store.path[0] = '\0';
        store.size = SIZE_WANTED;
        if (space_share(sys_rlimit(RLIMIT_AS)) < store.size)
            store.size = space_share(sys_rlimit(RLIMIT_AS)) + LEAK_PAGE;
        while (!(header = sys_map_shared(store.size)) && store.size / 4 >= SIZE_LEAST)
            store.size /= 4;
    }
    if (!header)
        return false;
    fill_header(header);
    store_header = header;
    return true;
}

static void set_program_name(const char *name)
{
    size_t length = 0;
    for (; *name && length < 32; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9') || strchr("._+-", *name);
        store.name[length++] = plain ? *name : '_';
    }
    store.name[length] = '\0';
}

/* Sets the directory of the recording file, as an absolute path: a fork child may create its file
 * there after chdir. */
static void set_directory(const char *dir)
{
    char here[PATH_MAX];
    struct strbuf path = STRBUF_ON(store.directory);
    if (dir[0] != '/' && sys_getcwd(here, sizeof here) > 0 && here[0] == '/') {
        strbuf_add_all(&path, here, "/", NULL);
    }
    strbuf_add(&path, dir);
    if (path.cut) {
        path = STRBUF_ON(store.directory);
        strbuf_add(&path, dir);
    }
}

bool store_create(const char *dir, const char *name, char **envp)
{
    int error = 0;
    guard_callbacks.abandoned = count_abandoned;
    set_program_name(*name ? name : "program");
    if (*dir) {
        set_directory(dir);
        error = make_directory(store.directory, false);
    } else if (!pick_default_directory(envp)) {
        error = -EACCES;
    }
    struct leak_header *header = error < 0 ? NULL : create_file(&error);
    /* Only the first process of a tree reports that there is no file; the parent of the others has
     * libleak mapped, too. In a sandbox that forbids new files no process reports it, because
     * another directory would not help. */
    bool is_news = !sandbox_restricts && !sys_parent_has_mapped("/libleak.so");
    if (!header && (options_current.verbosity || is_news))
        log_no_file(error);
    return begin_recording(header);
}

bool store_create_child(struct leak_header **parent, uint64_t *parent_size)
{
    int error = 0;
    *parent = store_header;
    *parent_size = store.size;
    store.said_full = false;
    arena_discharge(store.charged);
    store.charged = 0;
    /* A fork child does not try to create a file when its parent has none. */
    bool tries = store.in_file;
    struct leak_header *header = tries ? create_file(&error) : NULL;
    if (tries && !header) {
        store.nearest = *parent;
        if (options_current.verbosity)
            log_no_file(error);
    }
    if (store.nearest)
        store_count_process(LEAK_UNTRACKED_UNRECORDED, 1);
    if (!header && !tries)
        header = sys_map_shared(store.size);
    if (!header)
        return begin_recording(NULL);
    fill_header(header);
    store_header = header;
    return true;
}

void store_unmap_parent(struct leak_header *parent, uint64_t parent_size)
{
    uint64_t kept = parent == store.nearest ? sys_page_size() : 0;
    sys_unmap((char *)parent + kept, parent_size - kept);
}

void store_make_private(void)
{
    if (!store.in_file) {
        void *copy = sys_map_lazily(store.size);
        if (copy) {
            memcpy(copy, store_header, store_header->used);
            sys_remap_to(copy, store.size, store_header);
        }
        return;
    }
    int fd = sys_open(store.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    sys_map_file_private(store_header, fd, store.size);
    sys_advise(store_header, store.size, MADV_DONTDUMP);
    sys_close(fd);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static void report_full(void)
{
    store_set_flag(LEAK_FLAG_FULL);
    if (!exchange_relaxed(&store.said_full, true))
        log_line("no room left for ", store.path[0] ? store.path : "the recording",
                 ": new call stacks are kept in memory only and will be missing from the report",
                 NULL);
}

/* Reserves size bytes of the file and returns their offset; 0: there are not that many left. */
static uint64_t reserve_bytes(uint64_t size)
{
    uint64_t offset = load_relaxed(&store_header->used);
    do {
        if (offset + size > store.size)
            return 0;
    } while (!__atomic_compare_exchange_n(&store_header->used, &offset, offset + size, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return offset;
}

/* Gives the kernel advice about a part of the file. Advice covers whole pages: advise_outwards
 * includes the rest of the first and last page, where that does no harm; advise_inwards leaves
 * these pages out. */
static int advise_outwards(uint64_t offset, uint64_t size, int advice)
{
    uint64_t start = offset & -sys_page_size();
    return sys_advise((char *)store_header + start, offset + size - start, advice);
}

static void advise_inwards(uint64_t offset, uint64_t size, int advice)
{
    uint64_t page = sys_page_size(), start = round_up(offset, page), end = (offset + size) & -page;
    if (start < end)
        sys_advise((char *)store_header + start, end - start, advice);
}

static uint64_t bytes_ahead(uint64_t end)
{
    uint64_t ahead = end / 4 < AHEAD_MOST ? end / 4 / LEAK_PAGE * LEAK_PAGE : AHEAD_MOST;
    return ahead < store.size - end ? ahead : store.size - end;
}

/* Allocates the reserved bytes, and some behind them for the next chunks. populated:
 * store.populated as read before this thread reserved its bytes; the bytes below it are allocated
 * by the thread that set it. */
static bool populate(uint64_t offset, uint64_t size, uint64_t populated)
{
    uint64_t ahead = bytes_ahead(offset + size);
    if (offset + size <= populated)
        return true;
    if (advise_outwards(offset, size + ahead, MADV_POPULATE_WRITE) == 0) {
        store_release(&store.populated, offset + size + ahead);
        return true;
    }
    return ahead && advise_outwards(offset, size, MADV_POPULATE_WRITE) == 0;
}

static void begin_chunk(struct leak_chunk *chunk, enum leak_chunk_type type, uint64_t offset,
                        uint64_t size, uint64_t first)
{
    chunk->type = type;
    chunk->offset = offset;
    chunk->size = size;
    chunk->first = first;
    /* Pairs with load_acquire in the readers of the file: they see the fields that were written
     * above. */
    store_release(&chunk->magic, LEAK_CHUNK_MAGIC);
}

/* Reserves and allocates size bytes for a chunk; *offset: where. NULL: there is no room, and the
 * bytes at *offset, if that is not 0, stay unused. */
static struct leak_chunk *reserve_chunk(uint64_t size, uint64_t *offset)
{
    uint64_t populated = load_acquire(&store.populated);
    *offset = reserve_bytes(size);
    if (!*offset || (store.in_file && !store.preallocated && !populate(*offset, size, populated))) {
        report_full();
        /* Readers skip the reserved pages, which are never published as a chunk. Pages that were
         * allocated are freed again, because the program may need the same disk. */
        if (*offset)
            advise_inwards(*offset, size, MADV_REMOVE);
        return NULL;
    }
    return (struct leak_chunk *)((char *)store_header + *offset);
}

void store_prepare_restriction(const struct sandbox_filter *filter)
{
    const struct sandbox_call call = {SYS_madvise,
                                      {(uintptr_t)store_header, LEAK_PAGE, MADV_POPULATE_WRITE}};
    uint64_t used = load_relaxed(&store_header->used), left = store.size - used;
    uint64_t size = left < SIZE_PREPARED ? left : SIZE_PREPARED;
    if (!store_header->restricted_ns)
        store_header->restricted_ns = sys_clock_ns(CLOCK_REALTIME);
    if (store.in_file && !(filter && sandbox_filter_allows(filter, &call)) &&
        advise_outwards(used, size, MADV_POPULATE_WRITE) >= 0)
        store.populated = used + size;
}

void *store_new_chunk_in_file(enum leak_chunk_type type, uint64_t payload, uint64_t first)
{
    uint64_t size = round_up(sizeof(struct leak_chunk) + payload, LEAK_PAGE), offset;
    struct leak_chunk *chunk = reserve_chunk(size, &offset);
    if (!chunk)
        return NULL;
    begin_chunk(chunk, type, offset, size, first);
    return chunk + 1;
}

void *store_new_chunk(enum leak_chunk_type type, uint64_t payload, uint64_t first)
{
    uint64_t size = round_up(sizeof(struct leak_chunk) + payload, LEAK_PAGE), offset;
    if (!arena_charge(size))
        return NULL;
    struct leak_chunk *chunk = reserve_chunk(size, &offset);
    if (!chunk) {
        chunk = sys_map(size);
        if (!chunk) {
            arena_discharge(size);
            return NULL;
        }
        arena_register(chunk, size);
    } else {
        add_relaxed(&store.charged, size);
    }
    begin_chunk(chunk, type, offset, size, first);
    return chunk + 1;
}

void store_publish(void *payload, uint64_t length)
{
    store_release(&((struct leak_chunk *)payload - 1)->length, length);
}

void store_write_chunk(enum leak_chunk_type type, const void *bytes, uint64_t length)
{
    void *payload = store_new_chunk(type, length, 0);
    if (!payload)
        return;
    memcpy(payload, bytes, length);
    store_publish(payload, length);
}

bool store_contains(const void *payload)
{
    return (uintptr_t)payload - (uintptr_t)store_header < store.size;
}

uint64_t store_mapped_size(void)
{
    return store.size;
}

void store_limit_space(uint64_t limit)
{
    static struct lock lock;
    struct locked locked = lock_take(&lock);
    /* Another thread may be reserving a chunk that it has compared with the old size. "needed" has
     * 2 * AHEAD_MOST bytes more than are used, which are enough for that chunk. */
    uint64_t needed = store_header ? load_relaxed(&store_header->used) + 2 * AHEAD_MOST : 0;
    uint64_t before = store.size, size = space_share(limit);
    if (size < needed)
        size = round_up(needed, sys_page_size());
    if (store_header && size < before) {
        store_release(&store.size, size);
        sys_unmap((char *)store_header + size, before - size);
    }
    lock_give(&locked);
}

uint64_t store_offset_of(const void *payload)
{
    return (uintptr_t)payload - (uintptr_t)store_header;
}

void *store_reuse_chunk(enum leak_chunk_type type, uint64_t offset, uint64_t payload)
{
    char *bytes = (char *)store_header + offset;
    const struct leak_chunk *chunk = (struct leak_chunk *)bytes - 1;
    if (!offset || chunk->type != type || chunk->size < sizeof *chunk + payload)
        return NULL;
    store_publish(bytes, 0);
    return bytes;
}

const void *store_read_chunk(enum leak_chunk_type type, uint64_t offset, uint64_t least)
{
    const char *bytes = (const char *)store_header + offset;
    const struct leak_chunk *chunk = (const struct leak_chunk *)bytes - 1;
    if (!offset || chunk->type != type || load_acquire(&chunk->length) < least)
        return NULL;
    return bytes;
}
