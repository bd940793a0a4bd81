/* mailbox.c - changes the states of the mailbox; described in mailbox.h. */
#include "control/mailbox.h"

#include <string.h>

static uint32_t state_of(const struct leak_request *request)
{
    /* pairs with the store (release) by which the process changes the state */
    return __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);
}

static bool change_state(struct leak_request *request, uint32_t from, enum leak_request_state to)
{
    return __atomic_compare_exchange_n(&request->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* Clears the request of a leakctl that has ended. If the process takes an ASKED request at this
 * moment, it is not cleared, and the process completes it. */
static void clear_dead_request(struct leak_request *request, uint32_t state)
{
    if (state != LEAK_REQUEST_CLAIMED && !change_state(request, state, LEAK_REQUEST_CLAIMED))
        return;
    mailbox_release(request);
}

bool mailbox_claim(struct leak_request *request, int32_t pid, uint64_t start_time,
                   bool (*alive)(int32_t pid, uint64_t start_time))
{
    uint32_t state = state_of(request);

    if (state == LEAK_REQUEST_TAKEN ||
        (state != LEAK_REQUEST_FREE && alive(request->asker, request->asker_start)))
        return false;
    if (state != LEAK_REQUEST_FREE)
        clear_dead_request(request, state);
    if (!change_state(request, LEAK_REQUEST_FREE, LEAK_REQUEST_CLAIMED))
        return false;
    request->asker_start = start_time;
    __atomic_store_n(&request->asker, pid, __ATOMIC_RELEASE);
    return true;
}

void mailbox_post(struct leak_request *request, enum leak_verb verb, uint64_t argument,
                  const char *name)
{
    request->verb = verb;
    request->answer = LEAK_ANSWER_NONE;
    request->argument = argument;
    memset(request->name, 0, sizeof(request->name));
    if (name)
        memcpy(request->name, name, strnlen(name, sizeof(request->name) - 1));
    /* Pairs with the load (acquire) in the process, which then sees the complete request. */
    __atomic_store_n(&request->state, LEAK_REQUEST_ASKED, __ATOMIC_RELEASE);
}

bool mailbox_is_answered(const struct leak_request *request)
{
    return state_of(request) == LEAK_REQUEST_ANSWERED;
}

bool mailbox_is_pending(const struct leak_request *request)
{
    return state_of(request) == LEAK_REQUEST_ASKED;
}

struct mailbox_answer mailbox_read_answer(struct leak_request *request)
{
    struct mailbox_answer answer = {request->answer, request->argument};

    mailbox_release(request);
    return answer;
}

bool mailbox_withdraw(struct leak_request *request)
{
    if (!change_state(request, LEAK_REQUEST_ASKED, LEAK_REQUEST_CLAIMED))
        return false;
    mailbox_release(request);
    return true;
}

void mailbox_release(struct leak_request *request)
{
    request->asker = 0;
    request->asker_start = 0;
    __atomic_store_n(&request->state, LEAK_REQUEST_FREE, __ATOMIC_RELEASE);
}
