/* threads.c - makes the state of each thread and its record in the recording file, finds the bounds
 * of its stack, and frees the state when the thread ends. */
#include "preload/heap/threads.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/store/segmented_array.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "arch.h"

#include <link.h>
#include <pthread.h>
#include <sys/resource.h>

/* glibc maps the stack of a thread together with its control block and, on some CPUs, with static
 * TLS above it. At most this many bytes of the mapping, without the TLS of the loaded objects, are
 * not stack. */
#define BOUNDS_MARGIN (ARCH_TLS_ABOVE_BLOCK ? 16384 : 2 * LEAK_PAGE)
#define STATES_MOST 8 /* largest number of thread states that one call of mmap maps */
/* From this number of records on, the records of ended threads are used again. */
#define RECORDS_MAX 65536

extern void *__libc_stack_end;

struct threads_state threads_state = {.peak_threshold = THREADS_PEAK_LEAST};

static struct segmented_array records = {.type = LEAK_CHUNK_THREADS,
                                         .record_size = sizeof(struct leak_thread),
                                         .first_id = 1,
                                         .first_bits = 6,
                                         .split_bits = 14};
static struct lock lock; /* guards the variables below */
static struct thread *free_threads;
/* all thread states that were ever used, linked through next_of_all */
static struct thread *all_threads;
/* Array of "unused_count" thread states that are mapped but were never used. */
static struct thread *unused_states;
static uint32_t unused_count, state_count;
static struct thread_start *free_starts, *note_pages;
static uint32_t last_record;
/* Numbers of the records of ended threads, which new threads can use. */
static uint32_t *dead_records;
static uint32_t dead_count;

/* Stacks of the last ended threads whose states (struct thread) other threads have taken over. The
 * new thread may have another stack, while libc keeps the old one mapped. */
#define OLD_STACKS_MAX 64
static struct unwind_bounds old_stacks[OLD_STACKS_MAX];
static uint32_t old_stack_count;

static struct lock stand_in_lock;
static struct thread *stand_in;
static pthread_key_t key;
static bool key_made;
/* Size in bytes of the static TLS of the loaded objects, which lies above the control block in a
 * thread's mapping. */
static uintptr_t tls_above;

/* ---- Records of threads ---------------------------------------------------------------------- */

static struct leak_thread *alloc_thread_record(struct thread *thread)
{
    if (last_record >= RECORDS_MAX && dead_count)
        return segmented_array_at(&records, dead_records[--dead_count]);
    uint32_t id;
    struct leak_thread *record = segmented_array_append(&records, &last_record, &id);
    return record ? record : &thread->private_record;
}

/* Notes that the record of an ended thread can be used again. Searches all records for its number,
 * which takes little time; called only if there are RECORDS_MAX records. */
static void free_thread_record(const struct leak_thread *record)
{
    if (!dead_records)
        dead_records = arena_map(RECORDS_MAX * sizeof *dead_records);
    for (uint32_t id = 1; dead_records && id <= last_record && dead_count < RECORDS_MAX; id++)
        if (segmented_array_at(&records, id) == record) {
            dead_records[dead_count++] = id;
            return;
        }
}

void threads_record_name(struct thread *thread)
{
    if (thread->record != &thread->private_record && !thread->stand_in)
        sys_thread_name(thread->record->name);
}

static void init_thread_record(struct thread *thread)
{
    struct leak_thread *record = thread->record;
    thread->watch_at = threads_state.watch_from;
    /* The allocations of the new thread are counted from 0. */
    thread->stop_at = thread->clock_at = 0;
    memset(record, 0, sizeof *record);
    if (record == &thread->private_record)
        return;
    record->tid = sys_gettid();
    record->started = load_relaxed(&store_header->epoch) + 1;
    if (thread->stand_in)
        memcpy(record->name, "(at their end)", 15);
    else
        threads_record_name(thread);
    store_release(&record->serial, thread->serial);
}

/* ---- Start and end of threads ---------------------------------------------------------------- */

