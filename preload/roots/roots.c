#include "preload/roots/roots.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/interpose/bootstrap_alloc.h"
#include "preload/interpose/static_malloc.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/roots/preexisting_heap.h"
#include "preload/interpose/real_functions.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/heap/threads.h"
#include "preload/roots/data_roots.h"
#include "context.h"

#include <dlfcn.h>

#define USER_MOST 4096
#define DTV_MOST 65536
#define LEAST_BLOCK 32 /* with what the allocator writes before it: no smaller one is between two  \
                        */
#define RUNS_MOST (PIECES_MOST / 4)
#define STARTS_MOST (2 * PARK_MOST)

static struct lock lock; /* guards what follows */
static struct {
    uintptr_t start, end;
} * users;
static uint32_t user_count;

/* glibc's descriptor of a thread begins at its thread block; static thread-local storage lies below
 * it (x86) or above (aarch64). */
static size_t descriptor = 2304, static_tls;

/* ---- What the program names ------------------------------------------------------------------ */

bool roots_add(uintptr_t start, size_t size)
{
    struct locked locked = lock_take(&lock);
    if (!users)
        users = arena_map(USER_MOST * sizeof *users);
    bool room = users && user_count < USER_MOST;
    if (room) {
        users[user_count].start = start;
        users[user_count++].end = start + size;
    }
    lock_give(&locked);
    return room;
}

LOCK_FOR_FORK(roots, &lock)

void roots_remove(uintptr_t start, size_t size)
{
    struct locked locked = lock_take(&lock);
    for (uint32_t i = 0; i < user_count; i++)
        if (users[i].start == start && users[i].end == start + size) {
            users[i] = users[--user_count];
            break;
        }
    lock_give(&locked);
}

bool roots_read_classes(const char *list, size_t length, unsigned *out)
{
    static const char *const words[] = {NULL,
#define X(name, word) word,
                                        LEAK_ROOT_CLASS_TABLE(X)
#undef X
    };
    return parse_word_set(list, length, words, ARRAY_LENGTH(words), out);
}

void roots_start(void)
{
    size_t align;
    void (*ask)(size_t *, size_t *) =
        (void (*)(size_t *, size_t *))dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info");
    const uint32_t *size = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
    if (size)
        descriptor = *size;
    if (ask)
        ask(&static_tls, &align);
    static_tls = static_tls > descriptor ? static_tls - descriptor : LEAK_PAGE;
    if (!ask || !size)
        dlerror();
}

/* ---- What is being found -------------------------------------------------------------------- */

struct builder {
    const struct roots_picture *picture;
    struct roots *out;
    struct heaps heaps;
    uintptr_t *starts; /* words of our own that stand for pointers */
    uint32_t starts_count;
    struct heap *no_roots; /* ours, and stacks: never taken as "anonymous memory"; ascending */
    uint32_t no_roots_count;
    bool glibc;       /* the allocator is the C library's */
    bool older_begun; /* the last of no_roots lies in a heap */
};

static void add_whole(struct builder *builder, uintptr_t start, uintptr_t end,
                      enum leak_root_class root_class, int thread)
{
    pieces_add(
        &builder->out->pieces, start, end,
        (struct piece){
            .whole_start = start, .whole_end = end, .root_class = root_class, .thread = thread});
}

/* ---- Objects -------------------------------------------------------------------------------- */

/* Where the allocator is linked into the program, its blocks may lie in that. */
static void add_data(struct builder *builder, const struct image *image, unsigned part,
                     struct piece model)
{
    uintptr_t start = image->data[part].start, end = image->data[part].end;
    struct variables variables = {0};
    if (linked_home - image->start >= image->end - image->start) {
        pieces_add(&builder->out->pieces, start, end, model);
        return;
    }
    variables_find(builder->picture->reach, image->bias, &variables);
    variables_add(&variables, builder->picture->reach, &builder->out->pieces, start, end, model);
}

/* The C library's own data also tells of the memory behind blocks, where free chunks begin: what
 * points there points to no block. */
