/* error_text.h - what is wrong with a release, in words, as far as nobody need be asked: no names
 * of functions.
 */
#ifndef PRELOAD_MISUSE_ERROR_TEXT_H
#define PRELOAD_MISUSE_ERROR_TEXT_H

#include "preload/base/base.h"
#include "leak_store.h"

struct text;

/* "40 bytes of new[] released by free" */
void tell_words(const struct leak_event *event, struct text *out);
/* "40 bytes of malloc" */
void tell_block(struct text *out, uint64_t size, enum leak_kind kind);
/* "new[]", "sized delete" */
const char *tell_kind(enum leak_kind kind);
const char *tell_form(enum leak_form form);

#endif
