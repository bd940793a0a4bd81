/* text.c - writes the report of a scan as text. */
#include "scan/report/report.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/term_text.h"

/* ---- Leaks ----------------------------------------------------------------------------------- */

static const char *program_name(const struct image *image)
{
    const char *slash = image->program ? strrchr(image->program, '/') : NULL;

    return !image->program ? "program" : slash ? slash + 1 : image->program;
}

static void write_headline(const struct scan_report *report, FILE *stream)
{
    static const enum verdict listed[] = {VERDICT_LOST, VERDICT_POSSIBLE, VERDICT_HIDDEN};
    const struct verdict_total *totals = report->groups->totals;
    const char *name = program_name(report->image), *comma = "\n";

    fprintf(stream, "%s (pid %d)%s%s:", term_text(name, strlen(name), 0).text, report->image->pid,
            report->core ? ", core file " : "",
            report->core ? term_text(report->core, strlen(report->core), 0).text : "");
    if (!totals[VERDICT_LOST].blocks)
        fprintf(stream, "\nno lost blocks"), comma = ",\n";
    for (size_t i = 0; i < sizeof(listed) / sizeof(*listed); i++) {
        const struct verdict_total *total = &totals[listed[i]];

        if (!total->blocks)
            continue;
        fprintf(stream, "%s%s in %s", comma, term_size(total->bytes).text,
                term_count(total->blocks, "block").text);
        fprintf(stream, " %s (%s)", verdict_words[listed[i]],
                term_count(total->records, "record").text);
        if (listed[i] == VERDICT_LOST && totals[VERDICT_INDIRECT].blocks)
            fprintf(stream, ", plus %s indirectly lost",
                    term_size(totals[VERDICT_INDIRECT].bytes).text);
        comma = ",\n";
    }
    fputs("\n", stream);
}

static void write_class(const struct group *group, FILE *stream)
{
    if (group->kind != CONTENT_OBJECT)
        return;
    if (group->class_name)
        fprintf(stream, "     class %s\n",
                term_text(group->class_name, strlen(group->class_name), 90).text);
    else if (group->place)
        fprintf(stream, "     a C++ object, its virtual table at %s\n",
                term_text(group->place, strlen(group->place), 0).text);
}

static void write_group(const struct scan_report *report, const struct group *group, size_t number,
                        FILE *stream)
{
    fprintf(stream, "\n%zu. %s in %s", number, term_size(group->bytes).text,
            term_count(group->blocks, "block").text);
    if (group->blocks > 1)
        fprintf(stream, " of %s", term_size(group->block_size).text);
    fprintf(stream, " %s\n", verdict_words[group->verdict]);
    write_class(group, stream);
    if (group->cycles)
        fprintf(stream, "     reference cycle%s\n", group->cycles > 1 ? "s" : "");
    if (group->indirect_blocks)
        fprintf(stream, "     fixing this leak releases %s in %s\n",
                term_size(group->bytes + group->indirect_bytes).text,
                term_count(group->blocks + group->indirect_blocks, "block").text);
    fputs("     at", stream);
    for (unsigned i = 0; i < group->sample_count; i++)
        fprintf(stream, "%s 0x%" PRIx64, i ? "," : "", group->samples[i]);
    fputs(group->blocks > group->sample_count ? ", ...\n" : "\n", stream);
    if (report->content && group->kind == CONTENT_ZEROS)
        fputs("     content: zeros\n", stream);
    else if (report->content)
        fprintf(stream, "     content: |%s|\n", group->content);
}

static void write_groups(const struct scan_report *report, FILE *stream)
{
    const struct groups *groups = report->groups;
    size_t shown = groups->count < report->most ? groups->count : report->most;

    for (size_t i = 0; i < shown; i++)
        write_group(report, &groups->group[i], i + 1, stream);
    if (shown < groups->count)
        fprintf(stream, "\n%s not shown (--top=%zu shows all).\n",
                term_count(groups->count - shown, "record").text, groups->count);
}

/* ---- The state of the heap ------------------------------------------------------------------- */

static void write_row(const char *name, const uint64_t bytes[CHUNK_STATES], uint64_t hole,
                      FILE *stream)
{
    fprintf(stream, "  %-10s %12s", name, term_size(bytes[CHUNK_USED] + bytes[CHUNK_OWN]).text);
    fprintf(stream, " %12s", term_size(bytes[CHUNK_FREE]).text);
    fprintf(stream, " %12s", term_size(bytes[CHUNK_CACHED]).text);
    fprintf(stream, " %12s", term_size(bytes[CHUNK_FAST]).text);
    fprintf(stream, " %12s", term_size(bytes[CHUNK_TOP]).text);
    fprintf(stream, " %12s\n", term_size(hole).text);
}

