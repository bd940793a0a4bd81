/* verbs.h - the commands of leakctl that request something of a running process (struct command). */
#ifndef CONTROL_VERBS_H
#define CONTROL_VERBS_H

#include "control/arguments.h"

int verbs_snapshot(const struct arguments *arguments);
int verbs_mark(const struct arguments *arguments);
int verbs_enable(const struct arguments *arguments);
int verbs_disable(const struct arguments *arguments);
int verbs_report(const struct arguments *arguments);
int verbs_who(const struct arguments *arguments);

#endif
