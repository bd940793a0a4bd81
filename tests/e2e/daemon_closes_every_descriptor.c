// Hard case 29b: a daemon closes 0..65535 and opens files of its own on the lowest numbers: libleak writes
// no byte into them, holds no descriptor open, and goes on tracking while the recording grows.
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=verbosity=1:report=exit; %leak %t; s=$?; cat one two three; exit $s
// EXIT: 9
// EXPECT: ^content of one$
// EXPECT: ^content of two$
// EXPECT: ^content of three$
// JSON: of("before").blocks == 1 and of("sites").blocks == 20000
// JSON: p.end.how == "exit" and p.end.value == 9
// JSON: [open(folder + "/" + n).read() for n in ("one", "two", "three")] == ["content of %s\n" % n for n in ("one", "two", "three")]

#include "lib/sites.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) void before(void) { sites_sink = malloc(1); sites_sink = NULL; }

static void write_one(const char *name, int wanted)
{
    char text[64];
    int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);

    snprintf(text, sizeof text, "content of %s\n", name);
    write(fd, text, strlen(text));
    if (fd != wanted)
        _exit(100 + fd);
}

int main(void)
{
    before();
    for (int fd = 0; fd < 65536; fd++)
        close(fd);
    write_one("one", 0);
    write_one("two", 1);
    write_one("three", 2);
    sites(20000);
    return 9;
}
