/* csv.h - a glance as comma-separated values, a line for each site; what is not known is empty. */
#ifndef TOP_CSV_H
#define TOP_CSV_H

#include "top/lines.h"

void csv_write_head(FILE *stream);
void csv_write(const struct glance *glance, const struct listing_options *options, FILE *stream);

#endif
