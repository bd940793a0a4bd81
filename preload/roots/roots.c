/* roots.c - collects the root ranges for a leak check, class by class. */
#include "preload/roots/roots.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/interpose/real_functions.h"
#include "preload/interpose/static_malloc.h"
#include "preload/base/lock.h"
#include "preload/interpose/modules.h"
#include "preload/roots/heap_ranges.h"
#include "preload/memory/collections.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/heap/threads.h"
#include "preload/roots/scan_ranges.h"
#include "context.h"

#include <dlfcn.h>

#define USER_REGIONS_MAX 4096
#define DTV_LENGTH_MAX 65536
/* Bytes of glibc's smallest chunk, with its header: two blocks that are closer together have no
 * chunk between them. */
#define MIN_CHUNK 32
#define KNOWN_RANGES_MAX (SCAN_RANGES_MAX / 4)
#define DTV_WORDS_MAX (2 * WORLD_MAX_THREADS)

static struct lock lock; /* guards user_regions and user_count */
static struct {
    uintptr_t start, end;
} * user_regions;
static uint32_t user_count;

/* Sizes around a thread block: glibc's thread descriptor begins at the block; static thread-local
 * storage lies below the block (x86) or above it (aarch64). */
static size_t descriptor_size = 2304, static_tls_size;

/* ---- Regions that the program registered ----------------------------------------------------- */

bool roots_add_region(uintptr_t start, size_t size)
{
    struct locked locked = lock_take(&lock);
    if (!user_regions)
        user_regions = arena_map(USER_REGIONS_MAX * sizeof *user_regions);
    bool fits = user_regions && user_count < USER_REGIONS_MAX;
    if (fits) {
        user_regions[user_count].start = start;
        user_regions[user_count++].end = start + size;
    }
    lock_give(&locked);
    return fits;
}

LOCK_FOR_FORK(roots, &lock)

void roots_remove_region(uintptr_t start, size_t size)
{
    struct locked locked = lock_take(&lock);
    for (uint32_t i = 0; i < user_count; i++)
        if (user_regions[i].start == start && user_regions[i].end == start + size) {
            user_regions[i] = user_regions[--user_count];
            break;
        }
    lock_give(&locked);
}

bool roots_parse_classes(const char *list, size_t length, unsigned *out)
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
    void (*get_tls_info)(size_t *, size_t *) =
        (void (*)(size_t *, size_t *))dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info");
    const uint32_t *size = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
    if (size)
        descriptor_size = *size;
    if (get_tls_info)
        get_tls_info(&static_tls_size, &align);
    static_tls_size =
        static_tls_size > descriptor_size ? static_tls_size - descriptor_size : LEAK_PAGE;
    if (!get_tls_info || !size)
        dlerror();
}

/* ---- The builder of a set of roots ----------------------------------------------------------- */

struct builder {
    const struct roots_input *input;
    struct roots *out;
    struct heap_ranges heaps;
    /* Words of libleak that are roots: each has the address at which the block of a thread's DTV
     * (dynamic thread vector) begins, see add_dtv. */
    uintptr_t *dtv_words;
    uint32_t dtv_word_count;
    /* Memory that is no anonymous root, ascending: libleak's own, stacks, heaps. */
    struct heap_range *excluded;
    uint32_t excluded_count;
    bool glibc;       /* the allocator is the C library's */
    bool known_begun; /* exclude_known has added a range */
};

static void add_range(struct builder *builder, uintptr_t start, uintptr_t end,
                      enum leak_root_class root_class, int thread)
{
    scan_ranges_add(
        &builder->out->ranges, start, end,
        (struct scan_range){
            .whole_start = start, .whole_end = end, .root_class = root_class, .thread = thread});
}

/* ---- Data of ELF objects --------------------------------------------------------------------- */

/* Adds writable data of an object. In the object of a statically linked malloc, data that this
 * malloc hands out as blocks is left out. */
