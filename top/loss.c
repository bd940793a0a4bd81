/* loss.c - see loss.h. A block that is lost with its owner is told or not as its owner is, so
 * owners come first. */
#include "top/loss.h"

#include "common/names/names.h"
#include "common/sites/sites.h"

struct losing {
    const struct names *names;
    const struct store *store;
    struct suppressions *suppressions;
    struct reconciliation reconciliation;
    struct lost *lost; /* by name */
    bool *quiet;       /* by name: what is lost of it is suppressed */
};

void loss_add(struct lost *sum, const struct lost *one)
{
    sum->bytes = add_saturating(sum->bytes, one->bytes);
    sum->blocks = add_saturating(sum->blocks, one->blocks);
    sum->indirect_bytes = add_saturating(sum->indirect_bytes, one->indirect_bytes);
    sum->indirect_blocks = add_saturating(sum->indirect_blocks, one->indirect_blocks);
}

static bool is_suppressed(struct losing *losing, size_t name, enum verdict verdict, uint64_t bytes,
                          uint64_t blocks)
{
    const struct name *at = losing->names->at[name];
    struct record record = {.signature = at->signature,
                            .verdict = verdict,
                            .kind = at->kind,
                            .bytes = bytes,
                            .blocks = blocks,
                            .frames = at->stack.frames,
                            .frame_count = at->stack.count,
                            .user = at->user};

    return suppress_record(losing->suppressions, &record, NULL);
}

static bool is_runtime(const struct losing *losing, size_t name, uint64_t bytes, uint64_t blocks)
{
    const struct name *at = losing->names->at[name];

    return blocks &&
           classify_is_runtime_block(at->stack.frames, at->stack.count, at->user, bytes / blocks);
}

static bool owner_is_quiet(const struct losing *losing, const struct share *share)
{
    const struct store_leak_check *look = losing->store->look;
    uint32_t owner = look->found[share->found].owner;

    return owner != STORE_NONE &&
           losing->quiet[names_of(losing->names, &losing->store->sites[look->found[owner].site])];
}

static void add_shares(struct losing *losing, uint32_t site, enum verdict verdict)
{
    struct lost *lost = &losing->lost[names_of(losing->names, &losing->store->sites[site])];
    const struct share *shares;
    size_t count = reconcile_site(&losing->reconciliation, site, &shares);

    for (size_t i = 0; i < count; i++) {
        const struct share *share = &shares[i];

        if (share->verdict != verdict)
            continue;
        if (verdict == VERDICT_LOST)
            loss_add(lost, &(struct lost){.bytes = share->bytes, .blocks = share->blocks});
        else if (!owner_is_quiet(losing, share))
            loss_add(lost, &(struct lost){.indirect_bytes = share->bytes,
                                          .indirect_blocks = share->blocks});
    }
}

static void add_sites(struct losing *losing, enum verdict verdict)
{
    for (uint32_t i = 0; i < losing->store->site_count; i++)
        if (losing->store->sites[i].live_blocks && !losing->store->sites[i].inherited)
            add_shares(losing, i, verdict);
}

/* Takes out what nobody is to be told of. */
static void drop_known(struct losing *losing, enum verdict verdict)
{
    for (size_t i = 0; i < losing->names->count; i++) {
        struct lost *lost = &losing->lost[i];
        bool direct = verdict == VERDICT_LOST;
        uint64_t *bytes = direct ? &lost->bytes : &lost->indirect_bytes;
        uint64_t *blocks = direct ? &lost->blocks : &lost->indirect_blocks;
        bool runtime = is_runtime(losing, i, *bytes, *blocks);
        bool suppressed = *blocks && !runtime && is_suppressed(losing, i, verdict, *bytes, *blocks);

        losing->quiet[i] |= direct && suppressed;
        if (runtime || suppressed)
            *bytes = *blocks = 0;
    }
}

struct lost *loss_by_name(struct arena *mem, const struct names *names, const struct store *store,
                          struct suppressions *suppressions, uint64_t now_ns)
{
    struct losing losing = {.names = names, .store = store, .suppressions = suppressions};

    if (!store->look || store->look->head.rung == LEAK_RUNG_NONE)
        return NULL;
    losing.reconciliation = reconcile_begin(store);
    losing.lost = arena_alloc_array(mem, names->count, sizeof(*losing.lost));
    losing.quiet = arena_alloc_array(mem, names->count, sizeof(*losing.quiet));
    suppress_select_store(suppressions, store, now_ns);
    add_sites(&losing, VERDICT_LOST);
    drop_known(&losing, VERDICT_LOST);
    add_sites(&losing, VERDICT_INDIRECT);
    drop_known(&losing, VERDICT_INDIRECT);
    reconcile_end(&losing.reconciliation);
    return losing.lost;
}
