// Hard case 29: the line is right in every debug format: DWARF 4 and 5, compressed, split with and
// without a .dwp, LTO, typed units, and with both compilers' usual levels.
// CFLAGS: -O2 -g -gdwarf-4
// CFLAGS: -O2 -g -gdwarf-5
// CFLAGS: -O2 -g -gz
// CFLAGS: -O2 -g -gsplit-dwarf -gdwarf-4
// CFLAGS: -O2 -g -gsplit-dwarf -gdwarf-5
// CFLAGS: -O2 -g -flto
// CFLAGS: -O2 -g -fdebug-types-section
// CFLAGS: -Og -g3
// CFLAGS: -O3 -g1
// CFLAGS: -O2 -g -ffunction-sections -Wl,--gc-sections
// CFLAGS: -O2 -g -static-libstdc++ -static-libgcc
// JSON: at("outer").line == line("outer") and at("outer").base == "debug_formats.cc"
// JSON: at("inner").line == line("inner")
// JSON: of("outer").blocks == 7

#include <cstdlib>

void *volatile sink;

static inline __attribute__((always_inline)) void inner()
{
    sink = malloc(10); // inner
    sink = nullptr;
}

__attribute__((noinline)) void outer()
{
    inner(); // outer
    sink = nullptr;
}

int main()
{
    for (int i = 0; i < 7; i++)
        outer();
}