#define ARENAS_SHOWN 8

static void write_arenas(const struct glibc_heap *heap, FILE *stream)
{
    uint64_t sum[CHUNK_STATES] = {0}, hole = 0;
    char name[32] = "main";

    fprintf(stream, "  %-10s %12s %12s %12s %12s %12s %12s\n", "arena", "in use", "free",
            "in tcache", "in fast bins", "top", "largest hole");
    for (size_t i = 0; i < heap->arena_count; i++) {
        const struct heap_arena *arena = &heap->arenas[i];

        if (i)
            snprintf(name, sizeof(name), "%zu", i);
        if (i < ARENAS_SHOWN)
            write_row(name, arena->bytes, arena->largest_hole, stream);
        for (int k = 0; k < CHUNK_STATES; k++)
            sum[k] += arena->bytes[k];
        hole = arena->largest_hole > hole ? arena->largest_hole : hole;
    }
    if (heap->arena_count > 1)
        write_row("all", sum, hole, stream);
}

/* Returns the percentage of the heap that is free but not returned to the system: the program can
 * use it again. */
static unsigned free_share(const struct glibc_heap *heap)
{
    uint64_t all = heap->mapped_bytes, unused = 0;

    for (size_t i = 0; i < heap->arena_count; i++)
        for (int k = 0; k < CHUNK_STATES; k++) {
            all += k == CHUNK_TOP ? 0 : heap->arenas[i].bytes[k];
            unused += k == CHUNK_FREE || k == CHUNK_CACHED || k == CHUNK_FAST
                          ? heap->arenas[i].bytes[k]
                          : 0;
        }
    return all ? (unsigned)(unused * 100 / all) : 0;
}

static void write_heap(const struct scan_report *report, FILE *stream)
{
    const struct glibc_heap *heap = report->heap;

    fprintf(stream, "\nHeap of glibc%s%s: %s", heap->version ? " " : "",
            heap->version ? heap->version : "", term_count(heap->arena_count, "arena").text);
    fprintf(stream, ", %s of a thread, %s", term_count(heap->caches, "cache").text,
            term_count(heap->mapped_count, "mapped chunk").text);
    fprintf(stream, " (%s); fragmentation %u %%\n", term_size(heap->mapped_bytes).text,
            free_share(heap));
    write_arenas(heap, stream);
}

/* Writes the summary line, with which every text report of the project ends. */
static void write_summary(const struct scan_report *report, FILE *stream)
{
    fprintf(stream, "libleak: pid=%d", report->image->pid);
    for (int v = 0; v < VERDICT_MAX; v++)
        fprintf(stream, " %s=%" PRIu64 "/%" PRIu64 "/%" PRIu64, verdict_word[v],
                report->groups->totals[v].bytes, report->groups->totals[v].blocks,
                report->groups->totals[v].records);
    fputs(" growing=0 errors=0 resources=0\n", stream);
}

void report_write_text(const struct scan_report *report, FILE *stream)
{
    const struct verdict_total *reachable = &report->groups->totals[VERDICT_REACHABLE];

    write_headline(report, stream);
    write_groups(report, stream);
    write_heap(report, stream);
    fprintf(stream, "\n%s in ", term_size(reachable->bytes).text);
    fprintf(stream, "%s still reachable%s.\n", term_count(reachable->blocks, "block").text,
            reachable->records ? "" : " (--show=all)");
    if (report->core)
        fprintf(stream, "Read in %.0f ms.\n", (double)report->check_ns / 1e6);
    else
        fprintf(stream, "Stopped for %.1f ms (%u %s, longest %.1f ms), read in %.0f ms.\n",
                (double)report->pause_ns / 1e6, report->looks,
                report->looks == 1 ? "look" : "looks", (double)report->longest_ns / 1e6,
                (double)report->check_ns / 1e6);
    for (size_t i = 0; i < report->note_count; i++)
        fprintf(stream, "%s.\n", term_text(report->notes[i], strlen(report->notes[i]), 0).text);
    fputs("Sizes are those of malloc_usable_size; where blocks were allocated is not known without "
          "libleak.\n\n",
          stream);
    write_summary(report, stream);
}

void report_note(struct scan_report *report, const char *note)
{
    if (report->note_count < REPORT_NOTES)
        report->notes[report->note_count++] = note;
}
