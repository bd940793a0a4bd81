#include "preload/heap/threads.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/store/segmented_array.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "arch.h"

#include <link.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* The block itself, static TLS and the guard page lie in the same mapping: how much of it is not
 * stack. */
#define BOUNDS_MARGIN 16384
#define RECORDS_MAX 65536 /* then the records of dead threads are used again */

extern void *__libc_stack_end;

uint32_t threads_watch_from;
uint64_t threads_blocks;

static struct segments records = {.type = LEAK_CHUNK_THREADS,
                                  .record_size = sizeof(struct leak_thread),
                                  .first_id = 1,
                                  .first_bits = 6,
                                  .split_bits = 14};
static struct lock lock; /* guards what follows */
static struct thread *free_threads;
static struct thread *made; /* all that were ever mapped */
static struct thread_start *free_starts, *note_pages;
static uint32_t last_record;
static uint32_t *dead_records; /* a stack */
static uint32_t dead_count;

/* Stacks that ended threads had whose states are others' by now; of more than these the last ones.
 * The allocator of stacks need not give the next thread the one that its state had before. */
#define LEFT_MOST 64
static struct unwind_bounds left[LEFT_MOST];
static uint32_t left_count;

static struct lock stand_in_lock;
static struct thread *stand_in;
static pthread_key_t key;
static bool key_made;
static uintptr_t tls_above; /* how much of a thread's mapping lies above its block */

/* ---- Records ------------------------------------------------------------------------------- */

static struct leak_thread *take_record(struct thread *thread)
{
    if (last_record >= RECORDS_MAX && dead_count)
        return segmented_array_at(&records, dead_records[--dead_count]);
    uint32_t id;
    struct leak_thread *record = segmented_array_append(&records, &last_record, &id);
    return record ? record : &thread->unread;
}

/* Which record is it? Records are few and this is asked at a thread's end, beyond RECORDS_MAX. */
static void give_record(const struct leak_thread *record)
{
    if (!dead_records)
        dead_records = arena_map(RECORDS_MAX * sizeof *dead_records);
    for (uint32_t id = 1; dead_records && id <= last_record && dead_count < RECORDS_MAX; id++)
        if (segmented_array_at(&records, id) == record) {
            dead_records[dead_count++] = id;
            return;
        }
}

void threads_note_name(struct thread *thread)
{
    if (thread->record != &thread->unread && !thread->stand_in)
        /* prctl cannot fail here, so errno stays */
        prctl(PR_GET_NAME, thread->record->name, 0, 0, 0);
}

static void fill_record(struct thread *thread)
{
    struct leak_thread *record = thread->record;
    thread->watch_at = threads_watch_from;
    thread->stop_at = thread->clock_at = 0; /* its allocations are counted anew */
    memset(record, 0, sizeof *record);
    if (record == &thread->unread)
        return;
    record->tid = sys_gettid();
    record->started = load_relaxed(&store_header->epoch) + 1;
    if (thread->stand_in)
        memcpy(record->name, "(at their end)", 15);
    else
        threads_note_name(thread);
    store_release(&record->serial, thread->serial);
}

/* ---- Coming and going ------------------------------------------------------------------------ */

static uint32_t next_serial(void)
{
    return __atomic_add_fetch(&store_header->threads, 1, __ATOMIC_RELAXED);
}

/* The lock is held. */
static void make_starts(void)
{
    struct thread_start *page = arena_map(LEAK_PAGE);
    if (!page)
        return;
    page[0].next_free = note_pages; /* the first one is the page's link */
    note_pages = page;
    for (size_t i = 1; i < LEAK_PAGE / sizeof *page; i++) {
        page[i].next_free = free_starts;
        free_starts = &page[i];
    }
}

struct thread_start *threads_announce(struct guard *guard UNUSED)
{
    struct locked locked = lock_take(&lock);
    if (!free_starts)
        make_starts();
    struct thread_start *start = free_starts;
    if (start)
        free_starts = start->next_free;
    lock_give(&locked);
    if (start)
        start->serial = next_serial();
    return start;
}

void threads_forget(struct guard *guard UNUSED, struct thread_start *start)
{
    struct locked locked = lock_take(&lock);
    start->argument = NULL; /* by now the thread itself has it */
    start->next_free = free_starts;
    free_starts = start;
    lock_give(&locked);
}

void threads_each_note_page(void (*visit)(uintptr_t start, uintptr_t end, void *context),
                            void *context)
{
    for (const struct thread_start *page = note_pages; page; page = page[0].next_free)
        visit((uintptr_t)page, (uintptr_t)page + LEAK_PAGE, context);
}

