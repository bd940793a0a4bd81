/* uri.h - paths in URIs: what is no plain letter, digit or sign is written as %XX. */
#ifndef SYMBOLIZE_URI_H
#define SYMBOLIZE_URI_H

#include <stdio.h>

void uri_path(const char *path, FILE *stream);

#endif
