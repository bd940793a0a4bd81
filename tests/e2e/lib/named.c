/* A plugin whose one function is called NAME and leaks at line 8. */
#include <stdlib.h>

void *volatile named_sink;

__attribute__((noinline)) void NAME(void)
{
    named_sink = malloc(SIZE); /* line 8 */
    named_sink = NULL;
}

__attribute__((visibility("default"))) void run(void)
{
    NAME();
    named_sink = NULL;
}

void run_kept(void) { named_sink = malloc(SIZE); }
