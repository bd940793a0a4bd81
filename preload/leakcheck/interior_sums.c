#include "preload/leakcheck/interior_sums.h"
#include "preload/base/sys.h"

#define ROWS_MOST (1u << 15)
#define PLACES (2 * ROWS_MOST)

bool interior_sums_begin(struct interior_sums *sums)
{
    sums->place = sys_map_lazily(PLACES * sizeof *sums->place);
    return sums->place && growable_array_map(&sums->rows, sizeof(struct leak_interior), ROWS_MOST);
}

static bool is_same(const struct leak_interior *one, const struct leak_interior *other)
{
    return one->found == other->found && one->holder == other->holder &&
           one->offset == other->offset;
}

/* Finds the struct leak_interior with the same line, holder and offset as *wanted, or adds one.
 * NULL: the table is full. */
static struct leak_interior *find_row(struct interior_sums *sums,
                                      const struct leak_interior *wanted)
{
    uint64_t at =
        hash_u64(hash_u64((uint64_t)wanted->found << 32 | wanted->holder) ^ wanted->offset);
    for (;; at++) {
        uint32_t *place = &sums->place[at % PLACES];
        struct leak_interior *rows = (struct leak_interior *)sums->rows.bytes, *row;
        if (*place && is_same(&rows[*place - 1], wanted))
            return &rows[*place - 1];
        if (*place)
            continue;
        row = growable_array_add(&sums->rows);
        if (row) {
            *row = *wanted;
            *place = sums->rows.count;
        }
        return row;
    }
}

void interior_sums_add(struct interior_sums *sums, const struct reach *reach, uint32_t line,
                       uint32_t node)
{
    uint32_t parent = reach_parent(reach, node, NULL);
    struct reach_word word;
    struct leak_interior wanted = {.found = line, .offset = reach_pointer_offset(reach, node)};
    /* A held block that no pointer has reached in this check was held in an earlier one: it has no
     * pointer to count. */
    if (parent == REACH_NONE && !reach_root_word(reach, node, &word))
        return;
    wanted.holder = parent == REACH_NONE ? 0 : reach_site(reach, parent);
    struct leak_interior *row = find_row(sums, &wanted);
    if (row)
        row->blocks++;
}
