// The program has taken away the memory that libleak keeps its tables in, and then divides by zero: the
// record does without what cannot be read, and the death is that of the division.
// NEEDS: /lib64/ld-linux-x86-64.so.2
// CFLAGS: -O1 -g -fno-builtin -Wl,-z,now
// RUN: %t 2>/dev/null; a=$?; %leak %t; b=$?; echo "status $a $b"
// RUN: %report store/*.leak
// EXPECT: ^status 136 136$
// EXPECT: CRASH: SIGFPE, integer divided by zero
// EXPECT: taken away: [1-9]
// JSON: [(e.type, e.crash.signal) for e in p.errors] == [("crash", 8)]
// JSON: p.end == {"how": "signal", "value": 8}

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int zero;
static char maps[1 << 17];

static int holds(unsigned long start, unsigned long end, const void *address)
{
    return (unsigned long)address >= start && (unsigned long)address < end;
}

/* Private memory of no known owner: no file's, not the data behind one, no thread's block, not the
 * stack that the kernel will need. */
static int take_away(const stack_t *stack)
{
    unsigned long start, end, before = 0;
    char access[5], path[300], named_before = 0;
    int count = 0;
    for (char *line = strtok(maps, "\n"); line; line = strtok(NULL, "\n")) {
        path[0] = 0;
        sscanf(line, "%lx-%lx %4s %*s %*s %*s %299s", &start, &end, access, path);
        int ours = !path[0] && !strcmp(access, "rw-p") && !(start == before && named_before) &&
                   !holds(start, end, &errno) && !holds(start, end, stack->ss_sp);
        if (ours && mprotect((void *)start, end - start, PROT_NONE) == 0)
            count++;
        named_before = path[0] != 0;
        before = end;
    }
    return count;
}

int main(void)
{
    stack_t stack = {0};
    char text[40];
    char *volatile block = malloc(100);
    int fd = open("/proc/self/maps", O_RDONLY), got, length = 0;
    while ((got = read(fd, maps + length, sizeof maps - 1 - length)) > 0)
        length += got;
    syscall(SYS_sigaltstack, NULL, &stack);
    length = snprintf(text, sizeof text, "taken away: %d\n", take_away(&stack));
    write(1, text, length);
    return length / zero;
}
