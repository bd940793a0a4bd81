/* sampling_error.h - estimates how wrong the sums of a sampled process may be, and writes such
 * numbers.
 *
 * Each site of a store recorded with sample= carries the variance of its counts of live blocks
 * (struct leak_variance). Variances add up over sites; the report shows 1.96 times the square root,
 * the half width of the 95 % interval. The variance of a sum over few samples is itself uncertain,
 * so it is computed as if there was one more sample, with the average of the others.
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
/* Adds the error of another estimate, which must be independent of the sum. */
void error_add(struct error *sum, const struct error *part);

/* Write an estimate as "~4.1 MB" and "~64,000 blocks", rounded to the digits that are significant
 * for its error. Error 0: the number is exact and is written whole. */
struct term_text estimate_bytes(uint64_t bytes, uint64_t error);
struct term_text estimate_count(uint64_t number, uint64_t error, const char *word);
struct term_text estimate_number(uint64_t number, uint64_t error); /* writes no unit: "~64,000" */
/* Write the error of an estimate: "+-0.6 MB" and "+-9,000 blocks". */
struct term_text estimate_bytes_error(uint64_t bytes, uint64_t error);
struct term_text estimate_count_error(uint64_t number, uint64_t error, const char *word);

/* An assumed error for sums whose error is not recorded; it leaves two significant digits. */
#define ESTIMATE_ROUGH_ERROR(number) ((number) / 15 + ((number) != 0))

#endif
