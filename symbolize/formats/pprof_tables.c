/* pprof_tables.c - writes the tables of a profile.proto; described in pprof_tables.h.
 *
 * Frames that were inlined into one another are one location with several lines. Stacks share their
 * struct frame, so numbers are cached by its address; different structs with equal content have one
 * location, too.
 */
#include "symbolize/formats/pprof_tables.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/term_text.h"

#define MODULE_BITS 32 /* size of the address range of a module, in bits */

/* Numbers of the fields of the messages inside of a Profile. */
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_FILE = 5, MAPPING_BUILD_ID };
enum { MAPPING_FUNCTIONS = 7, MAPPING_FILES, MAPPING_LINES, MAPPING_INLINED };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

void pprof_message(struct profile *profile, enum pprof_field field, const struct protobuf *proto)
{
    struct protobuf *outer = &profile->message;

    outer->length = 0;
    protobuf_message(outer, field, proto);
    gzip_write(profile->gzip, outer->bytes, outer->length);
}

void pprof_number(struct profile *profile, enum pprof_field field, uint64_t number)
{
    struct protobuf *outer = &profile->message;

    outer->length = 0;
    protobuf_number(outer, field, number);
    gzip_write(profile->gzip, outer->bytes, outer->length);
}

/* ---- The table of strings -------------------------------------------------------------------- */

/* Writes a string. pprof shows strings unchanged on a terminal, so control characters are escaped
 * (leak_escape.h). */
static void write_string(struct profile *profile, const char *text)
{
    struct protobuf *outer = &profile->message;
    size_t capacity = 0, used = 0;
    char *shown = NULL;

    for (size_t length = 1; length; text += length, used += strlen(shown + used)) {
        shown = array_grow(shown, &capacity, used + LEAK_ESCAPE_SIZE, 1);
        length = leak_escape(text, shown + used);
    }
    outer->length = 0;
    protobuf_bytes(outer, PROFILE_STRING, shown, used);
    gzip_write(profile->gzip, outer->bytes, outer->length);
    free(shown);
}

uint64_t pprof_string(struct profile *profile, const char *text)
{
    bool fresh;
    uint64_t *slot;

    if (!text)
        return 0;
    slot = hashmap_put(&profile->strings, hash_text(1, text, strlen(text)), &fresh);
    if (fresh) {
        *slot = profile->string_count++;
        write_string(profile, text);
    }
    return *slot;
}

/* ---- The table of mappings ------------------------------------------------------------------- */

static size_t add_mapping(struct profile *profile, const char *path, const char *build_id)
{
    profile->mappings = array_grow(profile->mappings, &profile->mapping_capacity,
                                   profile->mapping_count + 1, sizeof(*profile->mappings));
    profile->mappings[profile->mapping_count++] =
        (struct pprof_mapping){.path = path, .build_id = build_id};
    return profile->mapping_count;
}

/* Says whether the frame is in the first mapping, the program. The build-id of the program is known
 * only from its frames. */
static bool is_program(const struct profile *profile, const struct frame *frame)
{
    const struct pprof_mapping *first = profile->mappings;

    return profile->mapping_count && first->path && !first->build_id &&
           strcmp(first->path, frame->module) == 0;
}

/* Returns the number of the frame's mapping, from 1; 0 = the frame is in no module. */
static size_t mapping_of(struct profile *profile, const struct frame *frame)
{
    const char *id = frame->build_id ? frame->build_id : "";
    uint64_t *slot;

    if (!frame->module)
        return 0;
    slot = hashmap_put(
        &profile->modules,
        hash_text(hash_text(2, frame->module, strlen(frame->module)), id, strlen(id)), NULL);
    if (!*slot && is_program(profile, frame)) {
        profile->mappings[0].build_id = frame->build_id ? frame->build_id : "";
        *slot = 1;
    } else if (!*slot) {
        *slot = add_mapping(profile, frame->module, frame->build_id);
    }
    return *slot;
}

static void write_mapping(struct profile *profile, size_t number)
{
    const struct pprof_mapping *mapping = &profile->mappings[number - 1];
    uint64_t path = pprof_string(profile, mapping->path);
    uint64_t build_id = pprof_string(profile, mapping->build_id);
    struct protobuf made = {0};

    protobuf_number(&made, MAPPING_ID, number);
    protobuf_number(&made, MAPPING_START, (uint64_t)number << MODULE_BITS);
    protobuf_number(&made, MAPPING_LIMIT, (uint64_t)(number + 1) << MODULE_BITS);
    protobuf_number(&made, MAPPING_FILE, path);
    protobuf_number(&made, MAPPING_BUILD_ID, build_id);
    protobuf_number(&made, MAPPING_FUNCTIONS, mapping->functions);
    protobuf_number(&made, MAPPING_FILES, mapping->files);
    protobuf_number(&made, MAPPING_LINES, mapping->lines);
    protobuf_number(&made, MAPPING_INLINED, mapping->inlined);
    pprof_message(profile, PROFILE_MAPPING, &made);
    protobuf_end(&made);
}

/* ---- The table of functions ------------------------------------------------------------------ */

