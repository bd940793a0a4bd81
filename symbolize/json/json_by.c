/* json_by.c - see json_by.h and docs/schema.json. */
#include "symbolize/json/json_by.h"

#include "symbolize/view/group_by.h"

static void write_sum(struct emit *emit, const struct verdict_total *sum)
{
    emit_number(emit, "bytes", sum->bytes);
    emit_number(emit, "blocks", sum->blocks);
    emit_number(emit, "records", sum->records);
}

static void write_part(struct emit *emit, const char *key, const struct verdict_total *sum)
{
    emit_open(emit, key, '{');
    write_sum(emit, sum);
    emit_close(emit, '}');
}

static void write_verdicts(struct emit *emit, const struct view *view)
{
    emit_open(emit, "verdicts", '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        if (by_shows(view, (enum verdict)v))
            emit_text(emit, NULL, verdict_word[v]);
    emit_close(emit, ']');
}

void json_by(struct emit *emit, const struct process *process, const struct view *view)
{
    struct by_table table = by_make(process, view);

    emit_open(emit, "by", '{');
    emit_text(emit, "key", by_word[view->by]);
    write_verdicts(emit, view);
    write_part(emit, "total", &table.all);
    write_part(emit, "rest", &table.rest);
    emit_open(emit, "rows", '[');
    for (size_t i = 0; i < table.shown; i++) {
        emit_open(emit, NULL, '{');
        emit_text(emit, "name", table.rows[i].name);
        if (view->by == BY_SITE)
            emit_id(emit, "signature", table.rows[i].first->signature);
        else
            emit_null(emit, "signature");
        write_sum(emit, &table.rows[i].sum);
        emit_fraction(emit, "share", by_share(&table, &table.rows[i]));
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
    by_end(&table);
}
