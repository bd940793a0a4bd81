#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *volatile outer_sink;

int outer_open(void)
{
    void *h = dlopen("inner.so", RTLD_NOW);
    void *m = dlmopen(LM_ID_BASE, "inner.so", RTLD_NOW);
    void *self = dlopen(NULL, RTLD_NOW);

    outer_sink = malloc(70);
    if (h) puts("inner found by dlopen"); else puts(dlerror());
    if (m) puts("inner found by dlmopen"); else puts(dlerror());
    if (self && dlsym(RTLD_DEFAULT, "main") == dlsym(self, "main")) puts("caller known to the loader");
    if (h) ((void (*)(void))dlsym(h, "run"))();
    return !h || !m;
}
