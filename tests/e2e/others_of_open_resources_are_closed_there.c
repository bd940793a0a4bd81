// What is left open on one path, and closed on another: the report says where others are closed, of the same function
// (fd, stream, directory, thread), or else of the first caller outwards that opens others which are closed. What nothing
// else is like, and what only main's other calls close, gets no such line.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^ +others are closed in close_log( at .*)?$
// EXPECT: ^ +others are closed in close_fd( at .*)?$
// EXPECT: ^ +others that session\(\) opens are closed in end_session( at .*)?$
// JSON: {r.name.split("/")[-1]: [f.function for f in r.others_released_in] for r in p.resources if r.type == "file"} == {"log": ["close_log"], "extra": ["end_session"], "alone": []}
// JSON: [[f.function for f in r.others_released_in] for r in p.resources if r.type == "fd"] == [["close_fd"]]
// JSON: [[f.function for f in r.others_released_in] for r in p.resources if r.type == "dir"] == [["close_dir"]]
// JSON: [[f.function for f in r.others_released_in] for r in p.resources if r.type == "thread"] == [["wait_for"]]

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

FAR FILE *open_log(void) { return fopen("log", "w"); }
FAR void close_log(FILE *log) { fclose(log); }
FAR int open_fd(void) { return open("/dev/null", O_RDONLY); }
FAR void close_fd(int fd) { close(fd); }
FAR DIR *open_dir(void) { return opendir("/"); }
FAR void close_dir(DIR *dir) { closedir(dir); }
static void *run(void *x) { return x; }
FAR pthread_t start(void) { pthread_t it; pthread_create(&it, NULL, run, NULL); return it; }
FAR void wait_for(pthread_t it) { pthread_join(it, NULL); }

/* A session opens a stream and, with a flag, another one by another function. */
FAR FILE *open_first(void) { return fopen("first", "w"); }
FAR FILE *open_extra(void) { return fopen("extra", "w"); }
FAR FILE *session(int extra)
{
    FILE *first = open_first();
    if (extra)
        open_extra();
    return first;
}
FAR void end_session(FILE *first) { fclose(first); }
FAR void open_alone(void) { fopen("alone", "w"); }

int main(void)
{
    for (int i = 0; i < 5; i++) {
        FILE *log = open_log();
        int fd = open_fd();
        DIR *dir = open_dir();
        pthread_t it = start();

        end_session(session(i == 2));
        if (i == 3)
            continue;
        close_log(log);
        close_fd(fd);
        close_dir(dir);
        wait_for(it);
    }
    open_alone();
    usleep(50000);
    return 0;
}
