#include "preload/roots/scan_ranges.h"
#include "preload/base/sys.h"
#include "leak_store.h"

#include <fcntl.h>

#define SPARSE (4ull << 20) /* of larger ranges only pages that were touched are read */
#define PAGE_OF_FILE (1ull << 61)

bool pieces_open(struct pieces *pieces, unsigned classes)
{
    *pieces = (struct pieces){.piece = sys_map_lazily(PIECES_MOST * sizeof *pieces->piece),
                              .classes = classes,
                              .pagemap = sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0)};
    return pieces->piece;
}

static void put(struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece piece)
{
    if (start >= end || pieces_are_full(pieces))
        return;
    piece.start = start;
    piece.end = end;
    pieces->piece[pieces->count++] = piece;
}

static bool is_wanted(const struct pieces *pieces, const struct piece *piece)
{
    return pieces->classes >> piece->root_class & 1;
}

/* The entries of the pages from there on, so many at most; what cannot be read says "there". */
static size_t read_pages(const struct pieces *pieces, uintptr_t at, uintptr_t end, uint64_t *entry,
                         size_t most)
{
    size_t pages = (end - at + LEAK_PAGE - 1) / LEAK_PAGE;
    pages = pages < most ? pages : most;
    ssize_t size = pages * sizeof *entry;
    if (sys_read_at(pieces->pagemap, entry, size, at / LEAK_PAGE * sizeof *entry) != size)
        memset(entry, 0xff, size);
    return pages;
}

/* Runs of pages that are there, or were there and are swapped out: the two highest bits of an
 * entry. */
static void put_touched(struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece model,
                        bool of_file)
{
    uint64_t entry[512];
    uintptr_t begin = 0;
    for (uintptr_t at = start & ~(LEAK_PAGE - 1); at < end;) {
        size_t pages = read_pages(pieces, at, end, entry, ARRAY_LENGTH(entry));
        for (size_t i = 0; i < pages; i++, at += LEAK_PAGE) {
            bool there = entry[i] >> 62 && !(of_file && entry[i] & PAGE_OF_FILE);
            if (there && !begin)
                begin = at > start ? at : start;
            if (!there && begin)
                put(pieces, begin, at, model);
            begin = there ? begin : 0;
        }
    }
    if (begin)
        put(pieces, begin, end, model);
}

void pieces_add(struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece model)
{
    start = round_up(start, sizeof(uintptr_t));
    if (!is_wanted(pieces, &model) || start >= end)
        return;
    if (end - start >= SPARSE && pieces->pagemap >= 0)
        put_touched(pieces, start, end, model, false);
    else
        put(pieces, start, end, model);
}

void pieces_add_written(struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece model)
{
    if (is_wanted(pieces, &model) && start < end && pieces->pagemap >= 0)
        put_touched(pieces, start, end, model, true);
}

bool pieces_are_full(const struct pieces *pieces)
{
    return pieces->count == PIECES_MOST;
}
