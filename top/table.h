/* table.h - a glance as a plain table, for terminals and files. */
#ifndef TOP_TABLE_H
#define TOP_TABLE_H

#include <stdio.h>

#include "top/lines.h"

void table_write(const struct glance *glance, const struct listing_options *options, FILE *stream);

#endif
