/* pages.c - writes the pages as HTML; described in pages.h. */
#include "serve/pages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/term_text.h"
#include "common/encode/encode.h"
#include "common/view/text_frame.h"
#include "top/listing.h"

#define DETAIL_LINES 40
#define NAME_COLUMNS 120
#define CALLERS_SHOWN 4

/* ---- Parts that several pages have ----------------------------------------------------------- */

/* Writes a text as on a terminal: control characters are escaped. */
static void write_text(const char *text, FILE *stream)
{
    escape_xml(stream, term_text(text, strlen(text), 0).text);
}

static void begin_page(const char *title, const struct page_choice *choice, FILE *stream)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
          stream);
    if (choice && choice->renew)
        fprintf(stream, "<meta http-equiv=\"refresh\" content=\"%.0f\">\n",
                choice->interval < 1 ? 1 : choice->interval);
    fputs("<title>", stream);
    write_text(title, stream);
    fputs(" - leaktop</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n",
          stream);
}

static void end_page(FILE *stream)
{
    fputs("</main>\n</body>\n</html>\n", stream);
}

static void write_clock(uint64_t ns, FILE *stream)
{
    char text[32] = "?";
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;

    if (localtime_r(&seconds, &parts))
        strftime(text, sizeof(text), "%H:%M:%S", &parts);
    fputs(text, stream);
}

