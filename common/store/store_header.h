/* store_header.h - page 0 of a store, for those who want to know whose it is and no more. */
#ifndef COMMON_STORE_STORE_HEADER_H
#define COMMON_STORE_STORE_HEADER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "leak_store.h"

/* name is looked for in the open directory. False: it is no store of our version. Anybody may have
 * put something there: a link is not followed, a pipe not waited for, and the host's name ends. */
bool heads_read(int directory, const char *name, struct leak_header *header, struct stat *status);

#endif
