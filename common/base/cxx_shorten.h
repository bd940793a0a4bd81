/* cxx_shorten.h - names of C++ as their authors write them: std::vector<std::string> rather than
 * std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >,
 * std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >
 * >.
 *
 * What is left out is what the standard puts in: inline namespaces, default arguments of the
 * library's own templates, and the spaces between closing brackets. Two names that differ in
 * something else go on doing so.
 */
#ifndef COMMON_BASE_CXX_SHORTEN_H
#define COMMON_BASE_CXX_SHORTEN_H

#include <stddef.h>

#define SHORTEN_MAX 8192 /* longer names stay as they are */

/* Shortens the terminated name in its place; returns its new length. */
size_t shorten_name(char *name);

#endif
