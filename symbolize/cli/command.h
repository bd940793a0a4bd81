/* command.h - what every verb of leakreport does on the way: stores come in, a stream goes out.
 *
 * Whatever cannot be done is said on stderr, in one line, where it happens.
 */
#ifndef SYMBOLIZE_CLI_COMMAND_H
#define SYMBOLIZE_CLI_COMMAND_H

#include "symbolize/cli/options.h"
#include "common/names/resolve.h"

enum { STATUS_GOOD = 0, STATUS_NEW = 1, STATUS_UNUSABLE = 2 };

struct binary_search_path run_search_path(const struct options *options);

/* Reads one store into the report; false when it said on stderr why it cannot. */
bool run_add_file(struct mem *mem, struct resolver *resolver, const struct options *options,
                  const char *path, struct report *report);

/* Has it what --errors-for names? */
bool run_matches(const struct options *options, const struct totals *totals);

/* Where the report goes. */
struct run_output {
    FILE *stream;
    bool terminal; /* somebody sees it on one */
    bool refused;  /* the caller's word: there is none, so no target is given anything */
    /* With --to: the report is made here, and given to all targets when it is done. */
    struct mem *mem;
    const struct process *process;
    char *text;
    size_t length;
};

/* process: for the names in -o, NULL = of none. */
void run_begin_output(struct run_output *output, struct mem *mem, struct options *options,
                      const struct process *process);
/* alarming: somebody should look at it. False: nobody has all of it. */
bool run_end_output(struct run_output *output, struct options *options, bool alarming);

#endif
