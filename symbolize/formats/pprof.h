/* pprof.h - a heap profile as pprof, and what reads its profiles, wants it: gzipped profile.proto.
 *
 * Every verdict is in it, and with every stack that allocated the sums of what it did, whether
 * anything of that lives or not.
 */
#ifndef SYMBOLIZE_FORMATS_PPROF_H
#define SYMBOLIZE_FORMATS_PPROF_H

#include "common/view/format_api.h"

void pprof_write(const struct report *report, const struct view *view, FILE *stream);

#endif