static void add_globals(struct builder *builder)
{
    const struct images *images = builder->picture->images;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct image *image = &images->image[i];
        bool ours = modules_own(image->start);
        const struct piece model = {.whole_start = image->start,
                                    .whole_end = image->end,
                                    .root_class = LEAK_ROOT_CLASS_GLOBALS,
                                    .starts_only = images_is_libc(image),
                                    .thread = -1};
        for (unsigned k = 0; k < image->data_count && !ours; k++)
            add_data(builder, image, k, model);
    }
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void see(struct builder *builder, struct root_thread thread)
{
    struct roots *out = builder->out;
    const struct thread *state = thread.state;
    if (out->seen_count == PARK_MOST)
        return;
    if (state) {
        thread.serial = state->serial;
        thread.low = state->bounds.low;
        thread.high = state->bounds.high;
        /* Above the frames of the first thread lie the program's arguments, which may be replaced.
         */
        const struct mapping *mapping = procmaps_find(builder->picture->maps, thread.high - 1);
        if (thread.high && mapping && strncmp(mapping->path, "[stack]", 8) == 0)
            thread.high = mapping->end;
        /* A stack that glibc made has the thread's own data on top. */
        uintptr_t block = thread.block ? thread.block : thread.high;
        if (!ARCH_TLS_ABOVE_BLOCK && thread.high && block - thread.high < LEAK_PAGE)
            thread.high = block - static_tls;
    }
    out->seen[out->seen_count++] = thread;
}

static void see_unparked(const struct thread *state, void *context)
{
    struct builder *builder = context;
    for (uint32_t i = 0; i < builder->out->seen_count; i++)
        if (builder->out->seen[i].state == state)
            return;
    if (!state->stand_in)
        see(builder, (struct root_thread){.tid = state->record->tid, .state = state});
}

static void see_threads(struct builder *builder)
{
    const struct roots_taker *taker = builder->picture->taker;
    const struct park *park = builder->picture->park;
    see(builder, (struct root_thread){.tid = taker->tid,
                                      .parked = true,
                                      .taker = true,
                                      .pc = taker->pc,
                                      .sp = taker->frame,
                                      .fp = taker->fp,
                                      .block = arch_thread_block(),
                                      .context = taker->context,
                                      .state = guard_self.thread});
    for (uint32_t i = 0; builder->picture->stopped && i < park->count; i++) {
        const struct park_thread *thread = &park->thread[i];
        if (!park_was_parked(thread))
            continue;
        see(builder, (struct root_thread){.tid = thread->tid,
                                          .parked = true,
                                          .pc = context_pc(thread->context),
                                          .sp = context_sp(thread->context),
                                          .fp = context_fp(thread->context),
                                          .block = thread->block,
                                          .context = thread->context,
                                          .state = thread->thread});
    }
    threads_each(see_unparked, builder);
}

/* What a thread will be given that has not come to life yet. */
static void add_note_page(uintptr_t start, uintptr_t end, void *context)
{
    add_whole(context, start, end, LEAK_ROOT_CLASS_STACKS, -1);
}

/* The vector of dynamic TLS: where each object's block is. Its length is in front, and the thread
 * block points behind that: a word of ours stands for the pointer to its start. */
static void add_vector(struct builder *builder, uintptr_t block, int place)
{
    uintptr_t vector = *(const uintptr_t *)(block + CONTEXT_DTV), start = vector - 16;
    if (!procmaps_find(builder->picture->maps, start) || builder->starts_count == STARTS_MOST)
        return;
    uintptr_t length = *(const uintptr_t *)start, *word = &builder->starts[builder->starts_count++];
    if (length >= DTV_MOST)
        return;
    *word = start;
    add_whole(builder, (uintptr_t)word, (uintptr_t)(word + 1), LEAK_ROOT_CLASS_TLS, place);
    add_whole(builder, start, vector + (length + 1) * 16, LEAK_ROOT_CLASS_TLS, place);
}

static void add_tls(struct builder *builder, int place)
{
    const struct root_thread *thread = &builder->out->seen[place];
    uintptr_t block = thread->block ? thread->block : thread->high;
    const struct mapping *mapping = procmaps_find(builder->picture->maps, block);
    if (!block || !mapping)
        return;
    size_t below = ARCH_TLS_ABOVE_BLOCK ? descriptor : static_tls;
    size_t above = ARCH_TLS_ABOVE_BLOCK ? static_tls : descriptor;
    uintptr_t start = block - below > mapping->start ? block - below : mapping->start;
    uintptr_t end = block + above < mapping->end ? block + above : mapping->end;
    add_whole(builder, start, end, LEAK_ROOT_CLASS_TLS, place);
    if (thread->block)
        add_vector(builder, thread->block, place);
}

