/* options.h - parses the command line of leakgraph. */
#ifndef GRAPH_OPTIONS_H
#define GRAPH_OPTIONS_H

#include "graph/verbs/verbs.h"

/* Parses the command line. Keeps pointers to the strings of argv. False: the command line is wrong;
 * a message on stderr says why. *verb: NULL with --help and --version. */
bool options_parse(int argc, char **argv, struct options *options, const struct verb **verb);
void options_help(FILE *stream);

#endif
