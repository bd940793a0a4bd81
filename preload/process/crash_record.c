#include "preload/process/crash.h"
#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/unwind/stack_fold.h"
#include "preload/elf/procmaps.h"
#include "preload/interpose/modules.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"
#include "preload/unwind/unwind.h"
#include "context.h"

#include <elf.h>
#include <link.h>
#include <time.h>

/* Bytes for the records of modules: enough for some hundred modules. */
#define MODULES_SIZE (56u << 10)
/* The largest number of frames that are recorded: as many as a stack of a gigabyte can have. */
#define FRAMES_MAX (16u << 20)
/* Number of regions of 2 KiB that are searched for the start of a block: below the fault address
 * (32 MiB), and below the address in a register (128 KiB). */
#define REGIONS_OF_ADDRESS 16384
#define REGIONS_OF_REGISTER 64
/* Largest number of bytes by which a block that is reported may end before the fault address, and
 * before the address in a register. */
#define PAST_ADDRESS (64u << 10)
#define PAST_REGISTER 16
/* A crash is taken for a stack overflow if sp and the fault address are at most this number of
 * bytes away from the lowest word of the stack. */
#define OVERFLOW_SLACK 256

/* ---- Step 0: the signal ---------------------------------------------------------------------- */

static bool was_sent(const siginfo_t *info)
{
    return info->si_code <= 0;
}

/* Says whether siginfo contains the address that could not be accessed: it does for these signals,
 * unless the address was not canonical. */
static bool has_address(const siginfo_t *info)
{
    return (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) && info->si_code > 0 &&
           info->si_code != SI_KERNEL;
}

static struct leak_crash *allocate_record(uint64_t *place)
{
    uint64_t size = sizeof(struct leak_crash) + MODULES_SIZE;
    struct leak_crash *crash = store_reuse_chunk(LEAK_CHUNK_CRASH, *place, size);
    if (!crash && (crash = store_new_chunk_in_file(LEAK_CHUNK_CRASH, size, 0)))
        *place = store_offset_of(crash);
    if (crash)
        memset(crash, 0, sizeof *crash);
    return crash;
}

static void copy_registers(struct leak_crash *crash, const ucontext_t *context)
{
    unsigned count;
    const uintptr_t *row = context_registers(context, &count);
    crash->pc = context_pc(context);
    crash->sp = context_sp(context);
    crash->register_count = count < LEAK_CRASH_REGISTERS ? count : LEAK_CRASH_REGISTERS;
    for (unsigned i = 0; i < crash->register_count; i++)
        crash->registers[i] = row[i];
}

static void note_end(const struct leak_crash *crash)
{
    store_header->end_value = crash->signal;
    store_header->ended_ns = crash->when_ns;
    store_release(&store_header->end_how, LEAK_END_SIGNAL);
}

static void note_signal(struct crash_report *report)
{
    const siginfo_t *info = report->info;
    struct leak_crash *crash = allocate_record(report->place);
    if (!crash)
        return;
    crash->head_size = sizeof *crash;
    crash->signal = info->si_signo;
    crash->code = info->si_code;
    if (was_sent(info)) {
        crash->sender = info->si_pid;
        crash->sender_uid = info->si_uid;
    } else {
        crash->address = (uintptr_t)info->si_addr;
    }
    crash->flags = (has_address(info) ? LEAK_CRASH_HAS_ADDRESS : 0) |
                   (guard_self.sp ? LEAK_CRASH_IN_LIBLEAK : 0) |
                   (guard_self.calling_real ? LEAK_CRASH_IN_ALLOCATOR : 0) |
                   (report->has_look ? LEAK_CRASH_LOOK : 0);
    crash->access = has_address(info) ? context_access(report->context) : LEAK_ACCESS_UNKNOWN;
    crash->when_ns = sys_clock_ns(CLOCK_REALTIME);
    track_tick();
    crash->tick = load_relaxed(&store_header->epoch);
    crash->tid = sys_gettid();
    sys_thread_name(crash->name);
    copy_registers(crash, report->context);
    store_release(&crash->state, report->state);
    store_publish(crash, sizeof *crash);
    report->crash = crash;
    if (report->state == LEAK_CRASH_FATAL)
        note_end(crash);
    /* The number of the thread is read last, because the program may have overwritten that
     * memory. */
    crash->thread = guard_self.thread ? guard_self.thread->serial : 0;
}