static uint64_t time_since(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

/* Writes how long ago a time was: "12 s ago". */
static void write_ago(uint64_t now, uint64_t then, FILE *stream)
{
    char span[TIME_TEXT_SIZE];

    fprintf(stream, "%s ago", time_format_span(time_since(now, then), span));
}

/* Writes how long a process has to run before its growth is known. */
static void write_verdict_note(uint64_t ran_ns, FILE *stream)
{
    double needed = GROWTH_SECONDS_LEAST + 1;

    if ((double)ran_ns < needed * 1e9)
        fprintf(stream, " It is known when a process has run for %.0f s.", needed);
}

/* Writes a site as "grow at shelf.c:8". */
static void write_site_words(const struct site_name *name, FILE *stream)
{
    static const struct view view;
    const char *place;
    struct term_text text;

    if (!name->title) {
        fputs("code without a stack", stream);
        return;
    }
    fputs("<code>", stream);
    escape_xml(stream, text_function_name(name->title, &view, NAME_COLUMNS).text);
    fputs("</code>", stream);
    text = text_place(name->title, &view);
    place = text.text;
    if (*place)
        fputs(strncmp(place, "in ", 3) == 0 ? " " : " at ", stream);
    escape_xml(stream, place);
}

/* Writes the names of the functions that called the site's function, without repetitions: "called
 * by parse, main". */
static void write_callers(const struct site_name *name, size_t most, FILE *stream)
{
    static const struct view view;
    const char *last = name->title ? name->title->function : NULL;
    bool is_after = false;
    size_t written = 0;

    for (size_t i = 0; i < name->stack.count && written < most; i++) {
        const struct frame *frame = name->stack.frames[i];

        if (is_after && frame->function && (!last || strcmp(frame->function, last) != 0)) {
            fputs(written++ ? ", " : "called by ", stream);
            escape_xml(stream, text_function_name(frame, &view, NAME_COLUMNS).text);
            last = frame->function;
        }
        is_after |= frame == name->title;
        if (frame->function && strcmp(frame->function, "main") == 0)
            return;
    }
}

static const char *program_name(const struct fleet_member *member)
{
    return member->found.name;
}

/* ---- The table of sites ---------------------------------------------------------------------- */

enum table_of { TABLE_OF_GROWTH, TABLE_OF_DIFFERENCE, TABLE_OF_LOST };

static const char *const table_heads[] = {
    [TABLE_OF_GROWTH] = ("<th>Grows</th><th>Live</th><th class=\"least\">Blocks</th>"
                         "<th class=\"less\">%</th><th class=\"less\">Allocs/s</th>"
                         "<th class=\"less\">Frees/s</th><th class=\"least\">Trend</th>"),
    [TABLE_OF_DIFFERENCE] = ("<th>Change</th><th>Live</th><th class=\"least\">Blocks</th>"
                             "<th class=\"less\">Allocs/s</th><th class=\"less\">Frees/s</th>"
                             "<th class=\"least\">Trend</th>"),
    [TABLE_OF_LOST] = ("<th>Lost</th><th class=\"least\">Blocks</th><th>Indirectly</th>"
                       "<th class=\"less\">Live</th><th class=\"least\">Trend</th>"),
};

struct sites_table {
    enum table_of of;
    const struct heap_snapshot *snapshot;
    const struct counter_baseline *mark;
    const size_t *rows;
    size_t count;
};

static void write_cell(const char *class, const char *text, FILE *stream)
{
    fprintf(stream, "<td%s%s%s>%s</td>", class ? " class=\"" : "", class ? class : "",
            class ? "\"" : "", text);
}

/* Writes the growth of a site, "0.4 MB/s", or an empty cell. */
static void write_growth_cell(const struct snapshot_row *row, FILE *stream)
{
    char cell[CELL_SIZE], text[CELL_SIZE + 4] = "";

    if (row->growth && growth_is_growing(row->growth->verdict))
        snprintf(text, sizeof(text), "+%s/s", cell_bytes(row->growth->bytes_per_second, cell));
    write_cell("first bad", text, stream);
}

static void write_rates(const struct counter_delta *delta, FILE *stream)
{
    char cell[CELL_SIZE];

    write_cell("less", cell_rate(delta->known, delta->allocs, cell), stream);
    write_cell("less", cell_rate(delta->known, delta->frees, cell), stream);
}

/* Says whether the site added at least a twentieth of all bytes that were added since the mark. */
static bool is_large_change(const struct sites_table *table, int64_t bytes)
{
    const struct heap_snapshot *snapshot = table->snapshot;

    return table->mark && bytes > 0 &&
           bytes >=
               counter_delta_of_total(table->mark, &snapshot->total, snapshot->time).bytes / 20;
}

static void write_numbers(const struct sites_table *table, size_t i, FILE *stream)
{
    const struct snapshot_row *row = &table->snapshot->rows[i];
    const struct counters *counts = &table->snapshot->counts[i];
    struct counter_delta change = order_delta(table->snapshot, i, table->mark);
    char cell[CELL_SIZE];

    switch (table->of) {
    case TABLE_OF_GROWTH:
        write_growth_cell(row, stream);
        write_cell(NULL, cell_bytes(counts->bytes, cell), stream);
        write_cell("least", cell_count(counts->blocks, cell), stream);
        write_cell("less", cell_share(counts->bytes, table->snapshot->total.bytes, cell), stream);
        write_rates(&row->delta, stream);
        break;
    case TABLE_OF_DIFFERENCE:
        write_cell(is_large_change(table, change.bytes) ? "first bad" : "first",
                   cell_delta(change.known, change.bytes, cell), stream);
        write_cell(NULL, cell_bytes(counts->bytes, cell), stream);
        write_cell("least", cell_count(counts->blocks, cell), stream);
        write_rates(&change, stream);
        break;
    case TABLE_OF_LOST:
        write_cell("first bad", cell_bytes(row->lost.bytes, cell), stream);
        write_cell("least", cell_count(row->lost.blocks, cell), stream);
        write_cell(NULL, cell_bytes(row->lost.indirect_bytes, cell), stream);
        write_cell("less", cell_bytes(counts->bytes, cell), stream);
        break;
    }
    write_cell("least", row->growth ? growth_word[row->growth->verdict] : "", stream);
}

/* Writes the details of a site, which the reader can open: why it grows, the source, the stack. */
static void write_site_details(const struct snapshot_row *row, FILE *stream)
{
    static const struct view view;
    const struct frame *title = row->name->title;
    char *text = NULL;
    size_t length;
    FILE *lines;

    fputs("<td class=\"text\"><details><summary>", stream);
    escape_xml(stream, title ? text_function_name(title, &view, NAME_COLUMNS).text : "(no stack)");
    fputs(" <span class=\"place\">", stream);
    if (title)
        escape_xml(stream, text_place(title, &view).text);
    fputs("<br><span class=\"callers\">", stream);
    write_callers(row->name, CALLERS_SHOWN, stream);
    fputs("</span></span></summary><pre>", stream);
    lines = open_memstream(&text, &length);
    if (lines) {
        listing_write_details(row, DETAIL_LINES, 0, lines);
        fclose(lines);
        escape_xml(stream, text);
    }
    free(text);
    fputs("</pre></details></td>", stream);
}

static void write_sites(const struct sites_table *table, const struct page_choice *choice,
                        FILE *stream)
{
    size_t shown = choice->top && choice->top < table->count ? choice->top : table->count;

    if (!table->count) {
        fputs("<p class=\"note\">No sites.</p>\n", stream);
        return;
    }
    fprintf(stream,
            "<table>\n<thead><tr>%s<th class=\"text\">Function</th></tr></thead>\n<tbody>\n",
            table_heads[table->of]);
    for (size_t i = 0; i < shown; i++) {
        fputs("<tr>", stream);
        write_numbers(table, table->rows[i], stream);
        write_site_details(&table->snapshot->rows[table->rows[i]], stream);
        fputs("</tr>\n", stream);
    }
    fputs("</tbody>\n</table>\n", stream);
    if (shown < table->count)
        fprintf(stream, "<p class=\"note\">%s more: <a href=\"?top=0\">show all</a></p>\n",
                term_count(table->count - shown, "site").text);
}

/* ---- The pages of one process ---------------------------------------------------------------- */

enum tab { TAB_GROWTH, TAB_DIFFERENCE, TAB_LOOK };

static void write_tab(const struct fleet_member *member, const char *below, const char *words,
                      bool is_current, FILE *stream)
{
    fprintf(stream, "<a href=\"/process/%d%s\"%s>%s</a>", (int)member->found.pid, below,
            is_current ? " aria-current=\"page\"" : "", words);
}

static void begin_process(const struct fleet_member *member, const struct page_choice *choice,
                          FILE *stream)
{
    const struct heap_snapshot *snapshot = member->snapshot;
    char span[TIME_TEXT_SIZE];

    begin_page(program_name(member), choice, stream);
    fputs("<header><h1>", stream);
    write_text(program_name(member), stream);
    fprintf(stream, "<small>pid %d, running for %s, %s%s in %s</small></h1>\n<p class=\"answer\">",
            snapshot->pid,
            time_format_span(time_since(snapshot->time_ns, snapshot->started_ns), span),
            snapshot->sampled ? "about " : "", term_size(snapshot->total.bytes).text,
            term_count(snapshot->total.blocks, "block").text);
}

/* Writes the tabs. They stand after the sentence that answers the question of the page. */
static void write_tabs(const struct fleet_member *member, enum tab tab, FILE *stream)
{
    fputs("</p>\n<nav><a href=\"/\">All processes</a>", stream);
    write_tab(member, "", "Growth", tab == TAB_GROWTH, stream);
    write_tab(member, "/diff", "Since a mark", tab == TAB_DIFFERENCE, stream);
    write_tab(member, "/look", "Leak check", tab == TAB_LOOK, stream);
    write_tab(member, "/report", "Report", false, stream);
    fputs("</nav></header>\n<main>\n", stream);
}

static void write_renewal(const struct heap_snapshot *snapshot, const struct page_choice *choice,
                          FILE *stream)
{
    fputs("<span>as of ", stream);
    write_clock(snapshot->time_ns, stream);
    fprintf(stream, "</span> <a href=\"?renew=%d\">%s</a>", !choice->renew,
            choice->renew ? "stop renewing" : "renew");
}

static void write_action_button(const struct fleet_member *member, const char *below,
                                const char *words, FILE *stream)
{
    fprintf(stream, "<form method=\"post\" action=\"/process/%d/%s\"><button>%s</button></form>\n",
            (int)member->found.pid, below, words);
}

/* Writes the heap over time as a picture (SVG) of 1000 by 100 units. */
static void write_chart(const struct heap_snapshot *snapshot, FILE *stream)
{
    const struct moment *at = snapshot->history;
    size_t count = snapshot->history_count;
    uint64_t most = 1, span;
    char cell[CELL_SIZE];

    if (count < 2)
        return;
    for (size_t i = 0; i < count; i++)
        most = at[i].bytes > most ? at[i].bytes : most;
    span = time_since(at[count - 1].time_ns, at[0].time_ns);
    fprintf(stream,
            "<figure><figcaption><span>Heap over time, up to %s</span></figcaption>"
            "<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"heap over time\"><polygon points=\"0,100",
            cell_bytes(most, cell));
    for (size_t i = 0; i < count; i++)
        fprintf(stream, " %.1f,%.1f",
                span ? 1000.0 * (double)time_since(at[i].time_ns, at[0].time_ns) / (double)span : 0,
                98 - 94.0 * (double)at[i].bytes / (double)most);
    fputs(" 1000,100\"/></svg><figcaption><span>", stream);
    write_clock(at[0].time_ns, stream);
    fputs("</span><span>", stream);
    write_clock(at[count - 1].time_ns, stream);
    fputs("</span></figcaption></figure>\n", stream);
}

static void write_filter_form(const struct page_choice *choice, FILE *stream)
{
    fprintf(stream,
            "<form><input type=\"hidden\" name=\"sort\" value=\"%s\">"
            "<input name=\"filter\" placeholder=\"function, file, module\" "
            "aria-label=\"filter\"",
            order_word[choice->order]);
    escape_attribute(stream, "value", choice->filter ? choice->filter : "");
    fputs("> <button>filter</button></form>\n", stream);
}

static void write_sort_links(const struct page_choice *choice, FILE *stream)
{
    fputs("<span>sorted by</span>", stream);
    for (size_t i = 0; i < ORDER_MAX; i++)
        fprintf(stream, i == choice->order ? "<b>%s</b>" : "<a href=\"?sort=%1$s\">%1$s</a>",
                order_word[i]);
}

static void write_growth_answer(const struct heap_snapshot *snapshot, const size_t *rows,
                                size_t count, FILE *stream)
{
    const struct snapshot_row *fastest = NULL;
    char cell[CELL_SIZE];

    for (size_t i = 0; i < count; i++) {
        const struct snapshot_row *row = &snapshot->rows[rows[i]];

        if (row->growth && growth_is_growing(row->growth->verdict) &&
            (!fastest || row->growth->bytes_per_second > fastest->growth->bytes_per_second))
            fastest = row;
    }
    if (!fastest) {
        fputs("<span class=\"good\">No site grows.</span>", stream);
        write_verdict_note(time_since(snapshot->time_ns, snapshot->started_ns), stream);
        return;
    }
    fprintf(stream, "<span class=\"bad\">%s grow%s</span>, %sby %s/s, in ",
            term_count(snapshot->growing, "site").text, snapshot->growing == 1 ? "s" : "",
            snapshot->growing == 1 ? "" : "the fastest ",
            cell_bytes(fastest->growth->bytes_per_second, cell));
    write_site_words(fastest->name, stream);
    fputs(".", stream);
}

void page_write_growth(struct heaps *heaps, const struct fleet_member *member,
                       const struct page_choice *choice, FILE *stream)
{
    const struct heap_snapshot *snapshot = member->snapshot;
    struct ordering ordering = {.order = choice->order, .filter = choice->filter};
    struct sites_table table = {.of = TABLE_OF_GROWTH, .snapshot = snapshot};
    size_t *rows = order_rows(snapshot, &ordering, &table.count);

    (void)heaps;
    table.rows = rows;
    begin_process(member, choice, stream);
    write_growth_answer(snapshot, rows, table.count, stream);
    write_tabs(member, TAB_GROWTH, stream);
    write_chart(snapshot, stream);
    fputs("<div class=\"choices\">", stream);
    write_sort_links(choice, stream);
    write_filter_form(choice, stream);
    write_renewal(snapshot, choice, stream);
    fputs("</div>\n", stream);
    write_sites(&table, choice, stream);
    fprintf(stream,
            "<p class=\"note\">Open a row for its source and its stack. For Go's tool: "
            "<code>go tool pprof http://HOST/process/%d/debug/pprof/heap</code></p>\n",
            snapshot->pid);
    end_page(stream);
    free(rows);
}

/* ---- The page with changes since a mark ------------------------------------------------------ */

static const char *const mark_words[MARKS] = {
    [MARK_MINUTE] = "1 minute", [MARK_TEN_MINUTES] = "10 minutes",
    [MARK_HOUR] = "1 hour",     [MARK_FIRST] = "first seen",
    [MARK_USER] = "mark",
};

static void write_mark_links(const struct marks *marks, enum mark chosen, FILE *stream)
{
    fputs("<span>since</span>", stream);
    for (enum mark i = 0; i < MARKS; i++)
        if (i == chosen)
            fprintf(stream, "<b>%s</b>", mark_words[i]);
        else if (marks_find(marks, i))
            fprintf(stream, "<a href=\"?since=%s\">%s</a>", mark_word[i], mark_words[i]);
        else
            fprintf(stream, "<span>%s: none yet</span>", mark_words[i]);
}

static void write_difference_answer(const struct sites_table *table, FILE *stream)
{
    const struct heap_snapshot *snapshot = table->snapshot;
    struct counter_delta total;
    char cell[CELL_SIZE], span[TIME_TEXT_SIZE];

    if (!table->mark) {
        fputs("There is no such mark yet.", stream);
        return;
    }
    total = counter_delta_of_total(table->mark, &snapshot->total, snapshot->time);
    fprintf(stream, "<span class=\"%s\">%s</span> since %s ago", total.bytes > 0 ? "bad" : "good",
            cell_delta(true, total.bytes, cell),
            time_format_span((uint64_t)((snapshot->time - table->mark->time) * 1e9), span));
    if (table->count && order_delta(snapshot, table->rows[0], table->mark).bytes > 0) {
        fprintf(stream, ", most of it, %s, in ",
                cell_delta(true, order_delta(snapshot, table->rows[0], table->mark).bytes, cell));
        write_site_words(snapshot->rows[table->rows[0]].name, stream);
    }
    fputs(".", stream);
}

/* Removes the rows without a change. order_rows() keeps such rows if they have live blocks. */
static void keep_changed(struct sites_table *table, size_t *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->count; i++)
        if (order_delta(table->snapshot, rows[i], table->mark).bytes)
            rows[kept++] = rows[i];
    table->count = kept;
}

