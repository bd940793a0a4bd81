/* report.h - writes the results of a scan: as text for people, as JSON for programs. */
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
    uint64_t pause_ns;   /* length of all stops of the process together */
    uint64_t longest_ns; /* length of the longest stop */
    unsigned looks;
    uint64_t check_ns; /* time that the whole scan took */
    uint64_t root_bytes;
    const char *notes[REPORT_NOTES]; /* sentences for the report about how certain the verdicts
                                      * are */
    size_t note_count;
    size_t most;  /* most records in the text */
    bool content; /* show the first bytes of blocks */
};

/* Adds a note to the report; ignored if there are REPORT_NOTES already. */
void report_note(struct scan_report *report, const char *note);

void report_write_text(const struct scan_report *report, FILE *stream);
void report_write_json(const struct scan_report *report, FILE *stream);

#endif
