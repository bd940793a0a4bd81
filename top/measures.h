/* measures.h - what is told of a fleet as metrics, in three tables: of the whole file, of a
 * process, and of a site. docs/FLEET.md has the same tables for people.
 */
#ifndef TOP_MEASURES_H
#define TOP_MEASURES_H

#include <stdio.h>

#include "top/fleet.h"

struct measured_file {
    size_t processes, left_out, unreadable;
    uint64_t time_ns;
};

struct measured {
    const struct member *member;
    const struct glance *glance; /* of that member */
    double growth;               /* bytes a second, of all sites that grow */
    size_t rows, shown;          /* sites there are; those of them that are told of */
};

struct measure {
    const char *name;
    bool counter; /* else it is a gauge */
    const char *help;
};

/* The values are NAN where nothing is known. */
struct measure_of_file {
    struct measure measure;
    double (*value)(const struct measured_file *file);
};

struct measure_of_process {
    struct measure measure;
    double (*value)(const struct measured *process);
    void (*labels)(const struct measured *process, FILE *stream); /* more of them, or NULL */
};

struct measure_of_site {
    struct measure measure;
    double (*value)(const struct measured *process, size_t row);
};

enum { MEASURES_OF_FILE = 4, MEASURES_OF_PROCESS = 16, MEASURES_OF_SITE = 5 };

extern const struct measure_of_file measures_of_file[MEASURES_OF_FILE];
extern const struct measure_of_process measures_of_process[MEASURES_OF_PROCESS];
extern const struct measure_of_site measures_of_site[MEASURES_OF_SITE];

#endif