static void add_image_data(struct builder *builder, const struct elf_image *image, unsigned part,
                           struct scan_range model)
{
    uintptr_t start = image->data[part].start, end = image->data[part].end;
    struct data_roots variables = {0};
    if (static_malloc_address() - image->start >= image->end - image->start) {
        scan_ranges_add(&builder->out->ranges, start, end, model);
        return;
    }
    data_roots_find(builder->input->reach, image->bias, &variables);
    data_roots_add(&variables, builder->input->reach, &builder->out->ranges, start, end, model);
}

/* Adds the data of all objects except libleak. The C library's data also points to memory behind
 * blocks, where free chunks begin, so only its pointers to the start of a block count. */
static void add_globals(struct builder *builder)
{
    const struct elf_images *images = builder->input->images;
    for (uint32_t i = 0; i < images->count; i++) {
        const struct elf_image *image = &images->image[i];
        bool own = modules_is_own(image->start);
        const struct scan_range model = {.whole_start = image->start,
                                         .whole_end = image->end,
                                         .root_class = LEAK_ROOT_CLASS_GLOBALS,
                                         .starts_only = elf_images_is_libc(image),
                                         .thread = -1};
        for (unsigned k = 0; k < image->data_count && !own; k++)
            add_image_data(builder, image, k, model);
    }
}

/* ---- Stacks, thread-local storage and registers ---------------------------------------------- */

/* Finds the lowest address of a thread's stack. bounds->low leaves out pages that may not belong to
 * the stack; but if a mapping begins there, behind a guard page, the stack begins with the
 * mapping. */
static uintptr_t stack_start(const struct procmaps *maps, const struct unwind_bounds *bounds)
{
    const struct mapping *mapping = procmaps_find(maps, bounds->low);
    bool whole = mapping && mapping->end >= bounds->high &&
                 mapping->start > threads_least_stack_start(bounds);
    return whole ? mapping->start : bounds->low;
}

static void add_thread(struct builder *builder, struct root_thread thread)
{
    struct roots *out = builder->out;
    const struct thread *state = thread.state;
    if (out->thread_count == WORLD_MAX_THREADS)
        return;
    if (state) {
        thread.serial = state->serial;
        thread.low = stack_start(builder->input->maps, &state->bounds);
        thread.high = state->bounds.high;
        /* The arguments of the program lie above the frames of the first thread, and the program
         * may have stored pointers there. */
        const struct mapping *mapping = procmaps_find(builder->input->maps, thread.high - 1);
        if (thread.high && mapping && strncmp(mapping->path, "[stack]", 8) == 0)
            thread.high = mapping->end;
        /* A stack that glibc allocated ends below the thread's descriptor and, on x86, its static
         * thread-local storage. */
        uintptr_t block = thread.block ? thread.block : thread.high;
        if (!ARCH_TLS_ABOVE_BLOCK && thread.high && block - thread.high < LEAK_PAGE)
            thread.high = block - static_tls_size;
    }
    out->threads[out->thread_count++] = thread;
}

static void add_running_thread(const struct thread *state, void *context)
{
    struct builder *builder = context;
    for (uint32_t i = 0; i < builder->out->thread_count; i++)
        if (builder->out->threads[i].state == state)
            return;
    if (!state->stand_in)
        add_thread(builder, (struct root_thread){.tid = state->record->tid, .state = state});
}

static void add_threads(struct builder *builder)
{
    const struct roots_caller *caller = builder->input->caller;
    const struct world *world = builder->input->world;
    add_thread(builder, (struct root_thread){.tid = caller->tid,
                                             .stopped = true,
                                             .caller = true,
                                             .pc = caller->pc,
                                             .sp = caller->frame,
                                             .fp = caller->fp,
                                             .block = arch_thread_block(),
                                             .context = caller->context,
                                             .state = guard_self.thread});
    for (uint32_t i = 0; builder->input->stopped && i < world->count; i++) {
        const struct world_thread *thread = &world->thread[i];
        if (!world_thread_is_stopped(thread))
            continue;
        add_thread(builder, (struct root_thread){.tid = thread->tid,
                                                 .stopped = true,
                                                 .pc = context_pc(thread->context),
                                                 .sp = context_sp(thread->context),
                                                 .fp = context_fp(thread->context),
                                                 .block = thread->block,
                                                 .context = thread->context,
                                                 .state = thread->thread});
    }
    threads_each(add_running_thread, builder);
}

