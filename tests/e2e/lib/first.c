/* A library whose constructor comes before everybody else's: frees first, then allocates. */
#include <stdlib.h>

void *volatile first_sink;

__attribute__((constructor)) void first_constructor(void)
{
    free(NULL);
    first_sink = malloc(55);
    free(malloc(56));
}
