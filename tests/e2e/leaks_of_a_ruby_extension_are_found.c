// What Ruby's own objects hold at the end is one line; what an extension of the same process lost is reported, also
// what it took by ruby_xmalloc. Without the built-in rules Ruby's blocks are records.
// NEEDS: /usr/bin/ruby
// NOBUILD:
// BUILD: cc -g -O1 -shared -fPIC -o %d/ext.so %s
// RUN: %run /usr/bin/ruby -rset -e 'require "%d/ext.so"; a = (1..2000).map { |i| [i.to_s * 40] }; puts a.size'
// EXPECT: ^Managed by ruby's garbage collector: [0-9,]+ blocks?, .* not judged\.$
// EXPECT: ^[0-9,]+ bytes in (1[5-9][0-9]|200) blocks lost \(2 records\)
// EXPECT: lost_by_extension
// EXPECT: lost_by_ruby_xmalloc

#include <stdlib.h>

void *ruby_xmalloc(size_t size);

static void *volatile last;

__attribute__((noinline)) void lost_by_extension(void)
{
    last = malloc(100);
}

__attribute__((noinline)) void lost_by_ruby_xmalloc(void)
{
    last = ruby_xmalloc(64);
}

void Init_ext(void)
{
    for (int i = 0; i < 100; i++) {
        lost_by_extension();
        lost_by_ruby_xmalloc();
    }
    last = NULL;
}
