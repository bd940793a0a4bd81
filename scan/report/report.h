/* report.h - what a scan found, and its two forms: text for people, JSON for programs. */
#ifndef SCAN_REPORT_H
#define SCAN_REPORT_H

#include <stdio.h>

#include "scan/leakcheck/groups.h"

#define REPORT_NOTES 16

struct scan_report {
    const struct image *image;
    const struct glibc_heap *heap;
    const struct groups *groups;
    const char *core;    /* path of the core file; NULL: a running process */
    uint64_t pause_ns;   /* all stops together; of a process */
    uint64_t longest_ns; /* the longest stop */
    unsigned looks;
    uint64_t check_ns; /* for everything */
    uint64_t root_bytes;
    const char *notes[REPORT_NOTES]; /* what the verdicts are worth */
    size_t note_count;
    size_t most;  /* records in the text */
    bool content; /* show the first bytes of blocks */
};

/* Ignored when there are REPORT_NOTES of them. */
void report_note(struct scan_report *report, const char *note);

void report_write_text(const struct scan_report *report, FILE *stream);
void report_write_json(const struct scan_report *report, FILE *stream);

#endif