/* Adds, as a root, the page with the argument of a thread that has not started yet. */
static void add_thread_page(uintptr_t start, uintptr_t end, void *context)
{
    add_range(context, start, end, LEAK_ROOT_CLASS_STACKS, -1);
}

/* Adds the dynamic thread vector (DTV) of a thread, which holds the address of each object's TLS
 * block. Its length stands before it, and the thread block points behind the length; so a word of
 * libleak serves as a root that points to the start of the vector's block. */
static void add_dtv(struct builder *builder, uintptr_t block, int place)
{
    uintptr_t vector = *(const uintptr_t *)(block + CONTEXT_DTV), start = vector - 2 * WORD;
    if (!procmaps_find(builder->input->maps, start) || builder->dtv_word_count == DTV_WORDS_MAX)
        return;
    uintptr_t length = *(const uintptr_t *)start,
              *word = &builder->dtv_words[builder->dtv_word_count++];
    if (length >= DTV_LENGTH_MAX)
        return;
    *word = start;
    add_range(builder, (uintptr_t)word, (uintptr_t)(word + 1), LEAK_ROOT_CLASS_TLS, place);
    add_range(builder, start, vector + (length + 1) * 2 * WORD, LEAK_ROOT_CLASS_TLS, place);
}

static void add_tls(struct builder *builder, int place)
{
    const struct root_thread *thread = &builder->out->threads[place];
    uintptr_t block = thread->block ? thread->block : thread->high;
    const struct mapping *mapping = procmaps_find(builder->input->maps, block);
    if (!block || !mapping)
        return;
    size_t below = ARCH_TLS_ABOVE_BLOCK ? descriptor_size : static_tls_size;
    size_t above = ARCH_TLS_ABOVE_BLOCK ? static_tls_size : descriptor_size;
    uintptr_t start = block - below > mapping->start ? block - below : mapping->start;
    uintptr_t end = block + above < mapping->end ? block + above : mapping->end;
    add_range(builder, start, end, LEAK_ROOT_CLASS_TLS, place);
    if (thread->block)
        add_dtv(builder, thread->block, place);
}

static void add_registers(struct builder *builder, int place)
{
    const struct root_thread *thread = &builder->out->threads[place];
    const struct roots_caller *caller = builder->input->caller;
    unsigned count;
    if (thread->context) {
        const uintptr_t *registers = context_registers(thread->context, &count);
        uintptr_t start, end;
        add_range(builder, (uintptr_t)registers, (uintptr_t)(registers + count),
                  LEAK_ROOT_CLASS_REGISTERS, place);
        /* A thread in a system call made it through a function call, which need not preserve vector
         * registers, so these hold no pointer that is still used. */
        if (!context_in_call(thread->context) && context_vectors(thread->context, &start, &end))
            add_range(builder, start, end, LEAK_ROOT_CLASS_REGISTERS, place);
    } else if (thread->caller) {
        add_range(builder, caller->sp, caller->frame, LEAK_ROOT_CLASS_REGISTERS, place);
    }
}

/* Adds the stack of a thread: from sp to the end of the thread's own stack, of the block that a
 * fibre runs on, or of the mapping. A thread that runs on another stack may return to its own one,
 * so all of its own stack is added, too. */
