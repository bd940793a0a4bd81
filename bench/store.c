/* store.c - a few numbers from the header of a store, for the budget of memory: store FILE
 *
 * One line: nodes=N sites=N threads=N used=BYTES held=BYTES, where held is what the file has of its
 * file system (a store is sparse).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leak_store.h"

int main(int argc, char **argv)
{
    struct leak_header header;
    struct stat file;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &file) || read(fd, &header, sizeof header) != sizeof header ||
        header.magic != LEAK_STORE_MAGIC || header.version != LEAK_STORE_VERSION) {
        fprintf(stderr, "store: no store of this version: %s\n", argc == 2 ? argv[1] : "(no name)");
        return 2;
    }
    printf("nodes=%" PRIu64 " sites=%" PRIu64 " threads=%" PRIu64 " used=%" PRIu64 " held=%lld\n",
           header.nodes, header.sites, header.threads, header.used,
           (long long)file.st_blocks * 512);
    return 0;
}
