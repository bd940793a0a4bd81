/* leak_check_info.c - describes how the last leak check was made; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <signal.h>
#include <string.h>

#include "common/sites/signature.h"

static const char *const rung_word[] = {
    [LEAK_RUNG_NONE] = "none", [LEAK_RUNG_UNSTOPPED] = "unstopped", [LEAK_RUNG_PARKED] = "parked"};

static const char *const occasion_words[LEAK_OCCASION_MAX] = {
#define X(name, words) [LEAK_OCCASION_##name] = words,
    LEAK_OCCASION_TABLE(X)
#undef X
};

static const char *const trouble_words[LEAK_TROUBLE_MAX] = {
#define X(name, words) [LEAK_TROUBLE_##name] = words,
    LEAK_TROUBLE_TABLE(X)
#undef X
};

static bool is_final_check(const struct leak_snapshot *head)
{
    return head->occasion == LEAK_OCCASION_EARLY || head->occasion == LEAK_OCCASION_LATE ||
           head->occasion == LEAK_OCCASION_ABRUPT || head->occasion == LEAK_OCCASION_FATAL;
}

static void fill_threads(struct arena *mem, struct resolver *resolver, const struct store *store,
                         struct process *process)
{
    const struct store_leak_check *look = store->look;
    struct signatures signatures = signatures_begin(resolver, store);

    process->threads = arena_alloc_array(mem, look->thread_count, sizeof(*process->threads));
    for (size_t i = 0; i < look->thread_count; i++) {
        const struct store_seen_thread *seen = &look->threads[i];
        struct seen_thread *made;

        if (seen->taker)
            continue;
        made = &process->threads[process->thread_count++];
        *made = (struct seen_thread){
            .thread = {.serial = seen->serial},
            .tid = seen->tid,
            .stack = stack_from_pcs(mem, &signatures, &look->pcs[seen->pc], seen->pc_count)};
        if (*seen->name)
            made->thread.name = arena_copy(mem, seen->name, strlen(seen->name));
    }
    signatures_end(&signatures);
}

static void fill_milestones(struct arena *mem, const struct store *store, struct process *process)
{
    process->milestones =
        arena_alloc_array(mem, store->milestone_count, sizeof(*process->milestones));
    process->milestone_count = store->milestone_count;
    for (size_t i = 0; i < store->milestone_count; i++) {
        const struct store_milestone *from = &store->milestones[i];

        process->milestones[i] =
            (struct milestone){.number = from->number, .time_ns = from->when_ns};
        if (!from->is_look)
            process->milestones[i].name = arena_copy(mem, from->name, strlen(from->name));
    }
}

static bool is_crash(int32_t signal)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

    for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
        if (crashes[i] == signal)
            return true;
    return false;
}

/* Returns the reason why the process ended without the leak check that its options asked for. */
static const char *reason_of_end(const struct store *store)
{
    int32_t value = store->header.end_value;

    if (store->look || !(store->header.flags & LEAK_FLAG_EXIT_LOOK))
        return NULL;
    switch (store_end_how(store)) {
    case END_EXIT:
        return "no leak check was made: the program called exit_group directly, as Go programs do, "
               "or disabled it";
    case END_SIGNAL:
        return is_crash(value)    ? "no leak check was made: the process crashed"
               : value == SIGKILL ? "no leak check was made: SIGKILL leaves no time for one"
                                  : "no leak check was made: a second signal came, or "
                                    "fatal_look=off";
    case END_LOST:
        return "no leak check was made: SIGKILL ended the process, or a direct exit_group call, as "
               "in Go programs";
    default:
        return NULL;
    }
}

void leak_check_info_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                          struct process *process)
{
    const struct leak_snapshot *head;

    fill_milestones(mem, store, process);
    process->unchecked = reason_of_end(store);
    if (!store->look)
        return;
    head = &store->look->head;
    process->look = arena_alloc(mem, sizeof(*process->look));
    *process->look = (struct leak_check){.when_ns = head->when_ns,
                                         .rung = rung_word[head->rung],
                                         .occasion = occasion_words[head->occasion],
                                         .trouble = trouble_words[head->trouble],
                                         .pause_ns = head->pause_ns,
                                         .check_ns = head->check_ns,
                                         .timed = true,
                                         .made = head->rung != LEAK_RUNG_NONE,
                                         .stopped = head->rung == LEAK_RUNG_PARKED,
                                         .last = is_final_check(head),
                                         .threads_parked = head->threads_parked,
                                         .threads_missed = head->threads_missed,
                                         .skipped = head->skipped,
                                         .unreadable = head->unreadable,
                                         .milestone = head->milestone};
    if (store->look->thread_count)
        fill_threads(mem, resolver, store, process);
}

static const char *failure_reason(const struct leak_snapshot *head)
{
    const char *words = trouble_words[head->trouble];

    return words ? words : "unknown reason";
}

const char *leak_check_info_missing(struct arena *mem, const struct store *store)
{
    const char *words = "";

    if (store->look && store->look->head.rung == LEAK_RUNG_NONE)
        return arena_format(mem, "no leak check was made: %s", failure_reason(&store->look->head));
    if (reason_of_end(store))
        return reason_of_end(store);
    if (!store->failed)
        return NULL;
    if (occasion_words[store->failed->occasion])
        words = occasion_words[store->failed->occasion];
    return arena_format(mem,
                        "a later leak check%s%s failed (%s): blocks allocated after the "
                        "earlier one are not classified",
                        *words ? " " : "", words, failure_reason(store->failed));
}
