/* reader.h - reads a recording file into a struct store.
 *
 * The file is never mapped, since the process may still write it, and it may be truncated
 * meanwhile. It is read with pread(2) into private memory, up to min(file size, header.used);
 * holes are skipped and stay zero. If counts moved between a slot and a site during the copy
 * (header.folds changed), the copy is made again, a few times; `steady` says whether the last
 * copy is consistent.
 *
 * The reader is the only place that handles untrusted input: it checks offsets, counts, ids,
 * lengths and texts of the file, and leaves out what is invalid, with a note. From a truncated
 * or damaged file it reads what is still there; it refuses only a file with an invalid header.
 */
#ifndef COMMON_STORE_READER_H
#define COMMON_STORE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/store/store.h"

/* ---- Errors of a file ---------------------------------------------------------------------------
 *
 * Each row of the table defines an error and its text. The reader fills in a struct read_error
 * and returns false; read_error_text() makes a line of text from it. */

#define READER_TEXT(number) #number
#define READER_TEXT_OF(macro) READER_TEXT(macro)
#define READER_VERSIONS READER_TEXT_OF(LEAK_STORE_OLDEST) " to " READER_TEXT_OF(LEAK_STORE_VERSION)

/* E(NAME, text). %llu stands for read_error.number; the text of read_error.os is appended if it
 * is set. */
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
    uint64_t number; /* number that replaces %llu in the error's text */
};

/* Writes the text of an error, terminated, into text[size]. Allocates nothing. */
void read_error_text(const struct read_error *trouble, char *text, size_t size);

/* ---- The image of a file in memory ----------------------------------------------------------- */

/* A range of the image that may contain other bytes than zeros. */
struct extent {
    size_t start, end;
};

struct store_image {
    const uint8_t *data;
    size_t size;
    const struct extent *extents; /* ranges with data, ascending; all bytes outside of them are
                                   * zero */
    size_t extent_count;
    size_t mapped; /* size of the anonymous mapping at `data`, 0 = the caller owns the memory */
    bool steady;
    struct file_owner owner;
};

/* ---- Reading a file -------------------------------------------------------------------------- */

/* Reads a recording file. True: *store is in mem, and store_end() frees the rest; path must
 * outlive *store. False: *trouble has the reason, and there is nothing to free. */
bool reader_open(struct arena *mem, const char *path, struct store *store,
                 struct read_error *trouble);

/* Reads a recording like reader_open(), from an image that the caller may free afterwards. False:
 * as for reader_open(). */
bool reader_parse(struct arena *mem, const struct store_image *image, struct store *store,
                  struct read_error *trouble);

#endif
