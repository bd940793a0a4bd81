/* read_error.h - the one table of what can be wrong with an input.
 *
 * One line of the table makes the enum and the words. A reader of stores fills a struct trouble and
 * returns false; whoever talks to the user turns it into one line with error_words().
 * Lowest rank: includes nothing of ours. Allocates nothing.
 */
#ifndef COMMON_BASE_READ_ERROR_H
#define COMMON_BASE_READ_ERROR_H

#include <stddef.h>
#include <stdint.h>

/* E(NAME, words). %llu takes trouble.number; the text of trouble.os is appended when it is set. */
#define ERROR_TABLE(E)                                                                             \
    E(NONE, "no error")                                                                            \
    E(OPEN, "cannot be opened")                                                                    \
    E(READ, "cannot be read")                                                                      \
    E(MEMORY, "does not fit into memory (%llu bytes)")                                             \
    E(NOT_A_FILE, "is not a regular file")                                                         \
    E(EMPTY, "is empty: no libleak store, or one whose process never got to write anything")       \
    E(SHORT, "is too short to be a libleak store (%llu bytes)")                                    \
    E(NOT_A_STORE, "is not a libleak store")                                                       \
    E(UNFINISHED, "is a libleak store whose process never got to write anything")                  \
    E(VERSION, "is a libleak store of version %llu; this program reads version 1")                 \
    E(HEADER, "is a libleak store with a header of %llu bytes: damaged, or made by another build")

enum error_code {
#define E(name, words) ERROR_##name,
    ERROR_TABLE(E)
#undef E
};

struct trouble {
    enum error_code code;
    int os;          /* errno, 0 = none */
    uint64_t number; /* for %llu */
};

/* Always writes a terminated text into words[size]. */
void error_words(const struct trouble *trouble, char *words, size_t size);

#endif
