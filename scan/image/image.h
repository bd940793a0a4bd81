/* image.h - the memory of another process, which runs or left a core file.
 *
 * A source (process_image.h, core_image.h) adds mappings and threads, and reads memory. Memory
 * that must not change between two reads is copied by image_keep, and every later read of it
 * comes from the copy. Memory that cannot be read counts as zeros.
 *
 * Nothing in an image is trusted: a mapping may lie anywhere, a register may have any value.
 *
 *     mappings are sorted by start and do not overlap; start < end
 *     copies are sorted by start and do not overlap */
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
#define IMAGE_END (1ull << 47) /* user addresses are below this */

enum image_access { IMAGE_READ = 1, IMAGE_WRITE = 2, IMAGE_EXECUTE = 4 };

struct image_mapping {
    uint64_t start, end;
    uint64_t offset;  /* offset in the file */
    const char *path; /* path of the file, "[heap]" or the like; NULL: anonymous */
    unsigned access;  /* bits of enum image_access */
    bool shared;
};

/* A thread, with its registers as words that may be pointers. */
struct image_thread {
    pid_t tid;
    uint64_t sp, tls; /* stack pointer and thread pointer; 0: unknown */
    bool waits;       /* the thread is in a system call that malloc never makes */
    uint64_t *words;
    size_t word_count;
};

struct image;

/* Reads up to size bytes from an address. Returns the number of bytes before the first one that
 * cannot be read. */
typedef size_t image_read_memory(struct image *image, uint64_t address, void *buffer, size_t size);
/* Sets untouched[i] for each of `count` pages from `start` on that was never written, and so is
 * zero. False: unknown. NULL in struct image: the source can never find that out. */
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
    void *source;            /* data of the source, which read and find_untouched use */
    bool core;               /* the source is a core file, so memory does not change */
    unsigned word;           /* size of the program's words and pointers in bytes, 8 or 4 */
    int pid;                 /* process id; 0: unknown */
    const char *program;     /* path of the program's file; NULL: unknown */
    struct file_owner owner; /* user with whose rights files are opened (foreign_file.h) */
    uint64_t main_stack;     /* an address in the stack of the first thread; 0: unknown */
    uint64_t missing_bytes;  /* bytes of readable memory that the source does not have */
    struct image_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct image_thread *threads;
    size_t thread_count, thread_capacity;
    struct image_copy *copies;
    size_t copy_count, copy_capacity;
};

/* Reads a word of the program, which is `width` bytes long: 8 or 4. */
static inline uint64_t image_word(const void *at, unsigned width)
{
    uint64_t word = 0; /* so 4 bytes are the low ones: all CPUs here are little-endian */

    memcpy(&word, at, width == 4 ? 4 : 8);
    return word;
}

/* Begins an image without mappings and threads. Its words are 8 bytes long until the source
 * finds a 32-bit program. */
void image_begin(struct image *image, struct arena *mem);
/* Frees the copies and tables; the source belongs to the caller. */
void image_end(struct image *image);

/* Adds a mapping; call image_sort() after the last one. Empty mappings, and those beyond
 * IMAGE_END, are ignored. */
void image_add_mapping(struct image *image, const struct image_mapping *mapping);
struct image_thread *image_add_thread(struct image *image, pid_t tid);
/* Sorts the mappings. False: two mappings overlap. */
bool image_sort(struct image *image);

/* Returns the first mapping that ends above an address; NULL: there is none. */
const struct image_mapping *image_find_next(const struct image *image, uint64_t address);
/* Returns the mapping that contains an address; NULL: there is none. */
const struct image_mapping *image_find(const struct image *image, uint64_t address);

/* Reads memory, with zeros for what cannot be read. True: all was read. */
bool image_read(struct image *image, uint64_t address, void *buffer, size_t size);
bool image_read_word(struct image *image, uint64_t address, uint64_t *word);

/* Converts `size` bytes of the program's words in place to words of 8 bytes. Returns their
 * number. */
size_t image_widen(const struct image *image, uint64_t *words, size_t size);

/* Reads pages like image_read, but without access to pages that were never written. False: none
 * was written, and the buffer is zero. */
bool image_read_pages(struct image *image, uint64_t address, uint8_t *buffer, size_t size);

/* Copies [start, end), a part of readable mappings, with zeros for what cannot be read. The copy
 * stays valid until image_drop_copies(), or until a copy is made that overlaps it partly. NULL:
 * no memory. */
const uint8_t *image_keep(struct image *image, uint64_t start, uint64_t end);
/* Removes all copies, so that memory is read again. */
void image_drop_copies(struct image *image);

/* Says whether the invariants of an image hold, for tests. */
bool image_check(const struct image *image);

#endif
