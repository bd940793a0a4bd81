#include <stdlib.h>
#include <unistd.h>

void *kept_until_destructor;
void *volatile last_sink;

__attribute__((constructor)) void library_constructor(void) { last_sink = malloc(44); }

__attribute__((destructor)) void last_destructor(void)
{
    free(kept_until_destructor);
    last_sink = malloc(66);
    write(1, "last destructor ran\n", 20);
}
