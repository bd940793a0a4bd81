#include "preload/process/process_exit.h"
#include "preload/base/arena.h"
#include "preload/base/atomic.h"
#include "preload/misuse/eventlog.h"
#include "preload/base/log.h"
#include "preload/options/options.h"
#include "preload/process/reports.h"
#include "preload/resources/resources.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/track/track.h"

#include <stdlib.h>
#include <time.h>

void finish_tell(void)
{
    if (!reports_at_end() && track_options.verbosity && store_path()[0])
        log_line("now: leakreport ", store_path(), NULL);
}

/* What it has for itself, so that a report can tell a leak of the runtime's own. */
static void put_own_memory(void)
{
    struct leak_own account;
    struct leak_own *place =
        arena_balance(&account) ? store_chunk_in_file(LEAK_CHUNK_OWN, sizeof account, 0) : NULL;
    if (!place)
        return;
    *place = account;
    store_publish(place, sizeof account);
}

void finish_now(int status, const struct roots_taker *taker, enum leak_occasion occasion)
{
    struct leak_header *header = store_header;
    /* A signal that should have killed: a debugger kept it back. */
    if (header->end_how != LEAK_END_NONE && header->end_how != LEAK_END_SIGNAL)
        return;
    snapshot_late(taker, occasion);
    resources_settle();
    put_own_memory();
    header->end_value = status & 0xff;
    header->ended_ns = sys_clock_ns(CLOCK_REALTIME);
    store_release(&header->end_how, LEAK_END_EXIT);
    track_tick();
    eventlog_end(true);
    finish_tell();
}

static void at_exit(int status, void *argument UNUSED)
{
    struct frame caller = CALLER_FRAME();
    struct roots_taker taker = SNAPSHOT_TAKER(&caller);
    if (sys_getpid() == store_header->pid)
        finish_now(status, &taker, LEAK_OCCASION_LATE);
}

static int expected_status;

void finish_expect(int status)
{
    expected_status = status;
}

static void at_quick_exit_last(void)
{
    at_exit(expected_status, NULL);
}

void finish_register(void)
{
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick_exit_last);
}
