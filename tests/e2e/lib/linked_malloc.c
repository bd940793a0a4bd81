/* An allocator as programs are linked with: from a variable, or mapped when it is large; free lists by size, one
 * lock, calls of one function from another. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE (64 << 10)
#define SIZES 13 /* 16 << 0 ... 64 KiB */

struct head {
    size_t size; /* that may be used */
    size_t from; /* the block's start, back from here */
};

static char heap[8 << 20] __attribute__((aligned(64)));
static size_t used;
static void *empty[SIZES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned class_of(size_t size)
{
    unsigned class = 0;
    while ((size_t)16 << class < size)
        class++;
    return class;
}

static struct head *head_of(void *block)
{
    return (struct head *)block - 1;
}

static void *take(size_t size)
{
    unsigned class = class_of(size);
    void *block;
    pthread_mutex_lock(&lock);
    if ((block = empty[class]))
        empty[class] = *(void **)block;
    else if (used + ((size_t)32 << class) <= sizeof heap) {
        block = heap + used + 16;
        used += (size_t)32 << class;
        head_of(block)->size = (size_t)16 << class;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

void *malloc(size_t size)
{
    void *block;
    if (size < LARGE)
        block = take(size);
    else {
        block = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        block = block == MAP_FAILED ? NULL : (char *)block + 16;
        if (block)
            head_of(block)->size = size;
    }
    if (block)
        head_of(block)->from = 0;
    else
        errno = ENOMEM;
    return block;
}

void free(void *block)
{
    if (!block)
        return;
    block = (char *)block - head_of(block)->from;
    size_t size = head_of(block)->size;
    if (size >= LARGE) {
        munmap((char *)block - 16, size + 4096);
        return;
    }
    pthread_mutex_lock(&lock);
    *(void **)block = empty[class_of(size)];
    empty[class_of(size)] = block;
    pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = malloc(bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    if (old && block) {
        size_t had = head_of(old)->size;
        memcpy(block, old, had < size ? had : size);
        free(old);
    }
    return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    char *block = malloc(size + alignment + 16), *at;
    if (!block)
        return NULL;
    at = (char *)(((size_t)block + alignment + 15) / alignment * alignment);
    if (alignment <= 16)
        return block;
    head_of(at)->from = at - block;
    head_of(at)->size = size;
    return at;
}

void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = aligned_alloc(alignment, size);
    if (block)
        *out = block;
    return block ? 0 : ENOMEM;
}

