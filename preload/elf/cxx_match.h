/* cxx_match.h - is a function the one that somebody calls by that name?
 *
 * A C name, or a C++ one as the compiler writes it, is compared as it is. Of the others only what
 * is spelt out is read: scopes and a name, "_ZN4Pool4fillEi" for Pool::fill. Parameters are not
 * compared, so that all overloads are meant; templates and operators have to be given as the
 * compiler writes them. Of what a compiler makes of one function its clones are meant, and no piece
 * that was cut out.
 */
#ifndef PRELOAD_ELF_CXX_MATCH_H
#define PRELOAD_ELF_CXX_MATCH_H

#include "preload/base/base.h"

/* wanted may have its parameters in brackets, which say nothing here. */
bool cxxname_is(const char *symbol, const char *wanted);

#endif
