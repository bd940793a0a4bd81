/* exec_target.h - says whether libleak can run inside a program that is about to start, or inside
 * this process.
 *
 * A loader of another word size or machine prints an error for each library that it cannot preload;
 * musl's loader refuses to start the program; the runtimes of some sanitizers crash when another
 * library is loaded before them; a static, setuid or setgid program ignores LD_PRELOAD. So before
 * exec and spawn the file is examined: ELF header, interpreter, symbol names and set-id bits; of a
 * script, the interpreter that its first line names. A file that cannot be judged is
 * EXEC_TARGET_LOADS: the loader decides. */
#ifndef PRELOAD_ELF_EXEC_TARGET_H
#define PRELOAD_ELF_EXEC_TARGET_H

#include "preload/base/base.h"

enum exec_target {
    EXEC_TARGET_LOADS, /* libleak can be preloaded */
    /* The libleak.so for the other word size can be preloaded: 32 bits on a 64-bit system. */
    EXEC_TARGET_LOADS_OTHER,
    EXEC_TARGET_IGNORES, /* the program ignores LD_PRELOAD, so it is not recorded */
    EXEC_TARGET_REFUSES  /* libleak must be removed from the program's LD_PRELOAD */
};

/* Says what kind of program a file is. search_path: NULL, or the PATH in which a file without a
 * slash is searched. Callable in a vfork child: it uses no memory but the stack, and closes each
 * descriptor that it opens. */
enum exec_target exec_target_of_path(const char *file, const char *search_path);
enum exec_target exec_target_of_fd(int fd);
/* Says what kind of program a file is that execveat would start: a file named relative to a
 * directory, or with AT_EMPTY_PATH in flags the file that the descriptor "directory" itself has
 * open. */
enum exec_target exec_target_at(int directory, const char *file, int flags);

/* Says whether this process contains the runtime of a sanitizer. Such a runtime replaces nearly all
 * functions of libc, malloc included, and initialises itself at the first call of any of them. A
 * call from libleak would come before the runtime has found the real functions. So such a process
 * is not recorded; in most cases the sanitizer has a leak check of its own. Calls no function of
 * libc. */
bool process_is_sanitized(void);

/* Says whether this process runs under valgrind. Valgrind's tools would report what libleak does
 * (it clears and reads stacks, and copies the process for a leak check) as errors of the program. */
bool process_is_under_valgrind(void);

#endif
