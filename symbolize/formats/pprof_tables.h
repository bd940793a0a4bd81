/* pprof_tables.h - the tables of a profile.proto: strings, functions, mappings, locations.
 *
 * A function returns the number of an item and writes the item when it is new, so memory holds only
 * the numbers. Addresses are offsets in the files of the modules, each module in an address range
 * of its own: they are equal in each run, so that profiles can be compared.
 */
#ifndef SYMBOLIZE_FORMATS_PPROF_TABLES_H
#define SYMBOLIZE_FORMATS_PPROF_TABLES_H

#include "common/encode/encode.h"
#include "common/base/hashmap.h"
#include "common/model/model.h"

/* Fields of the message Profile. */
enum pprof_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
};

struct pprof_mapping {
    const char *path, *build_id; /* NULL = unknown */
    bool functions, files, lines, inlined;
};

struct profile {
    struct gzip *gzip;
    struct hashmap strings;         /* hash of a text -> its number */
    struct hashmap functions;       /* hash of the content -> its number */
    struct hashmap by_frame;        /* frame -> number of its function */
    struct hashmap locations;       /* hash of what it is -> its number */
    struct hashmap by_frames;       /* hash of its frames -> number of the location */
    struct hashmap modules;         /* hash of path and build-id -> its number */
    struct pprof_mapping *mappings; /* the program is the first */
    size_t mapping_count, mapping_capacity;
    uint64_t string_count, function_count, location_count;
    struct protobuf message; /* the message being built */
};

/* Begins the tables. exe: path of the program, or NULL. */
struct profile pprof_tables_begin(FILE *stream, const char *exe);
void pprof_tables_end(struct profile *profile); /* writes the mappings */

uint64_t pprof_string(struct profile *profile, const char *text);

/* Adds the numbers of the locations of a stack, innermost first, to a packed list. */
void pprof_stack(struct profile *profile, const struct frame *const *frames, size_t count,
                 struct protobuf *list);

/* Adds a message or a number to the profile. */
void pprof_message(struct profile *profile, enum pprof_field field, const struct protobuf *proto);
void pprof_number(struct profile *profile, enum pprof_field field, uint64_t number);

#endif
