/* store_builder.h - stores for tests, made without a process.
 *
 * Writes the layout of include/leak_store.h into memory, one page per chunk of an array, so that
 * small stores have several chunks of each. Nothing is checked: tests damage the result at will.
 */
#ifndef STORE_BUILDER_H
#define STORE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "common/store/reader.h"
#include "leak_store.h"

struct store_builder {
    uint8_t *data; /* whole pages; moves while it grows */
    size_t size;
    size_t nodes, sites, threads, modules, slots, freed, recent, events, tags; /* offset of the open
                                                                                  chunk of each, 0 = none */
    uint32_t node_count, site_count, slot_count, freed_count, event_count;     /* in it */
    size_t look;
    uint32_t next_node, next_site, next_serial, next_freed;
};

struct store_builder builder_begin(void);
void builder_end(struct store_builder *builder);

/* Valid until the builder grows. */
struct leak_header *builder_header(struct store_builder *builder);

/* A chunk of whole pages; returns its offset. */
size_t builder_chunk(struct store_builder *builder, uint32_t type, uint64_t first, size_t payload);

void builder_process(struct store_builder *builder, const char *exe, const char *cwd, int argc,
                     const char *const *argv);
void builder_module(struct store_builder *builder, const char *path, uint64_t start, uint64_t end,
                    uint64_t bias, uint32_t loaded, uint32_t unloaded, const char *build_id);
/* Appends to a chunk CODES. */
void builder_code(struct store_builder *builder, size_t at, const struct leak_code *code);
void builder_thread(struct store_builder *builder, uint32_t serial, const char *name);

/* The new record's id. */
uint32_t builder_node(struct store_builder *builder, uint64_t pc, uint32_t parent, uint32_t number);
uint32_t builder_site(struct store_builder *builder, uint32_t node, uint32_t kind,
                      struct leak_counts counts);
struct leak_site *builder_site_at(struct store_builder *builder,
                                  uint32_t id); /* in the open chunk */

/* The name of a tag, in the one table of the process; length 0: as long as it is. */
void builder_tag(struct store_builder *builder, unsigned tag, const char *name, uint32_t length);
void builder_tags_left_out(struct store_builder *builder, uint64_t pushes);

/* The variances of the sites from that id on, in a chunk of their own; they mean something when the
 * header says "sample". */
void builder_temporary(struct store_builder *builder, uint32_t first, size_t count,
                       const struct leak_temporary *temporary);
void builder_variances(struct store_builder *builder, uint32_t first, size_t count,
                       const struct leak_variance *variances);

/* A chunk of slots of one thread, and a slot in it. */
void builder_slots(struct store_builder *builder, uint32_t thread);
void builder_slot(struct store_builder *builder, uint32_t site, struct leak_counts counts);
struct leak_slots *builder_slots_at(struct store_builder *builder); /* the open chunk's */
/* As left by a death while the last slot was going into its site, whose sum this is. */
void builder_fold(struct store_builder *builder, struct leak_counts sum);

/* Blocks of a site that were freed by the stack of that node. */
void builder_freed(struct store_builder *builder, uint32_t site, uint32_t node, uint64_t blocks,
                   uint64_t bytes);
/* A ring of one thread's last frees, and a free in it; node 0: only pc is known. */
void builder_recent(struct store_builder *builder, uint32_t thread);
void builder_recent_free(struct store_builder *builder, uint64_t address, uint64_t pc,
                         uint32_t node, uint32_t site, uint32_t tick);

/* A wrong release, in the one table of the process; left_out: of calls that had no room there. */
void builder_event(struct store_builder *builder, const struct leak_event *event);
void builder_events_left_out(struct store_builder *builder, uint64_t calls);

/* Text as the runtime writes it: "name=value (source)\n" for each option that was set. */
void builder_options(struct store_builder *builder, const char *text);

void builder_suppressions(struct store_builder *builder, const char *where, const char *text);

/* A signal that killed; module: the one there is, NULL = none. Returns the offset of its chunk. */
size_t builder_crash(struct store_builder *builder, const struct leak_crash *crash,
                     const char *module, uint64_t start, uint64_t end);
/* Its record, until the builder grows. */
struct leak_crash *builder_crash_at(struct store_builder *builder, size_t chunk);
/* A chunk of what is open besides memory. */
void builder_resources(struct store_builder *builder, const struct leak_resource *resources,
                       size_t count);

/* The heap, and one site, over time: `seconds` points and rows, in which it grows by `rate` bytes a
 * second; and a peak of both. Returns the offset of the HISTORY chunk; ROWS come behind it. */
size_t builder_history(struct store_builder *builder, uint32_t site, unsigned seconds,
                       uint64_t rate);
struct leak_history *builder_history_at(struct store_builder *builder, size_t chunk);
/* Row i of those, until the builder grows. */
struct leak_row *builder_row_at(struct store_builder *builder, size_t chunk, unsigned i);

/* What a look leaves: the tables go where the head then says they are. */
struct builder_look {
    struct leak_snapshot head;
    const struct leak_found *found;
    const struct leak_held *roots;
    const struct leak_step *steps;
    const struct leak_sample *samples;
    const struct leak_seen_thread *threads;
    const uint64_t *pcs;
    const uint8_t *contents;
    const struct leak_orphan *orphans;
    const struct leak_part *parts;
    const struct leak_pointer *pointers;
    const struct leak_interior *interiors;
    const struct leak_loss *losses;
    size_t found_count, root_count, step_count, sample_count, thread_count, pc_count;
    size_t content_count, orphan_count, part_count, pointer_count, interior_count;
    size_t loss_count;
    const char *module; /* one object with data in it, NULL = none */
    uint64_t start, end, bias;
};

/* A published look; returns the offset of its chunk. */
size_t builder_look(struct store_builder *builder, const struct builder_look *look);
/* Its head, until the builder grows. */
struct leak_snapshot *builder_look_at(struct store_builder *builder, size_t chunk);

/* A small process with everything in it: two modules, three threads, five sites, slots, frees. */
struct store_builder builder_example(void);
/* The same after a look, whose chunk is at builder.look. */
struct store_builder builder_looked(void);

/* Writes the image to a new temporary file; the path is for free(). */
char *builder_save(const struct store_builder *builder);

/* An image of memory of the caller. extent must outlive the image. */
struct store_image store_image_borrow(const uint8_t *data, size_t size, struct extent *extent);

#endif
