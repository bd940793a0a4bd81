/* findings.h - what somebody should look at, one after the other: crashes, wrong releases, records,
 * resources. For formats that are lists of such things, whatever kind they are of.
 */
#ifndef SYMBOLIZE_FORMATS_FINDINGS_H
#define SYMBOLIZE_FORMATS_FINDINGS_H

#include "common/view/format_api.h"

enum finding_level {
    FINDING_ERROR,   /* what --error-exitcode counts unless told otherwise */
    FINDING_WARNING, /* possible, hidden, not looked at; resources */
    FINDING_NOTICE,  /* on request only: what the program can still free */
};

struct finding {
    enum finding_level level;
    const char *group;         /* "error", "leak", "resource" */
    const char *type;          /* "SIGSEGV", "mismatched-free", "lost", "fd" */
    const struct frame *frame; /* that it is about, NULL = unknown */
    uint64_t signature;        /* of leaks and resources */
    bool has_signature;
    const struct rule *suppressed_by; /* NULL = it is not */
    size_t
        number;  /* of those of its group that are not suppressed, or shown all the same; from 1 */
    size_t next; /* the place of the one after it */
};

/* The finding after this one, or the first when it is all zero; false = there are no more. Of
 * records those with verdicts that are shown, suppressed ones, too; of resources those that look
 * like a mistake. */
bool finding_next(const struct process *process, const struct view *view, struct finding *finding);

/* "48 bytes in 4 blocks lost (malloc)", "mismatched-free: 40 bytes of new[] released by free": one
 * line, printable. */
void finding_words(const struct process *process, const struct finding *finding, FILE *stream);

/* What the text report says of it, without colours. */
void finding_text(const struct process *process, const struct finding *finding,
                  const struct view *view, FILE *stream);

/* Is it told of this process, or were equal things told of one before, or is there nothing to tell?
 */
bool finding_process(const struct report *report, size_t i, const struct view *view);

#endif
