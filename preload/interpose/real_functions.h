/* real_functions.h - the functions we stand in front of, found by dlsym(RTLD_NEXT).
 *
 * real.malloc and its family are callable from the first instruction on: until real_find has run
 * they are the boot pool's. NULL for what this libc does not have.
 */
#ifndef PRELOAD_INTERPOSE_REAL_FUNCTIONS_H
#define PRELOAD_INTERPOSE_REAL_FUNCTIONS_H

#include "preload/base/base.h"

#include <pthread.h>
#include <signal.h>
#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/select.h>
#include <sys/wait.h>
struct rusage;
struct epoll_event;
struct pollfd;
struct sembuf;

struct real {
#define HOOK(name, type, parameters) type(*name) parameters;
#define OWN(name)
#include "preload/interpose/hooks.def"
};

extern struct real real HIDDEN; /* written by real_find only */

/* What operators new and delete stand on: the same, but where the program has an allocator of its
 * own. */
struct real_new {
    void *(*malloc)(size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void (*free)(void *);
};
extern struct real_new real_new HIDDEN;

/* Idempotent; calls dlsym, which may allocate (from the boot pool). */
void real_find(void);
bool real_found(void);
/* Does the allocator's name lead past us? Then the process ran before us, or was linked so; what we
 * stand behind is found from the front. */
bool real_is_behind(void);

/* The original of an operator new or delete, or another C++ runtime function: from behind us in
 * the link order, else from a libstdc++ that came in with a plugin, else NULL. May allocate. */
void *real_find_cxx(const char *name);

#endif
