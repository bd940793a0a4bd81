/* options.h - the command line of leakgraph. */
#ifndef GRAPH_OPTIONS_H
#define GRAPH_OPTIONS_H

#include "graph/verbs/verbs.h"

/* Parses the command line. False: it is wrong, and one line on stderr says why. The texts are
 * argv's. *verb: NULL with --help and --version. */
bool options_parse(int argc, char **argv, struct options *options, const struct verb **verb);
void options_help(FILE *stream);

#endif
