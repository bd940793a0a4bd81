/* text_resources.h - what is still open besides memory: a section of the text report. */
#ifndef SYMBOLIZE_TEXT_TEXT_RESOURCES_H
#define SYMBOLIZE_TEXT_TEXT_RESOURCES_H

#include "common/view/format_api.h"

/* What one is: "2 descriptors still open". */
void text_resource_words(const struct resource *resource, FILE *stream);

/* Nothing where there is none. */
void text_resources(const struct process *process, const struct view *view, FILE *stream);

/* One of them in full. */
void text_resource(const struct process *process, const struct resource *resource,
                   const struct view *view, FILE *stream);

/* "2 descriptors still open" */
void text_resource_words(const struct resource *resource, FILE *stream);

#endif
