#include "preload/park.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/lock.h"
#include "preload/real.h"
#include "preload/sys.h"
#include "preload/text.h"
#include "context.h"
#include "leak_store.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define LATE 4000000 /* ns until one that has not come is asked again */
#define DEAF_MOST 64
#define CALLS_MOST 256 /* of more threads the system call is not looked up */

#define MARK 0x6c6bull

enum { ASKED, BUSY, PARKED, GONE }; /* of a place */

static int number_kept;
static void (*asked_by_others)(siginfo_t *info, ucontext_t *context);
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

/* ---- In the thread that is held ---------------------------------------------------------------
 */

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

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (!is_ours(info)) {
        void (*handler)(int, siginfo_t *, void *) = load_acquire(&programs_handler);
        if (handler && info->si_code != SI_TIMER)
            handler(number, info, context);
        else if (!programs_ignored || info->si_code == SI_TIMER)
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

/* ---- In the thread that takes the look ---------------------------------------------------------
 */

void park_start(int number, void (*asked)(siginfo_t *info, ucontext_t *context))
{
    number_kept = number;
    asked_by_others = asked;
    guard_outside = ask_again;
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
    char path[64], line[256];
    struct text text = TEXT_ON(path);
    struct resume_call call = {.number = -1};
    uint64_t number, first, pc;
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, tid);
    text_add(&text, "/syscall");
    if (sys_read_file(path, line, sizeof line) <= 0)
        return call;
    size_t length = strcspn(line, " \n");
    if (!text_read_number(line, length, &number) || line[length] != ' ')
        return call;
    const char *argument = line + length + 1, *last = strrchr(line, ' ');
    if (text_read_number(argument, strcspn(argument, " \n"), &first) && last &&
        text_read_number(last + 1, strcspn(last + 1, "\n"), &pc))
        call = (struct resume_call){.number = number, .first = first, .pc = pc};
    return call;
}

static void ask(struct park *park, uint32_t at)
{
    struct park_thread *thread = &park->thread[at];
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    info.si_pid = sys_getpid();
    info.si_value.sival_ptr = question(load_relaxed(&generation), at);
    if (park->count <= CALLS_MOST && !thread->asked)
        thread->call = look_up_call(thread->tid);
    uint32_t busy = BUSY; /* it may have come to stand meanwhile */
    if (thread->asked++ && !cas_acquire(&thread->state, &busy, ASKED))
        return;
    if (sys_signal_thread(thread->tid, number_kept, &info) == -ESRCH)
        store_relaxed(&thread->state, GONE);
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

enum condition { LISTENS, IS_GONE, IS_DEAF };

/* One that has ended answers no more; neither does one that keeps the signal blocked by means that
 * no hook sees. */
static enum condition condition_of(int tid)
{
    char path[64], status[2048];
    struct text text = TEXT_ON(path);
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, tid);
    text_add(&text, "/status");
    if (sys_read_file(path, status, sizeof status) <= 0)
        return IS_GONE;
    const char *state = strstr(status, "State:\t"), *blocked = strstr(status, "SigBlk:\t");
    if (state && (state[7] == 'Z' || state[7] == 'X'))
        return IS_GONE;
    uint64_t mask = 0;
    for (const char *digit = blocked ? blocked + 8 : ""; *digit && *digit != '\n'; digit++)
        mask = mask << 4 | ((*digit & 15) + (*digit > '9' ? 9 : 0));
    return mask >> (number_kept - 1) & 1 ? IS_DEAF : LISTENS;
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
        return true; /* another question would only wait there, too */
    ask(park, park->count - 1);
    return true;
}

static void give_up(struct park_thread *thread, bool *in_vain)
{
    enum condition condition = condition_of(thread->tid);
    if (condition == IS_DEAF) {
        note_deaf(thread->tid);
        *in_vain = true;
    } else if (condition == IS_GONE) {
        note_deaf(thread->tid); /* a first thread that has ended is listed as long as others live */
        store_relaxed(&thread->state, GONE);
    }
}

/* Asks the busy ones once more; true when everybody stands. */
static bool round_of_questions(struct park *park, bool late, bool *in_vain)
{
    bool all = true;
    park->parked = 0;
    for (uint32_t i = 0; i < park->count; i++) {
        struct park_thread *thread = &park->thread[i];
        uint32_t state = load_acquire(&thread->state);
        if (state == BUSY && late)
            ask(park, i); /* a hook that was left by longjmp never comes to its end */
        else if (state == ASKED && late)
            give_up(thread, in_vain);
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
    uint64_t begin = sys_clock_ns(CLOCK_MONOTONIC), late = LATE;
    bool in_vain = false;
    for (uint32_t before = UINT32_MAX; before != park->count;) {
        before = park->count;
        if (!sys_each_number("/proc/self/task", meet, park) || park->count == PARK_MOST)
            return false;
        if (park->others && !installed) /* a sandbox: the signal would kill */
            return false;
        for (;;) {
            uint32_t seen = load_acquire(&answers);
            uint64_t passed = sys_clock_ns(CLOCK_MONOTONIC) - begin;
            if (round_of_questions(park, passed > late, &in_vain))
                break;
            if (passed > most || in_vain)
                return false;
            late = passed > late ? passed + LATE : late;
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
        arena_own(room, PARK_MOST * sizeof *room);
    }
    *park = (struct park){.thread = room};
    store_release(&current, park);
    add_release(&generation, 1);
    bool all = gather(park, most);
    if (!all)
        park_release(park);
    drop_the_gone(park);
    return all;
}

void park_release(struct park *park UNUSED)
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
