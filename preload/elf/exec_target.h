/* exec_target.h - can libleak run inside a program: one that is about to start, or this one?
 *
 * A loader of another class or machine prints an error for each library it cannot preload, and
 * musl's refuses to start the program; the runtimes of some sanitizers crash when another library
 * is loaded before them; a static or setuid program ignores LD_PRELOAD. So before exec and spawn
 * the file is examined: ELF header, interpreter and symbol names, through one level of "#!". In
 * doubt the answer is EXEC_TARGET_LOADS: the loader decides. */
#ifndef PRELOAD_ELF_EXEC_TARGET_H
#define PRELOAD_ELF_EXEC_TARGET_H

#include "preload/base/base.h"

enum exec_target {
    EXEC_TARGET_LOADS,       /* libleak can be preloaded */
    EXEC_TARGET_LOADS_OTHER, /* a library of the other word size can: 32 bits on a 64-bit system */
    EXEC_TARGET_IGNORES,     /* harmless, but the program will not be recorded */
    EXEC_TARGET_REFUSES      /* libleak must be removed from its environment */
};

/* Says what kind of program a file is. search_path: NULL, or the PATH in which a file without a
 * slash is looked up. Callable in a vfork child: memory comes from the stack, and every descriptor
 * is closed again. */
enum exec_target exec_target_of_path(const char *file, const char *search_path);
enum exec_target exec_target_of_fd(int fd);
/* Says what kind of program a file is that execveat finds: from a directory, or with AT_EMPTY_PATH
 * the descriptor's own. */
enum exec_target exec_target_at(int directory, const char *file, int flags);

/* Does this process contain the runtime of a sanitizer? Such a runtime replaces nearly all of libc,
 * malloc included, and initialises itself at the first call of any of its functions. A call from
 * libleak would come before the real functions that it needs were found. Such a process is not
 * recorded; it mostly has a leak check of its own. Calls nothing of libc. */
bool process_is_sanitized(void);

/* Does valgrind interpret this process? Its tools report what they see libleak do (stacks that it
 * clears and reads, the copy of the process in which it searches) as errors of the program. */
bool process_is_under_valgrind(void);

#endif