/* ---- Step 1: the stack ----------------------------------------------------------------------- */

static struct unwind_trace unwind_memory;

static bool fold_frame(const struct frame *frame, void *context)
{
    struct stack_fold *fold = context;
    stack_fold_add(fold, frame->pc);
    return fold->depth < FRAMES_MAX;
}

static bool is_code_at(uintptr_t pc)
{
    struct module_view module;
    return modules_find(&guard_self, pc, &module);
}

/* Determines the first frame. Its pc is increased by one, because names are looked up at pc - 1, as
 * for return addresses. If pc is in no module, the program has called that address, mostly through
 * a wild pointer; then unwinding begins at the return address of that call, and *called is true. */
static struct frame first_frame(const ucontext_t *context, bool *called)
{
    uintptr_t caller = context_link(context);
    struct frame frame = {
        .pc = context_pc(context) + 1, .sp = context_sp(context), .fp = context_fp(context)};
    *called = false;
    if (is_code_at(frame.pc - 1))
        return frame;
    if (CONTEXT_CALLER_ON_STACK && !sys_peek(frame.sp, &caller, sizeof caller))
        return frame;
    caller = arch_strip(caller);
    if (!is_code_at(caller - 1))
        return frame;
    *called = true;
    return (struct frame){
        .pc = caller, .sp = frame.sp + CONTEXT_CALLER_ON_STACK * sizeof caller, .fp = frame.fp};
}

static void note_frames(struct crash_report *report)
{
    struct leak_crash *crash = report->crash;
    struct stack_fold fold = {
        .row = crash->frames, .most = LEAK_CRASH_FRAMES, .ring = crash->outer};
    bool called;
    struct frame start = first_frame(report->context, &called);
    if (called)
        crash->flags |= LEAK_CRASH_CALLED;
    crash->ending = unwind_each(&guard_self, &start, context_link(report->context), &unwind_memory,
                                fold_frame, &fold);
    crash->outer_count = stack_fold_finish(&fold, &crash->left_out);
    crash->depth = fold.depth;
    store_release(&crash->frame_count, fold.count);
}

/* ---- Step 2: the mappings around the address whose access crashed, and the stack ------------- */

static char maps_buffer[32 << 10];

static void copy_mapping(struct leak_crash_mapping *out, const struct mapping *mapping)
{
    size_t length = strlen(mapping->path);
    const char *from =
        length < sizeof out->path ? mapping->path : mapping->path + length + 1 - sizeof out->path;
    out->start = mapping->start;
    out->end = mapping->end;
    out->flags =
        (mapping->read ? LEAK_MAPPING_READ : 0) | (mapping->write ? LEAK_MAPPING_WRITE : 0) |
        (mapping->execute ? LEAK_MAPPING_EXECUTE : 0) |
        (mapping->shared ? LEAK_MAPPING_SHARED : 0) | (mapping->inode ? LEAK_MAPPING_FILE : 0);
    memset(out->path, 0, sizeof out->path);
    memcpy(out->path, from, strlen(from));
}

static void place_mapping(const struct mapping *mapping, void *context)
{
    struct leak_crash *crash = context;
    uint64_t address = crash->address;
    if (mapping->end <= address)
        copy_mapping(&crash->below, mapping);
    else if (mapping->start <= address)
        copy_mapping(&crash->at, mapping);
    else if (!crash->above.end)
        copy_mapping(&crash->above, mapping);
    /* The first writable mapping that ends above sp is the stack: sp is inside or just below it, in
     * a guard page without access. */
    if (!crash->stack.end && mapping->end > crash->sp && mapping->write)
        copy_mapping(&crash->stack, mapping);
}

/* Says whether the crash is a stack overflow: sp is near the lowest word of the stack, and the
 * access was below the stack. */
static bool is_overflow(const struct leak_crash *crash)
{
    uint64_t low = crash->stack.start;
    return crash->signal == SIGSEGV && crash->flags & LEAK_CRASH_HAS_ADDRESS && crash->stack.end &&
           crash->sp < low + OVERFLOW_SLACK && crash->address < low &&
           crash->address + OVERFLOW_SLACK >= crash->sp;
}

static void note_mappings(struct crash_report *report)
{
    struct leak_crash *crash = report->crash;
    procmaps_each(maps_buffer, sizeof maps_buffer, place_mapping, crash);
    if (is_overflow(crash))
        or_relaxed(&crash->flags, LEAK_CRASH_OVERFLOW);
}

