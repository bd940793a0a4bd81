/* findings.h - presents crashes, bad frees, records and resources as one list of findings, for
 * formats that are such lists.
 */
#ifndef SYMBOLIZE_FORMATS_FINDINGS_H
#define SYMBOLIZE_FORMATS_FINDINGS_H

#include "common/view/format_api.h"

enum finding_level {
    FINDING_ERROR,   /* --error-exitcode counts such findings by default */
    FINDING_WARNING, /* possibly lost, hidden and unfreed blocks, and resources left open */
    /* indirectly lost, reachable and runtime blocks, which a report has only on request */
    FINDING_NOTICE,
};

struct finding {
    enum finding_level level;
    const char *group; /* one of "error", "leak", "resource" */
    /* word for the kind of error, leak or resource: "SIGSEGV", "mismatched-free", "lost", "fd" */
    const char *type;
    const struct frame *frame; /* title frame of the finding's stack; NULL = unknown */
    uint64_t signature;        /* signature of the stack; only leaks and resources have one */
    bool has_signature;
    const struct rule *suppressed_by; /* NULL = the finding is not suppressed */
    /* number of the finding among those of its group, from 1; suppressed findings have none unless
     * the view shows them */
    size_t number;
    /* where the search for the next finding begins: an index in the sequence of the process's
     * crash, bad frees, records and resources */
    size_t next;
};

/* Goes on to the next finding; a zeroed struct becomes the first one. False: there are no more.
 * Records are findings if the view shows their verdict, suppressed ones too; resources if they look
 * like a mistake. */
bool finding_next(const struct process *process, const struct view *view, struct finding *finding);

/* Writes a finding in one line of printable characters: "48 bytes in 4 blocks lost (malloc)",
 * "mismatched-free: 40 bytes of new[] released by free". */
void finding_summary(const struct process *process, const struct finding *finding,
                     const struct view *view, FILE *stream);

/* Writes the paragraph that the text report has about the finding, without colours. */
void finding_text(const struct process *process, const struct finding *finding,
                  const struct view *view, FILE *stream);

/* Returns what finding_summary() or finding_text() writes as a string; the caller frees it with
 * free(3). NULL = no memory. */
typedef void finding_writer(const struct process *process, const struct finding *finding,
                            const struct view *view, FILE *stream);
char *finding_string(finding_writer *write, const struct process *process,
                     const struct finding *finding, const struct view *view);

/* Says whether the report lists process i: it is the first of several with equal results, and it
 * did not only run between fork and exec. */
bool finding_process_is_listed(const struct report *report, size_t i, const struct view *view);

#endif
