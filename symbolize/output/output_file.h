/* output_file.h - the file that -o names: a pattern, and never somebody's file by accident. */
#ifndef SYMBOLIZE_OUTPUT_OUTPUT_FILE_H
#define SYMBOLIZE_OUTPUT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/arena.h"
#include "common/model/model.h"

/* The name that the pattern stands for, %n being `number`. NULL: a line about it is on stderr. */
char *output_name(struct mem *mem, const char *pattern, const struct process *process,
                  unsigned number);

/* What becomes of a file that is there. */
enum output_way { OUTPUT_NEW, OUTPUT_FORCE, OUTPUT_APPEND };

/* A new file; with %n in the pattern the first number that is free. OUTPUT_FORCE: an old one is
 * overwritten, OUTPUT_APPEND: goes on. -1: *trouble says in words why there is none. */
int output_descriptor(struct mem *mem, const char *pattern, const struct process *process,
                      enum output_way way, const char **trouble);

/* Never NULL: what cannot be opened is said, and the report goes to stderr. */
FILE *output_open(struct mem *mem, const char *pattern, const struct process *process,
                  enum output_way way);

#endif
