/* A plugin whose calls take every way: bound at once or by the first call, from a constructor, by a
 * pointer in its data. */
#include <stdlib.h>

static void *volatile sink;
static void *(*volatile by_pointer)(size_t) = malloc;

__attribute__((noinline)) static void leak_of_deep_constructor(void) { sink = malloc(31); } /* line 8 */
__attribute__((constructor)) static void begin(void) { leak_of_deep_constructor(); }

__attribute__((noinline)) void leak_of_deep(void)
{
    sink = malloc(100); /* line 13 */
    sink = NULL;
}

__attribute__((noinline)) void leak_by_pointer(void)
{
    sink = by_pointer(41); /* line 19 */
    sink = NULL;
}

void *give_of_deep(size_t size) { return realloc(calloc(1, 4), size); }
void take_of_deep(void *block) { free(block); }
