/* alive.h - how did the process of a store end, when the store does not say? */
#ifndef SYMBOLIZE_ALIVE_H
#define SYMBOLIZE_ALIVE_H

#include "symbolize/model.h"
#include "symbolize/store.h"

/* Compares pid, start time and host name: a reused pid is another process. */
bool alive_process(const char *host, int32_t pid, uint64_t start_time);

enum end_how alive_end_of(const struct store *store);

#endif