static bool is_of_a_state(uintptr_t high)
{
    const struct thread *thread = made;
    while (thread && thread->bounds.high != high)
        thread = thread->next_made;
    return thread;
}

void threads_each_left(void (*visit)(const struct unwind_bounds *bounds, void *context),
                       void *context)
{
    for (const struct thread *thread = made; thread; thread = thread->next_made)
        if (!thread->lives && thread->bounds.high)
            visit(&thread->bounds, context);
    for (uint32_t i = 0; i < LEFT_MOST; i++)
        if (left[i].high && !is_of_a_state(left[i].high))
            visit(&left[i], context);
}

/* The state is to be another thread's. The lock is held. */
static void remember_left(const struct thread *thread)
{
    if (!thread->bounds.high)
        return;
    uint32_t i = 0;
    while (i < LEFT_MOST && left[i].high != thread->bounds.high)
        i++;
    left[i < LEFT_MOST ? i : left_count++ % LEFT_MOST] = thread->bounds;
}

/* A thread there was no memory for tries again at its next hook: its number must not be used up. */
static void give_back(struct thread *thread, uint32_t serial)
{
    struct locked locked = lock_take(&lock);
    thread->next_free = free_threads;
    free_threads = thread;
    lock_give(&locked);
    uint64_t last = serial;
    if (serial)
        __atomic_compare_exchange_n(&store_header->threads, &last, last - 1, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* What was learnt of another thread, or of the parent's store. */
static void forget(struct thread *thread)
{
    thread->delta_level = thread->delta_top = thread->delta_blocks = 0;
    memset(thread->flat_sites, 0, sizeof thread->flat_sites);
    memset(thread->disabled_sites, 0, sizeof thread->disabled_sites);
    unwind_forget(&thread->trace);
    leaves_forget(&thread->leaves);
}

static struct thread *map_one(void)
{
    struct thread *thread = arena_map(sizeof *thread);
    if (!thread)
        return NULL;
    struct locked locked = lock_take(&lock);
    thread->next_made = made;
    made = thread;
    lock_give(&locked);
    return thread;
}

void threads_each(void (*visit)(const struct thread *thread, void *context), void *context)
{
    for (const struct thread *thread = made; thread; thread = thread->next_made)
        if (thread->lives)
            visit(thread, context);
}

/* announced: the number given by threads_announce, or 0. */
static struct thread *make(struct guard *guard, uint32_t announced, bool for_all)
{
    struct locked locked = lock_take(&lock);
    /* Who asks for the stand-in is at his end: his state still says where his stack was. */
    struct thread *thread = for_all ? NULL : free_threads;
    if (thread) {
        free_threads = thread->next_free;
        remember_left(thread);
    }
    lock_give(&locked);
    if (!thread && !(thread = map_one()))
        return NULL;
    uint32_t serial = announced ? announced : next_serial();
    thread->freed.recent = NULL;
    if (!slots_open(guard, &thread->slots, serial)) {
        give_back(thread, announced ? 0 : serial);
        return NULL;
    }
    locked = lock_take(&lock);
    thread->record = take_record(thread);
    lock_give(&locked);
    thread->serial = serial;
    thread->stand_in = for_all;
    thread->frees_left = thread->events_per_clock = 0;
    thread->bounds = (struct unwind_bounds){0, 0};
    forget(thread);
    fill_record(thread);
    freed_open(guard, &thread->freed, serial);
    thread->lives = true;
    return thread;
}

static void set_bounds_main(struct thread *thread)
{
    /* From any live sp upwards to here all is mapped. Further down than the limit the kernel puts
     * other mappings, fibres' stacks among them: they are not this stack. */
    uintptr_t high = round_up((uintptr_t)__libc_stack_end, LEAK_PAGE);
    uint64_t size = sys_rlimit(RLIMIT_STACK), most = 1ull << 30;
    thread->bounds = (struct unwind_bounds){high - (size < most ? size : most), high};
}

/* The first thread begins with us, or is met when we came late. */
static void set_bounds(struct thread *thread)
{
    if (thread && sys_gettid() == sys_getpid())
        set_bounds_main(thread);
}

/* True: its stack is one that nobody knows. */
static NOINLINE bool leave_account(struct thread *thread)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = guard_enter(&caller);
    bool stack_is_unknown = false;
    if (!guard)
        return false;
    /* A fork child may have no account yet: the counters are then still the parent's. */
    if (guard->thread == thread && store_header->pid == sys_getpid()) {
        threads_note_name(thread);
        slots_close(guard, &thread->slots);
        freed_close(guard, &thread->freed);
        leaves_close(&thread->leaves);
        thread->lives = false;
        stack_is_unknown = !thread->bounds.high;
        add_relaxed(&store_header->live_bytes, threads_delta(thread));
        add_relaxed(&threads_blocks, thread->delta_blocks);
        struct locked locked = lock_take(&lock);
        if (thread->record != &thread->unread) {
            thread->record->ended = load_relaxed(&store_header->epoch) + 1;
            if (last_record >= RECORDS_MAX)
                give_record(thread->record);
        }
        thread->next_free = free_threads;
        free_threads = thread;
        lock_give(&locked);
        guard->thread = NULL;
        guard->leaving = true;
    }
    guard_leave(guard);
    return stack_is_unknown;
}

static NOINLINE void wipe_below(void)
{
    volatile uintptr_t zone[256];
    for (size_t i = 0; i < ARRAY_LENGTH(zone); i++)
        zone[i] = 0;
}

/* A thread that began before us may have its stack anywhere. When it has ended that is memory like
 * any other, and a block is held by what our frames left there: what this one has used is wiped.
 * Our own frame is nearly none, so that it has no gaps. */
static void leave(void *argument)
{
    if (leave_account(argument))
        wipe_below();
}

static void adopt(struct guard *guard, struct thread *thread)
{
    guard->thread = thread;
    if (thread && key_made)
        pthread_setspecific(key, thread); /* may allocate: the guard is held */
}

/* Static TLS of the objects there are; later ones share a surplus that BOUNDS_MARGIN covers. */
static int add_tls(struct dl_phdr_info *info, size_t size UNUSED, void *data UNUSED)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            tls_above += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
    return 0;
}

