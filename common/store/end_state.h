/* end_state.h - how did the process of a store end, when the store does not say? */
#ifndef COMMON_STORE_END_STATE_H
#define COMMON_STORE_END_STATE_H

#include "common/model/model.h"
#include "common/store/store.h"

/* Compares pid, start time and host name: a reused pid is another process. */
bool alive_process(const char *host, int32_t pid, uint64_t start_time);

enum end_how alive_end_of(const struct store *store);

#endif
