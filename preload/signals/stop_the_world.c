#include "preload/signals/stop_the_world.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/lock.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "context.h"
#include "leak_store.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define LATE 4000000 /* ns without any answer until those that have not come are looked at */
#define PATIENCE 25  /* that often, before one that may yet come is given up */
#define DEAF_MOST 64
#define CALLS_MOST 256 /* of more threads the system call is not looked up */

#define MARK 0x6c6bull

enum { TO_ASK, ASKED, BUSY, PARKED, GONE }; /* of a place */

static int number_kept;
static void (*asked_by_others)(siginfo_t *info, ucontext_t *context);
static bool (*is_on_own_stack)(uintptr_t sp);
static void (*programs_handler)(int, siginfo_t *, void *);
static bool programs_ignored;
static bool installed;

/* Odd while threads are to stand; what they wait for. */
static uint32_t generation;
static uint32_t answers; /* counts up with each; what the taker waits for */
static struct park *current;

int park_signal(void)
{
    return number_kept;
}

bool park_was_parked(const struct park_thread *thread)
{
    return thread->state == PARKED;
}

/* ---- In the thread that is held ------------------------------------------------------------- */

/* What the signal carries: a mark that it is ours, the look, the place in its list. */
static void *question(uint32_t look, uint32_t at)
{
    return (void *)(MARK << 48 | (uint64_t)(uint16_t)look << 32 | at);
}

static struct park_thread *my_place(const siginfo_t *info, uint32_t look)
{
    struct park *park = load_acquire(&current);
    uint32_t at = (uint32_t)(uintptr_t)info->si_value.sival_ptr;
    int tid = sys_gettid();
    if (!park || !(look & 1) || info->si_value.sival_ptr != question(look, at))
        return NULL;
    if (at < load_relaxed(&park->count) && park->thread[at].tid == tid)
        return &park->thread[at];
    return NULL;
}

static void answer(struct park_thread *place, uint32_t state)
{
    store_release(&place->state, state); /* pairs with the taker's acquire */
    add_release(&answers, 1);
    sys_futex_wake(&answers, 1);
}

bool park_inside(void)
{
    return guard_self.sp || lock_thread.held || lock_thread.put_off;
}

static void stand(struct park_thread *place, uint32_t look, ucontext_t *context)
{
    place->thread = guard_self.thread;
    place->block = arch_thread_block();
    place->context = context;
    struct resume_call call = place->call;
    answer(place, PARKED);
    while (load_acquire(&generation) == look) /* pairs with park_release */
        sys_futex_wait(&generation, look);
    resume(context, &call);
}

/* The question once more, when the hook is over. */
static __thread siginfo_t put_by __attribute__((tls_model("initial-exec")));

static void ask_again(void)
{
    sys_signal_self(number_kept, &put_by);
}

static void ask_outside(struct park_thread *place, const siginfo_t *info)
{
    put_by = *info;
    __asm__ volatile("" ::: "memory");
    guard_self.asked = true;
    answer(place, BUSY);
}

static bool is_ours(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_pid == sys_getpid() &&
           (uint64_t)(uintptr_t)info->si_value.sival_ptr >> 48 == MARK;
}

bool park_is_request(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_int == LEAK_REQUEST_VALUE;
}

static void serve(int number, siginfo_t *info, void *context)
{
    if (!is_ours(info)) {
        void (*handler)(int, siginfo_t *, void *) = load_acquire(&programs_handler);
        bool for_us = info->si_code == SI_TIMER || park_is_request(info);
        if (handler && !for_us)
            handler(number, info, context);
        else if (!programs_ignored || for_us)
            asked_by_others(info, context);
        resume(context, &(struct resume_call){.number = -1});
        return;
    }
    uint32_t look = load_acquire(&generation);
    struct park_thread *place = my_place(info, look);
    if (!place) /* too late: that look is over */
        resume(context, &(struct resume_call){.number = -1});
    else if (park_inside())
        ask_outside(place, info);
    else
        stand(place, look, context);
}

static bool is_wanted_on_ours(void)
{
    uintptr_t handler = (uintptr_t)load_relaxed(&programs_handler);
    return handler && handlers_want_our_stack && handlers_want_our_stack(handler);
}

