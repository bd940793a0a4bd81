// A descriptor that is closed twice: the report has who opened it, who closed it first, and who closed it
// again, with lines; so of a stream whose descriptor was closed, also when the number was another's by
// then. A number that was never open is said once, however often. Right programs close -1 and mean no harm.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak
// EXPECT: 3 closes of a descriptor that was already closed: /etc/passwd
// EXPECT: closed first, by T1:
// EXPECT: the number had been reused: another descriptor was closed
// EXPECT: 5 closes of a descriptor that was never open: descriptor 777
// JSON: opened("again") == {"double-close": 3} and opened("never") == {"bad-close": 5} and opened("harmless") == {}
// JSON: [f.function for f in res("again").opened][0] == "opens" and [f.function for f in res("again").closed][0] == "first"
// JSON: res("again").closed[0].line == line("FIRST") and res("again").frames[0].line == line("AGAIN") and not res("again").taken
// JSON: opened("stream_again") == {"double-close": 1} and [f.line for f in res("stream_again").closed][0] == line("BELOW")
// JSON: opened("stream_takes") == {"double-close": 1} and res("stream_takes").taken and [f.line for f in res("stream_takes").closed][0] == line("UNDER")
// JSON: opened("close_after_stream") == {"double-close": 1} and res("close_after_stream").closed[0].line == line("FCLOSE")
// JSON: p.resources[0].taken and sum(r.count for r in p.resources) == 11 and len(p.resources) == 5

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

FAR int opens(void) { return open("/etc/passwd", O_RDONLY); }
FAR void first(int fd)
{
    close(fd); // FIRST
}
FAR int again(int fd)
{
    errno = 0;
    return close(fd) == -1 && errno == EBADF; // AGAIN
}
FAR int never(void) { return close(777) == -1 && errno == EBADF; }
FAR void harmless(void)
{
    close(-1);
    close(opens());
    /* The same number comes without passing by us, as from a socket. */
    fclose(fdopen(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY), "r"));
}

FAR void stream_again(void)
{
    FILE *f = fopen("/etc/passwd", "r");
    close(fileno(f)); // BELOW
    fclose(f);
}

FAR void stream_takes(void)
{
    FILE *f = fopen("/etc/passwd", "r");
    close(fileno(f)); // UNDER
    int other = open("/etc/group", O_RDONLY);
    fclose(f);
    (void)other;
}

FAR void close_after_stream(void)
{
    FILE *f = fdopen(opens(), "r");
    int fd = fileno(f);
    fclose(f); // FCLOSE
    close(fd);
}

int main(void)
{
    int good = 1;
    for (int i = 0; i < 3; i++) {
        int fd = opens();
        first(fd);
        good &= again(fd);
    }
    for (int i = 0; i < 5; i++)
        good &= never();
    harmless();
    stream_again();
    stream_takes();
    close_after_stream();
    return !good;
}
