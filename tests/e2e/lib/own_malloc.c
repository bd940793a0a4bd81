/* An allocator that a library may be linked with: no other allocator accepts its blocks. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static char heap[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t n)
{
    used += (n + 15) & ~15ul;
    return used < sizeof heap ? heap + used - ((n + 15) & ~15ul) : NULL;
}

void free(void *p)
{
    if (p && ((char *)p < heap || (char *)p >= heap + sizeof heap))
        abort(); /* it came from elsewhere */
}

void *calloc(size_t a, size_t b) { return memset(malloc(a * b), 0, a * b); }
void *realloc(void *p, size_t n) { void *q = malloc(n); return p ? memcpy(q, p, n < 16 ? n : 16) : q; }