void page_write_difference(struct heaps *heaps, const struct fleet_member *member,
                           const struct page_choice *choice, FILE *stream)
{
    const struct heap_snapshot *snapshot = member->snapshot;
    const struct heap_process *notes = heaps_notes(heaps, member);
    struct sites_table table = {.of = TABLE_OF_DIFFERENCE,
                                .snapshot = snapshot,
                                .mark = marks_find(&notes->marks, choice->since)};
    struct ordering ordering = {.order = ORDER_DELTA, .filter = choice->filter, .mark = table.mark};
    size_t *rows = order_rows(snapshot, &ordering, &table.count);

    table.rows = rows;
    keep_changed(&table, rows);
    begin_process(member, choice, stream);
    write_difference_answer(&table, stream);
    write_tabs(member, TAB_DIFFERENCE, stream);
    fputs("<div class=\"choices\">", stream);
    write_mark_links(&notes->marks, choice->since, stream);
    if (choice->allow_actions)
        write_action_button(member, "mark", "set the mark now", stream);
    fputs("<span>as of ", stream);
    write_clock(snapshot->time_ns, stream);
    fputs("</span></div>\n", stream);
    if (table.mark)
        write_sites(&table, choice, stream);
    end_page(stream);
    free(rows);
}

/* ---- The page of the leak check -------------------------------------------------------------- */