static uint32_t next_serial(void)
{
    return __atomic_add_fetch(&store_header->threads, 1, __ATOMIC_RELAXED);
}

/* Maps a page of start notes (struct thread_start) and adds them to the list of free ones. The
 * caller holds the lock. */
static void map_start_notes(void)
{
    struct thread_start *page = arena_map(LEAK_PAGE);
    if (!page)
        return;
    page[0].next_free = note_pages; /* a page's first start note links it into the list of pages */
    note_pages = page;
    for (size_t i = 1; i < LEAK_PAGE / sizeof *page; i++) {
        page[i].next_free = free_starts;
        free_starts = &page[i];
    }
}

struct thread_start *threads_prepare_start(struct guard *guard UNUSED)
{
    struct locked locked = lock_take(&lock);
    if (!free_starts)
        map_start_notes();
    struct thread_start *start = free_starts;
    if (start)
        free_starts = start->next_free;
    lock_give(&locked);
    if (start)
        start->serial = next_serial();
    return start;
}

void threads_free_start(struct guard *guard UNUSED, struct thread_start *start)
{
    struct locked locked = lock_take(&lock);
    /* The new thread has taken its argument from the note, so the note must not keep the argument
     * reachable. */
    start->argument = NULL;
    start->next_free = free_starts;
    free_starts = start;
    lock_give(&locked);
}

void threads_each_start_page(void (*visit)(uintptr_t start, uintptr_t end, void *context),
                             void *context)
{
    for (const struct thread_start *page = note_pages; page; page = page[0].next_free)
        visit((uintptr_t)page, (uintptr_t)page + LEAK_PAGE, context);
}

static bool is_bounds_of_state(uintptr_t high)
{
    const struct thread *thread = all_threads;
    while (thread && thread->bounds.high != high)
        thread = thread->next_of_all;
    return thread;
}

uintptr_t threads_least_stack_start(const struct unwind_bounds *bounds)
{
    uintptr_t rest = BOUNDS_MARGIN + tls_above;
    return bounds->low > rest ? bounds->low - rest : 0;
}

void threads_each_old_stack(void (*visit)(const struct unwind_bounds *bounds, void *context),
                            void *context)
{
    for (const struct thread *thread = all_threads; thread; thread = thread->next_of_all)
        if (!thread->lives && thread->bounds.high)
            visit(&thread->bounds, context);
    for (uint32_t i = 0; i < OLD_STACKS_MAX; i++)
        if (old_stacks[i].high && !is_bounds_of_state(old_stacks[i].high))
            visit(&old_stacks[i], context);
}

/* Remembers the stack of an ended thread before another thread takes over its state. The caller
 * holds the lock. */
static void remember_old_stack(const struct thread *thread)
{
    if (!thread->bounds.high)
        return;
    uint32_t i = 0;
    while (i < OLD_STACKS_MAX && old_stacks[i].high != thread->bounds.high)
        i++;
    old_stacks[i < OLD_STACKS_MAX ? i : old_stack_count++ % OLD_STACKS_MAX] = thread->bounds;
}

/* Gives back a thread state that could not be completed for lack of memory. The thread tries again
 * at its next hook, so its number is given back, too. */
static void return_thread_state(struct thread *thread, uint32_t serial)
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

/* Clears the caches of a thread state, whose contents belong to the thread that used the state
 * before, or, in a fork child, to the parent's recording file. */
static void reset_thread_caches(struct thread *thread)
{
    thread->delta_level = thread->delta_top = thread->delta_blocks = 0;
    memset(thread->flat_sites, 0, sizeof thread->flat_sites);
    memset(thread->disabled_sites, 0, sizeof thread->disabled_sites);
    unwind_invalidate(&thread->trace);
    stack_cache_clear(&thread->stack_cache);
    if (thread->python)
        python_thread_clear(thread->python);
}

