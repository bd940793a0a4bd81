/* part.h - where the other parts of the project are: beside the program that runs, as they are
 * built, or where make install has put what people call. */
#ifndef COMMON_PROCESSES_TOOL_PATH_H
#define COMMON_PROCESSES_TOOL_PATH_H

/* told: a path that somebody gave, or NULL. For the caller to free; NULL: it is not there. */
char *part_find(const char *told, const char *name);

#endif
