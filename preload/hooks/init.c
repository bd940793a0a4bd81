/* init.c - the library's one constructor.
 *
 * Linked with -z initfirst: it runs before every other constructor of the process, so the account
 * exists before the program's first allocation. Libc has not looked at the environment yet; the
 * loader hands it over. There is no destructor: the account outlives everything. In a process that
 * runs already it is led to us by the last line (late_load.h).
 */
#include "preload/hooks/hook_linked.h"
#include "preload/hooks/hook_pair.h"
#include "preload/interpose/late_load.h"
#include "preload/roots/heap_ranges.h"
#include "preload/process/process.h"

__attribute__((constructor)) static void begin(int argc UNUSED, char **argv UNUSED, char **envp)
{
    process_start(envp);
    hook_linked_start();
    hook_pair_start();
    if (*process_state.recording && late_is()) {
        heap_ranges_learn_tcache_key();
        late_lead((const void *)begin);
    }
}