/* ---- Step 3: blocks near the address and the registers --------------------------------------- */

static void find_block_near(struct leak_crash *crash, struct leak_crash_near *near,
                            uint64_t address, unsigned regions, uint64_t past)
{
    struct block block;
    bool busy = false;
    near->address = address;
    bool found = blocks_find_nearest(address, regions, &block, &busy);
    if (busy)
        crash->flags |= LEAK_CRASH_BLOCKS_BUSY;
    if (!found || address - block.address >= block.size + past + 1)
        return;
    near->block = block.address;
    near->size = block.size;
    near->count = block.count;
    near->tick = block.tick;
    near->thread = block.thread;
    near->kind = block.kind & ~BLOCKS_IGNORED;
    near->site = block.site;
}

static void note_blocks(struct crash_report *report)
{
    struct leak_crash *crash = report->crash;
    if (crash->flags & LEAK_CRASH_HAS_ADDRESS)
        find_block_near(crash, &crash->near[0], crash->address, REGIONS_OF_ADDRESS, PAST_ADDRESS);
    for (unsigned i = 0; i < crash->register_count; i++)
        find_block_near(crash, &crash->near[1 + i], crash->registers[i], REGIONS_OF_REGISTER,
                        PAST_REGISTER);
}

/* ---- Step 4: the modules --------------------------------------------------------------------- */

struct modules {
    char *bytes;
    size_t used;
    struct leak_module *last; /* record of the module whose mappings are being read */
    uint64_t inode;
    bool has_code;
};

/* Reads from the ELF headers where the segments of a module end in memory, and the difference
 * between the addresses in memory and those in the file. */
static bool read_segments(uintptr_t start, struct leak_module *module)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    bool first = true;
    if (!sys_peek(start, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof segment)
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (!sys_peek(start + header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return false;
        if (segment.p_type != PT_LOAD)
            continue;
        if (first)
            module->bias = start - (segment.p_vaddr & ~(LEAK_PAGE - 1));
        first = false;
        uint64_t end = module->bias + segment.p_vaddr + segment.p_memsz;
        module->end = end > module->end ? end : module->end;
    }
    return !first && module->end > start;
}

/* Completes the record of a module, or drops it if no mapping of the file has code: such a file is
 * mapped only to be read. */
static void finish_module_record(struct modules *modules)
{
    if (modules->last && modules->has_code)
        modules->used += modules->last->length;
    modules->last = NULL;
}

static void start_module_record(struct modules *modules, const struct mapping *mapping)
{
    struct leak_module *module = (struct leak_module *)(modules->bytes + modules->used);
    size_t path = strlen(mapping->path);
    size_t length = round_up(sizeof *module + path + 1, 8);
    if (modules->used + length > MODULES_SIZE)
        return;
    memset(module, 0, length);
    module->length = length;
    module->start = mapping->start;
    if (!read_segments(mapping->start, module))
        return;
    module->build_id_length = modules_read_build_id(mapping->start, module->bias, module->build_id);
    module->path_length = path;
    memcpy(module->path, mapping->path, path);
    modules->last = module;
    modules->inode = mapping->inode;
    modules->has_code = mapping->execute;
}

static void add_module_mapping(const struct mapping *mapping, void *context)
{
    struct modules *modules = context;
    if (modules->last && mapping->inode == modules->inode && mapping->start < modules->last->end) {
        modules->has_code |= mapping->execute;
        return;
    }
    if (modules->last && mapping->start < modules->last->end)
        return; /* the mapping is the .bss of the last module */
    finish_module_record(modules);
    bool named = mapping->inode || strcmp(mapping->path, "[vdso]") == 0;
    if (named && mapping->offset == 0 && mapping->read)
        start_module_record(modules, mapping);
}

static void note_modules(struct crash_report *report)
{
    struct leak_crash *crash = report->crash;
    struct modules modules = {.bytes = (char *)(crash + 1)};
    procmaps_each(maps_buffer, sizeof maps_buffer, add_module_mapping, &modules);
    finish_module_record(&modules);
    store_publish(crash, sizeof *crash + modules.used);
    crash->modules = (struct leak_table){sizeof *crash, modules.used};
}

void crash_record_step(struct crash_report *report, unsigned step)
{
    static void (*const steps[CRASH_STEPS])(struct crash_report * report) = {
        note_signal, note_frames, note_mappings, note_blocks, note_modules};
    steps[step](report);
}
