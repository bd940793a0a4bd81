#include "preload/base/sys.h"
#include "preload/base/base.h"
#include "leak_store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>

/* ---- Functions that only pass their arguments to a system call ------------------------------- */

#define PASS_ON(type, name, parameters, ...)                                                       \
    type name parameters                                                                           \
    {                                                                                              \
        return (type)SYSCALL(__VA_ARGS__);                                                         \
    }

/* clang-format off */
PASS_ON(int, sys_protect, (void *memory, size_t size, int protection),
        SYS_mprotect, memory, size, protection)
PASS_ON(void, sys_unmap, (void *memory, size_t size), SYS_munmap, memory, size)
PASS_ON(void, sys_unlock, (uintptr_t memory, size_t size), SYS_munlock, memory, size)
PASS_ON(int, sys_lock_all, (int flags), SYS_mlockall, flags)
PASS_ON(int, sys_unlock_all, (void), SYS_munlockall)
PASS_ON(int, sys_advise, (void *memory, size_t size, int advice), SYS_madvise, memory, size, advice)
PASS_ON(int, sys_mincore, (void *memory, size_t size, unsigned char *pages),
        SYS_mincore, memory, size, pages)
PASS_ON(int, sys_open, (const char *path, int flags, int mode),
        SYS_openat, AT_FDCWD, path, flags, mode)
PASS_ON(int, sys_open_at, (int directory, const char *path, int flags),
        SYS_openat, directory, path, flags, 0)
PASS_ON(ssize_t, sys_read_at, (int fd, void *buffer, size_t size, uint64_t offset),
        SYS_pread64, fd, buffer, size, SYS_WIDE(offset))
PASS_ON(int, sys_close, (int fd), SYS_close, fd)
PASS_ON(void, sys_rewind, (int fd), SYS_lseek, fd, 0, 0)
PASS_ON(int, sys_truncate, (int fd, uint64_t size), SYS_ftruncate, fd, SYS_WIDE(size))
PASS_ON(int, sys_allocate, (int fd, uint64_t size), SYS_fallocate, fd, 0, SYS_WIDE(0), SYS_WIDE(size))
PASS_ON(int, sys_mkdir, (const char *path, int mode), SYS_mkdirat, AT_FDCWD, path, mode)
PASS_ON(int, sys_unlink, (const char *path), SYS_unlinkat, AT_FDCWD, path, 0)
PASS_ON(int, sys_rename, (const char *from, const char *to),
        SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0)
PASS_ON(ssize_t, sys_readlink, (const char *path, char *buffer, size_t size),
        SYS_readlinkat, AT_FDCWD, path, buffer, size)
PASS_ON(int, sys_lstat, (const char *path, struct stat *out),
        SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW)
PASS_ON(int, sys_access_effective, (const char *path, int mode),
        SYS_faccessat2, AT_FDCWD, path, mode, AT_EACCESS)
PASS_ON(int, sys_fstat, (int fd, struct stat *out), SYS_fstat, fd, out)
PASS_ON(ssize_t, sys_getcwd, (char *buffer, size_t size), SYS_getcwd, buffer, size)
PASS_ON(void, sys_futex_wait, (uint32_t *word, uint32_t value),
        SYS_futex, word, FUTEX_WAIT_PRIVATE, value, 0)
PASS_ON(void, sys_futex_wake_shared, (uint32_t *word), SYS_futex, word, FUTEX_WAKE, INT32_MAX)
PASS_ON(void, sys_futex_wake, (uint32_t *word, int count),
        SYS_futex, word, FUTEX_WAKE_PRIVATE, count)
/* clang-format on */

/* ---- Mapping memory -------------------------------------------------------------------------- */

static bool is_error(long result)
{
    return result < 0 && result > -4096;
}

