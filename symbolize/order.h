/* order.h - which record of a process comes first: negative when a does.
 *
 * What is lost for certain, whatever its size; then what may be, then what nobody looked at; what
 * is reachable and the runtime's last. Within a verdict what fixing it gives back decides.
 */
#ifndef SYMBOLIZE_ORDER_H
#define SYMBOLIZE_ORDER_H

#include "symbolize/model.h"

/* The worst verdict is the least. */
int order_of_verdict(enum verdict verdict);

int order_by_bytes(const struct record *a, const struct record *b);
int order_by_count(const struct record *a, const struct record *b);

#endif
