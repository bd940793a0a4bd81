/* fuzz_core.c - core files that somebody damaged: leakreport core must not crash, must not read out of
 * bounds, and must end in seconds.
 *
 * One input is one core with one to eight damages: in its headers and notes, in the arenas and chunk
 * headers of its heap (words that are multiples of 8 and less than a megabyte, or pointers), or anywhere;
 * sometimes it is cut off as well.
 *
 *     fuzz_core RUNS SEED FOLDER FILE...
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "scan/scan.h"
#include "tests/fuzz/damage.h"

#define HEADERS 4096
#define SLOW 20 /* seconds */

struct seed {
    uint8_t *data;
    size_t size;
};

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_core: %s: %s\n", what, strerror(errno));
    abort();
}

static struct seed read_seed(const char *path)
{
    struct stat about;
    struct seed seed;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    must(fd >= 0 && fstat(fd, &about) == 0, path);
    seed.size = (size_t)about.st_size;
    seed.data = malloc(seed.size);
    must(seed.data && read(fd, seed.data, seed.size) == about.st_size, path);
    close(fd);
    return seed;
}

/* A word that looks like the size of a chunk, or like a pointer. */
static size_t find_interesting(const struct seed *seed)
{
    size_t at = 0;

    for (int tries = 0; tries < 4096; tries++) {
        uint64_t word;

        at = next_random() % (seed->size / 8) * 8;
        memcpy(&word, seed->data + at, sizeof(word));
        if ((word && word < 1 << 20) || word >> 40 == 0x55 || word >> 40 == 0x7f)
            break;
    }
    return at;
}

static void damage_word(struct seed *seed)
{
    size_t at = find_interesting(seed);
    uint64_t word;

    memcpy(&word, seed->data + at, sizeof(word));
    if (next_random() % 2)
        word += (next_random() % 64) * 16 - 512;
    else /* that of another place */
        memcpy(&word, seed->data + find_interesting(seed), sizeof(word));
    memcpy(seed->data + at, &word, sizeof(word));
}

static void damage(struct seed *seed)
{
    switch (next_random() % 4) {
    case 0: /* headers; the kernel writes the notes behind them, gdb at the end */
        damage_range(seed->data, seed->size, 0, HEADERS);
        break;
    case 1:
        damage_range(seed->data, seed->size, seed->size - seed->size / 32, seed->size / 32);
        break;
    case 2:
        damage_word(seed);
        break;
    default:
        damage_once(seed->data, seed->size);
    }
}

static void write_input(const char *path, const struct seed *seed, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    must(fd >= 0 && write(fd, seed->data, size) == (ssize_t)size, path);
    close(fd);
}

int main(int argc, char **argv)
{
    unsigned long runs = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, good = 0;
    struct scan_options options = {.most = SCAN_RECORDS_SHOWN, .show = SCAN_ALL};
    time_t slowest = 0;
    char path[4096];

    if (argc < 5) {
        fputs("usage: fuzz_core RUNS SEED FOLDER FILE...\n", stderr);
        return 2;
    }
    damage_begin(strtoull(argv[2], NULL, 0));
    snprintf(path, sizeof(path), "%s/damaged", argv[3]);
    must(freopen("/dev/null", "w", stdout) != NULL, "/dev/null");
    for (unsigned long i = 0; i < runs; i++) {
        struct seed seed = read_seed(argv[4 + i % (unsigned)(argc - 4)]);
        size_t size = seed.size;
        time_t begin = time(NULL);

        for (uint64_t n = 1 + next_random() % 8; n; n--)
            damage(&seed);
        if (next_random() % 8 == 0)
            size = next_random() % size;
        write_input(path, &seed, size);
        options.format = (int)(next_random() % 2);
        free(seed.data);
        good += scan_core("fuzz_core", path, NULL, &options);
        if (time(NULL) - begin > slowest)
            slowest = time(NULL) - begin;
        must(slowest < SLOW, "too slow");
    }
    unlink(path);
    fprintf(stderr, "fuzz_core: %lu inputs from seed %s, %lu read, slowest %ld s\n", runs, argv[2],
            good, (long)slowest);
    return 0;
}
