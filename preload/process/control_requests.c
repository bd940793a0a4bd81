#include "preload/process/control_requests.h"
#include "preload/base/atomic.h"
#include "preload/heap/capture.h"
#include "preload/track/milestones.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"

/* What the asker wrote is anybody's: it is read once, and the name has an end. */
struct question {
    uint32_t verb;
    uint64_t argument;
    char name[LEAK_MILESTONE_NAME];
};

static struct question read_question(const struct leak_request *request)
{
    struct question question = {.verb = load_relaxed(&request->verb),
                                .argument = load_relaxed(&request->argument)};
    memcpy(question.name, request->name, sizeof question.name - 1);
    return question;
}

static enum leak_answer make_mark(const struct question *question, uint32_t *milestone)
{
    if (!question->name[0])
        return LEAK_ANSWER_NO_NAME;
    *milestone = milestones_add(question->name);
    return *milestone ? LEAK_ANSWER_DONE : LEAK_ANSWER_NO_ROOM;
}

/* NONE: not now. */
static enum leak_answer take_look(const struct question *question, const struct roots_taker *taker,
                                  uint32_t *milestone)
{
    uintptr_t about = question->verb == LEAK_VERB_WHO ? question->argument : 0;
    switch (snapshot_begin(LEAK_OCCASION_CONTROL, taker, about, milestone)) {
    case SNAPSHOT_BUSY:
        return LEAK_ANSWER_NONE;
    case SNAPSHOT_BEGUN:
        return *milestone ? LEAK_ANSWER_DONE : LEAK_ANSWER_NO_ROOM;
    default:
        return LEAK_ANSWER_NO_LOOK;
    }
}

static enum leak_answer do_it(const struct question *question, const struct roots_taker *taker,
                              uint32_t *milestone)
{
    switch (question->verb) {
    case LEAK_VERB_SNAPSHOT:
    case LEAK_VERB_WHO:
        return take_look(question, taker, milestone);
    case LEAK_VERB_MARK:
        return make_mark(question, milestone);
    case LEAK_VERB_ENABLE:
    case LEAK_VERB_DISABLE:
        capture_disable_all(question->verb == LEAK_VERB_DISABLE);
        return LEAK_ANSWER_DONE;
    default:
        return LEAK_ANSWER_UNKNOWN;
    }
}

bool requests_serve(const struct roots_taker *taker)
{
    struct leak_request *request = &store_header->request;
    uint32_t state = LEAK_REQUEST_ASKED, milestone = 0;
    if (!cas_acquire(&request->state, &state, LEAK_REQUEST_TAKEN))
        return true; /* it was taken back, or another thread is at it */
    struct question question = read_question(request);
    enum leak_answer answer = do_it(&question, taker, &milestone);
    if (!answer) {
        store_release(&request->state, LEAK_REQUEST_ASKED);
        return false;
    }
    store_relaxed(&request->answer, answer);
    store_relaxed(&request->argument, milestone);
    store_release(&request->state, LEAK_REQUEST_ANSWERED); /* pairs with leakctl */
    return true;
}
