/* report_notes.c - writes the notes of a report; described in build.h. */
#include "symbolize/build/build.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/heap/heap.h"

/* least bytes of memory outside of blocks for the note that the program has its own allocator */
#define APART_LEAST (8u << 20)
#define SLABS_LEAST (8u << 10) /* least bytes of GLib's slabs for the note about them */
#define SLAB_FRAMES 4          /* number of frames from posix_memalign to g_slice_alloc */

struct notes {
    struct arena *mem;
    const struct store *store;
    const char **note;
    size_t count, capacity;
};

static void add_note(struct notes *notes, const char *text)
{
    notes->note = array_grow(notes->note, &notes->capacity, notes->count + 1, sizeof(*notes->note));
    notes->note[notes->count++] = text;
}

static bool is_sampled(const struct notes *notes)
{
    return notes->store->header.sample > 1;
}

/* Returns "name=value" for an option of the recording; "" when its value is 0, which is the
 * default. */
static const char *option_text(const struct notes *notes, const char *name)
{
    char value[32];

    if (!store_get_option(notes->store, name, value, sizeof(value)) || strcmp(value, "0") == 0)
        return "";
    return arena_format(notes->mem, "%s=%s", name, value);
}

static void add_sizes(struct notes *notes)
{
    uint64_t count = notes->store->header.untracked[LEAK_UNTRACKED_FILTERED];
    const char *least = option_text(notes, "min_size"), *most = option_text(notes, "max_size");
    const char *join = *least && *most ? ":" : "";
    const char *which = *join ? "other" : *least ? "smaller" : "larger";
    uint64_t error = is_sampled(notes) ? ESTIMATE_ROUGH_ERROR(count) : 0;

    add_note(notes,
             arena_format(notes->mem, "recorded with %s%s%s: %s blocks are left out (%s)", least,
                          join, most, which, estimate_count(count, error, "allocation").text));
}

static void add_sampling(struct notes *notes)
{
    unsigned long long sample = notes->store->header.sample;

    add_note(notes, arena_format(notes->mem,
                                 "recorded with sample=%llu: numbers with ~ are estimates, "
                                 "within +- at 95 %% confidence; frees of unknown blocks are not "
                                 "detected",
                                 sample));
    add_note(notes, arena_format(
                        notes->mem,
                        "small leaks can be missed: one of L bytes with probability exp(-L/%llu), "
                        "which is 37 %% at %s, 5 %% at three and 1 %% at five times that",
                        sample, term_count(sample, "byte").text));
}

/* Adds a note about live blocks that a fork child inherited and the report does not list. */
static void add_inherited(struct notes *notes, const struct handed_down *inherited, int32_t parent)
{
    struct error error = variance_half_width(&inherited->variance);

    add_note(notes,
             arena_format(notes->mem, "%s in %s inherited from pid %d; --inherited shows them",
                          estimate_bytes(inherited->bytes, error.bytes).text,
                          estimate_count(inherited->blocks, error.blocks, "block").text, parent));
}

static void add_options(struct notes *notes)
{
    char value[8];

    if (notes->store->header.flags & LEAK_FLAG_NO_STACKS)
        add_note(notes, "recorded with site_stacks=off: no stacks of allocations or frees");
    else if (store_get_option(notes->store, "free_stacks", value, sizeof(value)) &&
             strcmp(value, "off") == 0)
        add_note(notes,
                 "recorded with free_stacks=off: the places where blocks are freed are unknown");
    if (notes->store->header.flags & LEAK_FLAG_FILTERED)
        add_sizes(notes);
}

/* Adds a note if most private memory is in no known block: the program seems to have its own
 * allocator. */
