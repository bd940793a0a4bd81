/* test_cfi.c - hand-assembled CIEs and FDEs, and the rows that must come out of them.
 *
 * Every entry is put so that its last byte is the last one before an unmapped page: reading
 * behind an entry's end is a fault, not a guess.
 */
#include "tests/unit/preload/unit.h"
#include "preload/unwind/cfi.h"
#ifdef __x86_64__
#include "preload/arch/x86_64/arch.h"
#endif

#ifndef MAP_32BIT /* of x86 alone; a hint does elsewhere */
#define MAP_32BIT 0
#endif

#define START 0x10000u /* of the function, absolute: encoding DW_EH_PE_absptr */
#define RANGE 0x1000u

struct bytes {
    const uint8_t *at;
    size_t size;
};
#define B(...)                                                                                     \
    (struct bytes)                                                                                 \
    {                                                                                              \
        (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})                     \
    }
#define NOTHING                                                                                    \
    (struct bytes)                                                                                 \
    {                                                                                              \
        NULL, 0                                                                                    \
    }

/* This CPU's numbers, and the opcodes that have a register's number in them. */
#define R_SP ARCH_DWARF_SP
#define R_FP ARCH_DWARF_FP
#define R_RA ARCH_DWARF_RA
#define R_OTHER ARCH_DWARF_OTHER /* the third that rows know */
#define SAVE(number) (0x80 + (number))
#define RESTORE(number) (0xc0 + (number))
#define BREG(number) (0x70 + (number))

/* What a compiler opens every function with on x86_64: CFA = sp + 8, return address at CFA - 8. */
#define USUAL B(0x0c, R_SP, 8, SAVE(R_RA), 1)

struct image {
    uint8_t bytes[1024];
    size_t size, fde;
};

static void add(struct image *image, const void *bytes, size_t size)
{
    if (size)
        memcpy(image->bytes + image->size, bytes, size);
    image->size += size;
}

static void add_word(struct image *image, uint32_t word)
{
    add(image, &word, 4);
}

static void add_long(struct image *image, uint64_t word)
{
    add(image, &word, 8);
}

static void set_length(struct image *image, size_t at)
{
    uint32_t length = image->size - at - 4;
    memcpy(image->bytes + at, &length, 4);
}

/* body: of the CIE from its version byte on, without the program. */
static struct image assemble(struct bytes body, struct bytes initial, struct bytes fde_data,
                             struct bytes program)
{
    struct image image = {.size = 0};
    add_word(&image, 0);
    add_word(&image, 0);
    add(&image, body.at, body.size);
    add(&image, initial.at, initial.size);
    set_length(&image, 0);
    image.fde = image.size;
    add_word(&image, 0);
    add_word(&image, image.size);
    add(&image, fde_data.at, fde_data.size);
    add(&image, program.at, program.size);
    set_length(&image, image.fde);
    return image;
}

static struct bytes addresses(void)
{
    static uint8_t bytes[17];
    uint64_t words[2] = {START, RANGE};
    memcpy(bytes, words, sizeof words);
    return (struct bytes){bytes, 17}; /* the last byte: no augmentation data */
}

/* version 1, "zR", code 1, data -8, return address in column 16, addresses absolute */
#define CIE B(1, 'z', 'R', 0, 1, 0x78, R_RA, 1, 0x00)

static struct image plain(struct bytes initial, struct bytes program)
{
    return assemble(CIE, initial, addresses(), program);
}

static struct cfi_row row_in(const struct image *image, uint64_t offset)
{
    uint8_t *copy = unit_at_page_end(image->bytes, image->size);
    struct cfi_row row = cfi_row_of_fde(copy + image->fde, START + offset);
    unit_drop_at_page_end(copy, image->size);
    return row;
}

static void expect(const char *name, struct cfi_row got, struct cfi_row want)
{
    bool plain_rule = want.rule >= CFI_SP;
    ck_assert_msg(got.rule == want.rule && (!plain_rule || (got.offset == want.offset &&
                                                            got.fp_offset == want.fp_offset &&
                                                            got.ra_offset == want.ra_offset)),
                  "%s: wanted rule %d offset %d fp %d ra %d, got rule %d offset %d fp %d ra %d",
                  name, want.rule, want.offset, want.fp_offset, want.ra_offset, got.rule,
                  got.offset, got.fp_offset, got.ra_offset);
}

/* The rule of all PLT entries: sp + offset + ((pc & 15) >= n) * 8 */
#define PLT(offset, n)                                                                             \
    B(0x0f, 11, BREG(R_SP), offset, BREG(R_RA), 0, 0x3f, 0x1a, 0x30 + n, 0x2a, 0x33, 0x24, 0x22)
#define SP(offset, fp)                                                                             \
    {                                                                                              \
        CFI_SP, fp, -8, offset                                                                     \
    }
#define FP(offset, fp)                                                                             \
    {                                                                                              \
        CFI_FP, fp, -8, offset                                                                     \
    }
#define KEPT CFI_FP_KEPT

/* What only one kind of CPU can have: the other answers that no row can say it. */
#if ARCH_LINK_REGISTER
#define LINKED(...) __VA_ARGS__
#define PUSHED(...)                                                                                \
    {                                                                                              \
        CFI_COMPLEX, 0, 0, 0                                                                       \
    }
#else
#define LINKED(...)                                                                                \
    {                                                                                              \
        CFI_COMPLEX, 0, 0, 0                                                                       \
    }
#define PUSHED(...) __VA_ARGS__
#endif
/* Return addresses are signed on one CPU alone. */
#ifdef __aarch64__
#define SIGNS 1
#define SIGNED(...) __VA_ARGS__
#else
#define SIGNS 0
#define SIGNED(...)                                                                                \
    {                                                                                              \
        CFI_COMPLEX, 0, 0, 0                                                                       \
    }
