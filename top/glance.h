/* glance.h - one look at the store of a process: what each name holds now, and what changed since
 * the look before.
 *
 * The store is only read; the process neither knows nor waits. A glance is complete in itself but
 * for the names, which belong to the glances and stay until its end.
 */
#ifndef TOP_GLANCE_H
#define TOP_GLANCE_H

#include "common/store/reader.h"
#include "common/model/model.h"
#include "top/change.h"
#include "top/loss.h"
#include "top/names.h"

struct row {
    const struct name *name;
    struct change change;        /* since the look before */
    const struct growth *growth; /* NULL = not known */
    struct lost lost;            /* nothing where there was no look */
    uint64_t first_ns, last_ns;  /* its first and last allocation */
};

struct glance {
    struct arena *mem; /* of all this */
    const char *path, *exe;
    const char **argv;
    size_t argc;
    int32_t pid;
    enum end_how how;
    int32_t end_value; /* of END_EXIT and END_SIGNAL */
    uint64_t time_ns, started_ns;
    double time;  /* monotonic */
    bool sampled; /* its numbers are estimates */
    struct counted total;
    struct change change;
    struct counted *counts; /* by name, like the rows */
    struct row *rows;
    size_t count, growing;
    struct moment *history; /* ascending */
    size_t history_count;
    struct moment peak; /* bytes 0: not known */
    uint64_t look_ns;   /* when the heap was last looked at; 0: it was not */
    struct lost lost;
    uint64_t limit; /* bytes that it may have, 0: any, or not known */
    enum leak_limit limit_of;
};

/* Looks at one store, again and again. */
struct glances {
    const char *path;
    struct names names;
    struct suppressions *suppressions;
    struct account before; /* no time: there is none */
};

struct glances glances_begin(const char *path, struct resolver *resolver); /* as names_begin() */
void glances_end(struct glances *glances);

/* NULL: *trouble says why; try again, or give up. */
struct glance *glance_take(struct glances *glances, struct read_error *trouble);
void glance_end(struct glance *glance); /* NULL is fine */

/* What the process has become, in words: "running", "exited with status 3". */
#define GLANCE_WORDS 64
const char *glance_end_words(const struct glance *glance, char words[GLANCE_WORDS]);

#endif