static void add_own_allocator(struct notes *notes)
{
    const struct store_leak_check *look = notes->store->look;
    uint64_t apart = look ? (uint64_t)look->head.apart * LEAK_PAGE : 0, known = 0;

    for (size_t i = 0; look && i < look->found_count; i++)
        known += look->found[i].bytes;
    if (apart < APART_LEAST || apart < known || notes->store->header.flags & LEAK_FLAG_LATE)
        return;
    add_note(notes, arena_format(notes->mem,
                                 "of %s of private memory %s are in known blocks: this program "
                                 "seems to have its own allocator, whose blocks are not tracked",
                                 term_size(apart + known).text, term_size(known).text));
}

/* Adds a note that "no leaks" says nothing about small objects of Python: Python's own allocator
 * makes them, so they are no blocks. */
static void add_python_pools(struct notes *notes)
{
    const struct store_leak_check *look = notes->store->look;

    for (size_t i = 0; look && i < look->found_count; i++)
        if (look->found[i].verdict == LEAK_VERDICT_LOST)
            return;
    add_note(notes,
             "objects of Python of up to 512 bytes are not recorded; with PYTHONMALLOC=malloc "
             "each is a block");
}

/* Adds a note why no block is called a leak: the program never enabled leak detection. */
static void add_never_enabled(struct notes *notes)
{
    char value[256];
    const char *why = "start=off, and libleak_enable_all was not called";

    if (store_get_option(notes->store, "start_at", value, sizeof(value)) && *value)
        why =
            arena_format(notes->mem, "start_at=%s, and no function of that name was called", value);
    else if (store_get_option(notes->store, "start_after", value, sizeof(value)) &&
             strcmp(value, "0") != 0)
        why = arena_format(notes->mem, "start_after=%s, and it ended before", value);
    add_note(notes,
             arena_format(notes->mem, "detection was never enabled (%s): no block is called a leak",
                          why));
}

static void add_restriction(struct notes *notes)
{
    const struct leak_header *header = &notes->store->header;
    double after = (double)(header->restricted_ns - header->started_ns) / 1e9;

    if (header->restricted_ns <= header->started_ns)
        add_note(notes,
                 "a seccomp filter from before the start: libleak made no call that it forbids");
    else
        add_note(notes, arena_format(notes->mem,
                                     "the process restricted itself with seccomp %.1f s after its "
                                     "start: libleak made no call that the filter forbids",
                                     after));
}

static void add_uncleared(struct notes *notes)
{
    unsigned count = notes->store->look->head.uncleared;

    add_note(notes, arena_format(notes->mem,
                                 "%s%s not cleared when allocated (the limit of fill=auto): old "
                                 "pointers in them may hide leaks; fill=0 clears all",
                                 term_count(count, "large block").text,
                                 count == UINT8_MAX ? " or more were"
                                 : count == 1       ? " was"
                                                    : " were"));
}

/* Adds a note if no call of the functions in the option pair= was seen. */
static void add_unseen_pairs(struct notes *notes)
{
    char pairs[256];

    if (!store_get_option(notes->store, "pair", pairs, sizeof(pairs)) || !*pairs ||
        notes->store->resources_opened[LEAK_RESOURCE_PAIR])
        return;
    add_note(notes, arena_format(notes->mem,
                                 "pair=%s: no call of its functions was seen; calls inside of one "
                                 "library or of a statically linked one cannot be",
                                 pairs));
}

void report_notes_fill(struct arena *mem, const struct store *store,
                       const struct handed_down *inherited, const struct suppressions *suppressions,
                       struct process *process)
{
    const char *trouble;
    struct notes notes = {.mem = mem, .store = store};

