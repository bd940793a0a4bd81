/* tray_alloc.c - allocates trays for the open table, as table.h describes. */
#include "preload/blocks/table.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "leak_store.h"

#include <sys/mman.h>

#define CHUNK_LEAST (64u << 10)
#define CHUNK_MOST (256u << 10)
#define CHUNK_SMALL (2 * LEAK_PAGE) /* large enough for the largest tray */

const uint16_t tray_capacity[TRAY_CLASSES] = {1,  2,  3,  4,  6,  8,  12,  16,  20,  24,
                                              32, 40, 48, 64, 80, 96, 128, 160, 192, 256};

/* A free tray holds the address of the next free tray of its size class. */
struct free_tray {
    struct free_tray *next;
};

static struct lock lock; /* guards the variables below */
static struct free_tray *free_trays[TRAY_CLASSES];
static uint8_t *chunk; /* the unused rest of the newest chunk */
static size_t chunk_left, chunks_size;

static size_t tray_size(unsigned size_class)
{
    unsigned capacity = tray_capacity[size_class];
    return round_up(((capacity + 3u) & ~3u) + (size_t)capacity * TRAY_ENTRY_SIZE,
                    8); /* at least 24 bytes, so that struct free_tray fits */
}

static void push_free_tray(uint8_t *tray, unsigned size_class)
{
    struct free_tray *free_tray = (struct free_tray *)tray;
    free_tray->next = free_trays[size_class];
    free_trays[size_class] = free_tray;
}

/* Divides the unused rest of the old chunk into free trays, as large as possible. */
static void split_rest_of_chunk(void)
{
    for (int size_class = TRAY_CLASSES - 1; size_class >= 0; size_class--)
        for (; chunk_left >= tray_size(size_class); chunk_left -= tray_size(size_class)) {
            push_free_tray(chunk, size_class);
            chunk += tray_size(size_class);
        }
}

static bool map_tray_chunk(void)
{
    size_t size = round_up(chunks_size / 8, LEAK_PAGE);
    size = size < CHUNK_LEAST ? CHUNK_LEAST : size > CHUNK_MOST ? CHUNK_MOST : size;
    uint8_t *memory = arena_map(size);
    while (!memory && size > CHUNK_SMALL) /* near the memory limit smaller chunks may still fit */
        memory = arena_map(size = round_up(size / 2, LEAK_PAGE));
    if (!memory)
        return false;
    /* Old kernels refuse MADV_POPULATE_WRITE; then each page faults when it is first used. */
    sys_advise(memory, size, MADV_POPULATE_WRITE);
    split_rest_of_chunk();
    chunk = memory;
    chunk_left = size;
    chunks_size += size;
    return true;
}

uint8_t *tray_alloc(unsigned size_class)
{
    uint8_t *tray = NULL;
    struct locked locked = lock_take(&lock);
    if (free_trays[size_class]) {
        tray = (uint8_t *)free_trays[size_class];
        free_trays[size_class] = free_trays[size_class]->next;
    } else if (chunk_left >= tray_size(size_class) || map_tray_chunk()) {
        tray = chunk;
        chunk += tray_size(size_class);
        chunk_left -= tray_size(size_class);
    }
    lock_give(&locked);
    return tray;
}

void tray_free(uint8_t *tray, unsigned size_class)
{
    struct locked locked = lock_take(&lock);
    push_free_tray(tray, size_class);
    lock_give(&locked);
}

LOCK_FOR_FORK(tray, &lock)

void tray_fork_child(void)
{
    lock.word = 0;
}
