/* arena.h - memory of the offline side.
 *
 * Everything a report is made of lives in one arena (struct mem) and dies with it in one call, so
 * no other file frees single objects. Growing arrays come from mem_more() and are the caller's.
 * Running out of memory ends the program with one line and exit status 2: a reader has nothing
 * to rescue. Lowest rank: includes nothing of ours.
 */
#ifndef COMMON_BASE_ARENA_H
#define COMMON_BASE_ARENA_H

#include <stddef.h>

struct mem;

struct mem *mem_begin(void);
void mem_end(struct mem *mem); /* NULL is fine */

/* Zeroed, aligned for anything. */
void *mem_take(struct mem *mem, size_t size);
void *mem_take_array(struct mem *mem, size_t count, size_t size);
char *mem_copy(struct mem *mem, const char *text, size_t length); /* adds the NUL */
char *mem_format(struct mem *mem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Grow a malloc'd array of items of `size` bytes so that it holds `needed` of them. */
void *mem_more(void *array, size_t *capacity, size_t needed, size_t size);

#endif
