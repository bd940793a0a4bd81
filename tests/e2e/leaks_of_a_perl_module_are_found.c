// What Perl's own scalars hold at the end is one line; what a module of the same process lost is reported, also what it
// took by Perl_safesysmalloc (Newx) and Perl_savepv.
// NEEDS: /usr/bin/perl
// NOBUILD:
// BUILD: cc -g -O1 -shared -fPIC -o %d/ext.so %s
// RUN: %run /usr/bin/perl -MDynaLoader -MPOSIX -e 'DynaLoader::dl_load_file("%d/ext.so", 0) or die; print 1'
// EXPECT: ^Managed by perl's interpreter: [0-9,]+ blocks?, .* not judged\.$
// EXPECT: lost_by_module
// EXPECT: lost_by_newx
// EXPECT: ^[0-9,]+ bytes in (1[5-9][0-9]|200) blocks lost \(2 records\)

#include <stdlib.h>

void *Perl_safesysmalloc(size_t size);

static void *volatile last;

__attribute__((noinline)) void lost_by_module(void)
{
    last = malloc(100);
}

__attribute__((noinline)) void lost_by_newx(void)
{
    last = Perl_safesysmalloc(64);
}

__attribute__((constructor)) static void begin(void)
{
    for (int i = 0; i < 100; i++) {
        lost_by_module();
        lost_by_newx();
    }
    last = NULL;
}
