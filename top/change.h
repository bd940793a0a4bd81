/* change.h - what became more and what less between two times that somebody looked.
 *
 * An account is what was counted at one time, by number: number i is the same thing in each account
 * of one process, and an account may know more of them than an earlier one did. Pure functions.
 */
#ifndef TOP_CHANGE_H
#define TOP_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counted {
    uint64_t bytes, blocks; /* that live */
    uint64_t allocs, frees; /* since the beginning */
};

struct change {
    bool known;
    int64_t bytes;        /* more than before */
    double allocs, frees; /* a second */
};

struct account {
    double time; /* seconds, of any clock that does not go back */
    struct counted total;
    struct counted *at;
    size_t count;
};

/* A copy of at[], for account_end(). */
struct account account_keep(double time, struct counted total, const struct counted *at,
                            size_t count);
void account_end(struct account *account);

/* Of thing number i, which was nothing yet where the account does not know it. Sums that are less
 * than before were read while they were moved: they tell of no event. */
struct change change_of(const struct account *before, size_t i, const struct counted *now,
                        double time);
struct change change_of_total(const struct account *before, const struct counted *now, double time);

#endif