static int compare_lost(const void *left, const void *right, void *given)
{
    const struct heap_snapshot *snapshot = given;
    const struct lost_totals *a = &snapshot->rows[*(const size_t *)left].lost;
    const struct lost_totals *b = &snapshot->rows[*(const size_t *)right].lost;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->indirect_bytes > b->indirect_bytes   ? -1
           : a->indirect_bytes < b->indirect_bytes ? 1
                                                   : 0;
}

static size_t *lost_rows(const struct heap_snapshot *snapshot, size_t *count)
{
    size_t *rows = calloc(snapshot->count + 1, sizeof(*rows));

    *count = 0;
    for (size_t i = 0; rows && i < snapshot->count; i++)
        if (snapshot->rows[i].lost.blocks || snapshot->rows[i].lost.indirect_blocks)
            rows[(*count)++] = i;
    if (rows)
        qsort_r(rows, *count, sizeof(*rows), compare_lost, (void *)snapshot);
    return rows;
}

static void write_look_answer(const struct heap_snapshot *snapshot, const size_t *rows,
                              size_t count, FILE *stream)
{
    if (!snapshot->leak_check_ns) {
        fputs("No leak check was made yet, so it is not known what is lost.", stream);
        return;
    }
    if (!count) {
        fputs("<span class=\"good\">Nothing is lost</span>", stream);
    } else {
        fprintf(stream, "<span class=\"bad\">%s in %s lost</span>",
                term_size(snapshot->lost.bytes).text,
                term_count(snapshot->lost.blocks, "block").text);
        if (snapshot->lost.indirect_blocks)
            fprintf(stream, ", plus %s indirectly lost",
                    term_size(snapshot->lost.indirect_bytes).text);
        fputs(", most of it allocated in ", stream);
        write_site_words(snapshot->rows[rows[0]].name, stream);
    }
    fputs(": leak check of ", stream);
    write_clock(snapshot->leak_check_ns, stream);
    fputs(", ", stream);
    write_ago(snapshot->time_ns, snapshot->leak_check_ns, stream);
    fputs(".", stream);
}