    if (store->header.flags & LEAK_FLAG_OUT_OF_MEMORY)
        add_note(&notes, "killed by the kernel: out of memory in its cgroup");
    if (leak_check_info_missing(mem, store))
        add_note(&notes, leak_check_info_missing(mem, store));
    if (inherited->blocks)
        add_inherited(&notes, inherited, process->ppid);
    if (is_sampled(&notes))
        add_sampling(&notes);
    if (store->header.restricted_ns)
        add_restriction(&notes);
    if (store->header.flags & LEAK_FLAG_CRASH_ONLY)
        add_note(&notes, "recorded with crash=only: its heap was not tracked");
    if (store->header.flags & LEAK_FLAG_LATE)
        add_note(&notes, process->older_blocks
                             ? "loaded late, while the process ran: older blocks have a size and a "
                               "verdict, but no stack"
                             : "loaded late, while the process ran: older blocks are unknown, and "
                               "the blocks that they point to count as reachable");
    if (store->header.flags & LEAK_FLAG_DETACHED)
        add_note(&notes, "libleak was detached: what the program did since then is unknown");
    if (store->header.flags & LEAK_FLAG_NEVER_ENABLED)
        add_never_enabled(&notes);
    if (store->header.flags & LEAK_FLAG_PYTHON_UNREAD)
        add_note(&notes, "Python's own frames could not be read: stacks have C frames alone (only "
                         "CPython 3.9 to 3.13 is known, without debug or free-threaded builds)");
    if (store->header.flags & LEAK_FLAG_FULL)
        add_note(&notes, "the recording file was full: the newest stacks are missing");
    add_options(&notes);
    if (store->header.flags & LEAK_FLAG_PYTHON_POOLS)
        add_python_pools(&notes);
    else
        add_own_allocator(&notes);
    if (store->look && store->look->head.uncleared)
        add_uncleared(&notes);
    add_unseen_pairs(&notes);
    if (store->events_left_out)
        add_note(
            &notes,
            arena_format(mem, "%s of other kinds were only counted: the list of errors holds %d",
                         term_count(store->events_left_out, "wrong release").text, LEAK_EVENTS));
    if (store->tags_left_out)
        add_note(&notes,
                 arena_format(mem,
                              "%s of libleak_tag_push found no room: a process has at most %d tags",
                              term_count(store->tags_left_out, "call").text, LEAK_TAGS));
    for (size_t i = 0; (trouble = suppress_store_error(suppressions, i)); i++)
        add_note(&notes, arena_format(mem, "%s; this suppresses nothing", trouble));
    for (size_t i = 0; i < store->note_count; i++)
        add_note(&notes, arena_copy(mem, store->notes[i], strlen(store->notes[i])));
    process->note_count = notes.count;
    process->notes = arena_alloc_array(mem, notes.count, sizeof(*notes.note));
    if (notes.count)
        memcpy(process->notes, notes.note, notes.count * sizeof(*notes.note));
    free(notes.note);
}

/* ---- Slices of GLib -------------------------------------------------------------------------- */

/* Says whether the blocks are slabs, from which GLib before 2.76 carves its slices. */
static bool is_slab(const struct record *record)
{
    if (record->kind != LEAK_KIND_MEMALIGN)
        return false;
    for (size_t i = 0; i < record->frame_count && i < SLAB_FRAMES; i++) {
        const struct frame *frame = record->frames[i];

        if (frame->function && frame->module && strstr(frame->module, "libglib-2.0.so") &&
            strncmp(frame->function, "g_slice_alloc", strlen("g_slice_alloc")) == 0)
            return true;
    }
    return false;
}

void report_notes_append(struct arena *mem, struct process *process, const char *note)
{
    const char **notes = arena_alloc_array(mem, process->note_count + 1, sizeof(*notes));

    if (process->note_count)
        memcpy(notes, process->notes, process->note_count * sizeof(*notes));
    notes[process->note_count++] = note;
    process->notes = notes;
}

void report_notes_add_slices(struct arena *mem, struct process *process)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < process->record_count; i++)
        if (is_slab(&process->records[i]))
            bytes = add_saturating(bytes, process->records[i].bytes);
    if (bytes < SLABS_LEAST || process->totals.of[VERDICT_LOST].records)
        return;
    report_notes_append(mem, process,
                        arena_format(mem,
                                     "slices of GLib are not recorded, but their slabs (%s); with "
                                     "G_SLICE=always-malloc each is a block",
                                     term_size(bytes).text));
}
