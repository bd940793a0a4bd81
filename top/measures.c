/* measures.c - see measures.h. */
#include "top/measures.h"

#include <math.h>

#include "top/labels.h"

/* ---- Of the file ----------------------------------------------------------------------------- */

static double file_processes(const struct measured_file *file)
{
    return (double)file->processes;
}

static double file_left_out(const struct measured_file *file)
{
    return (double)file->left_out;
}

static double file_unreadable(const struct measured_file *file)
{
    return (double)file->unreadable;
}

static double file_time(const struct measured_file *file)
{
    return (double)file->time_ns / 1e9;
}

const struct measure_of_file measures_of_file[MEASURES_OF_FILE] = {
    {{"libleak_processes", false, "Processes under libleak that run."}, file_processes},
    {{"libleak_processes_left_out", false, "Processes without series, since --series has no room."},
     file_left_out},
    {{"libleak_processes_unreadable", false,
      "Processes without series, since their store cannot be read."},
     file_unreadable},
    {{"libleak_written_time_seconds", false, "When these metrics were taken, since the epoch."},
     file_time},
};

/* ---- Of a process: NAN where it is not known ------------------------------------------------- */

static double process_info(const struct measured *process)
{
    (void)process;
    return 1;
}

static double process_start(const struct measured *process)
{
    return (double)process->glance->started_ns / 1e9;
}

static double process_live_bytes(const struct measured *process)
{
    return (double)process->glance->total.bytes;
}

static double process_live_blocks(const struct measured *process)
{
    return (double)process->glance->total.blocks;
}

static double process_peak(const struct measured *process)
{
    return process->glance->peak.bytes ? (double)process->glance->peak.bytes : NAN;
}

static double process_allocations(const struct measured *process)
{
    return (double)process->member->allocs;
}

static double process_frees(const struct measured *process)
{
    return (double)process->member->frees;
}

static double process_growing(const struct measured *process)
{
    return (double)process->glance->growing;
}

static double process_growth(const struct measured *process)
{
    return process->growth;
}

static double if_looked(const struct measured *process, uint64_t value)
{
    return process->glance->look_ns ? (double)value : NAN;
}

static double process_lost_bytes(const struct measured *process)
{
    return if_looked(process, process->glance->lost.bytes);
}

static double process_lost_blocks(const struct measured *process)
{
    return if_looked(process, process->glance->lost.blocks);
}

static double process_indirect_bytes(const struct measured *process)
{
    return if_looked(process, process->glance->lost.indirect_bytes);
}

static double process_indirect_blocks(const struct measured *process)
{
    return if_looked(process, process->glance->lost.indirect_blocks);
}

static double process_look(const struct measured *process)
{
    return if_looked(process, process->glance->look_ns) / 1e9;
}

static double process_limit(const struct measured *process)
{
    return process->glance->limit ? (double)process->glance->limit : NAN;
}

static double process_left_out(const struct measured *process)
{
    return (double)(process->rows - process->shown);
}

static void label_info(const struct measured *process, FILE *stream)
{
    label_write("exe", process->glance->exe, 0, false, stream);
    label_write("sampled", process->glance->sampled ? "true" : "false", 0, false, stream);
}

static void label_limit(const struct measured *process, FILE *stream)
{
    static const char *const word[LEAK_LIMIT_MAX] = {[LEAK_LIMIT_NONE] = "unknown",
                                                     [LEAK_LIMIT_ADDRESS_SPACE] = "address-space",
                                                     [LEAK_LIMIT_DATA] = "data",
                                                     [LEAK_LIMIT_CGROUP] = "cgroup"};

    label_write("limit", word[process->glance->limit_of], 0, false, stream);
}

const struct measure_of_process measures_of_process[MEASURES_OF_PROCESS] = {
    {{"libleak_process_info", false, "1; sampled: the other numbers are estimates."},
     process_info,
     label_info},
    {{"libleak_start_time_seconds", false, "When the process began, since the epoch."},
     process_start,
     NULL},
    {{"libleak_live_bytes", false, "Bytes on the heap."}, process_live_bytes, NULL},
    {{"libleak_live_blocks", false, "Blocks on the heap."}, process_live_blocks, NULL},
    {{"libleak_peak_bytes", false, "Bytes on the heap when it was largest."}, process_peak, NULL},
    {{"libleak_allocations_total", true, "Blocks allocated."}, process_allocations, NULL},
    {{"libleak_frees_total", true, "Blocks freed."}, process_frees, NULL},
    {{"libleak_growing_sites", false, "Sites that grow."}, process_growing, NULL},
    {{"libleak_growth_bytes_per_second", false, "How fast the sites that grow do so, together."},
     process_growth,
     NULL},
    {{"libleak_lost_bytes", false, "Bytes that the last look found lost and that are still there."},
     process_lost_bytes,
     NULL},
    {{"libleak_lost_blocks", false,
      "Blocks that the last look found lost and that are still there."},
     process_lost_blocks,
     NULL},
    {{"libleak_indirect_bytes", false, "Bytes that are lost with their owner."},
     process_indirect_bytes,
     NULL},
    {{"libleak_indirect_blocks", false, "Blocks that are lost with their owner."},
     process_indirect_blocks,
     NULL},
    {{"libleak_look_time_seconds", false, "When the heap was last looked at, since the epoch."},
     process_look,
     NULL},
    {{"libleak_memory_limit_bytes", false, "The least limit of its memory when it began."},
     process_limit,
     label_limit},
    {{"libleak_sites_left_out", false,
      "Sites without series, since --sites or --series has no room."},
     process_left_out,
     NULL},
};

/* ---- Of a site: NAN where it is not known ---------------------------------------------------- */

static double site_live_bytes(const struct measured *process, size_t row)
{
    return (double)process->glance->counts[row].bytes;
}

static double site_live_blocks(const struct measured *process, size_t row)
{
    return (double)process->glance->counts[row].blocks;
}

static double site_lost_bytes(const struct measured *process, size_t row)
{
    return if_looked(process, process->glance->rows[row].lost.bytes);
}

static double site_growing(const struct measured *process, size_t row)
{
    const struct growth *growth = process->glance->rows[row].growth;

    if (!growth)
        return NAN;
    return growth->verdict == GROWTH_GROWING ? 1 : growth->verdict == GROWTH_SLOW_CONSUMER ? 2 : 0;
}

static double site_growth(const struct measured *process, size_t row)
{
    const struct growth *growth = process->glance->rows[row].growth;

    return growth ? (double)growth->bytes_per_second : NAN;
}

const struct measure_of_site measures_of_site[MEASURES_OF_SITE] = {
    {{"libleak_site_live_bytes", false, "Bytes on the heap of a site."}, site_live_bytes},
    {{"libleak_site_live_blocks", false, "Blocks on the heap of a site."}, site_live_blocks},
    {{"libleak_site_lost_bytes", false, "Bytes of a site that the last look found lost."},
     site_lost_bytes},
    {{"libleak_site_growing", false, "1 it grows, 2 it is a slow consumer, 0 it does not grow."},
     site_growing},
    {{"libleak_site_growth_bytes_per_second", false, "How fast a site grows."}, site_growth},
};