static void add_registers(struct builder *builder, int place)
{
    const struct root_thread *thread = &builder->out->seen[place];
    const struct roots_taker *taker = builder->picture->taker;
    unsigned count;
    if (thread->context) {
        const uintptr_t *registers = context_registers(thread->context, &count);
        uintptr_t start, end;
        add_whole(builder, (uintptr_t)registers, (uintptr_t)(registers + count),
                  LEAK_ROOT_CLASS_REGISTERS, place);
        /* Who is in a system call has called a function for it, and over calls no vector is kept.
         */
        if (!context_in_call(thread->context) && context_vectors(thread->context, &start, &end))
            add_whole(builder, start, end, LEAK_ROOT_CLASS_REGISTERS, place);
    } else if (thread->taker) {
        add_whole(builder, taker->sp, taker->frame, LEAK_ROOT_CLASS_REGISTERS, place);
    }
}

/* From sp to the end of what it points into: the thread's own stack, a block that a fibre runs on,
 * or a mapping. A thread that is elsewhere may come back to its own stack: then all of that counts.
 */
static void add_stack(struct builder *builder, int place)
{
    const struct root_thread *thread = &builder->out->seen[place];
    const struct mapping *mapping;
    uintptr_t sp = thread->taker && !thread->context ? builder->picture->taker->frame : thread->sp;
    bool at_home = sp && sp >= thread->low && sp < thread->high;
    if (sp && thread->context)
        sp -= CONTEXT_RED_ZONE;
    if (at_home) {
        pieces_add(&builder->out->pieces, sp, thread->high,
                   (struct piece){.whole_start = thread->low,
                                  .whole_end = thread->high,
                                  .root_class = LEAK_ROOT_CLASS_STACKS,
                                  .thread = place});
        return;
    }
    if (sp && (mapping = procmaps_find(builder->picture->maps, sp))) {
        uint32_t node = reach_find(builder->picture->reach, sp);
        uintptr_t end = mapping->end;
        if (node != REACH_NOBODY) {
            struct block block = reach_block(builder->picture->reach, node);
            end = block.address + block.size;
        }
        add_whole(builder, sp, end, LEAK_ROOT_CLASS_STACKS, place);
    }
    if (thread->high && (mapping = procmaps_find(builder->picture->maps, thread->high - 1)))
        add_whole(builder, thread->low > mapping->start ? thread->low : mapping->start,
                  thread->high, LEAK_ROOT_CLASS_STACKS, place);
}

/* ---- Anonymous memory ----------------------------------------------------------------------- */

static void keep_out(uintptr_t start, size_t size, void *context)
{
    struct builder *builder = context;
    if (builder->no_roots_count < PIECES_MOST)
        builder->no_roots[builder->no_roots_count++] = (struct heap){start, start + size};
}

/* A stack whose thread has ended: still one if its descriptor is there, which names itself. */
static void keep_left_stack_out(const struct unwind_bounds *bounds, void *context)
{
    struct builder *builder = context;
    const struct mapping *mapping = procmaps_find(builder->picture->maps, bounds->high);
    const uintptr_t *block = (const uintptr_t *)bounds->high;
    if (!mapping || mapping->start > bounds->low || !mapping->read || !context_is_block(block))
        return;
    keep_out(bounds->low, bounds->high - bounds->low + descriptor, context);
    add_vector(builder, bounds->high, -1); /* for the next thread */
}

static void keep_heaps_out(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->heaps.count; i++)
        keep_out(builder->heaps.heap[i].start,
                 builder->heaps.heap[i].end - builder->heaps.heap[i].start, builder);
}

/* What lies nearer than any block could is one. Where too many are apart the rest holds as well. */
static void keep_more_out(uintptr_t start, size_t size, void *context)
{
    struct builder *builder = context;
    struct heap *last = &builder->no_roots[builder->no_roots_count - 1];
    if (builder->older_begun && start - last->end < LEAST_BLOCK)
        last->end = start + size;
    else if (builder->no_roots_count < RUNS_MOST)
        keep_out(start, size, builder);
    builder->older_begun = true;
}

