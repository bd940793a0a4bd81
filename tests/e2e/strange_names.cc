// Hard case 29: template names of 10,000 characters, Rust names old and new, names that are none.
// CFLAGS: -O1 -g
// RUN: %leak %t; %report store/*.leak; echo "widest: $(%report store/*.leak | awk '{ if (length > w) w = length } END { print w }')"
// EXPECT: very_long_name
// EXPECT: rusty::leaks::take_old
// EXPECT: rusty::leaks::take_new
// REFUSE: h0123456789abcdef
// REFUSE: widest: [0-9]{4}
// JSON: of("very_long_name").blocks == 1 and of("very_long_name").bytes == 21
// JSON: any(len(f.function) > 10000 for r in p.records for f in r.frames if f.function)
// JSON: any(f.function == "rusty::leaks::take_old" for r in p.records for f in r.frames)
// JSON: any("rusty" in (f.function or "") and "take_new" in f.function for r in p.records for f in r.frames)
// JSON: any(f.function == "_ZN3notmangled" for r in p.records for f in r.frames)

#include <cstdlib>

void *volatile sink;

template <class A, class B> struct pair_of_things_with_a_rather_long_name {};
template <int N> struct grow { typedef pair_of_things_with_a_rather_long_name<typename grow<N - 1>::type, typename grow<N - 1>::type> type; };
template <> struct grow<0> { typedef int type; };

template <class T> __attribute__((noinline)) void very_long_name()
{
    sink = malloc(21);
    sink = nullptr;
}

extern "C" {
__attribute__((noinline)) void take_old() __asm__("_ZN5rusty5leaks8take_old17h0123456789abcdefE");
__attribute__((noinline)) void take_new() __asm__("_RNvNtCs1234_5rusty5leaks8take_new");
__attribute__((noinline)) void not_mangled() __asm__("_ZN3notmangled");
void take_old() { sink = malloc(22); sink = nullptr; }
void take_new() { sink = malloc(23); sink = nullptr; }
void not_mangled() { sink = malloc(24); sink = nullptr; }
}

int main()
{
    very_long_name<grow<8>::type>();
    take_old();
    take_new();
    not_mangled();
}
