#include "preload/store/fork_chain.h"
#include "preload/base/sys.h"
#include "preload/store/store.h"

struct leak_forks fork_chain;
/* The last fork of this thread. */
static __thread struct leak_fork latest __attribute__((tls_model("initial-exec")));

void fork_chain_before_fork(uint32_t thread)
{
    /* The first thread may have no number yet, and that of the only thread of a fork child is
     * still the one that it had in the parent. */
    latest.thread = sys_gettid() == sys_getpid() ? 1 : thread;
    latest.count++;
}

void fork_chain_fork_child(void)
{
    if (fork_chain.depth < LEAK_FORKS_MOST)
        fork_chain.forks[fork_chain.depth] = latest;
    fork_chain.depth++;
    latest.count = 0;
}

void fork_chain_write(void)
{
    if (fork_chain.depth)
        store_write_chunk(LEAK_CHUNK_FORKS, &fork_chain, sizeof fork_chain);
}
