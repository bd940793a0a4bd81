#include "preload/process/lifecycle.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/misuse/eventlog.h"
#include "preload/base/log.h"
#include "preload/options/options.h"
#include "preload/process/reports.h"
#include "preload/resources/resource_records.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/track/track.h"

#include <stdlib.h>
#include <time.h>

void process_exit_report(void)
{
    if (!reports_write_at_exit() && options_current.verbosity && store_path()[0])
        log_line("now: leakreport ", store_path(), NULL);
}

struct process_end {
    enum leak_end how;
    int value;
    const struct roots_caller *taker;
    enum leak_occasion occasion;
};

/* Records the sums of libleak's own memory, so that a report can detect a leak of libleak
 * itself. */
static void record_own_memory(void)
{
    struct leak_own balance;
    struct leak_own *place =
        arena_balance(&balance) ? store_new_chunk_in_file(LEAK_CHUNK_OWN, sizeof balance, 0) : NULL;
    if (!place)
        return;
    *place = balance;
    store_publish(place, sizeof balance);
}

static void record_end(const struct process_end *end)
{
    struct leak_header *header = store_header;
    header->end_value = end->value & 0xff;
    header->ended_ns = sys_clock_ns(CLOCK_REALTIME);
    store_release(&header->end_how, end->how);
}

/* The steps of lifecycle.def at the end; their order here does not matter. */
#define END(name, call)                                                                            \
    static void end_##name(const struct process_end *end UNUSED)                                   \
    {                                                                                              \
        call;                                                                                      \
    }
END(snapshot, snapshot_late(end->taker, end->occasion))
END(resources, resources_sync())
END(arena, record_own_memory())
END(process_info, record_end(end))
END(track, track_tick())
END(eventlog, eventlog_end(true))

static void (*const end_steps[LIFECYCLE_ENDS])(const struct process_end *) = {
#define END_HERE(name, step) [step - 1] = end_##name,
#define END_NEVER(name, step)
#define MODULE(name, file, lock, start, start_step, child, child_step, end, end_step, scope)       \
    END_##end(name, end_step)
#include "preload/lifecycle.def"
};

void process_exit_record(enum leak_end how, int value, const struct roots_caller *taker,
                         enum leak_occasion occasion)
{
    struct process_end end = {how, value, taker, occasion};
    /* The end is recorded once. LEAK_END_SIGNAL does not count: a debugger may have suppressed a
     * signal that would have ended the process. */
    if (store_header->end_how != LEAK_END_NONE && store_header->end_how != LEAK_END_SIGNAL)
        return;
    for (size_t i = 0; i < LIFECYCLE_ENDS; i++)
        end_steps[i](&end);
    process_exit_report();
}

static void record_exit(int status, void *argument UNUSED)
{
    struct frame caller = CALLER_FRAME();
    struct roots_caller taker = SNAPSHOT_CALLER(&caller);
    if (sys_getpid() == store_header->pid && !(store_header->flags & LEAK_FLAG_DETACHED))
        process_exit_record(LEAK_END_EXIT, status, &taker, LEAK_OCCASION_LATE);
}

static int expected_status;

void process_exit_set_status(int status)
{
    expected_status = status;
}

static void record_quick_exit(void)
{
    record_exit(expected_status, NULL);
}

void process_exit_register(void)
{
    on_exit(record_exit, NULL);
    at_quick_exit(record_quick_exit);
}
