/* allocator_frame.h - the function that a stack of an allocation or a release ends in.
 *
 * The library is that function, and the store holds its callers. Readers of other tools' reports
 * expect it as the innermost frame, so formats that look like these begin with a frame of its name
 * and nothing else. It is the family's: calloc and realloc are malloc there.
 */
#ifndef SYMBOLIZE_VIEW_ALLOCATOR_FRAME_H
#define SYMBOLIZE_VIEW_ALLOCATOR_FRAME_H

#include "common/model/model.h"

/* By enum leak_kind and enum leak_form; NULL = not known. */
const char *callee_of_kind(uint32_t kind);
const char *callee_of_form(uint32_t form);

#endif
