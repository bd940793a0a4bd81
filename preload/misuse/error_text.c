#include "preload/misuse/error_text.h"
#include "preload/heap/pools.h"
#include "preload/unwind/sites.h"
#include "preload/base/strbuf.h"

static const char *const kinds[] = {[LEAK_KIND_NONE] = "unknown",
#define X(name, word) [LEAK_KIND_##name] = word,
                                    LEAK_KIND_TABLE(X)
#undef X
};
static const char *const forms[] = {[LEAK_FORM_NONE] = "unknown",
#define F(name, word) [LEAK_FORM_##name] = word,
                                    LEAK_FORM_TABLE(F)
#undef F
};
static const char *const types[] = {[LEAK_EVENT_NONE] = "unknown",
#define T(name, word) [LEAK_EVENT_##name] = word,
                                    LEAK_EVENT_TABLE(T)
#undef T
};
static const char *const places[] = {[LEAK_PLACE_NONE] = "of no block",
#define W(name, words) [LEAK_PLACE_##name] = words,
                                     LEAK_PLACE_TABLE(W)
#undef W
};

static void add_bytes(struct text *out, uint64_t bytes)
{
    text_add_number(out, bytes);
    text_add(out, bytes == 1 ? " byte" : " bytes");
}

const char *tell_kind(enum leak_kind kind)
{
    return kinds[kind];
}

const char *tell_form(enum leak_form form)
{
    return forms[form];
}

void tell_block(struct text *out, uint64_t size, enum leak_kind kind)
{
    add_bytes(out, size);
    text_add(out, " of ");
    text_add(out, kinds[kind]);
}

static void add_pool(struct text *out, uint32_t told, const char *without)
{
    const char *name = pools_told(told);
    text_add(out, name ? "pool '" : without);
    if (name) {
        text_add(out, name);
        text_add(out, "'");
    }
}

/* The program's own allocators are told by their names. */
static void add_heaps(struct text *out, const struct leak_event *event, enum leak_kind kind)
{
    add_bytes(out, event->size);
    text_add(out, " allocated ");
    if (kind == LEAK_KIND_POOL) {
        text_add(out, "from ");
        add_pool(out, event->block_pool, "a pool");
    } else {
        text_add(out, "by ");
        text_add(out, kind == LEAK_KIND_CUSTOM ? "a custom allocator" : kinds[kind]);
    }
    text_add(out, ", released ");
    if (event->form == LEAK_FORM_POOL_FREE) {
        text_add(out, "to ");
        add_pool(out, event->call_pool, kind == LEAK_KIND_POOL ? "another pool" : "a pool");
    } else {
        text_add(out, "by ");
        text_add(out, forms[event->form]);
    }
}

static enum leak_kind kind_of(const struct leak_event *event)
{
    return event->site ? sites_kind(event->site) : LEAK_KIND_NONE;
}

static void add_block(struct text *out, const struct leak_event *event)
{
    enum leak_kind kind = kind_of(event);
    if (event->size) {
        tell_block(out, event->size, kind);
    } else {
        text_add(out, "a block of ");
        text_add(out, kinds[kind]);
    }
    if (event->block_pool) {
        text_add(out, " '");
        text_add(out, pools_told(event->block_pool));
        text_add(out, "'");
    }
}

static void add_said(struct text *out, const struct leak_event *event)
{
    text_add(out, " says ");
    if (event->type == LEAK_EVENT_SIZE_MISMATCH) {
        add_bytes(out, event->said);
    } else {
        text_add(out, "an alignment of ");
        text_add_number(out, event->said);
    }
    text_add(out, " of ");
    add_block(out, event);
}

void tell_words(const struct leak_event *event, struct text *out)
{
    const char *form = forms[event->form];
    text_add(out, types[event->type]);
    text_add(out, ": ");
    switch (event->type) {
    case LEAK_EVENT_DOUBLE_FREE:
        add_block(out, event);
        text_add(out, " freed a second time, by ");
        text_add(out, form);
        break;
    case LEAK_EVENT_INVALID_FREE:
        text_add(out, form);
        text_add(out, " of an address ");
        text_add(out, places[event->place]);
        break;
    case LEAK_EVENT_INTERIOR_FREE:
        text_add(out, form);
        text_add(out, " at ");
        add_bytes(out, event->offset);
        text_add(out, " inside of ");
        add_block(out, event);
        break;
    case LEAK_EVENT_SIZE_MISMATCH:
    case LEAK_EVENT_ALIGNMENT_MISMATCH:
        text_add(out, form);
        add_said(out, event);
        break;
    case LEAK_EVENT_POOL_LEAK:
        add_block(out, event);
        text_add(out, " alive when it was destroyed");
        break;
    default:
        if (kind_of(event) >= LEAK_KIND_CUSTOM || event->form >= LEAK_FORM_BLOCK_GONE) {
            add_heaps(out, event, kind_of(event));
            break;
        }
        add_block(out, event);
        text_add(out, " released by ");
        text_add(out, form);
    }
}
