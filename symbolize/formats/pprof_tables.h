/* pprof_tables.h - the tables of a profile.proto: strings, functions, mappings, locations.
 *
 * Whoever writes samples asks for the number of a thing; what was not there yet is written at once,
 * so memory holds the numbers only. Addresses are those of the modules' own files, each module in a
 * range of its own: equal in each run, so that profiles can be compared.
 */
#ifndef SYMBOLIZE_FORMATS_PPROF_TABLES_H
#define SYMBOLIZE_FORMATS_PPROF_TABLES_H

#include "common/encode/encode.h"
#include "common/base/hashmap.h"
#include "common/model/model.h"

/* Fields of the message Profile. */
enum profile_field {
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

struct profile_mapping {
    const char *path, *build_id; /* NULL = unknown */
    bool functions, files, lines, inlined;
};

struct profile {
    struct gzip *gzip;
    struct map strings;               /* hash of a text -> its number + 1 */
    struct map functions;             /* hash of what it is -> its number */
    struct map by_frame;              /* frame -> number of its function */
    struct map locations;             /* hash of what it is -> its number */
    struct map by_frames;             /* hash of its frames -> number of the location */
    struct map modules;               /* hash of path and build-id -> its number */
    struct profile_mapping *mappings; /* the program itself first */
    size_t mapping_count, mapping_capacity;
    uint64_t string_count, function_count, location_count;
    struct proto message; /* that is being made */
};

/* exe: path of the program, or NULL. */
struct profile profile_begin(FILE *stream, const char *exe);
void profile_end(struct profile *profile); /* writes what could not be before */

uint64_t profile_string(struct profile *profile, const char *text);

/* The numbers of a stack's locations, innermost first, added to a packed list. */
void profile_stack(struct profile *profile, const struct frame *const *frames, size_t count,
                   struct proto *list);

/* Adds a message, or a number, to the profile. */
void profile_message(struct profile *profile, enum profile_field field, const struct proto *proto);
void profile_number(struct profile *profile, enum profile_field field, uint64_t number);

#endif
