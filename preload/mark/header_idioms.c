/* header_idioms.c - counts interior pointers by group of blocks, and decides which of them are
 * idioms. */
#include "preload/mark/header_idioms.h"

/* Number of groups to which a site belongs, one for each level: the group of level 0 is the site
 * alone, that of level k all sites with the same LEVELS - k innermost frames. */
#define LEVELS 5
#define OFFSETS 6 /* number of different offsets of interior pointers that a group counts */
#define OFFSET_MOST 4096
/* Largest size in bytes of a footer: data at the end of a block, to which the program's pointers to
 * the block lead. */
#define FOOTER_MOST 64
/* Number of blocks that must be held at an offset to make it an idiom: in a group of one site, and
 * in a group of several sites. */
#define BLOCKS_LEAST 2
#define BLOCKS_LEAST_SHARED 3
#define HELD_SHARE(part, all) (4ull * (part) >= 3ull * (all))
#define TAGS 8 /* number of values that a tag, the low three bits of a pointer, can have */
#define LINKED_SIZES UINT64_MAX /* value of linked_size: the linked blocks have several sizes */
/* Binary logarithm of the least alignment that can be an idiom, 32: malloc itself aligns to 16. */
#define ALIGN_LEAST 5
#define ALIGN_MOST 12
#define ALIGN_HEADER 64 /* largest size in bytes of a header before an aligned address */
/* An alignment is an idiom only if so many blocks have it that by chance fewer than one in
 * 2^ALIGN_BITS groups would look aligned. */
#define ALIGN_BITS 8

/* Hashes of a site's innermost frames, for each level from 1 on: at[k] is the hash of the LEVELS -
 * k innermost frames. */
struct frame_hashes {
    uint64_t at[LEVELS];
    bool by_libc; /* the innermost frame is one of the C library */
};

/* The most frequent distances of interior pointers from the start of their block, or from its
 * end. */
struct idiom_offsets {
    uint32_t offset[OFFSETS], blocks[OFFSETS];
    uint8_t good; /* bit i is set: offset[i] is an idiom, so a pointer with it holds its block */
};

struct idiom_group {
    uint64_t key; /* hash of the site or of innermost frames; 0: the slot is unused */
    uint32_t start, inside;
    /* Counts, of each block, the lowest offset of its interior pointers. */
    struct idiom_offsets low;
    /* Counts, of each block, the distance from its highest interior pointer to its end. */
    struct idiom_offsets footer;
    /* Counts the distance from the highest interior pointer to the end also of blocks that a
     * pointer to their start holds. */
    struct idiom_offsets any_footer;
    /* Number of blocks held at an aligned address; the index is the binary logarithm of the
     * alignment. */
    uint32_t aligned[ALIGN_MOST + 1];
    /* For each tag: number of blocks to which a pointer with this tag leads from a block of the
     * same group, as nodes of a tree point to each other. */
    uint32_t linked[TAGS];
    uint64_t linked_size; /* size of the blocks that linked counts, or LINKED_SIZES */
    bool several;         /* the group has blocks of several sites */
    bool by_libc;         /* a function of the C library allocates its blocks */
    uint32_t site;
    uint8_t good_aligned; /* binary logarithm of the alignment that is an idiom; 0: none */
    /* bit i is set: tag i is an idiom, so a pointer with this tag holds its block */
    uint8_t good_tags;
};

struct idiom_site {
    uint32_t start, inside;
    uint32_t group[LEVELS]; /* for each level: index of the group + 1; 0: none */
};

struct header_idioms {
    struct idiom_site *sites;
    uint32_t site_count;
    struct idiom_group *groups;
    uint32_t group_mask;
};

/* ---- Counting -------------------------------------------------------------------------------- */

