#include "preload/base/sys.h"
#include "preload/base/atomic.h"
#include "preload/base/syscall.h"
#include "leak_store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>

static void *map(size_t size, int flags, int fd)
{
    long result = CALL(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, flags, fd, 0);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

void *sys_map(size_t size)
{
    return map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void *sys_map_lazily(size_t size)
{
    return map(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void *sys_map_near(uintptr_t address, size_t size)
{
    long result =
        CALL(SYS_mmap, address, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

void *sys_map_shared(size_t size)
{
    return map(size, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void *sys_map_file(int fd, size_t size)
{
    return map(size, MAP_SHARED, fd);
}

bool sys_map_file_at(void *memory, int fd, size_t size, uint64_t offset)
{
    return CALL(SYS_mmap, memory, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                offset) == (long)memory;
}

void sys_map_copy(void *memory, int fd, size_t size)
{
    CALL(SYS_mmap, memory, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
         fd, 0);
}

int sys_protect(void *memory, size_t size, int protection)
{
    return CALL(SYS_mprotect, memory, size, protection);
}

bool sys_map_zeros(void *memory, size_t size)
{
    return CALL(SYS_mmap, memory, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (long)memory;
}

void sys_move(void *memory, size_t size, void *to)
{
    CALL(SYS_mremap, memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

void *sys_map_grow(void *memory, size_t size, size_t larger)
{
    long moved = CALL(SYS_mremap, memory, size, larger, MREMAP_MAYMOVE);
    return moved < 0 ? NULL : (void *)moved;
}

void sys_unmap(void *memory, size_t size)
{
    CALL(SYS_munmap, memory, size);
}

int sys_advise(void *memory, size_t size, int advice)
{
    return CALL(SYS_madvise, memory, size, advice);
}

int sys_open(const char *path, int flags, int mode)
{
    return CALL(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t sys_read(int fd, void *buffer, size_t size)
{
    long result;
    do
        result = CALL(SYS_read, fd, buffer, size);
    while (result == -EINTR);
    return result;
}

ssize_t sys_read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
    return CALL(SYS_pread64, fd, buffer, size, offset);
}

ssize_t sys_write(int fd, const void *buffer, size_t size)
{
    long result;
    do
        result = CALL(SYS_write, fd, buffer, size);
    while (result == -EINTR);
    return result;
}

ssize_t sys_write_quietly(int fd, const void *buffer, size_t size)
{
    /* Raised for this thread while blocked: it is taken back, unless the program's own waits there.
     */
    uint64_t mask;
    sys_signals_block(&mask);
    bool waits = sys_signals_pending() >> (SIGPIPE - 1) & 1;
    ssize_t result = sys_write(fd, buffer, size);
    if (result == -EPIPE && !waits)
        sys_signal_take(SIGPIPE, NULL);
    sys_signals_restore(&mask);
    return result;
}

int sys_close(int fd)
{
    return CALL(SYS_close, fd);
}

/* Not one of the first three, which a program may have closed: who is run finds others there. */
static int memory_file(const char *name, unsigned flags, int how)
{
    int fd = CALL(SYS_memfd_create, name, flags);
    if (fd < 0 || fd > 2)
        return fd;
    int moved = CALL(SYS_fcntl, fd, how, 3);
    sys_close(fd);
    return moved;
}

int sys_memory_file(const char *name)
{
    return memory_file(name, 0, F_DUPFD);
}

int sys_memory_file_kept(const char *name)
{
    return memory_file(name, 1, F_DUPFD_CLOEXEC); /* MFD_CLOEXEC */
}

void sys_rewind(int fd)
{
    CALL(SYS_lseek, fd, 0, 0);
}

int sys_truncate(int fd, uint64_t size)
{
    return CALL(SYS_ftruncate, fd, size);
}

int sys_allocate(int fd, uint64_t size)
{
    return CALL(SYS_fallocate, fd, 0, 0, size);
}

uint64_t sys_space(int fd)
{
    struct statfs disk;
    if (CALL(SYS_fstatfs, fd, &disk) < 0 || !disk.f_blocks)
        return UINT64_MAX;
    uint64_t each = disk.f_frsize ? disk.f_frsize : disk.f_bsize, space;
    return __builtin_mul_overflow(disk.f_bavail, each, &space) ? UINT64_MAX : space;
}

int sys_mkdir(const char *path, int mode)
{
    return CALL(SYS_mkdirat, AT_FDCWD, path, mode);
}

int sys_unlink(const char *path)
{
    return CALL(SYS_unlinkat, AT_FDCWD, path, 0);
}

ssize_t sys_readlink(const char *path, char *buffer, size_t size)
{
    return CALL(SYS_readlinkat, AT_FDCWD, path, buffer, size);
}

int sys_lstat(const char *path, struct stat *out)
{
    return CALL(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int sys_fstat(int fd, struct stat *out)
{
    return CALL(SYS_fstat, fd, out);
}

ssize_t sys_getcwd(char *buffer, size_t size)
{
    return CALL(SYS_getcwd, buffer, size);
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

void sys_write_file(const char *path, const char *text)
{
    int fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    sys_write(fd, text, strlen(text));
    sys_close(fd);
}

int sys_getpid(void)
{
    return CALL(SYS_getpid);
}

int sys_getppid(void)
{
    return CALL(SYS_getppid);
}

int sys_gettid(void)
{
    return CALL(SYS_gettid);
}

unsigned sys_geteuid(void)
{
    return CALL(SYS_geteuid);
}

uint64_t sys_limit(int resource)
{
    struct rlimit limit;
    if (CALL(SYS_prlimit64, 0, resource, 0, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

void sys_limit_set(int resource, uint64_t limit)
{
    struct rlimit both = {limit, limit};
    CALL(SYS_prlimit64, 0, resource, &both, 0);
}

void sys_limit_lift(int resource)
{
    struct rlimit both;
    if (CALL(SYS_prlimit64, 0, resource, 0, &both) < 0)
        return;
    both.rlim_cur = both.rlim_max;
    CALL(SYS_prlimit64, 0, resource, &both, 0);
}

uint64_t sys_clock_ns(int clock)
{
    /* libc's clock_gettime goes through the vDSO, and never fails (so never writes errno) for the
     * clocks we pass. */
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

uint64_t sys_page_size(void)
{
    return getauxval(AT_PAGESZ);
}

/* A signal mask that cannot be read is EFAULT; for one that can be there is no such "how". NULL is
 * no mask, and whatever else is answered (a sandbox's no) is not a yes. */
static bool readable(uintptr_t address)
{
    address &= ~(sizeof(uint64_t) - 1);
    return CALL(SYS_rt_sigprocmask, -1, address, 0, sizeof(uint64_t)) == -EINVAL;
}

static bool peek_page_by_page(uintptr_t address, char *out, size_t size)
{
    while (size) {
        size_t left = LEAK_PAGE - address % LEAK_PAGE, piece = size < left ? size : left;
        if (!readable(address))
            return false;
        memcpy(out, (const void *)address, piece);
        address += piece;
        out += piece;
        size -= piece;
    }
    return true;
}

static bool guesses;

bool sys_peek_guesses(void)
{
    return load_relaxed(&guesses);
}

bool sys_peek(uintptr_t address, void *out, size_t size)
{
    if (unlikely(sys_peek_guesses()))
        return peek_page_by_page(address, out, size);
    struct iovec local = {out, size}, remote = {(void *)address, size};
    long result = CALL(SYS_process_vm_readv, sys_getpid(), &local, 1, &remote, 1, 0);
    if (unlikely(result == -ENOSYS)) {
        store_relaxed(&guesses, true);
        return peek_page_by_page(address, out, size);
    }
    return result == (long)size;
}

void sys_futex_wait(uint32_t *word, uint32_t value)
{
    CALL(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, 0);
}

bool sys_futex_wait_for(uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec time = {ns / 1000000000u, ns % 1000000000u};
    return CALL(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &time) != -ETIMEDOUT;
}

bool sys_futex_wait_shared_for(uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec time = {ns / 1000000000u, ns % 1000000000u};
    return CALL(SYS_futex, word, FUTEX_WAIT, value, &time) != -ETIMEDOUT;
}

void sys_futex_wake_shared(uint32_t *word)
{
    CALL(SYS_futex, word, FUTEX_WAKE, INT32_MAX);
}

void sys_futex_wake(uint32_t *word, int count)
{
    CALL(SYS_futex, word, FUTEX_WAKE_PRIVATE, count);
}

struct directory_entry { /* of getdents64 */
    uint64_t inode;
    int64_t next;
    uint16_t length;
    uint8_t type;
    char name[];
};

bool sys_is_open(int fd)
{
    return CALL(SYS_fcntl, fd, F_GETFD) != -EBADF;
}

ssize_t sys_peer(int fd, void *address, size_t size)
{
    socklen_t length = size;
    long result = CALL(SYS_getpeername, fd, address, &length);
    return result < 0 ? result : (ssize_t)(length < size ? length : size);
}

bool sys_each_number(const char *folder, bool (*visit)(int number, void *context), void *context)
{
    _Alignas(8) char buffer[1024];
    long length = -1;
    bool go_on = true;
    int fd = sys_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    while (fd >= 0 && go_on && (length = CALL(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
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

uint64_t sys_socket_limit(int fd, bool receiving)
{
    struct timeval limit = {0};
    uint32_t size = sizeof limit;
    if (CALL(SYS_getsockopt, fd, SOL_SOCKET, receiving ? SO_RCVTIMEO : SO_SNDTIMEO, &limit, &size) <
        0)
        return 0;
    return (uint64_t)limit.tv_sec * 1000000000u + (uint64_t)limit.tv_usec * 1000u;
}

int sys_poll(int fd, int events, uint64_t ns)
{
    struct pollfd one = {.fd = fd, .events = events};
    struct timespec time = {ns / 1000000000u, ns % 1000000000u};
#ifdef SYS_poll /* the one whose deadline the kernel keeps for restart_syscall */
    (void)time;
    return CALL(SYS_poll, &one, 1, (ns + 999999) / 1000000);
#else
    return CALL(SYS_ppoll, &one, 1, &time, 0, 0);
#endif
}
