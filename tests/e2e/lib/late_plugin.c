#include <stdlib.h>
#include <string.h>

static void *volatile sink;

/* Runs before any other function of the plugin. */
__attribute__((constructor, noinline)) static void lose_in_constructor(void)
{
    sink = malloc(70);
    sink = NULL;
}

__attribute__((noinline)) void lose_in_plugin(void)
{
    sink = malloc(80);
    sink = strdup("a block that libc allocates for the plugin");
    sink = NULL;
}

__attribute__((noinline)) void *give_from_plugin(void)
{
    return malloc(90);
}
