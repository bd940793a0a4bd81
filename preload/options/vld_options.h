/* vld_options.h - the option names of Visual Leak Detector, from vld.ini or among libleak's own.
 *
 * vld.ini contains lines "Name = value" with ; comments and [sections]; names and values in any
 * case. They are translated into lines of libleak's own options. Settings without an equivalent are
 * collected by name, so that they can be reported; settings for what libleak does anyway are
 * ignored. Pure functions, callable anywhere.
 */
#ifndef PRELOAD_OPTIONS_VLD_OPTIONS_H
#define PRELOAD_OPTIONS_VLD_OPTIONS_H

#include "preload/base/strbuf.h"

#define VLD_FILE "vld.ini" /* in the working directory */

/* One source of settings. ReportTo and ReportFile depend on each other and come in any order, so
 * both are remembered. */
struct vld_source {
    struct strbuf *unsupported; /* settings without an equivalent are added: "Name=value, ..." */
    const char *file;           /* the value of ReportFile, in the source */
    size_t file_length;
    const char *to; /* the value of ReportTo, in libleak's words; NULL: not set */
};

/* Adds "name=value\n" once, several times or not at all. False: VLD has no such option. The value
 * must stay valid until the source has been read. */
bool vld_options_translate_item(struct vld_source *source, const char *name, size_t name_length,
                                const char *value, size_t value_length, struct strbuf *options);

/* A whole file. */
void vld_options_translate(const char *ini, size_t length, struct strbuf *options,
                           struct strbuf *unsupported);

#endif
