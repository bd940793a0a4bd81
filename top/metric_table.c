/* metric_table.c - the tables of metrics, and labels; described in metrics.h. */
#include "top/metrics.h"

#include <math.h>
#include <string.h>

#include "common/base/term_text.h"

/* ---- Labels ---------------------------------------------------------------------------------- */

static size_t label_name_length(const char *word)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return strspn(word, allowed);
}

bool label_is_valid(const char *word)
{
    static const char *const own[] = {"comm",  "pid",       "exe",  "sampled",
                                      "limit", "signature", "kind", "function"};
    size_t length = label_name_length(word);

    if (!length || word[length] != '=' || (*word >= '0' && *word <= '9'))
        return false;
    /* Prometheus reserves names that begin with "__", and removes such labels */
    if (strncmp(word, "__", 2) == 0)
        return false;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (strlen(own[i]) == length && memcmp(word, own[i], length) == 0)
            return false;
    return true;
}

bool label_has_same_name(const char *word, const char *other)
{
    size_t length = label_name_length(word);

    return label_name_length(other) == length && memcmp(word, other, length) == 0;
}

/* Writes the value of a label. term_text() leaves no newline, so only '\' and '"' need an
 * escape. */
static void write_label_value(const char *value, size_t columns, FILE *stream)
{
    struct term_text shown = term_text(value, strlen(value), columns);

    for (const char *at = shown.text; *at; at++) {
        if (*at == '\\' || *at == '"')
            putc('\\', stream);
        putc(*at, stream);
    }
}

void label_write(const char *name, const char *value, size_t columns, bool first, FILE *stream)
{
    fprintf(stream, "%s%s=\"", first ? "" : ",", name);
    write_label_value(value, columns, stream);
    putc('"', stream);
}

void label_write_option(const char *word, bool first, FILE *stream)
{
    size_t length = label_name_length(word);

    fprintf(stream, "%s%.*s=\"", first ? "" : ",", (int)length, word);
    write_label_value(word + length + 1, 0, stream);
    putc('"', stream);
}

/* ---- The tables of metrics ------------------------------------------------------------------- */

/* The metrics: M(type, name, help, value, function for further labels). From this table, both the
 * names and the values are made. */
#define FILE_METRIC_TABLE(M)                                                                       \
    M(gauge, "libleak_processes", "Running processes that use libleak.", file->processes, NULL)    \
    M(gauge, "libleak_processes_left_out", "Processes without series, because of --series.",       \
      file->left_out, NULL)                                                                        \
    M(gauge, "libleak_processes_unreadable",                                                       \
      "Processes without series, because their recording file cannot be read.", file->unreadable,  \
      NULL)                                                                                        \
    M(gauge, "libleak_written_time_seconds", "Unix time of these metrics.",                        \
      (double)file->time_ns / 1e9, NULL)

#define PROCESS_METRIC_TABLE(M)                                                                    \
    M(gauge, "libleak_process_info", "Always 1; sampled=true: the other numbers are estimates.",   \
      1, write_info_labels)                                                                        \
    M(gauge, "libleak_start_time_seconds", "Unix time of the start of the process.",               \
      (double)snapshot->started_ns / 1e9, NULL)                                                    \
    M(gauge, "libleak_live_bytes", "Bytes on the heap.", snapshot->total.bytes, NULL)              \
    M(gauge, "libleak_live_blocks", "Blocks on the heap.", snapshot->total.blocks, NULL)           \
    M(gauge, "libleak_peak_bytes", "Bytes on the heap when it was largest.",                       \
      if_known(snapshot->peak.bytes, snapshot->peak.bytes), NULL)                                  \
    M(counter, "libleak_allocations_total", "Blocks allocated.", process->member->allocs, NULL)    \
    M(counter, "libleak_frees_total", "Blocks freed.", process->member->frees, NULL)               \
    M(gauge, "libleak_growing_sites", "Growing allocation sites.", snapshot->growing, NULL)        \
    M(gauge, "libleak_growth_bytes_per_second", "Growth rate of all growing sites.",               \
      process->growth, NULL)                                                                       \
    M(gauge, "libleak_lost_bytes", "Bytes found lost by the last leak check and still live.",      \
      if_known(snapshot->leak_check_ns, snapshot->lost.bytes), NULL)                               \
    M(gauge, "libleak_lost_blocks", "Blocks found lost by the last leak check and still live.",    \
      if_known(snapshot->leak_check_ns, snapshot->lost.blocks), NULL)                              \
    M(gauge, "libleak_indirect_bytes", "Bytes indirectly lost.",                                   \
      if_known(snapshot->leak_check_ns, snapshot->lost.indirect_bytes), NULL)                      \
    M(gauge, "libleak_indirect_blocks", "Blocks indirectly lost.",                                 \
      if_known(snapshot->leak_check_ns, snapshot->lost.indirect_blocks), NULL)                     \
    M(gauge, "libleak_look_time_seconds", "Unix time of the last leak check.",                     \
      if_known(snapshot->leak_check_ns, snapshot->leak_check_ns) / 1e9, NULL)                      \
    M(gauge, "libleak_memory_limit_bytes", "Lowest memory limit at the start of the process.",     \
      if_known(snapshot->limit, snapshot->limit), write_limit_label)                               \
    M(gauge, "libleak_sites_left_out", "Sites without series, because of --sites or --series.",    \
      process->rows - process->shown, NULL)

