/* labels.h - labels of metrics: NAME="value", whatever bytes the value holds. */
#ifndef TOP_LABELS_H
#define TOP_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The labels that the metrics have themselves. */
#define LABELS_OWN "comm", "pid", "exe", "sampled", "limit", "signature", "kind", "function"
#define LABELS_MAX 8 /* that a user may add */

/* Is "NAME=VALUE" one that a user may add: a name as Prometheus has them, and not one of ours? */
bool label_fits(const char *word);
/* Have two such words one name? */
bool label_same(const char *word, const char *other);

/* `,name="value"`, the value cut to so many columns in its middle, 0 = hardly ever; the comma only
 * when it is not the first one. Control characters and stray bytes become \xNN, as on the terminal.
 */
void label_write(const char *name, const char *value, size_t columns, bool first, FILE *stream);
void label_write_word(const char *word, bool first, FILE *stream); /* "NAME=VALUE" */

#endif
