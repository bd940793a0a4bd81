/* malloc behind functions of the program: checked, zeroing, by a table of functions, with a tail
 * call; and two calls of one wrapper in one function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct config {
    char name[40];
    int level;
};

struct session {
    struct config *config;
    int *ports;
    long started;
};

static void *xmalloc(size_t size)
{
    void *block = malloc(size);

    if (!block) {
        perror("malloc");
        exit(1);
    }
    return block;
}

__attribute__((noinline)) static void *xzalloc(size_t size)
{
    return memset(xmalloc(size), 0, size);
}

__attribute__((noinline)) void *plain_alloc(size_t size)
{
    return malloc(size);
}

struct allocator {
    void *(*alloc)(size_t size);
} allocator = {xzalloc};

__attribute__((noinline)) static struct config *config_new(int level)
{
    struct config *config = xzalloc(sizeof(*config)); // TYPE struct config

    config->level = level;
    return config;
}

__attribute__((noinline)) struct session *session_alloc(void)
{
    return plain_alloc(sizeof(struct session)); // TYPE struct session
}

static void session_new(int level)
{
    struct session *session = session_alloc(); // TYPE struct session

    session->config = config_new(level);
    session->ports = allocator.alloc(16 * sizeof(int)); // TYPE int
    keep(session);
}

/* What one call of a wrapper makes says nothing about another one of the same function. */
__attribute__((noinline)) static void mixed(void)
{
    struct config *config = xzalloc(sizeof(*config)); // TYPE struct config

    config->level = 1;
    keep(config);
    keep(xzalloc(sizeof(struct config))); // TYPE none
}

int main(void)
{
    mixed();
    for (int i = 0; i < 10; i++)
        session_new(i);
    return 0;
}
