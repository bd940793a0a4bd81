/* files.c - measures the cost of tracking descriptors and streams: opens and closes a million of
 * them.
 *
 *   files [NAME=VALUE...]
 *
 * files=N    number of opens and closes, one after the other (1000000)
 * kind=0     0: descriptors, open and close; 1: streams, fopen and fclose;
 *            2: directories, opendir and closedir
 * read=0     1: read from each, as most programs do
 *
 * The file is in memory (/dev/shm), so that no disk is measured. The output is one line: CPU time
 * of the thread for each open and close in ns, the median (ns) and the minimum (least_ns) of 20
 * batches, and rss_mb.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/common.h"

enum { FILES, KIND, READ, KNOBS };
static struct knob knobs[KNOBS] = {
    [FILES] = {"files", 1000000}, [KIND] = {"kind", 0}, [READ] = {"read", 0}};

#define BATCHES 20

static char path[256] = "/tmp/libleak-bench-XXXXXX";
static char bytes[512];

static __attribute__((noinline)) void use_descriptor(void)
{
    int fd = open(path, O_RDONLY);
    if (knobs[READ].value && read(fd, bytes, sizeof bytes) < 0)
        perror(path);
    close(fd);
}

static __attribute__((noinline)) void use_stream(void)
{
    FILE *file = fopen(path, "r");
    if (knobs[READ].value && !fgets(bytes, sizeof bytes, file))
        perror(path);
    fclose(file);
}

static __attribute__((noinline)) void use_directory(void)
{
    DIR *folder = opendir("/proc/self/task");
    if (knobs[READ].value && !readdir(folder))
        perror(path);
    closedir(folder);
}

static void batch(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (knobs[KIND].value == 0)
            use_descriptor();
        else if (knobs[KIND].value == 1)
            use_stream();
        else
            use_directory();
}

static void make_file(void)
{
    const char *place = getenv("TMPDIR");
    if (place)
        snprintf(path, sizeof path, "%s/libleak-bench-XXXXXX", place);
    else if (access("/dev/shm", W_OK) == 0)
        strcpy(path, "/dev/shm/libleak-bench-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, "one line of text\n", 17) != 17) {
        perror(path);
        exit(1);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    double ns[BATCHES];
    struct rusage usage;
    if (!knobs_read(knobs, KNOBS, argc, argv))
        return 2;
    make_file();
    uint64_t count = knobs[FILES].value / BATCHES;
    batch(count / 10 + 1);
    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        batch(count);
        ns[i] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)count;
    }
    unlink(path);
    getrusage(RUSAGE_SELF, &usage);
    double middle = median(ns, BATCHES);
    printf("ns=%.1f least_ns=%.1f rss_mb=%.1f\n", middle, ns[0], (double)usage.ru_maxrss / 1024);
    return 0;
}
