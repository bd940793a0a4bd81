/* uri.h - paths in URIs: what is no plain letter, digit or sign is written as %XX. */
#ifndef COMMON_BASE_URI_H
#define COMMON_BASE_URI_H

#include <stdio.h>

void uri_path(const char *path, FILE *stream);

#endif