void page_write_look(struct heaps *heaps, const struct fleet_member *member,
                     const struct page_choice *choice, FILE *stream)
{
    const struct heap_snapshot *snapshot = member->snapshot;
    const struct heap_process *notes = heaps_notes(heaps, member);
    struct sites_table table = {.of = TABLE_OF_LOST, .snapshot = snapshot};
    size_t *rows = lost_rows(snapshot, &table.count);

    table.rows = rows;
    begin_process(member, choice, stream);
    write_look_answer(snapshot, rows, table.count, stream);
    write_tabs(member, TAB_LOOK, stream);
    if (*notes->action) {
        fputs("<p class=\"note\">", stream);
        write_text(notes->action, stream);
        fputs("</p>\n", stream);
    }
    fputs("<div class=\"choices\">", stream);
    if (choice->allow_actions)
        write_action_button(member, "look", "make a leak check now", stream);
    else
        fprintf(stream, "<span>To make one: <code>leakctl snapshot %d</code></span>",
                snapshot->pid);
    fputs("<span>A leak check stops the process for some milliseconds.</span></div>\n", stream);
    if (table.count)
        write_sites(&table, choice, stream);
    fprintf(stream,
            "<p class=\"note\">What points to the blocks, and who frees others of the line: "
            "<a href=\"/process/%d/report\">report</a>.</p>\n",
            snapshot->pid);
    end_page(stream);
    free(rows);
}

