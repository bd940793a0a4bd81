/* real_functions.h - the functions behind the hooks, and the bootstrap pool that serves until they
 * are known.
 *
 * The addresses come from dlsym(RTLD_NEXT). dlsym itself may allocate, and a program's first
 * allocations may precede the library's constructor: until real_functions_find has run, real.malloc
 * and its family allocate from the bootstrap pool, and real.mmap, real.open, real.close and the
 * like make bare system calls. So these functions may be called from the first instruction on. A
 * function that this libc lacks is NULL.
 *
 * The pool is a fixed array: allocation advances an offset, memory is never reused, and when the
 * pool is full the allocation fails, as malloc may. Its addresses stay valid for ever: free ignores
 * them, realloc copies the block out.
 */
#ifndef PRELOAD_INTERPOSE_REAL_FUNCTIONS_H
#define PRELOAD_INTERPOSE_REAL_FUNCTIONS_H

#include "preload/interpose/operator_names.h"
#include "preload/base/base.h"

#include <pthread.h>
#include <signal.h>
#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/select.h>
#include <sys/wait.h>
struct rlimit;
struct rlimit64;
struct rusage;
struct epoll_event;
struct pollfd;
struct sembuf;

/* The real functions. real_functions_find writes them; "cxx" is written once more when
 * static_malloc.h redirects an allocator of the program. */
struct real {
#define HOOK(name, type, parameters) type(*name) parameters;
#define OWN(name)
#include "preload/interpose/hooks.def"
    /* The allocator that operators new and delete use: the functions above, or the program's own
     * allocator. */
    struct {
        void *(*malloc)(size_t);
        void *(*aligned_alloc)(size_t, size_t);
        void (*free)(void *);
    } cxx;
};
extern struct real real HIDDEN;

/* Finds the real functions at the first call; later calls do nothing. It calls dlsym, whose
 * allocations come from the bootstrap pool. */
void real_functions_find(void);

/* Calls libc's sigaction for libleak's own handlers. -1: libc's sigaction is not known, it has
 * failed, or a sandbox would refuse the system call. */
int real_sigaction(int number, const struct sigaction *action, struct sigaction *old);

/* Says whether libleak was loaded late: the name malloc resolves to a library before libleak,
 * because the process ran before libleak was loaded, or was linked that way. Then the real
 * functions are searched in all objects from the first one on, not only in those behind libleak.
 * Valid after real_functions_find. */
bool real_functions_loaded_late(void);

/* Says whether the real malloc is that of the C library, and not of another allocator. */
bool real_functions_have_libc_malloc(void);

/* Returns the function that a program would call by the name of an export of libleak if libleak
 * were not loaded; 0: there is none. Call it inside of dl_iterate_phdr. */
uintptr_t real_functions_by_name(const char *name);

/* Finds the original of an operator new or delete, or another function of the C++ runtime: the one
 * behind libleak in the order of the loader, else that of a libstdc++ or libc++ which a plugin has
 * loaded. NULL: there is none. It may allocate. */
void *real_functions_find_cxx(const char *name);

/* ---- The bootstrap pool: memory until the real malloc is known ------------------------------- */

#define BOOTSTRAP_POOL_SIZE 65536

extern char bootstrap_pool[BOOTSTRAP_POOL_SIZE] HIDDEN;

void *bootstrap_alloc(size_t size, size_t alignment);

static inline bool bootstrap_owns(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)bootstrap_pool < BOOTSTRAP_POOL_SIZE;
}

/* Returns the size that a block of the bootstrap pool was allocated with. */
size_t bootstrap_size(const void *pointer);

#endif