/* Maps memory for as many thread states as there are already, up to STATES_MOST. So a program with
 * many threads makes few mappings, and a program with few threads does not waste address space. The
 * caller holds the lock. */
static void map_thread_states(void)
{
    uint32_t count = state_count < STATES_MOST ? state_count + !state_count : STATES_MOST;
    unused_states = arena_map(count * sizeof *unused_states);
    if (!unused_states && count > 1)
        unused_states = arena_map((count = 1) * sizeof *unused_states);
    unused_count = unused_states ? count : 0;
    state_count += unused_count;
}

static struct thread *take_unused_state(void)
{
    struct locked locked = lock_take(&lock);
    if (!unused_count)
        map_thread_states();
    struct thread *thread = unused_count ? unused_states++ : NULL;
    if (thread) {
        unused_count--;
        thread->next_of_all = all_threads;
        all_threads = thread;
    }
    lock_give(&locked);
    return thread;
}

void threads_each(void (*visit)(const struct thread *thread, void *context), void *context)
{
    for (const struct thread *thread = all_threads; thread; thread = thread->next_of_all)
        if (thread->lives)
            visit(thread, context);
}

/* Makes the state of a new thread. announced: the number that threads_prepare_start gave the
 * thread; 0: it gets the next number. for_all: makes the stand-in, the state that all threads share
 * at their end. */
static struct thread *make_thread(struct guard *guard, uint32_t announced, bool for_all)
{
    struct locked locked = lock_take(&lock);
    /* A thread that needs the stand-in is at its end. Its own state is on the free list, and still
     * has the bounds of its stack, so the stand-in does not take a state from that list. */
    struct thread *thread = for_all ? NULL : free_threads;
    if (thread) {
        free_threads = thread->next_free;
        remember_old_stack(thread);
    }
    lock_give(&locked);
    if (!thread && !(thread = take_unused_state()))
        return NULL;
    uint32_t serial = announced ? announced : next_serial();
    thread->freed.recent = NULL;
    if (!thread_counters_open(guard, &thread->slots, serial)) {
        return_thread_state(thread, announced ? 0 : serial);
        return NULL;
    }
    locked = lock_take(&lock);
    thread->record = alloc_thread_record(thread);
    lock_give(&locked);
    thread->serial = serial;
    run_end(&thread->run);
    thread->stand_in = for_all;
    thread->frees_left = thread->events_per_clock = 0;
    thread->bounds = (struct unwind_bounds){0, 0};
    reset_thread_caches(thread);
    init_thread_record(thread);
    free_history_open(guard, &thread->freed, serial);
    thread->lives = true;
    return thread;
}

static void set_bounds_main(struct thread *thread)
{
    /* All pages from the current stack pointer up to "high" are mapped. Below the limit of the
     * stack the kernel places other mappings, such as stacks of fibres, which are not part of this
     * stack. */
    uintptr_t high = round_up((uintptr_t)__libc_stack_end, LEAK_PAGE);
    uint64_t size = sys_rlimit(RLIMIT_STACK), most = 1ull << 30;
    thread->bounds = (struct unwind_bounds){high - (size < most ? size : most), high};
}

/* Sets the bounds of the stack in the thread's state, if the calling thread is the main thread. */
static void set_bounds(struct thread *thread)
{
    if (thread && sys_gettid() == sys_getpid())
        set_bounds_main(thread);
}

/* Ends the recording of a thread and gives back its state. True: the bounds of its stack are
 * unknown, so the caller wipes the stack. */
