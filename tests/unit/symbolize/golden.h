/* golden.h - the models of tests/golden, their reports, and the files that some of these are compared with.
 *
 * A long report of every model would say most things many times. So a report of documents (JSON, NDJSON, SARIF)
 * or of profiles (pprof, folded) has a file for four models: the four that have the most values, and kinds of
 * values, between them. test_readback.c reads the others, and sees that no value is in neither.
 */
#ifndef TESTS_SYMBOLIZE_GOLDEN_H
#define TESTS_SYMBOLIZE_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/arena.h"
#include "common/model/model.h"
#include "common/view/format_api.h"

#define GOLDEN_MODELS 16
extern const char *const golden_models[GOLDEN_MODELS];

#define GOLDEN_DOCUMENTS "frees looked wrong opened"
#define GOLDEN_PROFILES  "small sampled looked known"

/* Whether the list has the word. */
bool golden_lists(const char *list, const char *word);

struct report golden_model(struct arena *mem, const char *name);

/* A view that shows what a report shows by itself; all: everything there is. */
struct view golden_view(const char *format, bool all);

/* The report, and a NUL; of a binary format the text of profile_text.h. */
char *golden_report(const char *model, const char *format, const struct view *view);

/* Compares it with tests/golden/MODEL.SUFFIX, or writes that file (GOLDEN=rewrite). */
void golden_check(const char *model, const char *suffix, const char *got);

#endif
