/* json_growth.c - see json_growth.h and docs/schema.json. */
#include "common/view/json_growth.h"

void json_growth(struct emit *emit, const struct growth *growth)
{
    if (!growth) {
        emit_null(emit, "growth");
        return;
    }
    emit_open(emit, "growth", '{');
    emit_text(emit, "verdict", growth_word[growth->verdict]);
    emit_number(emit, "bytes_per_second", growth->bytes_per_second);
    emit_number(emit, "peak_bytes", growth->peak_bytes);
    emit_fraction(emit, "confidence", growth->confidence);
    emit_text(emit, "reason", growth->reason);
    emit_close(emit, '}');
}
