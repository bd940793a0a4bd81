/* sampling_error.h - how far off the sums of a sampled process may be, and words for such numbers.
 *
 * Each site of a store recorded with sample= carries the variance of its counts of live blocks
 * (struct leak_variance). Variances add up over sites; their root, as a 95 % half width, is what a
 * report says. A sum over few samples knows its own variance badly, too: it is taken as if there
 * was one sample more, like those that are there.
 */
#ifndef SYMBOLIZE_RECORDS_SAMPLING_ERROR_H
#define SYMBOLIZE_RECORDS_SAMPLING_ERROR_H

#include "common/model/model.h"
#include "common/base/term_text.h"
#include "common/store/store.h"

struct variance {
    double bytes, blocks;
    uint64_t samples;
};

void variance_add_site(struct variance *sum, const struct store *store,
                       const struct store_site *site);
struct error variance_half_width(const struct variance *variance);
/* Adds the error of an independent estimate. */
void error_add(struct error *sum, const struct error *part);

/* "~4.1 MB" and "~64,000 blocks", with the digits that are significant for this error. Error 0: the
 * exact number. */
struct term_text estimate_bytes(uint64_t bytes, uint64_t error);
struct term_text estimate_count(uint64_t number, uint64_t error, const char *word);
struct term_text estimate_number(uint64_t number, uint64_t error); /* without a unit */
/* "+-0.6 MB" and "+-9,000 blocks", to follow these. */
struct term_text estimate_bytes_error(uint64_t bytes, uint64_t error);
struct term_text estimate_count_error(uint64_t number, uint64_t error, const char *word);

/* The error of a sum whose error is not recorded, to two digits. */
#define ESTIMATE_ROUGH_ERROR(number) ((number) / 15 + ((number) != 0))

#endif
