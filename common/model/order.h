/* order.h - which record of a process comes first: negative when a does.
 *
 * What is lost for certain, whatever its size; then what may be, then what nobody looked at; what
 * is reachable and the runtime's last. Within a verdict that decides which was asked for.
 */
#ifndef COMMON_MODEL_ORDER_H
#define COMMON_MODEL_ORDER_H

#include "common/model/model.h"

/* The worst verdict is the least. */
int order_of_verdict(enum verdict verdict);

/* What decides within a verdict. */
enum sort_order {
    SORT_RETAINED, /* what mending it gives back */
    SORT_BYTES,    /* of its own */
    SORT_COUNT,    /* of blocks, with what mending it gives back */
    SORT_AGE,      /* of the first block */
    SORT_GROWTH,   /* bytes a second */
};

int order_records(const struct record *a, const struct record *b, enum sort_order sort);

#endif
