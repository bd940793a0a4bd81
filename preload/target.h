/* target.h - can the program about to be started load us at all?
 *
 * A loader of another class or machine prints an error for each library it cannot preload, and musl's
 * refuses to start the program. So before exec and spawn the file is looked at: ELF header and
 * interpreter, through one level of "#!". In doubt the answer is yes: the loader knows best.
 * Callable in a vfork child: memory comes from the stack, the descriptor is closed at once.
 */
#ifndef PRELOAD_TARGET_H
#define PRELOAD_TARGET_H

#include "preload/base.h"

/* search_path: NULL, or the PATH in which a file without a slash is looked for. */
bool target_takes_us(const char *file, const char *search_path);
/* The same for an open descriptor. */
bool target_fd_takes_us(int fd);

#endif
