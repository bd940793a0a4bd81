/* end_state.c - asks /proc about a process by pid and start time; see end_state.h. */
#include "common/store/end_state.h"

#include <string.h>
#include <unistd.h>

#include "common/base/proc_pid.h"

bool alive_process(const char *host, int32_t pid, uint64_t start_time)
{
    char here[sizeof(((struct leak_header *)0)->host)] = "";

    gethostname(here, sizeof(here) - 1);
    return strcmp(host, here) == 0 && pid > 0 && pid_lives(pid, start_time);
}

enum end_how alive_end_of(const struct store *store)
{
    switch (store->header.end_how) {
    case LEAK_END_EXIT:
        return END_EXIT;
    case LEAK_END_SIGNAL:
        return END_SIGNAL;
    case LEAK_END_EXEC:
        return END_EXEC;
    }
    if (store->header.exec_at)
        return END_EXEC;
    return alive_process(store->host, store->header.pid, store->header.start_time) ? END_RUNNING
                                                                                   : END_LOST;
}
