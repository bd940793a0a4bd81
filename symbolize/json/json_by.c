/* json_by.c - see json_by.h and docs/schema.json. */
#include "symbolize/json/json_by.h"

#include "symbolize/view/view.h"

static void write_sum(struct json *json, const struct verdict_total *sum)
{
    json_put_number(json, "bytes", sum->bytes);
    json_put_number(json, "blocks", sum->blocks);
    json_put_number(json, "records", sum->records);
}

static void write_part(struct json *json, const char *key, const struct verdict_total *sum)
{
    json_open(json, key, '{');
    write_sum(json, sum);
    json_close(json, '}');
}

static void write_verdicts(struct json *json, const struct view *view)
{
    json_open(json, "verdicts", '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        if (group_by_includes(view, (enum verdict)v))
            json_put_text(json, NULL, verdict_word[v]);
    json_close(json, ']');
}

void json_by(struct json *json, const struct process *process, const struct view *view)
{
    struct group_by_table table = group_by_make(process, view);

    json_open(json, "by", '{');
    json_put_text(json, "key", group_by_word[view->by]);
    write_verdicts(json, view);
    write_part(json, "total", &table.all);
    write_part(json, "rest", &table.rest);
    json_open(json, "rows", '[');
    for (size_t i = 0; i < table.shown; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "name", table.rows[i].name);
        if (view->by == BY_SITE)
            json_put_id(json, "signature", table.rows[i].first->signature);
        else
            json_put_null(json, "signature");
        write_sum(json, &table.rows[i].sum);
        json_put_fraction(json, "share", group_by_share(&table, &table.rows[i]));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    group_by_end(&table);
}
