// A program with an operator new and delete of its own loads a library whose constructor waits for a thread that
// uses other forms, which call these: libleak looks up no symbol while another thread holds the loader lock.
// CFLAGS: -O1 -g -fno-builtin -fsized-deallocation -rdynamic -Wl,--no-as-needed
// BUILD: g++ -w -O1 -g -shared -fPIC -fno-builtin -DPLUGIN -o %d/plugin.so %s -pthread
// RUN: timeout 20 %leak %t ./plugin.so; echo "ended: $?"
// EXPECT: ^constructor waited$
// EXPECT: ^6 new, 6 deleted$
// EXPECT: ^ended: 0$
// JSON: p.errors == [] and p.coverage.unknown_frees == 0 and p.end.value == 0

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <unistd.h>

#ifdef PLUGIN
void *volatile sink;
static void *work(void *passed)
{
    for (int i = 0; i < 2; i++) {
        sink = operator new[](10);
        operator delete[](sink);
        sink = operator new(10, std::nothrow);
        operator delete(sink, (std::size_t)10);
        sink = operator new[](10, std::nothrow);
        operator delete[](sink, std::nothrow);
    }
    return passed;
}
__attribute__((constructor)) static void wait_for_it()
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    if (write(1, "constructor waited\n", 19) < 0)
        abort();
}
#else
static int made, gone;
void *operator new(std::size_t size)
{
    made++;
    return malloc(size);
}
void operator delete(void *block) noexcept
{
    gone += block != NULL;
    free(block);
}

int main(int, char **argv)
{
    if (!dlopen(argv[1], RTLD_NOW))
        return 1;
    printf("%d new, %d deleted\n", made, gone);
    return 0;
}
#endif
