/* witness.c - the independent view of a process: a preload that knows nothing of libleak.
 *
 * Placed behind it (LD_PRELOAD="libleak.so libwitness.so") it is the "real malloc" libleak calls, so
 * both count the same successful calls; alone it gives the run to compare with. In $WITNESS_DIR it
 * leaves, for each process image, a file "count.PID.N" (one struct count) and at the end a file
 * "state.PID.N": open descriptors, signal masks and handlers as the kernel has them.
 *
 * It allocates nothing itself, and finds the next allocator with dlsym; what dlsym asks for meanwhile
 * comes from a small pool and is not counted.  A fork child is known by a page that forks wipe. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct count {
    _Atomic uint64_t allocs, frees; /* calls that returned a block; blocks given back */
    uint64_t pid, forked;
    char exe[224];
};

/* Lives in a page that a fork child sees zeroed. */
static struct self {
    struct count *count;
    int number;
} *self;

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
    void (*_exit)(int) __attribute__((noreturn));
} next;

static _Alignas(16) char pool[65536];
static atomic_size_t pool_used;
static __thread int resolving __attribute__((tls_model("initial-exec")));

static int in_pool(const void *p) { return (const char *)p >= pool && (const char *)p < pool + sizeof pool; }

static void *pool_take(size_t n)
{
    size_t at = atomic_fetch_add(&pool_used, (n + 31) & ~15ul);

    if (at + n + 16 > sizeof pool)
        return NULL;
    *(size_t *)(pool + at) = n;
    return pool + at + 16;
}

static void resolve(void)
{
    resolving++;
#define FIND(name) next.name = (__typeof__(next.name))dlsym(RTLD_NEXT, #name)
    FIND(calloc), FIND(malloc), FIND(realloc), FIND(memalign), FIND(aligned_alloc), FIND(valloc);
    FIND(pvalloc), FIND(posix_memalign), FIND(free), FIND(_exit), FIND(reallocarray);
    resolving--;
}

/* ---- The two files -------------------------------------------------------------------------- */

static int path(char *to, size_t size, const char *what, int number)
{
    const char *dir = getenv("WITNESS_DIR");

    return dir && snprintf(to, size, "%s/%s.%d.%d", dir, what, getpid(), number) < (int)size;
}

static struct count *me(void)
{
    char name[512];
    int saved = errno, fd = -1, forked = self != NULL;

    if (self && self->count)
        return self->count;
    if (!self) {
        self = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(self, 4096, MADV_WIPEONFORK);
    }
    self->count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int n = 0; fd < 0 && n < 1000; n++) {
        self->number = n;
        if (!path(name, sizeof name, "count", n))
            break;
        fd = syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0) {
        if (!ftruncate(fd, 4096))
            mmap(self->count, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
        syscall(SYS_close, fd);
    }
    self->count->pid = getpid();
    self->count->forked = forked;
    if (readlink("/proc/self/exe", self->count->exe, sizeof self->count->exe - 1) < 0)
        self->count->exe[0] = '?';
    errno = saved;
    return self->count;
}

static void dump_fds(int out)
{
    char entries[8192], name[64], link[256], line[512];
    int dir = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0), fd;
    long n;

    while ((n = syscall(SYS_getdents64, dir, entries, sizeof entries)) > 0)
        for (long at = 0; at < n; at += *(uint16_t *)(entries + at + 16)) {
            const char *word = entries + at + 19;
            if (word[0] == '.' || (fd = atoi(word)) == dir || fd == out)
                continue;
            snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
            ssize_t len = readlink(name, link, sizeof link - 1);
            link[len < 0 ? 0 : len] = 0;
            len = snprintf(line, sizeof line, "fd %d %s flags %o %o\n", fd, link,
                           (unsigned)fcntl(fd, F_GETFD), (unsigned)fcntl(fd, F_GETFL));
            write(out, line, len);
        }
    syscall(SYS_close, dir);
}

static void dump_status(int out)
{
    static char text[8192];
    int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY, 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    char *sig = text;

    syscall(SYS_close, fd);
    text[n < 0 ? 0 : n] = 0;
    while ((sig = strstr(sig, "\nSig")) || (sig = NULL)) {
        char *end = strchr(++sig, '\n');
        if (!strncmp(sig, "SigB", 4) || !strncmp(sig, "SigI", 4) || !strncmp(sig, "SigC", 4))
            write(out, sig, end + 1 - sig);
    }
}

static void dump(int status)
{
    char name[512], line[512];
    struct count *c = me();
    static _Atomic uint64_t done;

    if ((pid_t)c->pid != getpid()) /* a vfork child: the parent goes on */
        return;
    if (atomic_exchange(&done, c->pid) == c->pid || !path(name, sizeof name, "state", self->number))
        return;
    /* A high number, so that the list of low ones is the program's own. */
    int fd = syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    int n = snprintf(line, sizeof line, "%s%s\n", c->exe, c->forked ? " (forked)" : "");
    write(fd, line, n);
    dump_fds(fd);
    dump_status(fd);
    syscall(SYS_close, fd);
    (void)status;
}

static __attribute__((constructor)) void start(void) { me(); }
static __attribute__((destructor)) void end(void) { dump(0); }

EXPORT void _exit(int status)
{
    dump(status);
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
EXPORT void _Exit(int status) { _exit(status); }

/* ---- The counted calls ---------------------------------------------------------------------- */

static void *counted(void *p)
{
    if (p)
        me()->allocs++;
    return p;
}

EXPORT void *malloc(size_t n)
{
    if (!next.malloc) {
        if (resolving)
            return pool_take(n);
        resolve();
    }
    return counted(next.malloc(n));
}

EXPORT void *calloc(size_t a, size_t b)
{
    if (!next.calloc) {
        if (resolving)
            return pool_take(a * b); /* fresh from .bss */
        resolve();
    }
    return counted(next.calloc(a, b));
}

EXPORT void free(void *p)
{
    if (!p || in_pool(p))
        return;
    if (!next.free)
        resolve();
    me()->frees++;
    next.free(p);
}

EXPORT void *realloc(void *p, size_t n)
{
    if (!next.realloc && !resolving)
        resolve();
    if (resolving || in_pool(p)) {
        void *q = malloc(n);
        if (p && q)
            memcpy(q, p, n < ((size_t *)p)[-2] ? n : ((size_t *)p)[-2]);
        return q;
    }
    void *q = next.realloc(p, n);
    if (p && (q || !n))
        me()->frees++;
    return counted(q);
}

EXPORT void *reallocarray(void *p, size_t a, size_t b)
{
    size_t n;

    if (__builtin_mul_overflow(a, b, &n)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, n);
}

#define READY(name) if (!next.name) resolve()
EXPORT void *memalign(size_t a, size_t n) { READY(memalign); return counted(next.memalign(a, n)); }
EXPORT void *aligned_alloc(size_t a, size_t n) { READY(aligned_alloc); return counted(next.aligned_alloc(a, n)); }
EXPORT void *valloc(size_t n) { READY(valloc); return counted(next.valloc(n)); }
EXPORT void *pvalloc(size_t n) { READY(pvalloc); return counted(next.pvalloc(n)); }
EXPORT int posix_memalign(void **p, size_t a, size_t n)
{
    READY(posix_memalign);
    int r = next.posix_memalign(p, a, n);
    if (!r)
        me()->allocs++;
    return r;
}