static uint64_t make_function(struct profile *profile, const char *name, const char *symbol,
                              const char *file)
{
    uint64_t name_number = pprof_string(profile, name);
    uint64_t symbol_number = pprof_string(profile, symbol ? symbol : name);
    uint64_t file_number = pprof_string(profile, file);
    struct protobuf made = {0};
    bool fresh;
    uint64_t *slot = hashmap_put(
        &profile->functions, hash_mix(hash_mix(name_number, symbol_number), file_number), &fresh);

    if (!fresh)
        return *slot;
    *slot = ++profile->function_count;
    protobuf_number(&made, FUNCTION_ID, *slot);
    protobuf_number(&made, FUNCTION_NAME, name_number);
    protobuf_number(&made, FUNCTION_SYSTEM_NAME, symbol_number);
    protobuf_number(&made, FUNCTION_FILE, file_number);
    pprof_message(profile, PROFILE_FUNCTION, &made);
    protobuf_end(&made);
    return *slot;
}

/* Returns the number of the frame's function. 0 = the name is unknown, but pprof can find it in a
 * file with the build-id of the module. */
static uint64_t function_of(struct profile *profile, const struct frame *frame)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&profile->by_frame, (uintptr_t)frame, &fresh);
    char name[FRAME_NAME_SIZE];

    if (fresh && (frame->function || !frame->has_offset || !frame->build_id))
        *slot = make_function(profile, frame_name(frame, name), frame->symbol, frame->file);
    return *slot;
}

/* ---- The table of locations ------------------------------------------------------------------ */

static void note_flags(struct pprof_mapping *mapping, const struct frame *frame)
{
    mapping->functions |= frame->function != NULL;
    mapping->files |= frame->file != NULL;
    mapping->lines |= frame->line != 0;
    mapping->inlined |= frame->inlined;
}

static void add_function_line(struct protobuf *location, uint64_t function, uint32_t line)
{
    struct protobuf made = {0};

    protobuf_number(&made, LINE_FUNCTION, function);
    protobuf_number(&made, LINE_LINE, line);
    protobuf_message(location, LOCATION_LINE, &made);
    protobuf_end(&made);
}

/* Returns the number of the location of frames that were inlined into one another; adds it if it is
 * new. */
static uint64_t make_location(struct profile *profile, const struct frame *const *frames,
                              size_t count)
{
    const struct frame *outer = frames[count - 1];
    size_t mapping = mapping_of(profile, outer);
    uint64_t address = outer->has_offset ? outer->offset + ((uint64_t)mapping << MODULE_BITS) : 0;
    uint64_t key = hash_mix(address, mapping);
    struct protobuf made = {0};
    bool fresh;
    uint64_t *slot;

    for (size_t i = 0; i < count; i++)
        key = hash_mix(hash_mix(key, function_of(profile, frames[i])), frames[i]->line);
    slot = hashmap_put(&profile->locations, key, &fresh);
    if (!fresh)
        return *slot;
    *slot = ++profile->location_count;
    protobuf_number(&made, LOCATION_ID, *slot);
    protobuf_number(&made, LOCATION_MAPPING, mapping);
    protobuf_number(&made, LOCATION_ADDRESS, address);
    for (size_t i = 0; i < count; i++) {
        uint64_t function = function_of(profile, frames[i]);

        if (function)
            add_function_line(&made, function, frames[i]->line);
        if (mapping)
            note_flags(&profile->mappings[mapping - 1], frames[i]);
    }
    pprof_message(profile, PROFILE_LOCATION, &made);
    protobuf_end(&made);
    return *slot;
}

/* Returns the number of the location "[no stack]". A sample needs a location, because pprof drops
 * samples without one. */
static uint64_t no_stack_location(struct profile *profile)
{
    static const struct frame none = {.function = "[no stack]"};
    const struct frame *const frames[] = {&none};

    return make_location(profile, frames, 1);
}

void pprof_stack(struct profile *profile, const struct frame *const *frames, size_t count,
                 struct protobuf *list)
{
    for (size_t from = 0; from < count;) {
        uint64_t key = 3, *slot;
        size_t to = from;

        do
            key = hash_mix(key, (uintptr_t)frames[to]);
        while (frames[to++]->inlined && to < count);
        slot = hashmap_put(&profile->by_frames, key, NULL);
        if (!*slot)
            *slot = make_location(profile, frames + from, to - from);
        protobuf_varint(list, *slot);
        from = to;
    }
    if (!count)
        protobuf_varint(list, no_stack_location(profile));
}

/* ---- Beginning and ending the tables --------------------------------------------------------- */

struct profile pprof_tables_begin(FILE *stream, const char *exe)
{
    struct profile profile = {.gzip = gzip_begin(stream, GZIP_FAST)};

    pprof_string(&profile, "");
    if (exe)
        add_mapping(&profile, exe, NULL);
    return profile;
}

void pprof_tables_end(struct profile *profile)
{
    for (size_t i = 1; i <= profile->mapping_count; i++)
        write_mapping(profile, i);
    gzip_end(profile->gzip);
    hashmap_end(&profile->strings);
    hashmap_end(&profile->functions);
    hashmap_end(&profile->by_frame);
    hashmap_end(&profile->locations);
    hashmap_end(&profile->by_frames);
    hashmap_end(&profile->modules);
    free(profile->mappings);
    protobuf_end(&profile->message);
}
