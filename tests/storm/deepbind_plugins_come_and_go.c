// 1,000 times a plugin is opened with RTLD_DEEPBIND, used and closed, while another thread does the same and a
// third opens plugins without the flag: each block is counted, none is freed by a stranger.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -Wl,-z,lazy -o %d/lazy.so %S/../e2e/lib/deep.c
// BUILD: gcc -w -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -Wl,-z,now -o %d/now.so %S/../e2e/lib/deep.c
// BUILD: gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_named -DSIZE=100 -o %d/named.so %S/../e2e/lib/named.c
// RUN: %leak %t %d/lazy.so %d/now.so %d/named.so
// EXPECT: 3000 times
// JSON: (of("leak_of_deep").blocks, of("leak_of_deep").bytes) == (2000, 200000)
// JSON: of("leak_of_named").blocks == 1000 and of("leak_of_deep_constructor").blocks == 2000
// JSON: of("give_of_deep").blocks == 0 and p.coverage.unknown_frees == 0
// JSON: not untracked and not p.errors and p.end.value == 0

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int times;

static void *deeply(void *path)
{
    for (int i = 0; i < 1000; i++) {
        void *h = dlopen(path, RTLD_LAZY | RTLD_DEEPBIND);
        void *(*give)(size_t) = dlsym(h, "give_of_deep");
        void (*take)(void *) = dlsym(h, "take_of_deep");

        free(give(10));
        take(malloc(10));
        ((void (*)(void))dlsym(h, "leak_of_deep"))();
        dlclose(h);
        times++;
    }
    return NULL;
}

static void *plainly(void *path)
{
    for (int i = 0; i < 1000; i++) {
        void *h = dlopen(path, RTLD_NOW);

        ((void (*)(void))dlsym(h, "run"))();
        dlclose(h);
        times++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, i < 2 ? deeply : plainly, argv[1 + i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%d times\n", times);
    return argc != 4;
}
