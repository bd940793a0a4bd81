/* findings.h - crashes, bad frees, records and resources as one list of findings.
 *
 * For formats that are lists, whatever the kind of a finding.
 */
#ifndef SYMBOLIZE_FORMATS_FINDINGS_H
#define SYMBOLIZE_FORMATS_FINDINGS_H

#include "common/view/format_api.h"

enum finding_level {
    FINDING_ERROR,   /* counted by --error-exitcode by default */
    FINDING_WARNING, /* possible, hidden, unfreed; resources */
    FINDING_NOTICE,  /* shown on request only: indirect, reachable, runtime */
};

struct finding {
    enum finding_level level;
    const char *group;         /* "error", "leak", "resource" */
    const char *type;          /* "SIGSEGV", "mismatched-free", "lost", "fd" */
    const struct frame *frame; /* its title frame, NULL = unknown */
    uint64_t signature;        /* of leaks and resources */
    bool has_signature;
    const struct rule *suppressed_by; /* NULL = not suppressed */
    size_t number; /* in its group, from 1, of those that are not suppressed or shown anyway */
    size_t next;   /* the place of the next finding */
};

/* Replaces a finding by the next one, a zeroed one by the first; false = there are no more. Records
 * with verdicts that are shown are findings, suppressed ones too; resources are if they look like a
 * mistake. */
bool finding_next(const struct process *process, const struct view *view, struct finding *finding);

/* Writes one printable line: "48 bytes in 4 blocks lost (malloc)", "mismatched-free: 40 bytes of
 * new[] released by free". */
void finding_summary(const struct process *process, const struct finding *finding,
                     const struct view *view, FILE *stream);

/* The paragraph of the text report, without colours. */
void finding_text(const struct process *process, const struct finding *finding,
                  const struct view *view, FILE *stream);

/* What one of the two functions above writes, as a string; free(3) it. NULL = no memory. */
typedef void finding_writer(const struct process *process, const struct finding *finding,
                            const struct view *view, FILE *stream);
char *finding_string(finding_writer *write, const struct process *process,
                     const struct finding *finding, const struct view *view);

/* The process is listed: it is the first of equal ones, and not between fork and exec. */
bool finding_process_is_listed(const struct report *report, size_t i, const struct view *view);

#endif
