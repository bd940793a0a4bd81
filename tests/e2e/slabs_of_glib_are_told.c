// GLib before 2.76 carves slices from slabs. Where nothing is lost, a note says how many bytes are slabs, and which
// variable of the environment makes each slice a block; not for a few slabs, not where the library takes each slice from
// malloc, and not where something is lost.
// NOBUILD:
// BUILD: gcc -w -O1 -g -fno-optimize-sibling-calls -DLIBRARY -shared -fPIC -o %d/libglib-2.0.so.0 %s
// BUILD: gcc -w -O1 -g -o %d/t %s %d/libglib-2.0.so.0 -Wl,-rpath,%d
// RUN: for a in '40' '2' '40 malloc' '40 slab lost'; do %run %d/t $a 2>&1 | grep -E '^Note: |blocks? lost' | sed "s/^/$a: /"; done; :
// EXPECT: ^40: Note: slices of GLib are not recorded, but their slabs \(41 kB\); with G_SLICE=always-malloc each is a block\.$
// EXPECT: ^40 slab lost: 30 bytes in 1 block lost
// REFUSE: ^(2|40 malloc|40 slab lost): Note

#include <stdlib.h>
#include <string.h>

void *g_slice_alloc(size_t size, int from_slab);

#ifdef LIBRARY

__attribute__((noinline)) static void *slab(void)
{
    void *made = NULL;
    return posix_memalign(&made, 1024, 1024) ? NULL : made;
}

void *g_slice_alloc(size_t size, int from_slab)
{
    char *slice = from_slab ? slab() : malloc(size);
    slice[0] = 1;
    return slice;
}

#else

static void *volatile slice[100];

int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[1]); i++)
        slice[i] = g_slice_alloc(24, argc == 2 || strcmp(argv[2], "malloc") != 0);
    if (argc > 3) {
        slice[99] = malloc(30);
        slice[99] = NULL;
    }
    return 0;
}

#endif
