/* vld_options.h - the words of Visual Leak Detector for what libleak has as well, from vld.ini or
 * among libleak's own.
 *
 * In vld.ini they are lines "Name = value" with ; comments and [sections]; names and words in any
 * case. They become lines of libleak's own options. What has no form here is written down by name,
 * to be said to who wants to know; what libleak does anyway is passed over. Pure functions:
 * callable anywhere.
 */
#ifndef PRELOAD_OPTIONS_VLD_OPTIONS_H
#define PRELOAD_OPTIONS_VLD_OPTIONS_H

#include "preload/base/strbuf.h"

#define VLD_FILE "vld.ini" /* in the working directory */

/* One source of words. ReportTo and ReportFile go together, in any order: so both are kept. */
struct vld_reading {
    struct text *passed; /* "Name=value, ..." of what has no form is added */
    const char *file;    /* of ReportFile, where it stands */
    size_t file_length;
    const char *to; /* of ReportTo, in libleak's words; NULL: it was not there */
};

/* Adds "name=value\n" for that word, or none, or several. False: VLD has no such word. The value
 * stays where it is until the source has been read. */
bool vld_take(struct vld_reading *reading, const char *name, size_t name_length, const char *value,
              size_t value_length, struct text *options);

/* A whole file. */
void vld_translate(const char *ini, size_t length, struct text *options, struct text *passed);

#endif
