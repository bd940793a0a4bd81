/* pprof_tables.h - writes the tables of a profile.proto: strings, functions, mappings, locations.
 *
 * Functions return the number of a string, stack etc.; if it is new, they write it, so only the
 * numbers stay in memory. An address is an offset in the file of a module, plus the start of an
 * address range that only this module has. So addresses are equal in each run, and profiles can be
 * compared.
 */
#ifndef SYMBOLIZE_FORMATS_PPROF_TABLES_H
#define SYMBOLIZE_FORMATS_PPROF_TABLES_H

#include "common/encode/encode.h"
#include "common/base/hashmap.h"
#include "common/model/model.h"

/* Numbers of the fields of the message Profile in profile.proto. */
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
    const char *path, *build_id; /* of the module's file; NULL = unknown */
    bool functions, files, lines, inlined;
};

struct profile {
    struct gzip *gzip;
    struct hashmap strings;   /* hash of a text -> number of the string */
    struct hashmap functions; /* hash of name, symbol and file -> number of the function */
    struct hashmap by_frame;  /* frame -> number of its function */
    struct hashmap locations; /* hash of the address and lines of a location -> its number */
    /* hash of frames that were inlined into one another -> number of the location */
    struct hashmap by_frames;
    struct hashmap modules;         /* hash of path and build-id -> number of the mapping */
    struct pprof_mapping *mappings; /* the first mapping is the program */
    size_t mapping_count, mapping_capacity;
    uint64_t string_count, function_count, location_count;
    struct protobuf message; /* the message that is being written */
};

/* Begins the tables. exe: path of the program; NULL = unknown. */
struct profile pprof_tables_begin(FILE *stream, const char *exe);
void pprof_tables_end(struct profile *profile); /* writes the mappings, too */

uint64_t pprof_string(struct profile *profile, const char *text);

/* Adds a stack to a packed list: the numbers of its locations, the innermost first. */
void pprof_stack(struct profile *profile, const struct frame *const *frames, size_t count,
                 struct protobuf *list);

/* Write a message, or a number, as a field of the profile. */
void pprof_message(struct profile *profile, enum pprof_field field, const struct protobuf *proto);
void pprof_number(struct profile *profile, enum pprof_field field, uint64_t number);

#endif
