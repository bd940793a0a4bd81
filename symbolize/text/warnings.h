/* warnings.h - what is to be known of a process before the numbers of a report are believed. */
#ifndef SYMBOLIZE_TEXT_WARNINGS_H
#define SYMBOLIZE_TEXT_WARNINGS_H

#include "common/model/model.h"

#define CAVEAT_SIZE 512

/* The i-th sentence, from 0; NULL = there are no more. */
const char *caveat_at(const struct process *process, size_t i, char words[CAVEAT_SIZE]);

#endif
