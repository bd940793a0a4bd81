/* json_growth.c - see json_growth.h and docs/schema.json. */
#include "common/view/json_growth.h"

void json_growth(struct json *json, const struct growth *growth)
{
    if (!growth) {
        json_put_null(json, "growth");
        return;
    }
    json_open(json, "growth", '{');
    json_put_text(json, "verdict", growth_word[growth->verdict]);
    json_put_number(json, "bytes_per_second", growth->bytes_per_second);
    json_put_number(json, "peak_bytes", growth->peak_bytes);
    json_put_fraction(json, "confidence", growth->confidence);
    json_put_text(json, "reason", growth->reason);
    json_close(json, '}');
}