#define SITE_METRIC_TABLE(M)                                                                       \
    M(gauge, "libleak_site_live_bytes", "Bytes on the heap of a site.",                            \
      snapshot->counts[row].bytes, NULL)                                                           \
    M(gauge, "libleak_site_live_blocks", "Blocks on the heap of a site.",                          \
      snapshot->counts[row].blocks, NULL)                                                          \
    M(gauge, "libleak_site_lost_bytes", "Bytes of a site found lost by the last leak check.",      \
      if_known(snapshot->leak_check_ns, snapshot->rows[row].lost.bytes), NULL)                     \
    M(gauge, "libleak_site_growing", "1: growing, 2: slow consumer, 0: not growing.",              \
      growing_state(growth), NULL)                                                                 \
    M(gauge, "libleak_site_growth_bytes_per_second", "Growth rate of a site.",                     \
      growth ? (double)growth->bytes_per_second : NAN, NULL)

static double if_known(bool known, uint64_t value)
{
    return known ? (double)value : NAN;
}

static double growing_state(const struct growth *growth)
{
    if (!growth)
        return NAN;
    return growth->verdict == GROWTH_GROWING ? 1 : growth->verdict == GROWTH_SLOW_CONSUMER ? 2 : 0;
}

static void write_info_labels(const struct metrics_process *process, FILE *stream)
{
    label_write("exe", process->snapshot->exe, 0, false, stream);
    label_write("sampled", process->snapshot->sampled ? "true" : "false", 0, false, stream);
}

static void write_limit_label(const struct metrics_process *process, FILE *stream)
{
    static const char *const word[LEAK_LIMIT_MAX] = {[LEAK_LIMIT_NONE] = "unknown",
                                                     [LEAK_LIMIT_ADDRESS_SPACE] = "address-space",
                                                     [LEAK_LIMIT_DATA] = "data",
                                                     [LEAK_LIMIT_CGROUP] = "cgroup"};

    label_write("limit", word[process->snapshot->limit_of], 0, false, stream);
}

#define METRIC(type, name, help, value, labels) {name, #type, help, labels},
#define VALUE(type, name, help, value, labels) (double)(value),

const struct metric file_metrics[FILE_METRICS] = {FILE_METRIC_TABLE(METRIC)};
const struct metric process_metrics[PROCESS_METRICS] = {PROCESS_METRIC_TABLE(METRIC)};
const struct metric site_metrics[SITE_METRICS] = {SITE_METRIC_TABLE(METRIC)};

double file_metric_value(const struct metrics_file *file, size_t metric)
{
    const double values[FILE_METRICS] = {FILE_METRIC_TABLE(VALUE)};

    return values[metric];
}

double process_metric_value(const struct metrics_process *process, size_t metric)
{
    const struct heap_snapshot *snapshot = process->snapshot;
    const double values[PROCESS_METRICS] = {PROCESS_METRIC_TABLE(VALUE)};

    return values[metric];
}

double site_metric_value(const struct metrics_process *process, size_t row, size_t metric)
{
    const struct heap_snapshot *snapshot = process->snapshot;
    const struct growth *growth = snapshot->rows[row].growth;
    const double values[SITE_METRICS] = {SITE_METRIC_TABLE(VALUE)};

    return values[metric];
}