/* A fibre's stack, or a goroutine's, may be too small for a frame of the kernel's, and lie next to
 * somebody else's. Whoever runs on one has not asked for this signal. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    if (is_on_own_stack(context_sp(context)) && (is_ours(info) || !is_wanted_on_ours()))
        handlers_begin(serve, number, info, context);
    else
        serve(number, info, context);
}

/* ---- In the thread that takes the look ------------------------------------------------------ */

void park_start(int number, void (*asked)(siginfo_t *info, ucontext_t *context),
                bool (*on_own_stack)(uintptr_t sp))
{
    number_kept = number;
    is_on_own_stack = on_own_stack;
    asked_by_others = asked;
    guard_callbacks.outside = ask_again;
}

void park_give_others(void (*handler)(int, siginfo_t *, void *), bool ignored)
{
    programs_ignored = ignored;
    store_release(&programs_handler, handler); /* pairs with on_signal */
    park_listen();
}

bool park_listen(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    if (!installed && real.sigaction)
        installed = real.sigaction(number_kept, &action, NULL) == 0;
    return installed;
}

/* What the kernel says the thread is doing: number, then arguments. */
static struct resume_call look_up_call(int tid)
{
    char line[256];
    struct resume_call call = {.number = -1};
    uint64_t number, first, pc;
    if (sys_read_task_file(0, tid, "syscall", line, sizeof line) <= 0)
        return call;
    size_t length = strcspn(line, " \n");
    if (!parse_number(line, length, &number) || line[length] != ' ')
        return call;
    const char *argument = line + length + 1, *last = strrchr(line, ' ');
    if (parse_number(argument, strcspn(argument, " \n"), &first) && last &&
        parse_number(last + 1, strcspn(last + 1, "\n"), &pc))
        call = (struct resume_call){.number = number, .first = first, .pc = pc};
    return call;
}

/* False: the kernel has no room for more signals that nobody has taken yet. */
static bool ask(struct park *park, uint32_t at)
{
    struct park_thread *thread = &park->thread[at];
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_pid = sys_getpid();
    info.si_value.sival_ptr = question(load_relaxed(&generation), at);
    uint32_t state =
        load_relaxed(&thread->state); /* one that is busy may come to stand meanwhile */
    if ((state != TO_ASK && state != BUSY) || !cas_acquire(&thread->state, &state, ASKED))
        return true;
    if (state == TO_ASK && park->count <= CALLS_MOST)
        thread->call = look_up_call(thread->tid);
    int result = sys_signal_thread(thread->tid, number_kept, &info);
    if (result < 0)
        store_relaxed(&thread->state, result == -ESRCH ? GONE : TO_ASK);
    return result >= 0 || result == -ESRCH;
}

static int deaf[DEAF_MOST]; /* threads that kept our signal blocked when last asked */

static void note_deaf(int tid)
{
    for (unsigned i = 0; i < DEAF_MOST; i++)
        if (!deaf[i] || deaf[i] == tid) {
            deaf[i] = tid;
            return;
        }
}

static bool was_deaf(int tid)
{
    for (unsigned i = 0; i < DEAF_MOST && deaf[i]; i++)
        if (deaf[i] == tid)
            return true;
    return false;
}

enum condition { LISTENS, MAY_LISTEN, IS_DEAF, IS_GONE };

/* Is our number in the set that a line of the status tells? */
static bool set_has_ours(const char *status, const char *line)
{
    const char *set = strstr(status, line);
    if (!set)
        return false;
    set += strlen(line);
    return parse_hex(&set) >> (number_kept - 1) & 1;
}

/* One that has ended answers no more; neither does one that keeps the signal blocked by means that
 * no hook sees. Where it is blocked and no longer pending, the handler has begun; libc blocks
 * everything where threads begin and are made, but sleeps nowhere there. */
static enum condition condition_of(int tid)
{
    char status[2048];
    if (sys_read_task_file(0, tid, "status", status, sizeof status) <= 0)
        return IS_GONE;
    const char *state = strstr(status, "State:\t");
    char letter = state ? state[7] : ' ';
    if (letter == 'Z' || letter == 'X')
        return IS_GONE;
    if (!set_has_ours(status, "SigBlk:\t") || !set_has_ours(status, "SigPnd:\t"))
        return LISTENS;
    return letter == 'S' ? IS_DEAF : MAY_LISTEN;
}