/* ---- The page with all processes ------------------------------------------------------------- */

struct listed_heap {
    const struct fleet_member *member;
    const struct snapshot_row *fastest; /* the fastest growing site; NULL: no site grows */
    uint64_t growth;                    /* sum over all sites, in bytes per second */
};

static struct listed_heap list_heap(const struct fleet_member *member)
{
    struct listed_heap heap = {.member = member};
    const struct heap_snapshot *snapshot = member->snapshot;

    for (size_t i = 0; i < snapshot->count; i++) {
        const struct snapshot_row *row = &snapshot->rows[i];

        if (!row->growth || !growth_is_growing(row->growth->verdict))
            continue;
        heap.growth += row->growth->bytes_per_second;
        if (!heap.fastest || row->growth->bytes_per_second > heap.fastest->growth->bytes_per_second)
            heap.fastest = row;
    }
    return heap;
}

static int compare_heaps(const void *left, const void *right)
{
    const struct listed_heap *a = left, *b = right;
    uint64_t more = a->member->snapshot->total.bytes, less = b->member->snapshot->total.bytes;

    if (a->growth != b->growth)
        return a->growth > b->growth ? -1 : 1;
    return more > less ? -1 : more < less ? 1 : 0;
}

static struct listed_heap *list_heaps(const struct heaps *heaps, size_t *count)
{
    struct listed_heap *list = calloc(heaps->fleet.count + 1, sizeof(*list));

    *count = 0;
    for (size_t i = 0; list && i < heaps->fleet.count; i++)
        if (heaps->fleet.at[i].snapshot)
            list[(*count)++] = list_heap(&heaps->fleet.at[i]);
    if (list)
        qsort(list, *count, sizeof(*list), compare_heaps);
    return list;
}

static uint64_t shortest_run(const struct listed_heap *list, size_t count)
{
    uint64_t shortest = UINT64_MAX;

    for (size_t i = 0; i < count; i++) {
        const struct heap_snapshot *snapshot = list[i].member->snapshot;
        uint64_t ran = time_since(snapshot->time_ns, snapshot->started_ns);

        shortest = ran < shortest ? ran : shortest;
    }
    return shortest;
}

