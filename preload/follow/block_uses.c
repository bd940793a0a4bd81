#include "preload/follow/block_uses.h"
#include "preload/follow/block_counts.h"
#include "preload/base/lock.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"
#include "preload/unwind/unwind.h"
#include "context.h"

/* Number of words at the start of a block that are watched. x86_64 and most other CPUs have four
 * watchpoints: slot_watch.h takes one, three are left. */
#define WORDS 3
#define DESCRIPTORS_MOST 192
/* With more watchpoints than this, the kernel's counters of their hits are not read after each
 * single step, because that would be too slow. */
#define DESCRIPTORS_STEPPED 12
#define USES_MOST 200000

static struct {
    /* Complement of the block's address, so that a leak check finds no pointer here
     * (pointer_search.h). */
    uint64_t hidden;
    uint32_t bytes; /* how many bytes of the block are watched; 0: no block is watched */
    struct leak_followed *out;
    /* Sum of the kernel's counters of watchpoint hits, when they were last read. */
    uint64_t counted;
    uint32_t uses;
    int descriptors[DESCRIPTORS_MOST];
    unsigned descriptor_count;
} watched;

/* Set to 1 while a thread uses unwind_memory, so that other threads do not. */
static uint32_t unwinding;
static struct unwind_trace unwind_memory;

static bool watch_in_thread(int tid, void *context)
{
    uintptr_t block = ~watched.hidden;
    (void)context;
    for (unsigned i = 0; i < watched.bytes / sizeof block; i++) {
        int descriptor = sys_watch_word(tid, block + i * sizeof block, true);
        if (descriptor < 0)
            return false;
        watched.descriptors[watched.descriptor_count++] = descriptor;
    }
    return watched.descriptor_count + WORDS <= DESCRIPTORS_MOST;
}

void block_uses_begin(uintptr_t address, uint64_t size, struct leak_followed *out)
{
    uint64_t words = (size + sizeof address - 1) / sizeof address;
    block_uses_end();
    if (address % sizeof address)
        return;
    watched.hidden = ~(uint64_t)address;
    watched.bytes = sizeof address * (words > WORDS ? WORDS : words);
    watched.out = out;
    watched.uses = 0;
    watched.counted = 0;
    out->used.bytes = watched.bytes;
    block_counts_begin(address, watched.bytes < size ? watched.bytes : size);
    sys_each_numbered_entry("/proc/self/task", watch_in_thread, NULL);
}

void block_uses_end(void)
{
    while (watched.descriptor_count)
        sys_close(watched.descriptors[--watched.descriptor_count]);
    if (watched.bytes)
        store_relaxed(&watched.out->used.frame_count, 0);
    watched.bytes = 0;
}

static bool add_frame(const struct frame *frame, void *context)
{
    struct leak_use *use = context;
    use->frames[use->frame_count++] = frame->pc;
    return use->frame_count < LEAK_FOLLOWED_FRAMES;
}

/* Records the call stack of the instruction that has just used the block. The frame's pc is given
 * as pc + 1, because unwind_each expects return addresses. */
static void record_use(const ucontext_t *context)
{
    /* "unwinding" guards "use": while one thread records a use, uses by other threads are not
     * recorded. */
    static struct leak_use use;
    struct frame start = {
        .pc = context_pc(context) + 1, .sp = context_sp(context), .fp = context_fp(context)};
    if (exchange_acquire(&unwinding, 1))
        return;
    use.frame_count = 0;
    unwind_each(&guard_self, &start, context_link(context), &unwind_memory, add_frame, &use);
    struct leak_use *out = &watched.out->used;
    store_release(&out->frame_count, 0);
    memcpy(out->frames, use.frames, use.frame_count * sizeof *use.frames);
    out->frames[0] = context_pc(context);
    out->event = watched.out->events;
    store_release(&out->frame_count, use.frame_count);
    use.frames[0] = context_pc(context);
    block_counts_note(~watched.hidden, use.frames, use.frame_count);
    store_release(&unwinding, 0);
}

bool block_uses_trap(const siginfo_t *info, const ucontext_t *context)
{
    if (!watched.bytes || (uintptr_t)info->si_addr + watched.hidden + 1 >= watched.bytes)
        return false;
    if (guard_self.sp || lock_thread.held) /* the runtime itself has read the block */
        return true;
    if (++watched.uses > USES_MOST)
        block_uses_end();
    else
        record_use(context);
    return true;
}

static uint64_t count_uses(void)
{
    uint64_t counted = 0, one;
    if (watched.descriptor_count > DESCRIPTORS_STEPPED)
        return 0;
    for (unsigned i = 0; i < watched.descriptor_count; i++)
        if (sys_read(watched.descriptors[i], &one, sizeof one) == sizeof one)
            counted += one;
    return counted;
}

void block_uses_begin_steps(void)
{
    watched.counted = count_uses();
}

bool block_uses_step(const ucontext_t *context)
{
    uint64_t counted = count_uses();
    bool used = counted != watched.counted && !guard_self.sp && !lock_thread.held;
    watched.counted = counted;
    if (used)
        record_use(context);
    return used;
}
