#include "preload/interpose/real_functions.h"
#include "preload/base/base.h"
#include "preload/base/sandbox.h"
#include "preload/base/system_calls_32.h"
#include "preload/elf/exec_target.h"
#include "preload/elf/symbols.h"
#include "arch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- The bootstrap pool: memory until the real malloc is known ------------------------------- */

_Alignas(64) char bootstrap_pool[BOOTSTRAP_POOL_SIZE];
static size_t pool_used;

/* Allocates from the bootstrap pool. The word before a block holds its size. As in libc, an
 * alignment that is no power of two is rounded up to one. */
void *bootstrap_alloc(size_t size, size_t alignment)
{
    size_t asked = alignment;
    for (alignment = 16; alignment < asked && alignment <= 4096;)
        alignment *= 2;
    if (size > BOOTSTRAP_POOL_SIZE || alignment > 4096)
        return NULL;
    size_t span = 16 + alignment + size;
    size_t start = add_relaxed(&pool_used, span);
    if (start + span > BOOTSTRAP_POOL_SIZE)
        return NULL;
    uintptr_t block = round_up((uintptr_t)bootstrap_pool + start + 16, alignment);
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

size_t bootstrap_size(const void *pointer)
{
    return ((const size_t *)pointer)[-1];
}

static void *bootstrap_malloc(size_t size)
{
    return bootstrap_alloc(size, 16);
}

static void *bootstrap_calloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : bootstrap_alloc(bytes, 16);
}

static void *bootstrap_realloc(void *old, size_t size)
{
    void *block = bootstrap_alloc(size, 16);
    if (block && old && bootstrap_owns(old))
        memcpy(block, old, bootstrap_size(old) < size ? bootstrap_size(old) : size);
    return block;
}

static void bootstrap_free(void *block UNUSED)
{
}

static void *bootstrap_memalign(size_t alignment, size_t size)
{
    return bootstrap_alloc(size, alignment);
}

static int bootstrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) || !is_power_of_two(alignment))
        return EINVAL;
    void *block = bootstrap_alloc(size, alignment);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

/* Makes a system call before the real functions are known, and sets errno as libc does. Needed
 * because another library's malloc may map memory and read files while dlsym searches the real
 * functions. */
static long bootstrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result = arch_syscall(number, a, b, c, d, e, f);
    if (result >= 0 || result < -4095)
        return result;
    errno = -result;
    return -1;
}

static void *bootstrap_mmap64(void *at, size_t size, int access, int flags, int fd, off64_t offset)
{
    return (void *)bootstrap_syscall(SYS_mmap, (long)at, size, access, flags, fd,
                                     SYS_MAP_OFFSET(offset));
}

static void *bootstrap_mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    return bootstrap_mmap64(at, size, access, flags, fd, offset);
}

static int bootstrap_munmap(void *at, size_t size)
{
    return bootstrap_syscall(SYS_munmap, (long)at, size, 0, 0, 0, 0);
}

static int bootstrap_open(const char *path, int flags, ...)
{
    return bootstrap_syscall(SYS_openat, AT_FDCWD, (long)path, flags, 0600, 0, 0);
}

static int bootstrap_openat(int folder, const char *path, int flags, ...)
{
    return bootstrap_syscall(SYS_openat, folder, (long)path, flags, 0600, 0, 0);
}

static int bootstrap_close(int fd)
{
    return bootstrap_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

struct real real = {
    .mmap = bootstrap_mmap,
    .mmap64 = bootstrap_mmap64,
    .munmap = bootstrap_munmap,
    .open = bootstrap_open,
    .open64 = bootstrap_open,
    .openat = bootstrap_openat,
    .openat64 = bootstrap_openat,
    .close = bootstrap_close,
    .malloc = bootstrap_malloc,
    .calloc = bootstrap_calloc,
    .realloc = bootstrap_realloc,
    .free = bootstrap_free,
    .posix_memalign = bootstrap_posix_memalign,
    .aligned_alloc = bootstrap_memalign,
    .memalign = bootstrap_memalign,
    .__libc_malloc = bootstrap_malloc,
    .__libc_calloc = bootstrap_calloc,
    .__libc_realloc = bootstrap_realloc,
    .__libc_free = bootstrap_free,
    .__libc_memalign = bootstrap_memalign,
    .cxx = {bootstrap_malloc, bootstrap_memalign, bootstrap_free},
};

/* ---- The real functions ---------------------------------------------------------------------- */

int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    const struct sandbox_call call = {
        SYS_rt_sigaction, {number, (uintptr_t)action, (uintptr_t)old, sizeof(uint64_t)}};
    if (!real.sigaction || (sandbox_restricts && !sandbox_allows(&call)))
        return -1;
    return real.sigaction(number, action, old);
}