static void add_stack(struct builder *builder, int place)
{
    const struct root_thread *thread = &builder->out->threads[place];
    const struct mapping *mapping;
    uintptr_t sp = thread->caller && !thread->context ? builder->input->caller->frame : thread->sp;
    bool at_home = sp && sp >= thread->low && sp < thread->high;
    if (sp && thread->context)
        sp -= CONTEXT_RED_ZONE;
    if (at_home) {
        scan_ranges_add(&builder->out->ranges, sp, thread->high,
                        (struct scan_range){.whole_start = thread->low,
                                            .whole_end = thread->high,
                                            .root_class = LEAK_ROOT_CLASS_STACKS,
                                            .thread = place});
        return;
    }
    if (sp && (mapping = procmaps_find(builder->input->maps, sp))) {
        uint32_t node = reach_find_node(builder->input->reach, sp);
        uintptr_t end = mapping->end;
        if (node != REACH_NONE) {
            struct block block = reach_block(builder->input->reach, node);
            end = block.address + block.size;
        }
        add_range(builder, sp, end, LEAK_ROOT_CLASS_STACKS, place);
    }
    if (thread->high && (mapping = procmaps_find(builder->input->maps, thread->high - 1)))
        add_range(builder, thread->low > mapping->start ? thread->low : mapping->start,
                  thread->high, LEAK_ROOT_CLASS_STACKS, place);
}

/* ---- Anonymous memory ----------------------------------------------------------------------- */

static void exclude_range(uintptr_t start, size_t size, void *context)
{
    struct builder *builder = context;
    if (builder->excluded_count < SCAN_RANGES_MAX)
        builder->excluded[builder->excluded_count++] = (struct heap_range){start, start + size};
}

/* Excludes the stack of a thread that has exited and whose stack glibc keeps. It still is such a
 * stack if it contains a thread descriptor, which points to itself. */
static void exclude_exited_stack(const struct unwind_bounds *bounds, void *context)
{
    struct builder *builder = context;
    const struct mapping *mapping = procmaps_find(builder->input->maps, bounds->high);
    const uintptr_t *block = (const uintptr_t *)bounds->high;
    if (!mapping || mapping->start > bounds->low || !mapping->read || !context_is_block(block))
        return;
    uintptr_t low = stack_start(builder->input->maps, bounds);
    exclude_range(low, bounds->high - low + descriptor_size, context);
    /* The next thread that gets this stack uses its DTV again, so the DTV is a root. */
    add_dtv(builder, bounds->high, -1);
}

static void exclude_heaps(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->heaps.count; i++)
        exclude_range(builder->heaps.range[i].start,
                      builder->heaps.range[i].end - builder->heaps.range[i].start, builder);
}

/* Excludes a recorded block or free memory of a heap that existed before libleak. Ranges that are
 * closer together than any chunk are merged. Beyond KNOWN_RANGES_MAX ranges the rest of the heap is
 * a root. */
static void exclude_known(uintptr_t start, size_t size, void *context)
{
    struct builder *builder = context;
    struct heap_range *last = &builder->excluded[builder->excluded_count - 1];
    if (builder->known_begun && start - last->end < MIN_CHUNK)
        last->end = start + size;
    else if (builder->excluded_count < KNOWN_RANGES_MAX)
        exclude_range(start, size, builder);
    builder->known_begun = true;
}

/* Lists the memory that is no anonymous root: libleak's own, all stacks, and the memory of
 * allocators. The rest belongs to the program. */
static bool list_excluded(struct builder *builder)
{
    bool all = arena_each_range(exclude_range, builder);
    for (uint32_t i = 0; i < builder->out->thread_count; i++) {
        const struct root_thread *thread = &builder->out->threads[i];
        if (thread->high)
            exclude_range(thread->low, thread->high - thread->low, builder);
        if (thread->block) /* add_tls has added it, unless the option roots= excludes TLS */
            exclude_range(thread->block - static_tls_size, static_tls_size + descriptor_size,
                          builder);
    }
    threads_each_old_stack(exclude_exited_stack, builder);
    if (store_header->flags & LEAK_FLAG_LATE)
        heap_ranges_each_non_root(&builder->heaps, builder->input->reach, builder->glibc,
                                  exclude_known, builder);
    else
        exclude_heaps(builder);
    for (uint32_t i = 0; i < builder->input->images->count; i++) {
        const struct elf_image *image = &builder->input->images->image[i];
        for (unsigned k = 0; k < image->data_count; k++)
            exclude_range(image->data[k].start, image->data[k].end - image->data[k].start, builder);
    }
    SORT_BY(builder->excluded, builder->excluded_count, start);
    return all;
}

