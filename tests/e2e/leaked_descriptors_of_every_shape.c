// CWE-773 and CWE-775: a descriptor or stream is left open - at once, through functions, in a struct, in
// a global, in a loop, across files, on the way out of an error - and each is found where it was opened;
// what the right twin of each opens is closed and not told.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// BUILD: cc -O1 -g -fno-optimize-sibling-calls -c -DOTHER_FILE -o other.o %s
// BUILD: cc -D_GNU_SOURCE -w -O1 -g -fno-optimize-sibling-calls -o shapes %s other.o
// NOBUILD:
// RUN: %leak %d/shapes
// JSON: all(opened("bad_" + n, procs[0]) == {"fd": k} for n, k in [("plain", 1), ("function", 1), ("struct", 1), ("global", 1), ("loop", 40), ("file", 1), ("error", 1), ("lost", 1), ("socket", 1)])
// JSON: all(opened("bad_" + n, procs[0]) == {"file": k} for n, k in [("stream", 1), ("streams", 25)])
// JSON: [f.function for r in procs[0].resources for f in r.frames if (f.function or "").startswith("good_")] == []
// JSON: sum(r.count for r in procs[0].resources) == 74
// JSON: [r.count for r in procs[0].resources] == sorted((r.count for r in procs[0].resources), reverse=True)
// JSON: not res("bad_loop", procs[0]).once and res("bad_plain", procs[0]).once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
#define NULL_FILE "/dev/null"

FAR int other_open(void);
FAR void other_close(int fd);

#ifdef OTHER_FILE
int other_open(void) { return open(NULL_FILE, O_RDONLY); }
void other_close(int fd) { close(fd); }
#else

struct holder {
    int unused, fd;
};

static int global;
static volatile int yes = 1;

FAR int helper_open(const char *path) { return open(path, O_RDWR); }
FAR void helper_use(int fd) { write(fd, "x", 1); }
FAR void helper_close(int fd) { close(fd); }

FAR void bad_plain(void) { int fd = open(NULL_FILE, O_RDWR); write(fd, "x", 1); }
FAR void good_plain(void) { int fd = open(NULL_FILE, O_RDWR); write(fd, "x", 1); close(fd); }

FAR void bad_function(void) { helper_use(helper_open(NULL_FILE)); }
FAR void good_function(void) { int fd = helper_open(NULL_FILE); helper_use(fd); helper_close(fd); }

FAR void bad_struct(void) { struct holder *h = malloc(sizeof *h); h->fd = open(NULL_FILE, O_RDWR); free(h); }
FAR void good_struct(void) { struct holder *h = malloc(sizeof *h); h->fd = open(NULL_FILE, O_RDWR); close(h->fd); free(h); }

FAR void bad_global(void) { global = open(NULL_FILE, O_RDWR); }
FAR void use_global(void) { write(global, "x", 1); }
FAR void good_global(void) { global = open(NULL_FILE, O_RDWR); use_global(); close(global); }

FAR void bad_loop(void) { for (int i = 0; i < 40; i++) helper_use(open(NULL_FILE, O_RDWR)); }
FAR void good_loop(void) { for (int i = 0; i < 40; i++) { int fd = open(NULL_FILE, O_RDWR); helper_use(fd); close(fd); } }

FAR void bad_file(void) { helper_use(other_open()); }
FAR void good_file(void) { int fd = other_open(); helper_use(fd); other_close(fd); }

FAR int bad_error(void)
{
    int fd = open(NULL_FILE, O_RDWR);
    if (yes)
        return -1; /* the way out that forgets */
    close(fd);
    return 0;
}
FAR int good_error(void)
{
    int fd = open(NULL_FILE, O_RDWR), status = yes ? -1 : 0;
    close(fd);
    return status;
}

/* 773: the last reference goes, the descriptor stays. */
FAR void bad_lost(void) { int fd = open(NULL_FILE, O_RDWR); fd = open(NULL_FILE, O_RDONLY); close(fd); }
FAR void bad_socket(void) { int s = socket(AF_INET, SOCK_STREAM, 0); if (yes) return; close(s); }
FAR void good_socket(void) { int s = socket(AF_INET, SOCK_STREAM, 0); shutdown(s, SHUT_RDWR); close(s); }

FAR void bad_stream(void) { FILE *f = fopen(NULL_FILE, "w"); fputs("x", f); }
FAR void good_stream(void) { FILE *f = fopen(NULL_FILE, "w"); fputs("x", f); fclose(f); }
FAR void bad_streams(void) { for (int i = 0; i < 25; i++) fputs("x", fopen(NULL_FILE, "w")); }
FAR void good_streams(void) { for (int i = 0; i < 25; i++) { FILE *f = fopen(NULL_FILE, "w"); fputs("x", f); fclose(f); } }

int main(void)
{
    bad_plain(); good_plain();
    bad_function(); good_function();
    bad_struct(); good_struct();
    bad_global(); good_global();
    bad_loop(); good_loop();
    bad_file(); good_file();
    bad_error(); good_error();
    bad_lost();
    bad_socket(); good_socket();
    bad_stream(); good_stream();
    bad_streams(); good_streams();
    return 0;
}
#endif