bool threads_on_own_stack(uintptr_t sp)
{
    const struct thread *thread = guard_self.thread;
    return thread && sp > thread->bounds.low && sp <= thread->bounds.high;
}

bool threads_start(struct guard *guard)
{
    if (ARCH_TLS_ABOVE_BLOCK)
        dl_iterate_phdr(add_tls, NULL);
    key_made = pthread_key_create(&key, leave) == 0;
    guard->thread = make(guard, 0, false);
    if (!guard->thread)
        return false;
    set_bounds(guard->thread);
    return true;
}

void threads_begin(struct guard *guard, const struct thread_start *start)
{
    struct thread *thread = make(guard, start->serial, false);
    adopt(guard, thread);
    if (!thread)
        return;
    /* glibc puts the thread block on top of the stack it gives a thread. */
    uintptr_t high = arch_thread_block() & ~(sizeof(uintptr_t) - 1);
    uintptr_t sp = arch_stack_pointer();
    uintptr_t rest = BOUNDS_MARGIN + tls_above, low = high - start->stack_size + rest;
    if (start->stack_size > rest && sp < high && sp > low)
        thread->bounds = (struct unwind_bounds){low, high};
}

struct thread *threads_attach(struct guard *guard, struct locked *shared)
{
    if (!guard->leaving) {
        adopt(guard, make(guard, 0, false));
        set_bounds(guard->thread);
        return guard->thread;
    }
    *shared = lock_take(&stand_in_lock);
    if (!stand_in)
        stand_in = make(guard, 0, true);
    if (!stand_in)
        lock_give(shared);
    return stand_in;
}

/* ---- Fork ------------------------------------------------------------------------------- */

void threads_fork_lock(void)
{
    lock_take_raw(&stand_in_lock);
    lock_take_raw(&lock);
    lock_take_raw(&records.lock);
}

void threads_fork_unlock(void)
{
    lock_give_raw(&records.lock);
    lock_give_raw(&lock);
    lock_give_raw(&stand_in_lock);
}

bool threads_fork_child(struct guard *guard)
{
    lock.word = stand_in_lock.word = records.lock.word = 0;
    /* Other threads' state is not touched any more; their records stay in the parent's store. */
    memset(records.origin, 0, sizeof records.origin);
    last_record = dead_count = 0;
    threads_blocks = 0;
    stand_in = NULL;
    struct thread *thread = guard->thread;
    for (struct thread *other = made; other; other = other->next_made)
        other->lives = other == thread;
    leaves_fork_child(thread ? &thread->leaves : NULL);
    if (!thread)
        return true; /* a thread at its end forked */
    thread->serial = next_serial();
    thread->record = take_record(thread);
    forget(thread);
    fill_record(thread);
    freed_open(guard, &thread->freed, thread->serial);
    return slots_open(guard, &thread->slots, thread->serial);
}