static long map_pages(uintptr_t hint, size_t size, int flags, int fd)
{
    return SYSCALL(SYS_mmap, hint, size, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static bool maps_locked;

void sys_set_maps_locked(bool locked)
{
    store_relaxed(&maps_locked, locked);
}

void sys_lock(uintptr_t memory, size_t size, bool on_fault)
{
    if (SYSCALL(SYS_mlock2, memory, size, on_fault ? MLOCK_ONFAULT : 0) == -ENOSYS)
        SYSCALL(SYS_mlock, memory, size);
}

/* Maps pages that are not locked, although mlockall() locks new mappings. It maps one page, which
 * the kernel locks, unlocks it, and then enlarges the mapping, whose new pages are not locked.
 * Shared memory without a file, and memory at a fixed address, cannot grow: they are mapped whole,
 * then unlocked. */
static long map_unlocked(uintptr_t hint, size_t size, int flags, int fd)
{
    bool grows = !hint && (fd >= 0 || flags & MAP_PRIVATE);
    size_t first = grows ? sys_page_size() : size;
    long start = map_pages(hint, first, flags, fd);
    if (is_error(start))
        return start;
    sys_unlock(start, first);
    if (first >= size)
        return start;
    long moved = SYSCALL(SYS_mremap, start, first, size, MREMAP_MAYMOVE);
    if (is_error(moved))
        sys_unmap((void *)start, first);
    return moved;
}

static void *map_memory(uintptr_t hint, size_t size, int flags, int fd)
{
    long result = unlikely(load_relaxed(&maps_locked)) ? map_unlocked(hint, size, flags, fd)
                                                       : map_pages(hint, size, flags, fd);
    if (is_error(result) && sandbox_restricts && flags & MAP_PRIVATE && !hint)
        return sandbox_reserve(size);
    return is_error(result) ? NULL : (void *)result;
}

void *sys_map(size_t size)
{
    return map_memory(0, size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void *sys_map_lazily(size_t size)
{
    return map_memory(0, size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void *sys_map_near(uintptr_t address, size_t size)
{
    return map_memory(address, size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void *sys_map_shared(size_t size)
{
    return map_memory(0, size, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void *sys_map_file(int fd, size_t size)
{
    return map_memory(0, size, MAP_SHARED, fd);
}

/* Maps pages over whatever is mapped at `memory`. */
static bool replace_pages(void *memory, size_t size, int flags, int fd, uint64_t offset)
{
    long result = SYSCALL(SYS_mmap, memory, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd,
                          SYS_MAP_OFFSET(offset));
    if (unlikely(load_relaxed(&maps_locked)) && !is_error(result))
        sys_unlock((uintptr_t)memory, size);
    return result == (long)memory;
}

bool sys_map_file_at(void *memory, int fd, size_t size, uint64_t offset)
{
    return replace_pages(memory, size, MAP_SHARED, fd, offset);
}

void sys_map_file_private(void *memory, int fd, size_t size)
{
    replace_pages(memory, size, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
}

bool sys_map_zeros(void *memory, size_t size)
{
    return replace_pages(memory, size, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void sys_remap_to(void *memory, size_t size, void *to)
{
    SYSCALL(SYS_mremap, memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

void *sys_remap_larger(void *memory, size_t size, size_t larger)
{
    long moved = SYSCALL(SYS_mremap, memory, size, larger, MREMAP_MAYMOVE);
    return is_error(moved) ? NULL : (void *)moved;
}

uint64_t sys_page_size(void)
{
    return getauxval(AT_PAGESZ);
}

/* Makes the kernel read 8 bytes at the address, as a signal mask, in a call of rt_sigprocmask that
 * is invalid. The kernel reads the mask before it checks "how": -EFAULT means that the address
 * cannot be read, -EINVAL that it can. Any other result means that a sandbox refuses the call. */
static long read_as_mask(uintptr_t address)
{
    address &= ~(sizeof(uint64_t) - 1);
    return SYSCALL(SYS_rt_sigprocmask, -1, address, 0, sizeof(uint64_t));
}

bool sys_faults(uintptr_t address)
{
    return read_as_mask(address) == -EFAULT;
}

bool sys_is_readable(uintptr_t address)
{
    return read_as_mask(address) == -EINVAL;
}

static bool peek_page_by_page(uintptr_t address, char *out, size_t size)
{
    while (size) {
        size_t left = LEAK_PAGE - address % LEAK_PAGE, piece = size < left ? size : left;
        if (!sys_is_readable(address))
            return false;
        memcpy(out, (const void *)address, piece);
        address += piece;
        out += piece;
        size -= piece;
    }
    return true;
}

static bool peek_may_fault;

bool sys_peek_may_fault(void)
{
    return load_relaxed(&peek_may_fault);
}

bool sys_peek(uintptr_t address, void *out, size_t size)
{
    if (unlikely(sys_peek_may_fault()))
        return peek_page_by_page(address, out, size);
    struct iovec local = {out, size}, remote = {(void *)address, size};
    long result = SYSCALL(SYS_process_vm_readv, sys_getpid(), &local, 1, &remote, 1, 0);
    if (unlikely(result == -ENOSYS)) {
        store_relaxed(&peek_may_fault, true);
        return peek_page_by_page(address, out, size);
    }
    return result == (long)size;
}

/* ---- Files ----------------------------------------------------------------------------------- */

ssize_t sys_read(int fd, void *buffer, size_t size)
{
    long result;
    do
        result = SYSCALL(SYS_read, fd, buffer, size);
    while (result == -EINTR);
    return result;
}

ssize_t sys_write(int fd, const void *buffer, size_t size)
{
    long result;
    do
        result = SYSCALL(SYS_write, fd, buffer, size);
    while (result == -EINTR);
    return result;
}

ssize_t sys_write_no_sigpipe(int fd, const void *buffer, size_t size)
{
    /* SIGPIPE is blocked during the write, so it becomes pending for this thread and is removed
     * again. If a SIGPIPE of the program was pending before, it stays. */
    uint64_t mask;
    sys_signals_block(&mask);
    bool waits = sys_signals_pending() >> (SIGPIPE - 1) & 1;
    ssize_t result = sys_write(fd, buffer, size);
    if (result == -EPIPE && !waits)
        sys_take_signal(SIGPIPE, NULL);
    sys_signals_restore(&mask);
    return result;
}

/* Opens a memory file, but never as descriptor 0, 1 or 2: the program may have closed these, and
 * sys_spawn puts other files there in a child. */
static int open_memfd(const char *name, unsigned flags, int how)
{
    int fd = SYSCALL(SYS_memfd_create, name, flags);
    if (fd < 0 || fd > 2)
        return fd;
    int moved = SYSCALL(SYS_fcntl, fd, how, 3);
    sys_close(fd);
    return moved;
}

int sys_memfd(const char *name)
{
    return open_memfd(name, 0, F_DUPFD);
}

int sys_memfd_cloexec(const char *name)
{
    return open_memfd(name, 1, F_DUPFD_CLOEXEC); /* MFD_CLOEXEC */
}

uint64_t sys_disk_free(int fd)
{
    struct statfs disk;
    if (SYS_FSTATFS(fd, &disk) < 0 || !disk.f_blocks)
        return UINT64_MAX;
    uint64_t each = disk.f_frsize ? disk.f_frsize : disk.f_bsize, space;
    return __builtin_mul_overflow(disk.f_bavail, each, &space) ? UINT64_MAX : space;
}

ssize_t sys_read_file(const char *path, char *buffer, size_t size)
{
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    size_t length = 0;
    ssize_t got = 0;
    while (length + 1 < size && (got = sys_read(fd, buffer + length, size - 1 - length)) > 0)
        length += got;
    sys_close(fd);
    buffer[length] = '\0';
    return got < 0 && !length ? got : (ssize_t)length;
}

size_t sys_program_path(char *buffer, size_t size)
{
    const char *called = (const char *)getauxval(AT_EXECFN);
    ssize_t length = sys_readlink("/proc/self/exe", buffer, size - 1);
    if (length <= 0) {
        length = called && strlen(called) < size ? strlen(called) : 0;
        memcpy(buffer, called, length);
    }
    buffer[length] = '\0';
    return length;
}

void sys_write_file(const char *path, const char *text)
{
    int fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    sys_write(fd, text, strlen(text));
    sys_close(fd);
}

struct directory_entry { /* the layout that the system call getdents64 writes */
    uint64_t inode;
    int64_t next;
    uint16_t length;
    uint8_t type;
    char name[];
};

bool sys_is_open(int fd)
{
    return SYSCALL(SYS_fcntl, fd, F_GETFD) != -EBADF;
}

ssize_t sys_getpeername(int fd, void *address, size_t size)
{
    socklen_t length = size;
    long result = SYSCALL(SYS_getpeername, fd, address, &length);
    return result < 0 ? result : (ssize_t)(length < size ? length : size);
}

bool sys_each_numbered_entry(const char *folder, bool (*visit)(int number, void *context),
                             void *context)
{
    _Alignas(8) char buffer[1024];
    long length = -1;
    bool go_on = true;
    int fd = sys_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    while (fd >= 0 && go_on && (length = SYSCALL(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < length && go_on;) {
            const struct directory_entry *entry = (const void *)(buffer + at);
            int number = 0;
            for (const char *digit = entry->name; *digit >= '0' && *digit <= '9'; digit++)
                number = number * 10 + (*digit - '0');
            if (number)
                go_on = visit(number, context);
            at += entry->length;
        }
    if (fd >= 0)
        sys_close(fd);
    return length >= 0;
}

uint64_t sys_socket_timeout(int fd, bool receiving)
{
    struct timeval limit = {0};
    uint32_t size = sizeof limit;
    if (SYSCALL(SYS_getsockopt, fd, SOL_SOCKET, receiving ? SO_RCVTIMEO : SO_SNDTIMEO, &limit,
                &size) < 0)
        return 0;
    return (uint64_t)limit.tv_sec * 1000000000u + (uint64_t)limit.tv_usec * 1000u;
}

/* ---- Time, limits, futexes ------------------------------------------------------------------- */

uint64_t sys_rlimit(int resource)
{
    struct rlimit limit;
    if (SYSCALL(SYS_prlimit64, 0, resource, 0, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

void sys_set_rlimit(int resource, uint64_t limit)
{
    struct rlimit both = {limit, limit};
    SYSCALL(SYS_prlimit64, 0, resource, &both, 0);
}

void sys_raise_rlimit(int resource)
{
    struct rlimit both;
    if (SYSCALL(SYS_prlimit64, 0, resource, 0, &both) < 0)
        return;
    both.rlim_cur = both.rlim_max;
    SYSCALL(SYS_prlimit64, 0, resource, &both, 0);
}

uint64_t sys_clock_ns(int clock)
{
    /* clock_gettime of libc reads the clock without a system call (vDSO). For the clocks used here
     * it never fails, so it never writes errno. */
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

static bool futex_wait_for(uint32_t *word, int operation, uint32_t value, uint64_t ns)
{
    struct timespec time = {ns / 1000000000u, ns % 1000000000u};
    return SYSCALL(SYS_futex, word, operation, value, &time) != -ETIMEDOUT;
}

bool sys_futex_wait_for(uint32_t *word, uint32_t value, uint64_t ns)
{
    return futex_wait_for(word, FUTEX_WAIT_PRIVATE, value, ns);
}

bool sys_futex_wait_shared_for(uint32_t *word, uint32_t value, uint64_t ns)
{
    return futex_wait_for(word, FUTEX_WAIT, value, ns);
}
