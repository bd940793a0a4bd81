// linked_malloc=off leaves the program's own malloc as it is, byte for byte, and counts the program among what is not
// tracked; auto, the default, leads it to libleak. What is neither is said and passed over.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %t; for how in off auto on; do LIBLEAK_OPTIONS=linked_malloc=$how; export LIBLEAK_OPTIONS; %leak %t || exit; done
// EXPECT: ^libleak: bad value in 'linked_malloc=on' in LIBLEAK_OPTIONS: ignored
// EXPECT: ^my malloc is as it was$
// REFUSE: not tracked
// JSON: len(procs) == 3 and all(q.end.how == "exit" and q.end.value == 0 for q in procs)
// JSON: [of("lose", q).blocks for q in procs] == [0, 7, 7]
// JSON: ["OWN_ALLOCATOR" in str(q.coverage.untracked) for q in procs] == [True, False, False]

#include "lib/linked_malloc.c"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline, noclone)) static void lose(void)
{
    sink = malloc(10);
    sink = NULL;
}

/* The first object is the program; in its file code stands where the segment with it says. */
static int compare(struct dl_phdr_info *object, size_t size, void *same)
{
    char bytes[32];
    int fd = open("/proc/self/exe", O_RDONLY);
    size_t at = (size_t)malloc - object->dlpi_addr;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && at - part->p_vaddr < part->p_filesz)
            *(int *)same = pread(fd, bytes, sizeof bytes, at - part->p_vaddr + part->p_offset) ==
                               sizeof bytes && !memcmp(bytes, (void *)malloc, sizeof bytes);
    }
    return close(fd), 1;
}

int main(void)
{
    const char *options = getenv("LIBLEAK_OPTIONS");
    int same = 0, off = !options || strstr(options, "linked_malloc=off");
    dl_iterate_phdr(compare, &same);
    for (int i = 0; i < 7; i++)
        lose();
    if (same && off)
        write(1, "my malloc is as it was\n", 23);
    return same != off;
}
