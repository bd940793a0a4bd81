/* verbs.h - leakctl's verbs that ask a running process. Each returns the exit status: 0, 1 when it
 * could not be done, which one line says, 2 when the command line is wrong. argv[0] is the verb. */
#ifndef CONTROL_VERBS_H
#define CONTROL_VERBS_H

int verbs_snapshot(int argc, char **argv);
int verbs_mark(int argc, char **argv);
int verbs_enable(int argc, char **argv);
int verbs_disable(int argc, char **argv);
int verbs_report(int argc, char **argv);
int verbs_who(int argc, char **argv);

#endif
