/* image.h - the memory of a process as it is read from outside: of a running process, or from a
 * core file.
 *
 * A source (process_image.h, core_image.h) fills in mappings and threads, and reads memory. What
 * must not change between two looks at it is kept: image_keep copies a range, and every later read
 * of it comes from the copy. What cannot be read counts as zeros, and the image counts the bytes.
 *
 * Nothing in an image is trusted: a mapping may lie anywhere, a register may have any value.
 *
 *     mappings are sorted by start and do not overlap; start < end
 *     copies are sorted by start and do not overlap
 */
#ifndef SCAN_IMAGE_H
#define SCAN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "common/base/arena.h"
#include "common/base/foreign_file.h"

#define IMAGE_PAGE 4096u
#define IMAGE_END (1ull << 47) /* user addresses are below */

enum image_access { IMAGE_READ = 1, IMAGE_WRITE = 2, IMAGE_EXECUTE = 4 };

struct image_mapping {
    uint64_t start, end;
    uint64_t offset;  /* in the file */
    const char *path; /* a file, "[heap]" and the like; NULL: anonymous */
    unsigned access;  /* enum image_access */
    bool shared;
};

/* A thread: its registers are words that may be pointers. */
struct image_thread {
    pid_t tid;
    uint64_t sp, tls; /* 0: unknown */
    bool waits;       /* in a system call that malloc never makes */
    uint64_t *words;
    size_t word_count;
};

struct image;

/* Reads up to size bytes from an address; returns how many could be read before the first that
 * cannot. */
typedef size_t image_read_memory(struct image *image, uint64_t address, void *buffer, size_t size);
/* Marks pages of [start, start + count pages) that were never written and read as zeros; false: it
 * is not known. NULL in a source that cannot tell. */
typedef bool image_find_untouched(struct image *image, uint64_t start, size_t count,
                                  bool *untouched);

struct image_copy {
    uint64_t start, end;
    uint8_t *bytes;
};

struct image {
    struct arena *mem;
    image_read_memory *read;
    image_find_untouched *find_untouched;
    void *source;            /* of the functions above */
    bool core;               /* it does not change */
    unsigned word;           /* bytes of a pointer of the program: 8, or 4 */
    int pid;                 /* 0: unknown */
    const char *program;     /* path of its file; NULL: unknown */
    struct file_owner owner; /* with whose rights files are opened, as foreign_file.h says */
    uint64_t main_stack;     /* an address in the stack of the first thread; 0: unknown */
    uint64_t missing_bytes;  /* readable memory that the source does not have */
    struct image_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct image_thread *threads;
    size_t thread_count, thread_capacity;
    struct image_copy *copies;
    size_t copy_count, copy_capacity;
};

/* A word of the program, which is 8 or 4 bytes long. */
static inline uint64_t image_word(const void *at, unsigned width)
{
    uint64_t word = 0; /* both machines are little-endian */

    memcpy(&word, at, width == 4 ? 4 : 8);
    return word;
}

/* The words are 8 bytes long until the source finds a 32-bit program. */
void image_begin(struct image *image, struct arena *mem);
void image_end(struct image *image); /* frees the copies; the source is the caller's */

/* Adds a mapping; the order is made by image_sort. Mappings that are empty or beyond IMAGE_END are
 * ignored. */
void image_add_mapping(struct image *image, const struct image_mapping *mapping);
struct image_thread *image_add_thread(struct image *image, pid_t tid);
/* Sorts the mappings. False: two mappings overlap. */
bool image_sort(struct image *image);

/* The first mapping that ends above an address; NULL: none. */
const struct image_mapping *image_find_next(const struct image *image, uint64_t address);
/* The mapping around an address; NULL: none. */
const struct image_mapping *image_find(const struct image *image, uint64_t address);

/* Reads what can be read and fills the rest with zeros; true: everything was read. */
bool image_read(struct image *image, uint64_t address, void *buffer, size_t size);
bool image_read_word(struct image *image, uint64_t address, uint64_t *word);

/* Makes words of 8 bytes of the program's words in so many bytes; returns how many. */
size_t image_widen(const struct image *image, uint64_t *words, size_t size);

/* Reads pages like image_read, but does not even touch pages that were never written. False: all of
 * them are such, and the buffer is zero. */
bool image_read_pages(struct image *image, uint64_t address, uint8_t *buffer, size_t size);

/* A copy of [start, end), which lies in readable mappings; zeros where nothing could be read. It
 * stays valid until all copies are dropped, or one is made that reaches into it from outside. NULL:
 * no memory. */
const uint8_t *image_keep(struct image *image, uint64_t start, uint64_t end);
/* Forgets all copies, so that memory is read anew. */
void image_drop_copies(struct image *image);

/* The invariants above. */
bool image_check(const struct image *image);

#endif