static NOINLINE bool close_thread(struct thread *thread)
{
    struct frame caller = CALLER_FRAME();
    struct guard *guard = guard_enter(&caller);
    bool stack_is_unknown = false;
    if (!guard)
        return false;
    /* A fork child without a recording file of its own must not change the counters, which are
     * those of its parent. */
    if (guard->thread == thread && store_header->pid == sys_getpid()) {
        threads_record_name(thread);
        thread_counters_close(guard, &thread->slots);
        free_history_close(guard, &thread->freed);
        stack_cache_close(&thread->stack_cache);
        thread->lives = false;
        stack_is_unknown = !thread->bounds.high;
        add_relaxed(&store_header->live_bytes, threads_delta(thread));
        add_relaxed(&threads_state.live_blocks, thread->delta_blocks);
        struct locked locked = lock_take(&lock);
        if (thread->record != &thread->private_record) {
            thread->record->ended = load_relaxed(&store_header->epoch) + 1;
            if (last_record >= RECORDS_MAX)
                free_thread_record(thread->record);
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

static NOINLINE void wipe_stack_below(void)
{
    volatile uintptr_t zone[256];
    for (size_t i = 0; i < ARRAY_LENGTH(zone); i++)
        zone[i] = 0;
}

/* Called at the end of a thread, as a destructor of a pthread key. If libleak does not know where
 * the thread's stack is (it may be older than libleak), a later leak check reads the stack like
 * other memory. Pointers that libleak's frames left there would keep blocks reachable, so the stack
 * below this frame is wiped. This function's own frame is minimal, so that it contains no stale
 * words. */
static void on_thread_exit(void *argument)
{
    if (close_thread(argument))
        wipe_stack_below();
}

static void bind_thread(struct guard *guard, struct thread *thread)
{
    guard->thread = thread;
    if (thread && key_made)
        /* An allocation that pthread_setspecific makes is not recorded, because the thread holds
         * the token. */
        pthread_setspecific(key, thread);
}

/* Adds up the static TLS of the loaded objects. For objects that are loaded later glibc keeps some
 * spare static TLS, which BOUNDS_MARGIN covers. */
static int add_static_tls(struct dl_phdr_info *info, size_t size UNUSED, void *data UNUSED)
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
        dl_iterate_phdr(add_static_tls, NULL);
    key_made = pthread_key_create(&key, on_thread_exit) == 0;
    guard->thread = make_thread(guard, 0, false);
    if (!guard->thread)
        return false;
    set_bounds(guard->thread);
    return true;
}

void threads_enter(struct guard *guard, const struct thread_start *start)
{
    struct thread *thread = make_thread(guard, start->serial, false);
    bind_thread(guard, thread);
    if (!thread)
        return;
    /* glibc places the control block at the top of the stack that it allocates. */
    uintptr_t high = arch_thread_block() & ~(sizeof(uintptr_t) - 1);
    uintptr_t sp = arch_stack_pointer();
    uintptr_t rest = BOUNDS_MARGIN + tls_above, low = high - start->stack_size + rest;
    if (start->stack_size > rest && sp < high && sp > low)
        thread->bounds = (struct unwind_bounds){low, high};
}

struct thread *threads_attach(struct guard *guard, struct locked *shared)
{
    if (!guard->leaving) {
        bind_thread(guard, make_thread(guard, 0, false));
        set_bounds(guard->thread);
        return guard->thread;
    }
    *shared = lock_take(&stand_in_lock);
    if (!stand_in)
        stand_in = make_thread(guard, 0, true);
    if (!stand_in)
        lock_give(shared);
    return stand_in;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

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
    /* The states of other threads are not used any more; their records are in the parent's
     * recording file. */
    memset(records.origin, 0, sizeof records.origin);
    last_record = dead_count = 0;
    threads_state.live_blocks = 0;
    stand_in = NULL;
    struct thread *thread = guard->thread;
    for (struct thread *other = all_threads; other; other = other->next_of_all)
        other->lives = other == thread;
    stack_cache_fork_child(thread ? &thread->stack_cache : NULL);
    if (!thread)
        /* A thread at its end has called fork: it uses the stand-in, and gets no state of its
         * own. */
        return true;
    thread->serial = next_serial();
    run_end(&thread->run);
    thread->record = alloc_thread_record(thread);
    reset_thread_caches(thread);
    init_thread_record(thread);
    free_history_open(guard, &thread->freed, thread->serial);
    return thread_counters_open(guard, &thread->slots, thread->serial);
}