/* Ours, every stack, and what an allocator has: the rest is the program's. */
static bool list_no_roots(struct builder *builder)
{
    bool all = arena_each_range(keep_out, builder);
    for (uint32_t i = 0; i < builder->out->seen_count; i++) {
        const struct root_thread *thread = &builder->out->seen[i];
        if (thread->high)
            keep_out(thread->low, thread->high - thread->low, builder);
        if (thread->block) /* it is there as thread-local storage, or was not wanted */
            keep_out(thread->block - static_tls, static_tls + descriptor, builder);
    }
    threads_each_left(keep_left_stack_out, builder);
    if (store_header->flags & LEAK_FLAG_LATE)
        older_each_known(&builder->heaps, builder->picture->reach, builder->glibc, keep_more_out,
                         builder);
    else
        keep_heaps_out(builder);
    for (uint32_t i = 0; i < builder->picture->images->count; i++) {
        const struct image *image = &builder->picture->images->image[i];
        for (unsigned k = 0; k < image->data_count; k++)
            keep_out(image->data[k].start, image->data[k].end - image->data[k].start, builder);
    }
    heaps_sort(builder->no_roots, builder->no_roots_count);
    return all;
}

static bool is_of_the_program(const struct mapping *mapping)
{
    return mapping->read &&
           (procmaps_is_anonymous(mapping) || (mapping->inode && mapping->write && !mapping->shared));
}

static void add_piece(struct builder *builder, const struct mapping *mapping, uintptr_t start,
                      uintptr_t end, struct piece model)
{
    if (mapping->inode)
        pieces_add_written(&builder->out->pieces, start, end, model);
    else
        pieces_add(&builder->out->pieces, start, end, model);
}

static void add_anonymous(struct builder *builder)
{
    const struct maps *maps = builder->picture->maps;
    uint32_t next = 0;
    for (uint32_t i = 0; i < maps->count; i++) {
        const struct mapping *mapping = &maps->mapping[i];
        uintptr_t at = mapping->start;
        struct piece model = {.whole_start = mapping->start,
                              .whole_end = mapping->end,
                              .root_class = LEAK_ROOT_CLASS_ANON,
                              .thread = -1};
        if (!is_of_the_program(mapping))
            continue;
        while (next < builder->no_roots_count && builder->no_roots[next].start < mapping->end) {
            const struct heap *out = &builder->no_roots[next++];
            if (out->start > at)
                add_piece(builder, mapping, at, out->start, model);
            if (out->end > at)
                at = out->end;
        }
        add_piece(builder, mapping, at, mapping->end, model);
        while (next && builder->no_roots[next - 1].end > mapping->end)
            next--; /* it goes on in the next one */
    }
}

/* ---- All ------------------------------------------------------------------------------------ */

bool roots_find(const struct roots_picture *picture, struct roots *out)
{
    struct builder builder = {.picture = picture, .out = out};
    const struct image *libc = images_at(picture->images, (uintptr_t)real.malloc);
    builder.glibc = libc && images_is_libc(libc) && !linked_home;
    *out = (struct roots){.seen = sys_map_lazily(PARK_MOST * sizeof *out->seen)};
    builder.no_roots = sys_map_lazily(PIECES_MOST * sizeof *builder.no_roots);
    builder.starts = sys_map_lazily(STARTS_MOST * sizeof *builder.starts);
    if (!pieces_open(&out->pieces, picture->classes) || !out->seen || !builder.no_roots ||
        !builder.starts ||
        !heaps_find(picture->maps, picture->reach, builder.glibc, &builder.heaps))
        return false;
    see_threads(&builder);
    add_globals(&builder);
    for (uint32_t i = 0; i < out->seen_count; i++)
        add_tls(&builder, i);
    for (uint32_t i = 0; i < out->seen_count; i++)
        add_stack(&builder, i);
    for (uint32_t i = 0; i < out->seen_count; i++)
        add_registers(&builder, i);
    add_whole(&builder, (uintptr_t)boot_pool, (uintptr_t)boot_pool + BOOT_POOL_SIZE,
              LEAK_ROOT_CLASS_ANON, -1);
    threads_each_note_page(add_note_page, &builder);
    for (uint32_t i = 0; i < user_count; i++)
        add_whole(&builder, users[i].start, users[i].end, LEAK_ROOT_CLASS_USER, -1);
    bool all = list_no_roots(&builder);
    add_anonymous(&builder);
    return all && !pieces_are_full(&out->pieces);
}

uint64_t roots_apart(const struct roots *roots, const struct maps *maps)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < roots->pieces.count; i++) {
        const struct piece *piece = &roots->pieces.piece[i];
        const struct mapping *mapping =
            piece->root_class == LEAK_ROOT_CLASS_ANON ? procmaps_find(maps, piece->start) : NULL;
        if (mapping && procmaps_is_anonymous(mapping))
            bytes += piece->end - piece->start;
    }
    return bytes;
}
