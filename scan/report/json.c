/* json.c - writes the report of a scan as JSON (docs/scan.schema.json). */
#include "scan/report/report.h"

#include "common/encode/json_writer.h"

static void put_group(struct json_writer *json, const struct scan_report *report,
                      const struct group *group)
{
    json_open(json, NULL, '{');
    json_put_text(json, "verdict", verdict_word[group->verdict]);
    json_put_number(json, "bytes", group->bytes);
    json_put_number(json, "blocks", group->blocks);
    json_put_number(json, "block_size", group->block_size);
    json_put_text(json, "kind", content_word[group->kind]);
    json_put_text(json, "class", group->class_name);
    json_put_text(json, "vtable", group->place);
    json_open(json, "retained", '{');
    json_put_number(json, "bytes", group->bytes + group->indirect_bytes);
    json_put_number(json, "blocks", group->blocks + group->indirect_blocks);
    json_close(json, '}');
    json_put_bool(json, "cycle", group->cycles);
    json_open(json, "samples", '[');
    for (unsigned i = 0; i < group->sample_count; i++)
        json_put_address(json, NULL, group->samples[i]);
    json_close(json, ']');
    json_put_text(json, "content", report->content ? group->content : NULL);
    json_close(json, '}');
}

static void put_arena(struct json_writer *json, const struct heap_arena *arena)
{
    static const char *const words[CHUNK_STATES] = {"used", "free", "fast", "tcache", "top", "own"};

    json_open(json, NULL, '{');
    json_put_address(json, "address", arena->address);
    for (int k = 0; k < CHUNK_STATES; k++) {
        json_open(json, words[k], '{');
        json_put_number(json, "bytes", arena->bytes[k]);
        json_put_number(json, "chunks", arena->count[k]);
        json_close(json, '}');
    }
    json_put_number(json, "largest_hole", arena->largest_hole);
    json_put_number(json, "system_bytes", arena->system_bytes);
    json_put_bool(json, "damaged", arena->broken);
    json_close(json, '}');
}

static void put_heap(struct json_writer *json, const struct glibc_heap *heap)
{
    json_open(json, "heap", '{');
    json_put_text(json, "libc", heap->version);
    json_put_text(json, "object", heap->found_in);
    json_put_number(json, "thread_caches", heap->caches);
    json_open(json, "mapped", '{');
    json_put_number(json, "bytes", heap->mapped_bytes);
    json_put_number(json, "chunks", heap->mapped_count);
    json_close(json, '}');
    json_open(json, "arenas", '[');
    for (size_t i = 0; i < heap->arena_count; i++)
        put_arena(json, &heap->arenas[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void put_look(struct json_writer *json, const struct scan_report *report)
{
    json_open(json, "look", '{');
    json_put_number(json, "looks", report->looks);
    if (report->core) {
        json_put_null(json, "pause_ms");
        json_put_null(json, "longest_pause_ms");
    } else {
        json_put_fraction(json, "pause_ms", (double)report->pause_ns / 1e6);
        json_put_fraction(json, "longest_pause_ms", (double)report->longest_ns / 1e6);
    }
    json_put_fraction(json, "check_ms", (double)report->check_ns / 1e6);
    json_put_number(json, "threads", report->image->thread_count);
    json_put_number(json, "root_bytes", report->root_bytes);
    json_close(json, '}');
}

static void put_summary(struct json_writer *json, const struct groups *groups)
{
    json_open(json, "summary", '{');
    for (int v = 0; v < VERDICT_MAX; v++) {
        json_open(json, verdict_word[v], '{');
        json_put_number(json, "bytes", groups->totals[v].bytes);
        json_put_number(json, "blocks", groups->totals[v].blocks);
        json_put_number(json, "records", groups->totals[v].records);
        json_close(json, '}');
    }
    json_close(json, '}');
}

void report_write_json(const struct scan_report *report, FILE *stream)
{
    struct json_writer json = {.stream = stream};

    json_open(&json, NULL, '{');
    json_put_text(&json, "format", "libleak-scan");
    json_put_number(&json, "version", 1);
    json_open(&json, "tool", '{');
    json_put_text(&json, "name", "libleak");
    json_put_text(&json, "version", LEAK_VERSION);
    json_close(&json, '}');
    json_put_number(&json, "pid", (uint64_t)report->image->pid);
    json_put_text(&json, "exe", report->image->program);
    json_put_text(&json, "core", report->core);
    put_look(&json, report);
    put_summary(&json, report->groups);
    json_open(&json, "records", '[');
    for (size_t i = 0; i < report->groups->count; i++)
        put_group(&json, report, &report->groups->group[i]);
    json_close(&json, ']');
    put_heap(&json, report->heap);
    json_open(&json, "notes", '[');
    for (size_t i = 0; i < report->note_count; i++)
        json_put_text(&json, NULL, report->notes[i]);
    json_close(&json, ']');
    json_put_bool(&json, "bytes_escaped", json.bytes_escaped);
    json_close(&json, '}');
    putc('\n', stream);
}
