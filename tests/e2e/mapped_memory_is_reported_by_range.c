// With track=mmap: of a mapping that is unmapped in pieces, together with others, or from the middle, the report
// lists the remaining ranges; a moved or grown mapping keeps its mmap stack; a file mapping has its name; a failed
// call changes nothing. By default mappings are not tracked.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: rm -rf plain; mkdir plain; LIBLEAK_OPTIONS=dir=%d/plain; %leak %t; %report --format=json plain/*.leak | grep -c '"type": "mmap"'
// RUN: LIBLEAK_OPTIONS=track=mmap,fd; %leak %t
// EXPECT: ^0$
// JSON: all(opened("maps_" + n) == {"mmap": k} and sum(r.bytes for r in resources("maps_" + n)) == 4096 * s for n, k, s in [("whole", 1, 4), ("middle", 2, 6), ("front", 1, 3), ("grown", 1, 16), ("moved", 1, 2), ("fixed", 1, 1)])
// JSON: names("maps_whole") == ["/etc/passwd"] and opened("unmaps") == {} and opened("remaps") == {}
// JSON: sum(r.count for r in p.resources) == 7

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
#define PAGE 4096
#define MAP(pages) ((char *)mmap(NULL, (pages)*PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))

FAR void maps_whole(void)
{
    int fd = open("/etc/passwd", O_RDONLY);
    mmap(NULL, 4 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
}
FAR void maps_middle(void) { munmap(MAP(8) + 3 * PAGE, 2 * PAGE); }
FAR void maps_front(void) { munmap(MAP(5), PAGE + 1); }
FAR char *maps_grown(void) { return MAP(2); }
FAR char *maps_moved(void) { return MAP(2); }
FAR char *maps_fixed(void) { return MAP(3); }
FAR void remaps(char *grown, char *moved)
{
    mremap(grown, 2 * PAGE, 16 * PAGE, MREMAP_MAYMOVE);
    char *place = MAP(2);
    mremap(moved, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
}
FAR int unmaps(char *fixed)
{
    /* Two over the first two pages of three; then both go, with what lies between. */
    mmap(fixed, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    mmap(fixed + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    munmap(fixed, 2 * PAGE);
    errno = 0;
    if (munmap(fixed + 2 * PAGE + 1, PAGE) != -1 || errno != EINVAL)
        return 1;
    munmap(MAP(4), 4 * PAGE);
    return mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

int main(void)
{
    maps_whole();
    maps_middle();
    maps_front();
    remaps(maps_grown(), maps_moved());
    return unmaps(maps_fixed());
}
