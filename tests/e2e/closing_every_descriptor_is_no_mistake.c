// A daemon's loop over all numbers, close_range and closefrom close the open descriptors and are no errors;
// descriptors they closed are not listed as open, descriptors opened afterwards and left open are. A close by
// a raw system call is noticed at the end.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// JSON: opened() == {"fd": 1} and res("after").name == "/dev/null"
// JSON: p.inherited == []

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

FAR void some(void)
{
    for (int i = 0; i < 30; i++)
        open("/dev/null", O_RDONLY);
}
FAR void after(void) { open("/dev/null", O_RDONLY); }

int main(void)
{
    for (int i = 0; i < 3; i++)
        close(open("/dev/null", O_RDONLY));
    some();
    for (int fd = 3; fd < 3000; fd++)
        close(fd);
    some();
    if (close_range(3, ~0u, 0) != 0)
        return 1;
    some();
    closefrom(3);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    syscall(SYS_close, open("/dev/null", O_RDONLY));
    dup2(open("/dev/null", O_RDONLY), 50);
    close(50);
    close(3);
    after();
    return 0;
}
