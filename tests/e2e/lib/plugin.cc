#include <cstdlib>

void *volatile plugin_sink;

extern "C" __attribute__((noinline)) void plugin_leak(int n)
{
    for (int i = 0; i < n; i++)
        plugin_sink = malloc(123);
}
