// A shell puts its standard descriptors aside, others in their place, and back again; descriptors 0 to 2
// are told never, whatever becomes of them, and neither are stdin, stdout and stderr reopened.
// CFLAGS: -O1 -g
// RUN: %leak %t >output; cat output
// EXPECT: ^back$
// JSON: opened() == {}
// JSON: [t.opened > 10 for t in p.resource_totals if t.type == "fd"] == [True]

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    for (int i = 0; i < 10; i++) {
        int saved = fcntl(1, F_DUPFD, 10), errors = fcntl(2, F_DUPFD_CLOEXEC, 10);
        int file = open("aside", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, 1);
        dup2(1, 2);
        close(file);
        write(1, "aside\n", 6);
        dup2(saved, 1);
        close(saved);
        dup3(errors, 2, 0);
        close(errors);
    }
    for (int i = 0; i < 3; i++) {
        int in = dup(0);
        close(0);
        open("/dev/null", O_RDONLY); /* is 0 */
        dup2(in, 0);
        close(in);
    }
    freopen("/dev/null", "r", stdin);
    freopen("/dev/null", "w", stderr);
    puts("back");
    return 0;
}
