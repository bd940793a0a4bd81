/* text_tags.h - under which tags of the program's a record's blocks were allocated, for people. */
#ifndef SYMBOLIZE_TEXT_TEXT_TAGS_H
#define SYMBOLIZE_TEXT_TEXT_TAGS_H

#include <stdio.h>

#include "common/view/format_api.h"
#include "common/sites/sites.h"

/* Of sums that are sorted. all: what is shown with them, and how far off it may be. */
void text_tags(const struct tag_sums *sums, const struct record *all, int indent,
               const struct view *view, FILE *stream);

#endif
