/* keep.h - a block that is kept here is not optimised away, and its pointer has no type. */
#ifndef TESTS_TYPES_KEEP_H
#define TESTS_TYPES_KEEP_H

#define KEPT_MOST 4096
static void *volatile kept[KEPT_MOST];
static unsigned kept_count;

static inline void keep(const void *block)
{
    kept[kept_count++ % KEPT_MOST] = (void *)block;
}

#endif
