/* real_functions.h - the functions behind the hooks, and the bootstrap pool that serves until they
 * are known.
 *
 * The addresses come from dlsym(RTLD_NEXT). dlsym itself may allocate, and a program's first
 * allocations may precede the library's constructor: until real_functions_find has run, real.malloc
 * and its family allocate from the bootstrap pool, and real.mmap, real.open and their like are bare
 * system calls. So they are callable from the first instruction on. A function that this libc lacks
 * is NULL.
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

/* Written by real_functions_find, and once more when static_malloc.h redirects operator new. */
struct real {
#define HOOK(name, type, parameters) type(*name) parameters;
#define OWN(name)
#include "preload/interpose/hooks.def"
    /* The allocator below operator new and delete: the functions above, unless the program has an
     * allocator of its own. */
    struct {
        void *(*malloc)(size_t);
        void *(*aligned_alloc)(size_t, size_t);
        void (*free)(void *);
    } cxx;
};
extern struct real real HIDDEN;

/* Idempotent; calls dlsym, which may allocate (from the bootstrap pool). */
void real_functions_find(void);

/* libc's sigaction for libleak's own handlers: -1 where there is none, or a sandbox refuses it. */
int real_sigaction(int number, const struct sigaction *action, struct sigaction *old);

/* True when the name malloc resolves to a library in front of libleak: the process ran before
 * libleak was loaded, or was linked that way. Then the real functions are searched from the front.
 * Valid after real_functions_find. */
bool real_functions_loaded_late(void);

/* Is malloc the C library's? */
bool real_functions_have_libc_malloc(void);

/* The function that a program without libleak would call by this name, for an export of libleak; 0:
 * there is none. Inside of dl_iterate_phdr. */
uintptr_t real_functions_by_name(const char *name);

/* The original of an operator new or delete, or another function of the C++ runtime: from behind
 * libleak in the link order, else from a libstdc++ that a plugin has loaded, else NULL. May
 * allocate. */
void *real_functions_find_cxx(const char *name);

/* ---- The bootstrap pool --------------------------------------------------------------------- */

#define BOOTSTRAP_POOL_SIZE 65536

extern char bootstrap_pool[BOOTSTRAP_POOL_SIZE] HIDDEN;

void *bootstrap_alloc(size_t size, size_t alignment);

static inline bool bootstrap_owns(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)bootstrap_pool < BOOTSTRAP_POOL_SIZE;
}

/* The size that a block of the pool was allocated with. */
size_t bootstrap_size(const void *pointer);

#endif
