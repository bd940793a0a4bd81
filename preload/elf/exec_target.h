/* exec_target.h - what will the program about to be started make of us?
 *
 * A loader of another class or machine prints an error for each library it cannot preload, and
 * musl's refuses to start the program; the runtimes of some sanitizers crash behind us; a static or
 * setuid program just ignores us. So before exec and spawn the file is looked at: ELF header,
 * interpreter and names, through one level of "#!". In doubt it takes us: the loader knows best.
 * Callable in a vfork child: memory comes from the stack, the descriptor is closed at once.
 */
#ifndef PRELOAD_ELF_EXEC_TARGET_H
#define PRELOAD_ELF_EXEC_TARGET_H

#include "preload/base/base.h"

enum target {
    TARGET_TAKES_US,
    TARGET_IGNORES_US, /* harmless, but it will have no account */
    TARGET_REFUSES_US  /* must not find us in its environment */
};

/* search_path: NULL, or the PATH in which a file without a slash is looked for. */
enum target target_of(const char *file, const char *search_path);
/* The same for an open descriptor. */
enum target target_of_fd(int fd);

#endif