static uint32_t site_of(const struct reach *reach, uint32_t node)
{
    return reach->nodes[node].site;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

static void hash_frames(const struct reach *reach, uint32_t site, struct frame_hashes *hashes)
{
    uint64_t pcs[LEVELS - 1], hash = LEVELS;
    unsigned count = reach->callers(site, pcs, ARRAY_LENGTH(pcs));
    *hashes = (struct frame_hashes){.by_libc = count && reach->is_in_libc(pcs[0])};
    hashes->at[0] = mix(1, site) | 1;
    for (unsigned i = 0; i < count; i++) {
        hash = mix(hash, pcs[i]);
        hashes->at[LEVELS - 1 - i] = mix(hash, i) | 1;
    }
}

/* Finds the slot of the group of blocks (struct idiom_group) with the key, or an unused slot for
 * it. */
static struct idiom_group *find_group(const struct header_idioms *idioms, uint64_t key)
{
    for (uint64_t at = key >> 20;; at++) {
        struct idiom_group *group = &idioms->groups[at & idioms->group_mask];
        if (!group->key || group->key == key)
            return group;
    }
}

static void find_groups(struct header_idioms *idioms, const struct reach *reach, uint32_t number,
                        bool make)
{
    struct idiom_site *site = &idioms->sites[number];
    struct frame_hashes hashes;
    hash_frames(reach, number, &hashes);
    for (unsigned level = 0; level < LEVELS; level++) {
        struct idiom_group *group = hashes.at[level] ? find_group(idioms, hashes.at[level]) : NULL;
        if (!group || (!group->key && !make))
            continue;
        group->several |= group->key && group->site != number;
        group->site = number;
        group->key = hashes.at[level];
        site->group[level] = group - idioms->groups + 1;
        group->by_libc = hashes.by_libc;
    }
}

/* Counts an offset. If the table is full, the offset replaces one that occurred only once, so
 * frequent offsets stay. */
static void count_offset(struct idiom_offsets *table, uint32_t offset)
{
    unsigned place = OFFSETS;
    for (unsigned i = 0; i < OFFSETS; i++) {
        if (table->blocks[i] && table->offset[i] == offset) {
            table->blocks[i]++;
            return;
        }
        if (table->blocks[i] <= 1 && (place == OFFSETS || table->blocks[place]))
            place = i;
    }
    if (place == OFFSETS || offset > OFFSET_MOST)
        return;
    table->offset[place] = offset;
    table->blocks[place] = 1;
}

/* Says whether the offset leads to the first multiple of 2^bits behind a header of at most
 * ALIGN_HEADER bytes. */
static bool is_aligned_start(uintptr_t address, uint64_t offset, unsigned bits)
{
    return (address + offset) % (1u << bits) == 0 && offset < (1u << bits) + ALIGN_HEADER;
}

/* Returns the size in bytes of the footer that begins at the offset; 0: no footer begins there. A
 * footer consists of whole words: a pointer into the middle of a word is most likely a position in
 * a text. */
static uint32_t footer_size(uint64_t size, uint64_t offset)
{
    uint64_t rest = size - offset;
    return offset % WORD || rest % WORD || rest > FOOTER_MOST ? 0 : (uint32_t)rest;
}

/* Says whether the pointer to the node comes from a block of its own kind, as in a tree: from a
 * block of the same site or, for a group of a level above 0, from a block of the same group and
 * size. */
static bool is_linked(const struct header_idioms *idioms, const struct reach *reach, uint32_t node,
                      unsigned level)
{
    uint32_t from = reach->links[node].from;
    if (node_state(&reach->nodes[node]) & NODE_BY_ROOT || from == NODE_NONE ||
        reach->interior[node].low >= TAGS)
        return false;
    const struct idiom_site *site = &idioms->sites[site_of(reach, node)];
    if (level == 0)
        return site_of(reach, from) == site_of(reach, node);
    return idioms->sites[site_of(reach, from)].group[level] == site->group[level] &&
           node_size(reach, &reach->nodes[from]) == node_size(reach, &reach->nodes[node]);
}

static void count_link(struct idiom_group *group, const struct reach *reach, uint32_t node)
{
    uint64_t size = node_size(reach, &reach->nodes[node]);
    group->linked[reach->interior[node].low]++;
    group->linked_size = !group->linked_size || group->linked_size == size ? size : LINKED_SIZES;
}

static void count_inside(struct idiom_group *group, const struct reach *reach, uint32_t number)
{
    const struct mark_node *node = &reach->nodes[number];
    const struct interior *interior = &reach->interior[number];
    uintptr_t address = node_address(node);
    uint32_t footer = footer_size(node_size(reach, node), interior->high);
    group->inside++;
    count_offset(&group->low, interior->low);
    if (footer)
        count_offset(&group->footer, footer);
    for (unsigned bits = ALIGN_LEAST; bits <= ALIGN_MOST; bits++)
        group->aligned[bits] += is_aligned_start(address, interior->low, bits);
}

static void count_any_footer(struct idiom_group *group, const struct reach *reach, uint32_t node)
{
    uint32_t high = reach->interior[node].high;
    uint32_t footer = high ? footer_size(node_size(reach, &reach->nodes[node]), high) : 0;
    if (footer)
        count_offset(&group->any_footer, footer);
}

/* Finds the groups of the sites with blocks that are held by interior pointers, then counts which
 * other blocks of these groups are held at their start. */
static void count_sites(struct header_idioms *idioms, const struct reach *reach)
{
    for (uint32_t i = 0; i < idioms->site_count; i++)
        if (idioms->sites[i].inside)
            find_groups(idioms, reach, i, true);
    for (uint32_t i = 0; i < idioms->site_count; i++) {
        struct idiom_site *site = &idioms->sites[i];
        if (site->start && !site->inside)
            find_groups(idioms, reach, i, false);
        for (unsigned level = 0; level < LEVELS; level++)
            if (site->group[level])
                idioms->groups[site->group[level] - 1].start += site->start;
    }
}

/* Says whether a block is held by an interior pointer. If it is reachable by its start, an interior
 * pointer to it proves nothing. */
static bool is_held_inside(const struct reach *reach, uint32_t node)
{
    const struct mark_node *it = &reach->nodes[node];
    return reach->interior[node].low && (node_verdict(it) != LEAK_VERDICT_REACHABLE ||
                                         node_state(it) & (NODE_CANDIDATE | NODE_BY_HEADER));
}

static void count_nodes(struct header_idioms *idioms, const struct reach *reach)
{
    for (uint32_t node = 0; node < reach->count; node++) {
        struct idiom_site *site = &idioms->sites[site_of(reach, node)];
        bool held = node_is_held(&reach->nodes[node]);
        if (held && is_held_inside(reach, node))
            site->inside++;
        else
            site->start += held;
    }
}

static void count_offsets(struct header_idioms *idioms, const struct reach *reach)
{
    for (uint32_t node = 0; node < reach->count; node++) {
        const struct idiom_site *site = &idioms->sites[site_of(reach, node)];
        if (!node_is_held(&reach->nodes[node]))
            continue;
        bool inside = is_held_inside(reach, node);
        for (unsigned level = 0; level < LEVELS; level++) {
            if (!site->group[level])
                continue;
            struct idiom_group *group = &idioms->groups[site->group[level] - 1];
            count_any_footer(group, reach, node);
            if (inside)
                count_inside(group, reach, node);
            if (inside && is_linked(idioms, reach, node, level))
                count_link(group, reach, node);
        }
    }
}

/* ---- Deciding which offsets are idioms ------------------------------------------------------- */

/* Marks the offsets that occur often enough as idioms, and returns how many blocks are held at
 * them. */
static uint32_t find_good(const struct idiom_group *group, struct idiom_offsets *table)
{
    uint32_t least = group->several ? BLOCKS_LEAST_SHARED : BLOCKS_LEAST, held = 0;
    for (unsigned i = 0; i < OFFSETS; i++)
        if (table->blocks[i] >= least) {
            table->good |= 1u << i;
            held += table->blocks[i];
        }
    return held;
}

static void judge_offsets(const struct idiom_group *group, struct idiom_offsets *table)
{
    uint32_t held = find_good(group, table);
    if (!HELD_SHARE(held, group->inside) || held < group->start)
        table->good = 0;
}

/* Decides whether footers are idioms for the blocks that any_footer counts, among them blocks that
 * are held at their start: the slabs of some allocators have a footer, and are held at their start
 * as well while their first chunk is in use. */
static void judge_any_footer(struct idiom_group *group)
{
    uint32_t held = find_good(group, &group->any_footer);
    if (!HELD_SHARE(held, (uint64_t)group->inside + group->start))
        group->any_footer.good = 0;
}

static void judge_alignment(struct idiom_group *group)
{
    for (unsigned bits = ALIGN_MOST; bits >= ALIGN_LEAST && !group->good_aligned; bits--) {
        uint64_t blocks = group->aligned[bits];
        if (blocks * (bits - 4) >= ALIGN_BITS && HELD_SHARE(blocks, group->inside) &&
            blocks >= group->start)
            group->good_aligned = bits;
    }
}

/* Decides which tags are idioms: a tag is a color or a flag in the low bits of a link. Other links
 * of the same blocks may have no tag. One link is enough where the C library allocates both blocks,
 * which are nodes of tsearch(). */
static void judge_tags(struct idiom_group *group)
{
    for (unsigned tag = 1; tag < TAGS; tag++)
        if (group->linked[tag] >= (group->by_libc ? 1 : BLOCKS_LEAST))
            group->good_tags |= 1u << tag;
}

static bool judge_groups(struct header_idioms *idioms)
{
    bool some = false;
    for (uint32_t i = 0; i <= idioms->group_mask; i++) {
        struct idiom_group *group = &idioms->groups[i];
        if (!group->key)
            continue;
        judge_offsets(group, &group->low);
        judge_offsets(group, &group->footer);
        judge_any_footer(group);
        judge_alignment(group);
        judge_tags(group);
        some |= group->low.good || group->footer.good || group->any_footer.good ||
                group->good_aligned || group->good_tags;
    }
    return some;
}

/* ---- Finding and using idioms ---------------------------------------------------------------- */

static bool make_sites(struct header_idioms *idioms, struct reach *reach)
{
    idioms->site_count = reach->site_most + 1;
    idioms->sites = scan_arena_map(&reach->arena, idioms->site_count, sizeof *idioms->sites);
    return idioms->sites;
}

static bool make_groups(struct header_idioms *idioms, struct reach *reach)
{
    uint64_t places = 64, sites = 0;
    for (uint32_t i = 0; i < idioms->site_count; i++)
        sites += idioms->sites[i].inside != 0;
    while (places < 2 * LEVELS * sites)
        places *= 2;
    idioms->group_mask = places - 1;
    idioms->groups = scan_arena_map(&reach->arena, places, sizeof *idioms->groups);
    return idioms->groups;
}

void header_idioms_free(struct header_idioms *idioms, struct reach *reach)
{
    if (!idioms)
        return;
    scan_arena_unmap(&reach->arena, idioms->groups);
    scan_arena_unmap(&reach->arena, idioms->sites);
    scan_arena_unmap(&reach->arena, idioms);
}

struct header_idioms *header_idioms_find(struct reach *reach)
{
    struct header_idioms *idioms = scan_arena_map(&reach->arena, 1, sizeof *idioms);
    if (!idioms)
        return NULL;
    if (make_sites(idioms, reach)) {
        count_nodes(idioms, reach);
        if (make_groups(idioms, reach)) {
            count_sites(idioms, reach);
            count_offsets(idioms, reach);
            if (judge_groups(idioms))
                return idioms;
        }
    }
    header_idioms_free(idioms, reach);
    return NULL;
}

static bool has_good(const struct idiom_offsets *table, uint64_t offset)
{
    for (unsigned i = 0; i < OFFSETS; i++)
        if (table->good >> i & 1 && table->offset[i] == offset)
            return true;
    return false;
}

static bool group_allows(const struct idiom_group *group, const struct reach *reach,
                         const struct mark_node *node, uint64_t offset)
{
    uint32_t footer = footer_size(node_size(reach, node), offset);
    return has_good(&group->low, offset) || (footer && has_good(&group->footer, footer)) ||
           (group->good_aligned &&
            is_aligned_start(node_address(node), offset, group->good_aligned));
}

/* Says whether a pointer with this offset as its tag holds a block of that size. In a group of a
 * level above 0 the block must have the size of the group's linked blocks, because a function such
 * as xmalloc allocates all kinds of blocks. */
static bool is_good_tag(const struct idiom_group *group, unsigned level, uint64_t size,
                        uint64_t offset)
{
    return offset < TAGS && group->good_tags >> offset & 1 &&
           (level == 0 || size == group->linked_size);
}

bool header_idioms_allow(const struct header_idioms *idioms, const struct reach *reach,
                         uint32_t node, uint64_t offset)
{
    uint32_t number = site_of(reach, node);
    if (!offset || number >= idioms->site_count || offset >= node_size(reach, &reach->nodes[node]))
        return false;
    const struct idiom_site *site = &idioms->sites[number];
    uint32_t footer = footer_size(node_size(reach, &reach->nodes[node]), offset);
    for (unsigned level = 0; level < LEVELS; level++) {
        if (!site->group[level])
            continue;
        const struct idiom_group *group = &idioms->groups[site->group[level] - 1];
        if ((footer && has_good(&group->any_footer, footer)) ||
            is_good_tag(group, level, node_size(reach, &reach->nodes[node]), offset) ||
            (site->inside >= site->start &&
             group_allows(group, reach, &reach->nodes[node], offset)))
            return true;
    }
    return false;
}
