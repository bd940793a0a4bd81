/* vld_options.h - the option names of Visual Leak Detector, from vld.ini or among libleak's own.
 *
 * vld.ini contains lines "Name = value" with ; comments and [sections]; names and values in any
 * case. They are translated into lines of libleak's own options. Settings without an equivalent are
 * collected by name, so that they can be reported; settings that request what libleak always does
 * are ignored. Pure functions, callable anywhere. */
#ifndef PRELOAD_OPTIONS_VLD_OPTIONS_H
#define PRELOAD_OPTIONS_VLD_OPTIONS_H

#include "preload/base/strbuf.h"

#define VLD_FILE "vld.ini" /* name of VLD's option file, in the working directory */

/* A file or string with settings, while it is read. ReportTo and ReportFile depend on each other
 * and come in any order, so the values of both are kept. */
struct vld_source {
    /* settings without an equivalent are appended to it: "Name=value, ..." */
    struct strbuf *unsupported;
    const char *file; /* the value of ReportFile, where it lies in the settings */
    size_t file_length;
    const char *to; /* the value of ReportTo, as libleak's report_to; NULL: not set */
};

/* Translates one setting into lines "name=value" of libleak's options, none or several. Returns
 * false when VLD has no such setting. The value must stay valid until all settings are
 * translated. */
bool vld_options_translate_item(struct vld_source *source, const char *name, size_t name_length,
                                const char *value, size_t value_length, struct strbuf *options);

/* Translates the content of a file vld.ini. */
void vld_options_translate(const char *ini, size_t length, struct strbuf *options,
                           struct strbuf *unsupported);

#endif