static bool meet(int tid, void *context)
{
    struct park *park = context;
    if (tid == sys_gettid())
        return true;
    park->others = true;
    for (uint32_t i = 0; i < park->count; i++)
        if (park->thread[i].tid == tid)
            return true;
    if (park->count == PARK_MOST || !park_listen())
        return false;
    park->thread[park->count] = (struct park_thread){.tid = tid, .call.number = -1};
    store_release(&park->count, park->count + 1); /* my_place reads it */
    if (was_deaf(tid) && condition_of(tid) != LISTENS)
        store_relaxed(&park->thread[park->count - 1].state, ASKED); /* one question waits there */
    ask(park, park->count - 1);
    return true;
}

/* Of one that has not answered: there is no sense in waiting for it. */
static bool is_hopeless(struct park_thread *thread)
{
    enum condition condition = condition_of(thread->tid);
    if (condition == IS_GONE) {
        note_deaf(thread->tid); /* a first thread that has ended is listed as long as others live */
        store_relaxed(&thread->state, GONE);
    }
    bool hopeless = condition == IS_DEAF || (condition == MAY_LISTEN && ++thread->late > PATIENCE);
    if (hopeless)
        note_deaf(thread->tid);
    return hopeless;
}

/* Asks who has not been asked, and once more who is busy; true when everybody stands. */
static bool round_of_questions(struct park *park, bool late, bool *in_vain)
{
    bool all = true, room = true;
    park->parked = 0;
    for (uint32_t i = 0; i < park->count; i++) {
        struct park_thread *thread = &park->thread[i];
        uint32_t state = load_acquire(&thread->state);
        if (state == ASKED && late)
            *in_vain |= is_hopeless(thread);
        else if (room && (state == TO_ASK || (state == BUSY && late)))
            room = ask(park, i); /* a hook that was left by longjmp never comes to its end */
        if (state == TO_ASK && late)
            *in_vain |= !room && ++thread->late > PATIENCE;
        state = load_acquire(&thread->state);
        park->parked += state == PARKED;
        all &= state == PARKED || state == GONE;
    }
    return all;
}

static void drop_the_gone(struct park *park)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < park->count; i++)
        if (park->thread[i].state != GONE)
            park->thread[kept++] = park->thread[i];
    park->count = kept;
}

/* Until everybody stands and nobody new is there. */
static bool gather(struct park *park, uint64_t most)
{
    uint64_t begin = sys_clock_ns(CLOCK_MONOTONIC), heard = begin;
    uint32_t answered = load_relaxed(&answers);
    bool in_vain = false;
    for (uint32_t before = UINT32_MAX; before != park->count;) {
        before = park->count;
        if (!sys_each_numbered_entry("/proc/self/task", meet, park) || park->count == PARK_MOST)
            return false;
        if (park->others && !installed) /* a sandbox: the signal would kill */
            return false;
        for (;;) {
            uint32_t seen = load_acquire(&answers);
            uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
            bool late = seen == answered && now - heard > LATE;
            if (round_of_questions(park, late, &in_vain))
                break;
            if (now - begin > most || in_vain)
                return false;
            if (late || seen != answered)
                heard = now;
            answered = seen;
            sys_futex_wait_for(&answers, seen, LATE / 4);
        }
    }
    return true;
}

bool park_all(struct park *park, uint64_t most)
{
    static struct park_thread *room;
    if (!room) {
        room = sys_map_lazily(PARK_MOST * sizeof *room);
        if (!room)
            return false;
        arena_register(room, PARK_MOST * sizeof *room);
    }
    *park = (struct park){.thread = room};
    store_release(&current, park);
    add_release(&generation, 1);
    bool all = gather(park, most);
    if (!all)
        park_release();
    drop_the_gone(park);
    return all;
}

void park_release(void)
{
    add_release(&generation, 1); /* pairs with those who stand */
    sys_futex_wake(&generation, INT32_MAX);
    store_release(&current, NULL);
}

void park_fork_child(void)
{
    generation += generation & 1;
    current = NULL;
}