#endif
/* What a compiler opens every function with on aarch64: CFA = sp, return address in its register. */
#define ENTERED B(0x0c, R_SP, 0)
#define RA_KEPT LINKED({CFI_SP, KEPT, CFI_RA_KEPT, 0})

/* ---- One row for each opcode: what holds just before it, and what holds from it on ---------- */

static const struct {
    const char *name;
    struct bytes initial, program;
    uint64_t offset;
    struct cfi_row want;
} rows[] = {
    {"nothing but the CIE", USUAL, NOTHING, 0, SP(8, KEPT)},
    {"the CIE's row holds to the end", USUAL, NOTHING, RANGE - 1, SP(8, KEPT)},
    {"nop", USUAL, B(0, 0, 0), 0, SP(8, KEPT)},
    {"def_cfa", USUAL, B(0x0c, R_FP, 16), 0, FP(16, KEPT)},
    {"def_cfa_sf scales", USUAL, B(0x12, R_SP, 0x7c), 0, SP(32, KEPT)},
    {"def_cfa_register", USUAL, B(0x0e, 16, 0x0d, R_FP), 0, FP(16, KEPT)},
    {"def_cfa_offset", USUAL, B(0x0e, 0x80, 1), 0, SP(128, KEPT)},
    {"def_cfa_offset_sf", USUAL, B(0x13, 0x7d), 0, SP(24, KEPT)},
    {"offset of fp", USUAL, B(SAVE(R_FP), 2), 0, SP(8, -16)},
    {"offset of another register", USUAL, B(0x83, 2), 0, SP(8, KEPT)},
    {"offset_extended of fp", USUAL, B(0x05, R_FP, 3), 0, SP(8, -24)},
    {"offset_extended_sf of fp", USUAL, B(0x11, R_FP, 0x7e), 0, SP(8, 16)},
    {"restore undoes offset", USUAL, B(SAVE(R_FP), 2, RESTORE(R_FP)), 0, SP(8, KEPT)},
    {"restore goes back to the CIE's rule", B(0x0c, R_SP, 8, SAVE(R_RA), 1, SAVE(R_FP), 5),
     B(SAVE(R_FP), 2, RESTORE(R_FP)), 0, SP(8, -40)},
    {"restore of another register", USUAL, B(SAVE(R_FP), 2, 0xc3), 0, SP(8, -16)},
    {"restore_extended", USUAL, B(SAVE(R_FP), 2, 0x06, R_FP), 0, SP(8, KEPT)},
    {"same_value of fp", USUAL, B(SAVE(R_FP), 2, 0x08, R_FP), 0, SP(8, KEPT)},
    {"undefined return address: the outermost frame", USUAL, B(0x07, R_RA), 0, {CFI_END, 0, 0, 0}},
    {"undefined other register", USUAL, B(0x07, 3), 0, SP(8, KEPT)},
    {"remember and restore", USUAL, B(0x0e, 64, SAVE(R_FP), 2, 0x0a, 0x0e, 8, RESTORE(R_FP), 0x0b),
     0, SP(64, -16)},
    {"remember without restore", USUAL, B(0x0e, 64, 0x0a, 0x0e, 8), 0, SP(8, KEPT)},
    {"remember eight deep", USUAL,
     B(0x0e, 16, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0e, 8, 0x0b), 0, SP(16, KEPT)},
    {"advance_loc: before", USUAL, B(0x44, 0x0e, 16), 3, SP(8, KEPT)},
    {"advance_loc: from there on", USUAL, B(0x44, 0x0e, 16), 4, SP(16, KEPT)},
    {"advance_loc1: before", USUAL, B(0x02, 200, 0x0e, 16), 199, SP(8, KEPT)},
    {"advance_loc1: from there on", USUAL, B(0x02, 200, 0x0e, 16), 200, SP(16, KEPT)},
    {"advance_loc2: before", USUAL, B(0x03, 0, 2, 0x0e, 16), 511, SP(8, KEPT)},
    {"advance_loc2: from there on", USUAL, B(0x03, 0, 2, 0x0e, 16), 512, SP(16, KEPT)},
    {"advance_loc4: before", USUAL, B(0x04, 0, 4, 0, 0, 0x0e, 16), 1023, SP(8, KEPT)},
    {"advance_loc4: from there on", USUAL, B(0x04, 0, 4, 0, 0, 0x0e, 16), 1024, SP(16, KEPT)},
    {"set_loc: before", USUAL, B(0x01, 0x40, 0, 1, 0, 0, 0, 0, 0, 0x0e, 16), 0x3f, SP(8, KEPT)},
    {"set_loc: from there on", USUAL, B(0x01, 0x40, 0, 1, 0, 0, 0, 0, 0, 0x0e, 16), 0x40,
     SP(16, KEPT)},
    {"GNU_args_size is nothing to us", USUAL, B(0x2e, 0x90, 1), 0, SP(8, KEPT)},
    {"push rbp; mov: the usual prologue, at its end", USUAL,
     B(0x41, 0x0e, 16, SAVE(R_FP), 2, 0x43, 0x0d, R_FP), 4, FP(16, -16)},
    {"leave; ret: the usual epilogue", USUAL,
     B(0x41, 0x0e, 16, SAVE(R_FP), 2, 0x43, 0x0d, R_FP, 0x50, 0x0c, R_SP, 8), 20, SP(8, -16)},
    {"realigned frame: CFA is the word at fp - 8, fp saved at fp",
     USUAL,
     B(0x10, R_FP, 2, BREG(R_FP), 0, 0x0f, 3, BREG(R_FP), 0x78, 0x06),
     0,
     {CFI_FP_DEREF, 0, -8, -8}},
    {"realigned frame that leaves fp alone",
     USUAL,
     B(0x0f, 3, BREG(R_FP), 0x70, 0x06),
     0,
     {CFI_FP_DEREF, KEPT, -8, -16}},
    {"PLT: before the push", USUAL, PLT(8, 11), 0x10a, PUSHED(SP(8, KEPT))},
    {"PLT: after it", USUAL, PLT(8, 11), 0x10b, PUSHED(SP(16, KEPT))},
    {"PLT: at the entry's end", USUAL, PLT(8, 11), 0x10f, PUSHED(SP(16, KEPT))},
    {"PLT with endbr64: before", USUAL, PLT(8, 10), 0x119, PUSHED(SP(8, KEPT))},
    {"PLT with endbr64: after", USUAL, PLT(8, 10), 0x11a, PUSHED(SP(16, KEPT))},
    {"realigned frame, then an ordinary one again", USUAL,
     B(0x0f, 3, BREG(R_FP), 0x78, 0x06, 0x0c, R_SP, 8), 0, SP(8, KEPT)},
    {"expression for another register", USUAL, B(0x10, 3, 2, BREG(R_FP), 0), 0, SP(8, KEPT)},
    {"val_expression for another register", USUAL, B(0x16, 3, 2, BREG(R_FP), 0), 0, SP(8, KEPT)},
    {"register: another one kept in a third", USUAL, B(0x09, 3, 1), 0, SP(8, KEPT)},
    {"the largest offset of fp", USUAL, B(SAVE(R_FP), 0xff, 0x1f), 0, SP(8, -32760)},
    {"the return address elsewhere",
     B(0x0c, R_SP, 8, SAVE(R_RA), 2),
     NOTHING,
     0,
     {CFI_SP, KEPT, -16, 8}},
    {"the loader's way: CFA of the third register that rows know",
     USUAL,
     B(0x41, 0x0e, 16, SAVE(R_OTHER), 2, 0x0d, R_OTHER),
     1,
     {CFI_OTHER, KEPT, -8, 16}},
    {"a large frame", USUAL, B(0x0e, 0x80, 0x80, 0x80, 0x80, 4), 0, SP(1 << 30, KEPT)},

    /* A call leaves the return address in a register, and the CPU may sign it. */
    {"entered: the return address is in its register", ENTERED, NOTHING, 0, RA_KEPT},
    {"a frame record at the bottom of the frame",
     ENTERED,
     B(0x0e, 32, SAVE(R_FP), 4, SAVE(R_RA), 3),
     0,
     {CFI_SP, -32, -24, 32}},
    {"the same, found by fp",
     ENTERED,
     B(0x0c, R_FP, 32, SAVE(R_FP), 4, SAVE(R_RA), 3),
     0,
     {CFI_FP, -32, -24, 32}},
    {"stp; the next instruction is interrupted", ENTERED,
     B(0x44, 0x0e, 32, SAVE(R_FP), 4, SAVE(R_RA), 3), 3, RA_KEPT},
    {"ldp; back in the register", ENTERED,
     B(0x0e, 32, SAVE(R_FP), 4, SAVE(R_RA), 3, RESTORE(R_RA), RESTORE(R_FP), 0x0e, 0), 0, RA_KEPT},
    {"same_value of the return address", ENTERED, B(0x08, R_RA), 0, RA_KEPT},
    {"signed, then saved", ENTERED, B(0x2d, 0x0e, 16, SAVE(R_FP), 2, SAVE(R_RA), 1), 0,
     SIGNED({CFI_SP, -16, -8 | CFI_RA_SIGNED, 16})},
    {"signed, and still in the register", ENTERED, B(0x2d), 0,
     SIGNED({CFI_SP, KEPT, CFI_RA_KEPT | CFI_RA_SIGNED, 0})},
    {"signed with the pc, then saved", ENTERED, B(0x2c, 0x0e, 16, SAVE(R_FP), 2, SAVE(R_RA), 1), 0,
     SIGNED({CFI_SP, -16, -8 | CFI_RA_SIGNED, 16})},
    {"signed and authenticated again", ENTERED, B(0x2d, 0x2d), 0,
     SIGNED({CFI_SP, KEPT, CFI_RA_KEPT, 0})},
    {"remember and restore: signed is a part of it", ENTERED, B(0x2d, 0x0a, 0x2d, 0x0b), 0,
     SIGNED({CFI_SP, KEPT, CFI_RA_KEPT | CFI_RA_SIGNED, 0})},
    {"signed behind the row we want", ENTERED, B(0x41, 0x2d), 0, RA_KEPT},
    {"locals of 16 KiB above the frame record", ENTERED,
     B(0x0e, 0xa0, 0x80, 1, SAVE(R_FP), 0x84, 0x10, SAVE(R_RA), 0x83, 0x10), 0,
     LINKED({CFI_SP, 0, 8 | CFI_NEAR_BOTTOM, 16416})},
    {"locals of 1 MiB above it, signed, found by fp", ENTERED,
     B(0x2d, 0x0c, R_FP, 0x90, 0x80, 0x40, SAVE(R_FP), 0x82, 0x80, 8, SAVE(R_RA), 0x81, 0x80, 8), 0,
     SIGNED({CFI_FP, 0, 8 | CFI_NEAR_BOTTOM | CFI_RA_SIGNED, 0x100010})},
    {"fp kept, the return address below 16 KiB of locals", ENTERED,
     B(0x0e, 0xa0, 0x80, 1, SAVE(R_RA), 0x84, 0x10), 0,
     LINKED({CFI_SP, KEPT, 0 | CFI_NEAR_BOTTOM, 16416})},
    {"a frame record in the middle of 1 MiB",
     ENTERED,
     B(0x0e, 0x80, 0x80, 0x40, SAVE(R_FP), 0x80, 0x80, 4, SAVE(R_RA), 0x81, 0x80, 4),
     0,
     {CFI_COMPLEX, 0, 0, 0}},

    /* Odd, but well-formed enough to know that no row can say it. */
    {"CFA of a third register", USUAL, B(0x0d, 10), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"no CFA at all", B(SAVE(R_RA), 1), NOTHING, 0, {CFI_COMPLEX, 0, 0, 0}},
    {"a register alone for the CFA of the CIE", B(0x0d, R_SP, SAVE(R_RA), 1), NOTHING, 0,
     SP(0, KEPT)},
    {"a register for a CFA that was never defined",
     B(SAVE(R_RA), 1),
     B(0x0d, R_FP),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"an offset for a CFA that was never defined",
     B(SAVE(R_RA), 1),
     B(0x0e, 16),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"no rule for the return address", B(0x0c, R_SP, 8), NOTHING, 0,
     LINKED({CFI_SP, KEPT, CFI_RA_KEPT, 8})},
    {"return address in a register", USUAL, B(0x09, R_RA, 1), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"fp in a register", USUAL, B(0x09, R_FP, 1), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"fp by an expression", USUAL, B(0x10, R_FP, 2, BREG(R_FP), 0), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"return address by an expression",
     USUAL,
     B(0x16, R_RA, 2, BREG(R_FP), 0),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"CFA by an expression without deref",
     USUAL,
     B(0x0f, 2, BREG(R_FP), 0x78),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"nearly the PLT's expression: another shift",
     USUAL,
     B(0x0f, 11, BREG(R_SP), 8, BREG(R_RA), 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x34, 0x24, 0x22),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"nearly the PLT's expression: another mask",
     USUAL,
     B(0x0f, 11, BREG(R_SP), 8, BREG(R_RA), 0, 0x3e, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"nearly the PLT's expression: of fp",
     USUAL,
     B(0x0f, 11, BREG(R_FP), 8, BREG(R_RA), 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"nearly the PLT's expression: one operation more",
     USUAL,
     B(0x0f, 12, BREG(R_SP), 8, BREG(R_RA), 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x06),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"nearly the PLT's expression: not a literal",
     USUAL,
     B(0x0f, 11, BREG(R_SP), 8, BREG(R_RA), 0, 0x3f, 0x1a, 0x50, 0x2a, 0x33, 0x24, 0x22),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"realigned CFA, but fp saved near it",
     USUAL,
     B(0x0f, 3, BREG(R_FP), 0x78, 0x06, SAVE(R_FP), 2),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"fp saved near fp, but a plain CFA",
     USUAL,
     B(0x10, R_FP, 2, BREG(R_FP), 0),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"fp saved near sp",
     USUAL,
     B(0x10, R_FP, 2, BREG(R_SP), 0, 0x0f, 3, BREG(R_FP), 0x78, 0x06),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"fp is the expression's value, not saved there",
     USUAL,
     B(0x16, R_FP, 2, BREG(R_FP), 0, 0x0f, 3, BREG(R_FP), 0x78, 0x06),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"fp by a longer expression",
     USUAL,
     B(0x10, R_FP, 3, BREG(R_FP), 0, 0x06, 0x0f, 3, BREG(R_FP), 0x78, 0x06),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"CFA by another register's deref",
     USUAL,
     B(0x0f, 3, BREG(R_SP), 8, 0x06),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"CFA by an empty expression", USUAL, B(0x0f, 0), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"def_cfa_register on an expression",
     USUAL,
     B(0x0f, 3, BREG(R_FP), 0x78, 0x06, 0x0d, R_SP),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"def_cfa_offset on an expression",
     USUAL,
     B(0x0f, 3, BREG(R_FP), 0x78, 0x06, 0x0e, 16),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"def_cfa_offset_sf on an expression",
     USUAL,
     B(0x0f, 3, BREG(R_FP), 0x78, 0x06, 0x13, 0x7e),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"an fp too far away for a row",
     USUAL,
     B(SAVE(R_FP), 0x80, 0x80, 4),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"a return address too far away",
     USUAL,
     B(SAVE(R_RA), 0x80, 0x80, 4),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"a frame of 4 GiB", USUAL, B(0x0e, 0x80, 0x80, 0x80, 0x80, 0x10), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"val_offset is not read", USUAL, B(0x14, R_FP, 2), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"an unknown opcode", USUAL, B(0x3f), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"the same opcode behind the row we want", USUAL, B(0x41, 0x3f), 0, SP(8, KEPT)},
    {"restore_state of nothing", USUAL, B(0x0b), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"remember nine deep",
     USUAL,
     B(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"an expression longer than the entry",
     USUAL,
     B(0x0f, 200, BREG(R_FP), 0x78, 0x06),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"a block of nearly 2^64 bytes",
     USUAL,
     B(0x10, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"a number without end", USUAL, B(0x0e, 0x80, 0x80, 0x80), 0, {CFI_COMPLEX, 0, 0, 0}},
    {"a factored offset that overflows",
     USUAL,
     B(SAVE(R_FP), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"a signed factored offset that overflows",
     USUAL,
     B(0x11, R_FP, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"a CFA offset that overflows when scaled",
     USUAL,
     B(0x13, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40),
     0,
     {CFI_COMPLEX, 0, 0, 0}},
    {"a CFA offset above 2^63", USUAL,
     B(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), 0, SP(-1, KEPT)},
};

START_TEST(a_table_gives_the_row_that_holds_at_an_address)
{
    struct image image = plain(rows[_i].initial, rows[_i].program);
    expect(rows[_i].name, row_in(&image, rows[_i].offset), rows[_i].want);
}
END_TEST

/* ---- Where the third register is kept ------------------------------------------------------- */

static const struct {
    const char *name;
    struct bytes program;
    int want;
} others[] = {
    {"not mentioned", NOTHING, CFI_FP_KEPT},
    {"saved", B(0x0e, 16, SAVE(R_OTHER), 2), -16},
    {"saved and restored", B(0x0e, 16, SAVE(R_OTHER), 2, RESTORE(R_OTHER)), CFI_FP_KEPT},
    {"saved, and the state is an older one", B(0x0a, SAVE(R_OTHER), 2, 0x0b), CFI_FP_KEPT},
    {"same_value", B(SAVE(R_OTHER), 2, 0x08, R_OTHER), CFI_FP_KEPT},
    {"saved further on", B(0x41, SAVE(R_OTHER), 2), CFI_FP_KEPT},
    {"in another register", B(0x09, R_OTHER, 1), CFI_LOST},
    {"undefined", B(0x07, R_OTHER), CFI_LOST},
    {"by an expression", B(0x10, R_OTHER, 2, BREG(R_SP), 0), CFI_LOST},
    {"too far away", B(SAVE(R_OTHER), 0x80, 0x80, 4), CFI_LOST},
    {"unreadable", B(SAVE(R_OTHER), 2, 0x3f), CFI_LOST},
};

START_TEST(the_third_register_is_found_or_lost)
{
    struct image image = plain(USUAL, others[_i].program);
    uint8_t *copy = unit_at_page_end(image.bytes, image.size);
    int got = cfi_other_of_fde(copy + image.fde, START);
    ck_assert_msg(got == others[_i].want, "%s: wanted %d, got %d", others[_i].name, others[_i].want,
                  got);
    ck_assert_int_eq(cfi_other_of_fde(copy + image.fde, START + RANGE), CFI_LOST);
    unit_drop_at_page_end(copy, image.size);
}
END_TEST

/* ---- Code that is known without a table ----------------------------------------------------- */

#ifdef __x86_64__
START_TEST(the_tail_of_the_start_files_destructor_loop_is_known_and_nothing_like_it)
{
    static const uint8_t tail[ARCH_DTORS_SIZE] = {0xe8, 1, 2, 3, 4, 0xc6, 5,
                                                  1,    2, 3, 4, 1, 0x5d, 0xc3};
    static const uint8_t operands[] = {1, 2, 3, 4, 7, 8, 9, 10};
    ck_assert(arch_is_dtors(tail));
    for (unsigned i = 0; i < sizeof tail; i++) {
        uint8_t other[ARCH_DTORS_SIZE];
        memcpy(other, tail, sizeof other);
        other[i] ^= 0x10;
        ck_assert_msg(arch_is_dtors(other) == (memchr(operands, i, sizeof operands) != NULL),
                      "byte %u", i);
    }
}
END_TEST
#endif

START_TEST(trailing_nops_change_nothing)
{
    struct image image = plain(rows[_i].initial, rows[_i].program);
    struct image padded = image;
    for (int i = 0; i < 7; i++)
        add(&padded, "", 1);
    set_length(&padded, padded.fde);
    /* What was cut off takes the nops for its operand; that may be a row, but never a fault. */
    struct cfi_row got = row_in(&padded, rows[_i].offset);
    if (strcmp(rows[_i].name, "a number without end") && rows[_i].want.rule != CFI_COMPLEX)
        expect(rows[_i].name, got, rows[_i].want);
}
END_TEST

START_TEST(an_address_outside_the_function_has_no_row)
{
    static const struct {
        int64_t offset;
        int rule;
    } places[] = {{-1, CFI_NONE}, {0, CFI_SP}, {RANGE - 1, CFI_SP}, {RANGE, CFI_NONE}};
    struct image image = plain(USUAL, NOTHING);
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
        struct cfi_row row = row_in(&image, places[i].offset);
        ck_assert_msg(row.rule == places[i].rule, "start + %d: wanted rule %d, got %d",
                      (int)places[i].offset, places[i].rule, row.rule);
    }
}
END_TEST

/* ---- CIEs ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct bytes body;
    int rule;
} cies[] = {
    {"zR", B(1, 'z', 'R', 0, 1, 0x78, R_RA, 1, 0), CFI_SP},
    {"version 3", B(3, 'z', 'R', 0, 1, 0x78, R_RA, 1, 0), CFI_SP},
    {"version 3: the column is a uleb", B(3, 'z', 'R', 0, 1, 0x78, 0x80 + R_RA, 0, 1, 0), CFI_SP},
    {"zPLR with a personality",
     B(1, 'z', 'P', 'L', 'R', 0, 1, 0x78, R_RA, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0), CFI_SP},
    {"zRS: a signal frame", B(1, 'z', 'R', 'S', 0, 1, 0x78, R_RA, 1, 0), CFI_SIGNAL},
    {"zRB: signed with the B key", B(1, 'z', 'R', 'B', 0, 1, 0x78, R_RA, 1, 0),
     SIGNS ? CFI_SP : CFI_NONE},
    {"zRG: a tagged stack", B(1, 'z', 'R', 'G', 0, 1, 0x78, R_RA, 1, 0), SIGNS ? CFI_SP : CFI_NONE},
    {"superfluous data", B(1, 'z', 'R', 0, 1, 0x78, R_RA, 4, 0, 9, 9, 9), CFI_SP},
    {"z alone: addresses are absolute", B(1, 'z', 0, 1, 0x78, R_RA, 0), CFI_SP},
    {"version 2", B(2, 'z', 'R', 0, 1, 0x78, R_RA, 1, 0), CFI_NONE},
    {"version 4", B(4, 'z', 'R', 0, 1, 0x78, R_RA, 1, 0), CFI_NONE},
    {"an old eh augmentation", B(1, 'e', 'h', 0, 1, 0x78, R_RA, 1, 0), CFI_NONE},
    {"an unknown letter", B(1, 'z', 'R', 'Q', 0, 1, 0x78, R_RA, 2, 0, 0), CFI_NONE},
    {"augmentation data longer than the CIE", B(1, 'z', 'R', 0, 1, 0x78, R_RA, 100, 0), CFI_NONE},
    {"augmentation data shorter than its letters",
     B(1, 'z', 'P', 'R', 0, 1, 0x78, R_RA, 2, 0x9b, 1), CFI_NONE},
    {"a personality relative to nothing we know",
     B(1, 'z', 'P', 'R', 0, 1, 0x78, R_RA, 6, 0x50, 1, 2, 3, 4, 0), CFI_NONE},
    {"addresses in an encoding that does not exist", B(1, 'z', 'R', 0, 1, 0x78, R_RA, 1, 0x0d),
     CFI_NONE},
    {"addresses relative to the text segment", B(1, 'z', 'R', 0, 1, 0x78, R_RA, 1, 0x20), CFI_NONE},
};

START_TEST(a_cie_is_read_or_refused)
{
    struct image image = assemble(cies[_i].body, USUAL, addresses(), NOTHING);
    struct cfi_row row = row_in(&image, 1);
    ck_assert_msg(row.rule == cies[_i].rule, "%s: wanted rule %d, got %d", cies[_i].name,
                  cies[_i].rule, row.rule);
}
END_TEST

/* code alignment 4 and data alignment -4: other CPUs, same arithmetic */
START_TEST(alignment_factors_scale_locations_and_offsets)
{
    struct image image =
        assemble(B(1, 'z', 'R', 0, 4, 0x7c, R_RA, 1, 0), B(0x0c, R_SP, 8, SAVE(R_RA), 2),
                 addresses(), B(0x42, SAVE(R_FP), 3));
    expect("before 2 * 4", row_in(&image, 7), (struct cfi_row)SP(8, KEPT));
    expect("from 2 * 4 on", row_in(&image, 8), (struct cfi_row)SP(8, -12));
    image = assemble(B(1, 'z', 'R', 0, 4, 0x7c, R_RA, 1, 0), B(0x0c, R_SP, 8, SAVE(R_RA), 3),
                     addresses(), NOTHING);
    expect("a return address across two words", row_in(&image, 0),
           (struct cfi_row){CFI_COMPLEX, 0, 0, 0});
}
END_TEST

/* ---- Address encodings ---------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint8_t encoding;
    uint8_t size;
} encodings[] = {
    {"absptr", 0x00, 8},       {"udata4", 0x03, 4},       {"sdata4", 0x0b, 4},
    {"udata8", 0x04, 8},       {"sdata8", 0x0c, 8},       {"pcrel absptr", 0x10, 8},
    {"pcrel sdata4", 0x1b, 4}, {"pcrel sdata8", 0x1c, 8}, {"pcrel sdata2", 0x1a, 2},
};

START_TEST(addresses_are_read_in_every_encoding)
{
    uint8_t encoding = encodings[_i].encoding, size = encodings[_i].size;
    struct image image =
        assemble(B(1, 'z', 'R', 0, 1, 0x78, R_RA, 1, encoding), USUAL, NOTHING, NOTHING);
    uint64_t zero = 0, range = 0x40;
    size_t field = image.size;
    add(&image, &zero, size);
    add(&image, &range, size);
    add(&image, "", 1);
    set_length(&image, image.fde);
    /* Low memory, so that four bytes can say an absolute address. */
    uint8_t *low = mmap((void *)0x20000000, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    ck_assert_msg(low != MAP_FAILED, "no low memory");
    uint64_t start = (uintptr_t)low + 2048;
    uint64_t value = encoding & 0x10 ? start - ((uintptr_t)low + field) : start;
    memcpy(image.bytes + field, &value, size);
    memcpy(low, image.bytes, image.size);
    for (int inside = 0; inside < 2; inside++) {
        struct cfi_row row = cfi_row_of_fde(low + image.fde, start + (inside ? 0x3f : 0x40));
        ck_assert_msg(row.rule == (inside ? CFI_SP : CFI_NONE), "%s: %s: got rule %d",
                      encodings[_i].name, inside ? "last byte" : "one behind", row.rule);
    }
    munmap(low, 4096);
}
END_TEST

/* ---- Truncation and hostile bytes ----------------------------------------------------------- */

/* One of everything. */
static struct image rich(void)
{
    return assemble(B(1, 'z', 'P', 'L', 'R', 0, 1, 0x78, R_RA, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0), USUAL,
                    addresses(),
                    B(0x41, 0x0e, 0x90, 1, SAVE(R_FP), 2, 0x02, 3, 0x0d, R_FP, 0x03, 1, 0, 0x0a,
                      0x0c, R_SP, 8, 0x04, 1, 0, 0, 0, 0x0b, 0x05, R_FP, 2, 0x11, 3, 0x7e, 0x2e, 16,
                      0x09, 3, 1, 0x10, 3, 2, BREG(R_FP), 0, 0x16, 12, 1, 0x30, 0x0f, 3, BREG(R_FP),
                      0x78, 0x06, 0x12, R_SP, 0x7e, 0x13, 0x7e, 0x01, 0x80, 0, 1, 0, 0, 0, 0, 0,
                      RESTORE(R_FP)));
}

START_TEST(an_fde_cut_at_any_byte_is_never_read_past_its_end)
{
    struct image whole = rich();
    for (size_t size = whole.fde + 4; size <= whole.size; size++) {
        struct image cut = whole;
        cut.size = size;
        set_length(&cut, cut.fde);
        for (uint64_t offset = 0; offset < RANGE; offset += 0x7f)
            row_in(&cut, offset); /* a read too many is SIGSEGV */
    }
}
END_TEST

START_TEST(a_cie_cut_at_any_byte_is_never_read_past_its_end)
{
    struct image whole = rich();
    uint32_t full;
    memcpy(&full, whole.bytes, 4);
    for (uint32_t length = 0; length < full; length++) {
        /* The CIE ends where a page without access begins; its FDE lies behind that page. */
        size_t fde_size = whole.size - whole.fde;
        uint8_t *map =
            mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert(map != MAP_FAILED && mprotect(map + 4096, 4096, PROT_NONE) == 0);
        uint8_t *cie = map + 4096 - 4 - length, *fde = map + 2 * 4096;
        memcpy(cie, whole.bytes, 4 + length);
        memcpy(cie, &length, 4);
        memcpy(fde, whole.bytes + whole.fde, fde_size);
        uint32_t distance = (uint32_t)(fde + 4 - cie);
        memcpy(fde + 4, &distance, 4);
        struct cfi_row row = cfi_row_of_fde(fde, START);
        /* The last five bytes are the CIE's program: without them there is no row, but an entry. Its
         * last opcode, of two bytes, places the return address, which may also be in a register. */
        int want = length + 5 < full                          ? CFI_NONE
                   : ARCH_LINK_REGISTER && length + 2 == full ? CFI_SP
                                                              : CFI_COMPLEX;
        ck_assert_msg(row.rule == want, "CIE of %u of %u bytes: got rule %d", length, full,
                      row.rule);
        munmap(map, 3 * 4096);
    }
}
END_TEST

START_TEST(entries_that_are_none_have_no_row)
{
    static const uint32_t lengths[] = {0, UINT32_MAX};
    for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
        uint8_t *end = unit_at_page_end(&lengths[i], 4);
        struct cfi_row row = cfi_row_of_fde(end, START);
        ck_assert_msg(row.rule == CFI_NONE, "length %x: got rule %d", lengths[i], row.rule);
        unit_drop_at_page_end(end, 4);
    }
    struct image image = plain(USUAL, NOTHING);
    struct cfi_row row = cfi_row_of_fde(image.bytes, START);
    ck_assert_msg(row.rule == CFI_NONE, "a CIE taken for an FDE: got rule %d", row.rule);
}
END_TEST

START_TEST(random_programs_never_read_outside_their_entry)
{
    uint64_t state = unit_seed + (uint64_t)_i;
    for (int round = 0; round < 3000; round++) {
        uint8_t program[64];
        size_t size = unit_random(&state) % sizeof program;
        for (size_t i = 0; i < size; i++)
            program[i] = unit_random(&state);
        /* Half of them start with opcodes that have operands. */
        if (size && round % 2)
            program[0] = 1 + program[0] % 0x16;
        struct image image = plain(USUAL, (struct bytes){program, size});
        struct cfi_row row = row_in(&image, unit_random(&state) % RANGE);
        ck_assert_msg(row.rule != CFI_NONE && row.rule <= CFI_OTHER, "seed %" PRIu64 ": rule %d",
                      unit_seed, row.rule);
    }
}
END_TEST

START_TEST(one_byte_changed_never_reads_outside_the_entry)
{
    struct image whole = rich();
    /* Not the length words and the distance: the loader vouches for the section's chain. */
    for (size_t at = 8; at < whole.size; at++) {
        if (at >= whole.fde && at < whole.fde + 8)
            continue;
        for (int flip = 0; flip < 256; flip += 5) {
            struct image changed = whole;
            changed.bytes[at] ^= flip;
            row_in(&changed, 0x85);
        }
    }
}
END_TEST

/* ---- The search table ----------------------------------------------------------------------- */

/* Header, sorted table of 1 + count functions, one CIE, an FDE for each: function i starts at
 * base + 0x1000 + i * 0x100 and has a frame of 8 + i. */
#define FUNCTIONS 5

static uint8_t *eh_frame(uint8_t table_encoding, uint8_t version)
{
    uint8_t *base = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_msg(base != MAP_FAILED, "no memory");
    struct image image = {.size = 0};
    uint8_t head[4] = {version, 0x1b, 0x03, table_encoding};
    add(&image, head, 4);
    add_word(&image, 0); /* eh_frame pointer: read and not used */
    add_word(&image, FUNCTIONS);
    size_t table = image.size;
    for (int i = 0; i < FUNCTIONS; i++)
        add_long(&image, 0);
    size_t cie = image.size;
    add_word(&image, 0);
    add_word(&image, 0);
    add(&image, CIE.at, CIE.size);
    add(&image, USUAL.at, USUAL.size);
    set_length(&image, cie);
    for (int i = 0; i < FUNCTIONS; i++) {
        uint32_t row[2] = {0x1000 + i * 0x100, image.size};
        memcpy(image.bytes + table + 8 * i, row, 8);
        size_t fde = image.size;
        add_word(&image, 0);
        add_word(&image, image.size - cie);
        add_long(&image, (uintptr_t)base + row[0]);
        add_long(&image, 0x80);
        add(&image, "", 1);
        uint8_t program[2] = {0x0e, 8 + i};
        add(&image, program, 2);
        set_length(&image, fde);
    }
    memcpy(base, image.bytes, image.size);
    return base;
}

static const struct {
    const char *name;
    int at;    /* relative to the header */
    int frame; /* 0: none */
} searches[] = {
    {"before the first function", 0xfff, 0},
    {"the header itself", 0, 0},
    {"below the header", -5000, 0},
    {"first byte of the first", 0x1000, 8},
    {"last byte of the first", 0x107f, 8},
    {"between the first and the second", 0x1080, 0},
    {"the second", 0x1100, 9},
    {"the middle one", 0x1240, 10},
    {"first byte of the last", 0x1400, 12},
    {"last byte of the last", 0x147f, 12},
    {"behind the last", 0x1480, 0},
    {"far behind", 0x7fffffff, 0},
};

START_TEST(the_search_table_finds_the_function_around_an_address)
{
    uint8_t *base = eh_frame(0x3b, 1);
    struct cfi_row row = cfi_row_at(base, (uintptr_t)base + searches[_i].at);
    int frame = row.rule == CFI_SP ? row.offset : 0;
    ck_assert_msg(frame == searches[_i].frame && (frame || row.rule == CFI_NONE),
                  "%s: wanted frame %d, got %d (rule %d)", searches[_i].name, searches[_i].frame,
                  frame, row.rule);
}
END_TEST

START_TEST(a_search_table_in_another_form_is_refused)
{
    uint8_t *good = eh_frame(0x3b, 1), *other = eh_frame(0x1b, 1), *newer = eh_frame(0x3b, 2);
    ck_assert_int_eq(cfi_row_at(good, (uintptr_t)good + 0x1000).rule, CFI_SP);
    ck_assert_int_eq(cfi_row_at(other, (uintptr_t)other + 0x1000).rule, CFI_NONE);
    ck_assert_int_eq(cfi_row_at(newer, (uintptr_t)newer + 0x1000).rule, CFI_NONE);
    ck_assert_int_eq(cfi_row_at(NULL, 0x1000).rule, CFI_NONE);
    memset(good + 8, 0, 4); /* no functions */
    ck_assert_int_eq(cfi_row_at(good, (uintptr_t)good + 0x1000).rule, CFI_NONE);
}
END_TEST

/* The FDE of a function in a section .debug_frame, whose CIE has this body and stands at this place. */
static const struct {
    const char *name;
    struct bytes body;
    uint32_t id, place; /* of the CIE */
    int frame;          /* 0: none */
} debug_entries[] = {
    {"version 1", {(const uint8_t[]){1, 0, 1, 0x78, R_RA}, 5}, UINT32_MAX, 0, 8},
    {"version 3", {(const uint8_t[]){3, 0, 1, 0x78, R_RA}, 5}, UINT32_MAX, 0, 8},
    {"version 4", {(const uint8_t[]){4, 0, WORD, 0, 1, 0x78, R_RA}, 7}, UINT32_MAX, 0, 8},
    {"addresses of another size",
     {(const uint8_t[]){4, 0, WORD / 2, 0, 1, 0x78, R_RA}, 7},
     UINT32_MAX,
     0,
     0},
    {"segments", {(const uint8_t[]){4, 0, WORD, 2, 1, 0x78, R_RA}, 7}, UINT32_MAX, 0, 0},
    {"an unknown version", {(const uint8_t[]){5, 0, WORD, 0, 1, 0x78, R_RA}, 7}, UINT32_MAX, 0, 0},
    {"a CIE of .eh_frame", {(const uint8_t[]){1, 0, 1, 0x78, R_RA}, 5}, 0, 0, 0},
    {"a CIE behind the section", {(const uint8_t[]){1, 0, 1, 0x78, R_RA}, 5}, UINT32_MAX, 4096, 0},
    {"a CIE at its last byte",
     {(const uint8_t[]){1, 0, 1, 0x78, R_RA}, 5},
     UINT32_MAX,
     UINT32_MAX,
     0},
};

START_TEST(an_entry_for_debuggers_gives_a_row_as_well)
{
    struct image image = {.size = 0};
    uintptr_t words[2] = {START, RANGE};
    add_word(&image, 0);
    add_word(&image, debug_entries[_i].id);
    add(&image, debug_entries[_i].body.at, debug_entries[_i].body.size);
    add(&image, USUAL.at, USUAL.size);
    set_length(&image, 0);
    size_t fde = image.size, pointer = fde + 4;
    add_word(&image, 0);
    add_word(&image, debug_entries[_i].place);
    add(&image, words, sizeof words);
    set_length(&image, fde);
    if (debug_entries[_i].place == UINT32_MAX) {
        uint32_t last = image.size - 1;
        memcpy(image.bytes + pointer, &last, sizeof last);
    }
    uint8_t *copy = unit_at_page_end(image.bytes, image.size);
    struct cfi_section section = {copy, copy + image.size};
    for (unsigned at = 0; at <= RANGE; at += RANGE / 2) {
        struct cfi_row row = cfi_row_of_debug_fde(&section, fde, START + at);
        int frame = row.rule == CFI_SP ? row.offset : 0;
        ck_assert_msg(frame == (at < RANGE ? debug_entries[_i].frame : 0), "%s: frame %d (rule %d)",
                      debug_entries[_i].name, frame, row.rule);
    }
    unit_drop_at_page_end(copy, image.size);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("cfi");
    TCase *programs = tcase_create("programs");
    tcase_add_loop_test(programs, a_table_gives_the_row_that_holds_at_an_address, 0,
                        ARRAY_LENGTH(rows));
    tcase_add_loop_test(programs, the_third_register_is_found_or_lost, 0, ARRAY_LENGTH(others));
#ifdef __x86_64__
    tcase_add_test(programs,
                   the_tail_of_the_start_files_destructor_loop_is_known_and_nothing_like_it);
#endif
    tcase_add_loop_test(programs, trailing_nops_change_nothing, 0, ARRAY_LENGTH(rows));
    tcase_add_test(programs, an_address_outside_the_function_has_no_row);
    tcase_add_test(programs, alignment_factors_scale_locations_and_offsets);
    suite_add_tcase(suite, programs);
    TCase *entries = tcase_create("entries");
    tcase_add_loop_test(entries, an_entry_for_debuggers_gives_a_row_as_well, 0,
                        ARRAY_LENGTH(debug_entries));
    tcase_add_loop_test(entries, a_cie_is_read_or_refused, 0, ARRAY_LENGTH(cies));
    tcase_add_loop_test(entries, addresses_are_read_in_every_encoding, 0, ARRAY_LENGTH(encodings));
    suite_add_tcase(suite, entries);
    TCase *hostile = tcase_create("hostile");
    tcase_set_timeout(hostile, 60);
    tcase_add_test(hostile, an_fde_cut_at_any_byte_is_never_read_past_its_end);
    tcase_add_test(hostile, a_cie_cut_at_any_byte_is_never_read_past_its_end);
    tcase_add_test(hostile, entries_that_are_none_have_no_row);
    tcase_add_loop_test(hostile, random_programs_never_read_outside_their_entry, 0, 4);
    tcase_add_test(hostile, one_byte_changed_never_reads_outside_the_entry);
    suite_add_tcase(suite, hostile);
    TCase *search = tcase_create("search");
    tcase_add_loop_test(search, the_search_table_finds_the_function_around_an_address, 0,
                        ARRAY_LENGTH(searches));
    tcase_add_test(search, a_search_table_in_another_form_is_refused);
    suite_add_tcase(suite, search);
    return unit_main(argc, argv, suite);
}