static bool is_program_memory(const struct mapping *mapping)
{
    return mapping->read && (procmaps_is_anonymous(mapping) ||
                             (mapping->inode && mapping->write && !mapping->shared));
}

static void add_anonymous_range(struct builder *builder, const struct mapping *mapping,
                                uintptr_t start, uintptr_t end, struct scan_range model)
{
    if (mapping->inode)
        scan_ranges_add_written(&builder->out->ranges, start, end, model);
    else
        scan_ranges_add(&builder->out->ranges, start, end, model);
}

static void add_anonymous(struct builder *builder)
{
    const struct procmaps *maps = builder->input->maps;
    uint32_t next = 0;
    for (uint32_t i = 0; i < maps->count; i++) {
        const struct mapping *mapping = &maps->mapping[i];
        uintptr_t at = mapping->start;
        struct scan_range model = {.whole_start = mapping->start,
                                   .whole_end = mapping->end,
                                   .root_class = LEAK_ROOT_CLASS_ANON,
                                   .thread = -1};
        if (!is_program_memory(mapping))
            continue;
        while (next < builder->excluded_count && builder->excluded[next].start < mapping->end) {
            const struct heap_range *out = &builder->excluded[next++];
            if (out->start > at)
                add_anonymous_range(builder, mapping, at, out->start, model);
            if (out->end > at)
                at = out->end;
        }
        add_anonymous_range(builder, mapping, at, mapping->end, model);
        while (next && builder->excluded[next - 1].end > mapping->end)
            next--; /* the excluded range continues in the next mapping */
    }
}

/* ---- All roots ------------------------------------------------------------------------------- */

bool roots_find(const struct roots_input *input, struct roots *out)
{
    struct builder builder = {.input = input, .out = out};
    const struct elf_image *libc = elf_images_at(input->images, (uintptr_t)real.malloc);
    builder.glibc = libc && elf_images_is_libc(libc) && !static_malloc_address();
    *out = (struct roots){.threads = sys_map_lazily(WORLD_MAX_THREADS * sizeof *out->threads)};
    builder.excluded = sys_map_lazily(SCAN_RANGES_MAX * sizeof *builder.excluded);
    builder.dtv_words = sys_map_lazily(DTV_WORDS_MAX * sizeof *builder.dtv_words);
    out->glibc = builder.glibc;
    if (!scan_ranges_open(&out->ranges, input->classes) || !out->threads || !builder.excluded ||
        !builder.dtv_words ||
        !heap_ranges_find(input->maps, input->reach, builder.glibc, &builder.heaps))
        return false;
    add_threads(&builder);
    add_globals(&builder);
    for (uint32_t i = 0; i < out->thread_count; i++)
        add_tls(&builder, i);
    for (uint32_t i = 0; i < out->thread_count; i++)
        add_stack(&builder, i);
    for (uint32_t i = 0; i < out->thread_count; i++)
        add_registers(&builder, i);
    add_range(&builder, (uintptr_t)bootstrap_pool, (uintptr_t)bootstrap_pool + BOOTSTRAP_POOL_SIZE,
              LEAK_ROOT_CLASS_ANON, -1);
    threads_each_start_page(add_thread_page, &builder);
    for (uint32_t i = 0; i < user_count; i++)
        add_range(&builder, user_regions[i].start, user_regions[i].end, LEAK_ROOT_CLASS_USER, -1);
    bool all = list_excluded(&builder);
    add_anonymous(&builder);
    return all && !scan_ranges_full(&out->ranges);
}

uint64_t roots_anonymous_bytes(const struct roots *roots, const struct procmaps *maps)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < roots->ranges.count; i++) {
        const struct scan_range *range = &roots->ranges.range[i];
        const struct mapping *mapping =
            range->root_class == LEAK_ROOT_CLASS_ANON ? procmaps_find(maps, range->start) : NULL;
        if (mapping && procmaps_is_anonymous(mapping))
            bytes += range->end - range->start;
    }
    return bytes;
}