static void write_processes_answer(const struct heaps *heaps, const struct listed_heap *list,
                                   size_t count, FILE *stream)
{
    size_t growing = 0, unreadable = heaps->fleet.count - count;
    char cell[CELL_SIZE];

    while (growing < count && list[growing].fastest)
        growing++;
    if (growing) {
        fprintf(stream, "<span class=\"bad\">%zu of %s grow%s</span>, the fastest, ", growing,
                term_count(count, "process").text, growing == 1 ? "s" : "");
        write_text(program_name(list[0].member), stream);
        fprintf(stream, ", by %s/s, most of it in ", cell_bytes(list[0].growth, cell));
        write_site_words(list[0].fastest->name, stream);
        fputs(".", stream);
    } else if (count) {
        fputs("<span class=\"good\">No process grows.</span>", stream);
        write_verdict_note(shortest_run(list, count), stream);
    } else {
        fputs("No running process uses libleak: start one with <code>leakrun</code>.", stream);
    }
    if (unreadable)
        fprintf(stream, " %zu more: the recording could not be read.", unreadable);
}

/* Returns the largest heap: the recorded peak, or the live bytes if they are more, because the
 * recorded history is a little behind. */
static uint64_t largest_heap(const struct heap_snapshot *snapshot)
{
    uint64_t now = snapshot->total.bytes;

    return snapshot->peak.bytes > now ? snapshot->peak.bytes : now;
}

static void write_heap_row(const struct listed_heap *heap, FILE *stream)
{
    const struct heap_snapshot *snapshot = heap->member->snapshot;
    char cell[CELL_SIZE], rate[CELL_SIZE + 4] = "";

    if (heap->growth)
        snprintf(rate, sizeof(rate), "+%s/s", cell_bytes(heap->growth, cell));
    fputs("<tr>", stream);
    write_cell("first bad", rate, stream);
    write_cell(NULL, cell_bytes(snapshot->total.bytes, cell), stream);
    write_cell("least", cell_bytes(largest_heap(snapshot), cell), stream);
    write_cell(snapshot->lost.bytes ? "bad" : NULL,
               snapshot->leak_check_ns ? cell_bytes(snapshot->lost.bytes, cell) : "?", stream);
    fputs("<td class=\"less\">", stream);
    if (snapshot->leak_check_ns)
        write_ago(snapshot->time_ns, snapshot->leak_check_ns, stream);
    else
        fputs("none yet", stream);
    fprintf(stream, "</td><td class=\"less\">%s</td><td class=\"least\">%d</td>",
            cell_span(time_since(snapshot->time_ns, snapshot->started_ns), cell), snapshot->pid);
    fprintf(stream, "<td class=\"text\"><a href=\"/process/%d\">", snapshot->pid);
    write_text(program_name(heap->member), stream);
    fputs("</a>", stream);
    if (heap->fastest) {
        fputs(" ", stream);
        write_site_words(heap->fastest->name, stream);
    }
    fputs("</td></tr>\n", stream);
}

void page_write_processes(struct heaps *heaps, const struct page_choice *choice, FILE *stream)
{
    size_t count;
    struct listed_heap *list = list_heaps(heaps, &count);

    begin_page("processes", choice, stream);
    fputs("<header><h1>Processes under libleak</h1>\n<p class=\"answer\">", stream);
    write_processes_answer(heaps, list, count, stream);
    fputs("</p></header>\n<main>\n", stream);
    if (count) {
        fputs("<table>\n<thead><tr><th>Grows</th><th>Live</th><th class=\"least\">Peak</th>"
              "<th>Lost</th><th class=\"less\">Leak check</th><th class=\"less\">Runs for</th>"
              "<th class=\"least\">PID</th><th class=\"text\">Program</th></tr></thead>\n<tbody>\n",
              stream);
        for (size_t i = 0; i < count; i++)
            write_heap_row(&list[i], stream);
        fputs("</tbody>\n</table>\n", stream);
    }
    fputs("<p class=\"note\">as of ", stream);
    write_clock(heaps->fleet.time_ns, stream);
    fputs("; for Prometheus: <a href=\"/metrics\">/metrics</a>; for <code>go tool pprof</code>: "
          "<code>/debug/pprof/heap</code></p>\n",
          stream);
    end_page(stream);
    free(list);
}

void page_write_message(const char *title, const char *text, FILE *stream)
{
    begin_page(title, NULL, stream);
    fputs("<header><h1>", stream);
    write_text(title, stream);
    fputs("</h1>\n<p class=\"answer\">", stream);
    write_text(text, stream);
    fputs("</p>\n<nav><a href=\"/\">All processes</a></nav></header>\n<main>\n", stream);
    end_page(stream);
}