static bool loaded_late;

/* For a libc that lacks __libc_malloc, __libc_free and so on (other than glibc): uses malloc, free
 * and so on in their place. */
static void set_libc_names(struct real *found)
{
    found->__libc_malloc = found->malloc;
    found->__libc_calloc = found->calloc;
    found->__libc_realloc = found->realloc;
    found->__libc_free = found->free;
    found->__libc_memalign = found->memalign;
    found->__libc_valloc = found->valloc;
    found->__libc_pvalloc = found->pvalloc;
}

bool real_functions_loaded_late(void)
{
    return loaded_late;
}

static bool in_one_object(const void *a, const void *b)
{
    Dl_info of_a, of_b;
    return dladdr(a, &of_a) && dladdr(b, &of_b) && of_a.dli_fbase == of_b.dli_fbase;
}

/* The linker's symbols for the first and the last byte of libleak. They tell which addresses are
 * libleak's without dladdr, which would read all symbols. */
extern const char __ehdr_start[] HIDDEN, _end[] HIDDEN;

static bool is_own(const void *address)
{
    return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

bool real_functions_have_libc_malloc(void)
{
    return in_one_object((void *)real.malloc, (void *)real.exit);
}

/* Says whether libleak comes after libc in the order of the loader: an object before libleak
 * exports malloc, and either libc has set environ already, which it has not when libleak is
 * initialised first, or dlsym(RTLD_NEXT) finds no malloc behind libleak. */
static bool is_behind_libc(void)
{
    return symbols_is_exported_before("malloc", (uintptr_t)is_own) &&
           (environ || !dlsym(RTLD_NEXT, "malloc"));
}

/* Finds the real function behind a hook; when libleak was loaded late, its first definition outside
 * of libleak. The symbol tables are read first, because dlsym may return the program's PLT entry,
 * which leads back to the hook. Then dlsym is asked, because only dlsym can resolve an indirect
 * function (IFUNC). */
static void *find_real(const char *name)
{
    if (!loaded_late)
        return dlsym(RTLD_NEXT, name);
    void *found = (void *)symbols_find_except(name, (uintptr_t)is_own);
    if (!found)
        found = dlsym(RTLD_DEFAULT, name);
    return found && is_own(found) ? NULL : found;
}

void real_functions_find(void)
{
    /* True: the real functions have been found, or dlsym is searching them now; its allocations
     * come from the bootstrap pool. */
    static bool begun;
    if (begun)
        return;
    begun = true;
    struct real found = {0};
    loaded_late = !process_is_sanitized() && is_behind_libc();
#define HOOK(name, type, parameters) found.name = (type(*) parameters)find_real(#name);
#define OWN(name)
#include "preload/interpose/hooks.def"
    if (!found.__libc_malloc)
        set_libc_names(&found);
    found.cxx.malloc = found.malloc;
    found.cxx.aligned_alloc = found.aligned_alloc;
    found.cxx.free = found.free;
    real = found;
    /* Clears the error of a missing function, so that a dlerror() of the program does not return
     * it. */
    dlerror();
}

uintptr_t real_functions_by_name(const char *name)
{
    static const struct {
        const char *name;
        size_t offset;
    } table[] = {
#define HOOK(function, type, parameters) {#function, offsetof(struct real, function)},
#define OWN(function)
#include "preload/interpose/hooks.def"
    };
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return *(const uintptr_t *)((const char *)&real + table[i].offset);
    return symbols_find_except(name, (uintptr_t)is_own);
}

void *real_functions_find_cxx(const char *name)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1", "libc++abi.so.1"};
    void *found = find_real(name);
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
