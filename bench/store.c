/* store.c - prints numbers of a recording file, for the limits of memory and leak checks.
 *
 *   store FILE
 *
 * The output is one line: nodes=N sites=N threads=N used=BYTES held=BYTES, where held is the disk
 * space of the file (a recording is sparse). If it contains leak checks: pauses=N pause_ms=MEDIAN
 * pause_most_ms=MAXIMUM check_ms=MEDIAN, over the leak checks that were possible.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/common.h"
#include "leak_store.h"

#define LOOKS_MAX 1000

static double pause_ms[LOOKS_MAX], check_ms[LOOKS_MAX];
static uint64_t looks;

/* Reads the leak checks. The file was written by libleak a moment ago, so it is not validated. */
static void read_looks(int fd, uint64_t end)
{
    struct leak_chunk chunk;
    struct leak_snapshot look;
    uint64_t at = LEAK_PAGE;
    while (at < end && looks < LOOKS_MAX &&
           pread(fd, &chunk, sizeof chunk, (off_t)at) == sizeof chunk) {
        bool is_chunk = chunk.magic == LEAK_CHUNK_MAGIC && chunk.offset == at && chunk.size;
        if (is_chunk && chunk.type == LEAK_CHUNK_SNAPSHOT && chunk.length >= sizeof look &&
            pread(fd, &look, sizeof look, (off_t)(at + sizeof chunk)) == sizeof look &&
            !look.trouble) {
            pause_ms[looks] = (double)look.pause_ns / 1e6;
            check_ms[looks++] = (double)look.check_ns / 1e6;
        }
        at += is_chunk ? chunk.size : LEAK_PAGE;
    }
}

int main(int argc, char **argv)
{
    struct leak_header header;
    struct stat file;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &file) || read(fd, &header, sizeof header) != sizeof header ||
        header.magic != LEAK_STORE_MAGIC || header.version != LEAK_STORE_VERSION) {
        fprintf(stderr, "store: no recording file of this version: %s\n",
                argc == 2 ? argv[1] : "(no name)");
        return 2;
    }
    read_looks(fd, header.used);
    printf("nodes=%" PRIu64 " sites=%" PRIu64 " threads=%" PRIu64 " used=%" PRIu64 " held=%lld",
           header.nodes, header.sites, header.threads, header.used,
           (long long)file.st_blocks * 512);
    double pause = median(pause_ms, looks), check = median(check_ms, looks);
    if (looks)
        printf(" pauses=%" PRIu64 " pause_ms=%.3f pause_most_ms=%.3f check_ms=%.3f", looks, pause,
               pause_ms[looks - 1], check);
    printf("\n");
    return 0;
}
