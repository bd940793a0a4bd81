/* preflight_elf.h - can a library be preloaded into this ELF file? The lower half of preflight.h,
 * which finds the file and follows scripts. */
#ifndef COMMON_PREFLIGHT_PREFLIGHT_ELF_H
#define COMMON_PREFLIGHT_PREFLIGHT_ELF_H

#include <stdbool.h>
#include <stdint.h>

#define PREFLIGHT_LINE 1024
#define PREFLIGHT_CANNOT_RUN 126
#define PREFLIGHT_NOT_FOUND 127

struct preflight {
    int status;                /* 0, 126 or 127 */
    char line[PREFLIGHT_LINE]; /* why not; with status 0 a warning, or empty */
};

/* Sets status and line, made printable. Returns false, so that a check can end with it. */
bool preflight_refuse(struct preflight *result, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* fd: open for reading, size bytes long, name: as messages call it. The file is hostile: it is read
 * with pread into memory of ours, every offset is checked, nothing is mapped or executed. */
bool preflight_elf(int fd, uint64_t size, const char *name, struct preflight *result);

#endif
