#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#define FAR __attribute__((noinline))
static void *volatile sink;
static int caught, refused, nulls;

FAR void plugin_throws(int n) { throw std::runtime_error("of plugin, long enough for the heap " + std::to_string(n)); }
FAR void plugin_new() { sink = operator new(12); sink = nullptr; }
FAR void plugin_new_array() { sink = new char[13]; sink = nullptr; }

extern "C" int plugin_run(int n)
{
    for (int i = 0; i < 3; i++)
        try { plugin_throws(i); } catch (std::exception &e) { caught++; }
    volatile size_t huge = PTRDIFF_MAX - 100;
    try { sink = operator new(huge); } catch (std::bad_alloc &) { refused++; }
    nulls += operator new(huge, std::nothrow) == nullptr;
    plugin_new();
    plugin_new_array();
    return caught | refused << 8 | nulls << 16;
}
