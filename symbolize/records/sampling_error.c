/* sampling_error.c - computes the errors of sums from variances, and writes them; described in
 * sampling_error.h.
 */
#include "symbolize/records/sampling_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HALF_WIDTH 1.96 /* half width of the 95 % interval, in standard deviations */
/* limit of the number that the significant digits of an estimate form: at most four are shown */
#define DIGITS_MOST 10000

void variance_add_site(struct variance *sum, const struct store *store,
                       const struct store_site *site)
{
    double square = (double)store->header.sample * (double)store->header.sample;

    sum->samples = add_saturating(sum->samples, site->variance.samples);
    sum->blocks += (double)site->variance.blocks / LEAK_VARIANCE_BLOCKS;
    sum->bytes += (double)site->variance.bytes / LEAK_VARIANCE_BYTES * square;
}

static uint64_t half_width(double variance, uint64_t samples)
{
    double more = samples ? ((double)samples + 1) / (double)samples : 1;
    double width = HALF_WIDTH * sqrt(variance * more) + 0.5;

    return width < 0x1p63 ? (uint64_t)width : UINT64_MAX;
}

struct error variance_half_width(const struct variance *variance)
{
    return (struct error){.bytes = half_width(variance->bytes, variance->samples),
                          .blocks = half_width(variance->blocks, variance->samples),
                          .samples = variance->samples};
}

void error_add(struct error *sum, const struct error *part)
{
    sum->bytes = (uint64_t)hypot((double)sum->bytes, (double)part->bytes);
    sum->blocks = (uint64_t)hypot((double)sum->blocks, (double)part->blocks);
    sum->samples = add_saturating(sum->samples, part->samples);
}

/* ---- Writing estimates and errors ------------------------------------------------------------ */

/* Returns the power of ten of the last digit to show: that of the error's first digit, or of its
 * second digit if the first is 1. */
static uint64_t digit_place(uint64_t number, uint64_t error)
{
    uint64_t place = 1, least = 1;

    while (error / place >= 10)
        place *= 10;
    if (error / place == 1 && place > 1)
        place /= 10;
    while (number / least >= DIGITS_MOST)
        least *= 10;
    return place > least ? place : least;
}

static uint64_t round_to(uint64_t number, uint64_t place)
{
    uint64_t rest = number % place;

    return rest < place - rest ? number - rest : add_saturating(number - rest, place);
}

/* Rounds an error up to a multiple of `place`, because an error must not look smaller than it
 * is. */
static uint64_t round_up_to(uint64_t number, uint64_t place)
{
    uint64_t rest = number % place;

    return rest ? add_saturating(number - rest, place) : number;
}

static const struct {
    uint64_t size;
    const char *name;
} units[] = {{1000000000000, "TB"}, {1000000000, "GB"}, {1000000, "MB"}, {1000, "kB"}};

/* Formats a number, rounded to `place`, in the unit (MB, GB) that suits the number `like`: an error
 * is written in the unit of its estimate. */
static struct term_text format_in_unit(const char *sign, uint64_t number, uint64_t like,
                                       uint64_t place)
{
    struct term_text shown;
    int decimals = 0;
    size_t i = 0;

    while (i < sizeof(units) / sizeof(*units) && like < units[i].size)
        i++;
    if (i == sizeof(units) / sizeof(*units)) {
        shown.columns = (size_t)snprintf(shown.text, sizeof(shown.text), "%s%s", sign,
                                         term_count(number, "byte").text);
        return shown;
    }
    for (; place < units[i].size; place *= 10)
        decimals++;
    shown.columns = (size_t)snprintf(shown.text, sizeof(shown.text), "%s%.*f %s", sign, decimals,
                                     (double)number / (double)units[i].size, units[i].name);
    return shown;
}

static struct term_text prefix_sign(const char *sign, struct term_text number)
{
    struct term_text shown;

    shown.columns = (size_t)snprintf(shown.text, sizeof(shown.text), "%s%.*s", sign,
                                     TERM_TEXT_MAX - 8, number.text);
    return shown;
}

struct term_text estimate_bytes(uint64_t bytes, uint64_t error)
{
    uint64_t place = digit_place(bytes, error), rounded = round_to(bytes, place);

    return error ? format_in_unit("~", rounded, rounded, place) : term_count(bytes, "byte");
}

struct term_text estimate_bytes_error(uint64_t bytes, uint64_t error)
{
    uint64_t place = digit_place(bytes, error), rounded = round_to(bytes, place);

    error = round_up_to(error, place);
    return format_in_unit("+-", error, error > rounded ? error : rounded, place);
}

struct term_text estimate_count(uint64_t number, uint64_t error, const char *word)
{
    if (!error)
        return term_count(number, word);
    return prefix_sign("~", term_count(round_to(number, digit_place(number, error)), word));
}

struct term_text estimate_number(uint64_t number, uint64_t error)
{
    if (!error)
        return term_number(number);
    return prefix_sign("~", term_number(round_to(number, digit_place(number, error))));
}

struct term_text estimate_count_error(uint64_t number, uint64_t error, const char *word)
{
    return prefix_sign("+-", term_count(round_up_to(error, digit_place(number, error)), word));
}
