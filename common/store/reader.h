/* reader.h - the bytes of a recording file become a struct store.
 *
 * The file is never mapped: the process may still write it, and it may be truncated meanwhile. It
 * is read with pread(2) up to min(file size, header.used) into private memory; holes are skipped
 * and stay zero. When counts moved between a slot and a site meanwhile (header.folds changed) the
 * copy is made again, a few times; `steady` says whether the last one is consistent.
 *
 * The reader is the only place that handles untrusted input: offsets, counts, ids, lengths and
 * texts of the file are checked, and what is invalid is left out with a note. A truncated or
 * damaged file gives what is still there; only a header without sense is refused.
 */
#ifndef COMMON_STORE_READER_H
#define COMMON_STORE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/store/store.h"

/* ---- What can be wrong with a file ----------------------------------------------------------
 *
 * One line of the table makes an enum constant and its text. The reader fills in a struct read_error
 * and returns false; its caller makes one line of that. */

#define READER_TEXT(number) #number
#define READER_TEXT_OF(macro) READER_TEXT(macro)
#define READER_VERSIONS READER_TEXT_OF(LEAK_STORE_OLDEST) " to " READER_TEXT_OF(LEAK_STORE_VERSION)

/* E(NAME, text). %llu takes trouble.number; the text of trouble.os is appended when it is set. */
#define READ_ERROR_TABLE(E)                                                                        \
    E(NONE, "no error")                                                                            \
    E(OPEN, "cannot be opened")                                                                    \
    E(READ, "cannot be read")                                                                      \
    E(MEMORY, "does not fit into memory (%llu bytes)")                                             \
    E(NOT_A_FILE, "is not a regular file")                                                         \
    E(EMPTY,                                                                                       \
      "is empty: no recording of libleak, or one whose process never got to write anything")       \
    E(SHORT, "is too short to be a recording of libleak (%llu bytes)")                             \
    E(NOT_A_STORE,                                                                                 \
      "is no recording of libleak (leakrun --keep=FILE keeps one, -o writes a report)")            \
    E(UNFINISHED, "is a recording of libleak whose process never got to write anything")           \
    E(NEWER, "was recorded by a newer libleak (version %llu of the file; this program "            \
             "reads " READER_VERSIONS "): use leakreport of that libleak")                         \
    E(NO_VERSION, "is a damaged recording of libleak: its version is %llu")                        \
    E(HEADER,                                                                                      \
      "is a recording of libleak with a header of %llu bytes: damaged, or made by another build")

enum error_code {
#define E(name, words) ERROR_##name,
    READ_ERROR_TABLE(E)
#undef E
};

struct read_error {
    enum error_code code;
    int os;          /* errno, 0 = none */
    uint64_t number; /* for %llu */
};

/* Always writes a terminated text into text[size]. Allocates nothing. */
void read_error_text(const struct read_error *trouble, char *text, size_t size);

/* ---- The image of a file --------------------------------------------------------------------- */

/* A part of the image that may contain other bytes than zeros. */
struct extent {
    size_t start, end;
};

struct store_image {
    const uint8_t *data;
    size_t size;
    const struct extent *extents; /* ascending; everything outside is zero */
    size_t extent_count;
    size_t mapped; /* bytes of the anonymous mapping, 0 = memory of the caller */
    bool steady;
    struct file_owner owner;
};

/* ---- The store of a file --------------------------------------------------------------------- */

/* Reads a recording file. True: *store lives in mem, and store_end() frees the rest; path must
 * outlive it. False: *trouble has the reason, and there is nothing to free. */
bool reader_open(struct arena *mem, const char *path, struct store *store,
                 struct read_error *trouble);

/* Reads a recording like reader_open(), from an image that the caller may free afterwards. */
bool reader_parse(struct arena *mem, const struct store_image *image, struct store *store,
                  struct read_error *trouble);

#endif
