#include "preload/interpose/real_functions.h"
#include "preload/base/base.h"
#include "preload/interpose/bootstrap_alloc.h"
#include "preload/elf/exec_target.h"
#include "preload/elf/symbols.h"
#include "arch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/syscall.h>

static void *boot_malloc(size_t size)
{
    return boot_alloc(size, 16);
}

static void *boot_calloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : boot_alloc(bytes, 16);
}

static void *boot_realloc(void *old, size_t size)
{
    void *block = boot_alloc(size, 16);
    if (block && old && boot_owns(old))
        memcpy(block, old, boot_size(old) < size ? boot_size(old) : size);
    return block;
}

static void boot_free(void *block UNUSED)
{
}

static void *boot_memalign(size_t alignment, size_t size)
{
    return boot_alloc(size, alignment);
}

static int boot_posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = boot_alloc(size, alignment);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

/* A malloc that stands before us may map memory and read files while dlsym works for us. */
static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
    long result = arch_syscall(number, a, b, c, d, e, f);
    if (result >= 0 || result < -4095)
        return result;
    errno = -result;
    return -1;
}

static void *boot_mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    return (void *)kernel(SYS_mmap, (long)at, size, access, flags, fd, offset);
}

static int boot_munmap(void *at, size_t size)
{
    return kernel(SYS_munmap, (long)at, size, 0, 0, 0, 0);
}

static int boot_open(const char *path, int flags, ...)
{
    return kernel(SYS_openat, AT_FDCWD, (long)path, flags, 0600, 0, 0);
}

static int boot_openat(int folder, const char *path, int flags, ...)
{
    return kernel(SYS_openat, folder, (long)path, flags, 0600, 0, 0);
}

static int boot_close(int fd)
{
    return kernel(SYS_close, fd, 0, 0, 0, 0, 0);
}

struct real real = {
    .mmap = boot_mmap,
    .mmap64 = boot_mmap,
    .munmap = boot_munmap,
    .open = boot_open,
    .open64 = boot_open,
    .openat = boot_openat,
    .openat64 = boot_openat,
    .close = boot_close,
    .malloc = boot_malloc,
    .calloc = boot_calloc,
    .realloc = boot_realloc,
    .free = boot_free,
    .posix_memalign = boot_posix_memalign,
    .aligned_alloc = boot_memalign,
    .memalign = boot_memalign,
    .__libc_malloc = boot_malloc,
    .__libc_calloc = boot_calloc,
    .__libc_realloc = boot_realloc,
    .__libc_free = boot_free,
    .__libc_memalign = boot_memalign,
};

struct real_new real_new = {boot_malloc, boot_memalign, boot_free};

/* 0 not begun, 1 under way (allocations come from the pool), 2 done */
static int state;

bool real_found(void)
{
    return load_acquire(&state) == 2;
}

static void copy_plain_names(struct real *found)
{
    found->__libc_malloc = found->malloc;
    found->__libc_calloc = found->calloc;
    found->__libc_realloc = found->realloc;
    found->__libc_free = found->free;
    found->__libc_memalign = found->memalign;
    found->__libc_valloc = found->valloc;
    found->__libc_pvalloc = found->pvalloc;
}

static bool behind;

bool real_is_behind(void)
{
    return behind;
}

static bool is_own(const void *address)
{
    Dl_info there, here;
    return dladdr(address, &there) && dladdr((void *)is_own, &here) &&
           there.dli_fbase == here.dli_fbase;
}

/* Libc has not looked at the environment when we are first of all; RTLD_NEXT is not for who is in
 * nobody's list. */
static bool look_whether_behind(void)
{
    return symbols_is_exported_before("malloc", (uintptr_t)is_own) && (environ || !dlsym(RTLD_NEXT, "malloc"));
}

/* From the front, but for ourselves. dlsym may answer the program's own way to a function, which is
 * led to us: it is for what has to be asked where it is (an indirect function). */
static void *find_behind(const char *name)
{
    if (!behind)
        return dlsym(RTLD_NEXT, name);
    void *found = (void *)symbols_find_except(name, (uintptr_t)is_own);
    if (!found)
        found = dlsym(RTLD_DEFAULT, name);
    return found && is_own(found) ? NULL : found;
}

void real_find(void)
{
    if (state)
        return;
    state = 1;
    struct real found = {0};
    behind = !process_is_sanitized() && look_whether_behind();
#define HOOK(name, type, parameters) found.name = (type(*) parameters)find_behind(#name);
#define OWN(name)
#include "preload/interpose/hooks.def"
    if (!found.__libc_malloc) /* another libc: nobody asks for them, but for those who ask for
                                 anything */
        copy_plain_names(&found);
    real = found;
    real_new = (struct real_new){real.malloc, real.aligned_alloc, real.free};
    /* Pairs with the acquire in real_found. */
    store_release(&state, 2);
    dlerror(); /* what was not found is not the program's error */
}

void *real_find_cxx(const char *name)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1", "libc++abi.so.1"};
    void *found = find_behind(name);
    if (!found)
        dlerror();
    for (size_t i = 0; !found && i < ARRAY_LENGTH(runtimes); i++) {
        void *handle = real.dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            found = dlsym(handle, name);
            real.dlclose(handle);
        }
    }
    return found;
}
