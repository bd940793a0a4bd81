/* cfi.c - finds the FDE (frame description entry) of an address, runs its CFA program, and makes a
 * row from the resulting state. */
#include "preload/unwind/cfi.h"
#include "preload/unwind/eh_reader.h"
#include "arch.h"

/* ---- Finding the FDE of an address ----------------------------------------------------------- */

struct header_entry {
    int32_t start,
        fde; /* offsets of the function and of its FDE, from the start of .eh_frame_hdr */
};

/* Finds the FDE of an address in the sorted table of .eh_frame_hdr, in the one form that linkers
 * write (datarel | sdata4). */
static const uint8_t *find_fde(const uint8_t *header, uintptr_t pc)
{
    struct eh_reader cursor = {header + 4, header + 64, false};
    if (header[0] != 1 || header[3] != 0x3b)
        return NULL;
    eh_read_encoded(&cursor, header[1], (uintptr_t)header);
    uint64_t count = eh_read_encoded(&cursor, header[2], (uintptr_t)header);
    const struct header_entry *table = (const struct header_entry *)cursor.at;
    intptr_t wanted = (intptr_t)(pc - (uintptr_t)header);
    if (cursor.bad || !count || wanted < table[0].start)
        return NULL;
    size_t low = 0, high = count; /* always true: table[low].start <= wanted < table[high].start */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].start <= wanted)
            low = middle;
        else
            high = middle;
    }
    return header + table[low].fde;
}

/* ---- Reading CIEs and FDEs ------------------------------------------------------------------- */

struct entry {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_register;
    uint8_t pointer_encoding;
    bool signal, augmented, has_handlers;
    struct eh_reader initial, program;
    uintptr_t start, end;
};

static bool open_cfi_entry(const uint8_t *at, struct eh_reader *body)
{
    struct eh_reader cursor = {at, at + 4, false};
    uint32_t length = eh_read_uint(&cursor, 4);
    /* Length 0 ends the section, UINT32_MAX marks 64-bit DWARF, which .eh_frame never has. */
    if (!length || length == UINT32_MAX)
        return false;
    *body = (struct eh_reader){at + 4, at + 4 + length, false};
    return true;
}

/* Reads a CIE (common information entry). id: the value that marks a CIE, 0 in .eh_frame. */
static bool read_cie(const uint8_t *at, uint32_t id, struct entry *entry)
{
    struct eh_reader cursor;
    if (!open_cfi_entry(at, &cursor) || eh_read_uint(&cursor, 4) != id)
        return false;
    uint8_t version = eh_read_uint(&cursor, 1);
    if (version != 1 && version != 3 && (version != 4 || !id))
        return false;
    const char *augmentation = (const char *)cursor.at;
    while (eh_read_uint(&cursor, 1) && !cursor.bad)
        continue;
    /* In version 4 the sizes of an address and of a segment selector follow. */
    if (version == 4 && (eh_read_uint(&cursor, 1) != WORD || eh_read_uint(&cursor, 1) != 0))
        return false;
    entry->code_align = eh_read_uleb(&cursor);
    entry->data_align = eh_read_sleb(&cursor);
    entry->ra_register = version == 1 ? eh_read_uint(&cursor, 1) : eh_read_uleb(&cursor);
    entry->pointer_encoding = 0;
    if (cursor.bad || (*augmentation && *augmentation != 'z'))
        return false;
    if (*augmentation == 'z') {
        entry->augmented = true;
        uint64_t size = eh_read_uleb(&cursor);
        if (cursor.bad || size > (uint64_t)(cursor.end - cursor.at))
            return false;
        struct eh_reader data = {cursor.at, cursor.at + size, false};
        cursor.at += size;
        for (augmentation++; *augmentation; augmentation++) {
            if (*augmentation == 'R')
                entry->pointer_encoding = eh_read_uint(&data, 1);
            else if (*augmentation == 'P') {
                uint8_t encoding = eh_read_uint(&data, 1);
                eh_read_encoded(&data, encoding & 0x7f, 0);
            } else if (*augmentation == 'L') {
                eh_read_uint(&data, 1);
                entry->has_handlers = true;
            } else if (*augmentation == 'S')
                entry->signal = true;
            else if (!arch_cie_letter(*augmentation))
                return false;
        }
        if (data.bad)
            return false;
    }
    entry->initial = cursor;
    return true;
}

/* Reads the CIE of an FDE. In .eh_frame the FDE contains the distance back to the CIE, in
 * .debug_frame the offset of the CIE in the section. */
static bool read_cie_of_fde(const struct cfi_section *section, struct eh_reader *fde,
                            struct entry *entry)
{
    const uint8_t *here = fde->at;
    uint32_t place = eh_read_uint(fde, 4), length;
    if (!section)
        return place && read_cie(here - place, 0, entry);
    size_t size = section->end - section->start;
    if (place >= size || size - place < sizeof length)
        return false;
    memcpy(&length, section->start + place, sizeof length);
    return length <= size - place - sizeof length &&
           read_cie(section->start + place, UINT32_MAX, entry);
}

/* Reads an FDE. section: the copy of .debug_frame; NULL: the FDE is in .eh_frame. False: the FDE is
 * invalid, or is not that of pc. */
static bool read_fde(const struct cfi_section *section, const uint8_t *fde, uintptr_t pc,
                     struct entry *entry)
{
    struct eh_reader cursor;
    memset(entry, 0, sizeof *entry);
    if (!open_cfi_entry(fde, &cursor) || !read_cie_of_fde(section, &cursor, entry))
        return false;
    entry->start = eh_read_encoded(&cursor, entry->pointer_encoding, 0);
    entry->end = entry->start + eh_read_encoded(&cursor, entry->pointer_encoding & 0x0f, 0);
    if (entry->augmented) {
        uint64_t size = eh_read_uleb(&cursor);
        if (cursor.bad || size > (uint64_t)(cursor.end - cursor.at))
            return false;
        cursor.at += size;
    }
    entry->program = cursor;
    return !cursor.bad && pc >= entry->start && pc < entry->end;
}

/* ---- Running the CFA program ----------------------------------------------------------------- */

enum saved { SAVED_SAME, SAVED_AT, SAVED_NEAR_FP, SAVED_UNDEFINED, SAVED_ODD };

struct rule {
    uint8_t how; /* a value of enum saved */
    int64_t offset;
};

struct state {
    uint64_t cfa_register;
    int64_t cfa_offset;
    bool cfa_deref, cfa_odd, ra_signed;
    struct rule fp, ra, other;
};

#define STATES_MAX 8

struct machine {
    const struct entry *entry;
    /* location: address from which on the CFI row holds that is being computed. pc: address whose
     * CFI row is searched. */
    uintptr_t location, pc;
    struct state now, initial, stack[STATES_MAX];
    unsigned depth;
    bool bad;
};

static void set_register_rule(struct machine *machine, uint64_t number, enum saved how,
                              int64_t offset)
{
    struct rule rule = {how, offset};
    if (number == ARCH_DWARF_FP)
        machine->now.fp = rule;
    else if (number == machine->entry->ra_register)
        machine->now.ra = rule;
    else if (number == ARCH_DWARF_OTHER)
        machine->now.other = rule;
}

static void restore_register_rule(struct machine *machine, uint64_t number)
{
    if (number == ARCH_DWARF_FP)
        machine->now.fp = machine->initial.fp;
    else if (number == machine->entry->ra_register)
        machine->now.ra = machine->initial.ra;
    else if (number == ARCH_DWARF_OTHER)
        machine->now.other = machine->initial.other;
}

static void define_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
    machine->now.cfa_register = number;
    machine->now.cfa_offset = offset;
    machine->now.cfa_deref = machine->now.cfa_odd = false;
}

/* Returns a reader for the bytes of a DWARF expression, and moves the cursor behind them. */
static struct eh_reader read_expression_block(struct machine *machine, struct eh_reader *cursor)
{
    uint64_t size = eh_read_uleb(cursor);
    if (cursor->bad || size > (uint64_t)(cursor->end - cursor->at)) {
        machine->bad = true;
        return (struct eh_reader){cursor->at, cursor->at, true};
    }
    struct eh_reader block = {cursor->at, cursor->at + size, false};
    cursor->at += size;
    return block;
}

#define DW_OP_DEREF 0x06
#define DW_OP_LIT0 0x30
#define DW_OP_BREG0 0x70

/* Recognises the CFA of a realigned frame, which stores its caller's sp near fp: DW_OP_breg(fp)
 * offset, DW_OP_deref. */
static bool parse_realigned_cfa(struct machine *machine, struct eh_reader block)
{
    if (eh_read_uint(&block, 1) != DW_OP_BREG0 + ARCH_DWARF_FP)
        return false;
    define_cfa(machine, ARCH_DWARF_FP, eh_read_sleb(&block));
    machine->now.cfa_deref = true;
    return eh_read_uint(&block, 1) == DW_OP_DEREF && !block.bad && block.at == block.end;
}

/* Recognises the CFA of PLT entries. Each has 16 bytes and pushes one word at offset n, and one
 * expression describes all of them: sp + offset + ((pc & 15) >= n) words. */
static bool parse_plt_cfa(struct machine *machine, struct eh_reader block)
{
    static const uint8_t middle[] = {DW_OP_BREG0 + ARCH_DWARF_RA, 0, DW_OP_LIT0 + 15, 0x1a};
    /* The operations DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus. */
    static const uint8_t tail[] = {0x2a, DW_OP_LIT0 + (WORD == 8 ? 3 : 2), 0x24, 0x22};
    /* On CPUs with a link register, DWARF's number of the return address means that register, not
     * pc. */
    if (ARCH_LINK_REGISTER || eh_read_uint(&block, 1) != DW_OP_BREG0 + ARCH_DWARF_SP)
        return false;
    int64_t offset = eh_read_sleb(&block);
    if (block.bad || block.end - block.at != sizeof middle + 1 + sizeof tail ||
        memcmp(block.at, middle, sizeof middle) != 0 ||
        memcmp(block.at + sizeof middle + 1, tail, sizeof tail) != 0)
        return false;
    unsigned pushed_at = block.at[sizeof middle] - DW_OP_LIT0;
    define_cfa(machine, ARCH_DWARF_SP, offset + ((machine->pc & 15) >= pushed_at ? WORD : 0));
    return pushed_at < 16;
}

static void run_cfa_expression(struct machine *machine, struct eh_reader *cursor)
{
    struct eh_reader block = read_expression_block(machine, cursor);
    if (parse_realigned_cfa(machine, block) || parse_plt_cfa(machine, block))
        return;
    machine->now.cfa_odd = machine->now.cfa_deref = true;
}

/* Evaluates the expression that says where a register is saved. One expression is understood, that
 * of a realigned frame, which saves the caller's fp at DW_OP_breg(fp) offset; others make the
 * register's rule SAVED_ODD. */
static void run_register_expression(struct machine *machine, struct eh_reader *cursor,
                                    bool is_address)
{
    uint64_t number = eh_read_uleb(cursor);
    struct eh_reader block = read_expression_block(machine, cursor);
    bool of_fp = eh_read_uint(&block, 1) == DW_OP_BREG0 + ARCH_DWARF_FP;
    int64_t offset = eh_read_sleb(&block);
    bool known = is_address && of_fp && !block.bad && block.at == block.end;
    set_register_rule(machine, number, known ? SAVED_NEAR_FP : SAVED_ODD, offset);
}

/* Multiplies an offset by the data alignment; an overflow makes the program invalid. */
static int64_t scale_offset(struct machine *machine, int64_t value)
{
    int64_t offset = 0;
    if (__builtin_mul_overflow(value, machine->entry->data_align, &offset))
        machine->bad = true;
    return offset;
}

/* Marks the CFA program as invalid unless the CFA is a register plus an offset: only then may an
 * opcode change one of the two. */
static void require_plain_cfa(struct machine *machine)
{
    if (machine->now.cfa_deref)
        machine->bad = true;
}

/* Runs an opcode that has no operand in its low six bits. */
static void run_extended_opcode(struct machine *machine, uint8_t opcode, struct eh_reader *cursor)
{
    const struct entry *entry = machine->entry;
    uint64_t number;
    switch (opcode) {
    case 0x00: /* DW_CFA_nop */
        break;
    case 0x01: /* DW_CFA_set_loc */
        machine->location = eh_read_encoded(cursor, entry->pointer_encoding, 0);
        break;
    case 0x02: /* DW_CFA_advance_loc1, _loc2, _loc4 */
        machine->location += eh_read_uint(cursor, 1) * entry->code_align;
        break;
    case 0x03:
        machine->location += eh_read_uint(cursor, 2) * entry->code_align;
        break;
    case 0x04:
        machine->location += eh_read_uint(cursor, 4) * entry->code_align;
        break;
    case 0x05: /* DW_CFA_offset_extended */
        number = eh_read_uleb(cursor);
        set_register_rule(machine, number, SAVED_AT, scale_offset(machine, eh_read_uleb(cursor)));
        break;
    case 0x11: /* DW_CFA_offset_extended_sf */
        number = eh_read_uleb(cursor);
        set_register_rule(machine, number, SAVED_AT, scale_offset(machine, eh_read_sleb(cursor)));
        break;
    case 0x06: /* DW_CFA_restore_extended */
        restore_register_rule(machine, eh_read_uleb(cursor));
        break;
    case 0x07: /* DW_CFA_undefined */
        set_register_rule(machine, eh_read_uleb(cursor), SAVED_UNDEFINED, 0);
        break;
    case 0x08: /* DW_CFA_same_value */
        set_register_rule(machine, eh_read_uleb(cursor), SAVED_SAME, 0);
        break;
    case 0x09: /* DW_CFA_register */
        number = eh_read_uleb(cursor);
        eh_read_uleb(cursor);
        set_register_rule(machine, number, SAVED_ODD, 0);
        break;
    case 0x0a: /* DW_CFA_remember_state */
        if (machine->depth == STATES_MAX)
            machine->bad = true;
        else
            machine->stack[machine->depth++] = machine->now;
        break;
    case 0x0b: /* DW_CFA_restore_state */
        if (!machine->depth)
            machine->bad = true;
        else
            machine->now = machine->stack[--machine->depth];
        break;
    case 0x0c: /* DW_CFA_def_cfa */
        number = eh_read_uleb(cursor);
        define_cfa(machine, number, eh_read_uleb(cursor));
        break;
    case 0x12: /* DW_CFA_def_cfa_sf */
        number = eh_read_uleb(cursor);
        define_cfa(machine, number, scale_offset(machine, eh_read_sleb(cursor)));
        break;
    case 0x0d: /* DW_CFA_def_cfa_register */
        require_plain_cfa(machine);
        machine->now.cfa_register = eh_read_uleb(cursor);
        /* In CIEs of riscv64 no opcode sets the offset, which is 0. */
        if (cursor->end == entry->initial.end)
            machine->now.cfa_odd = false;
        break;
    case 0x0e: /* DW_CFA_def_cfa_offset */
        require_plain_cfa(machine);
        machine->now.cfa_offset = eh_read_uleb(cursor);
        break;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        require_plain_cfa(machine);
        machine->now.cfa_offset = scale_offset(machine, eh_read_sleb(cursor));
        break;
    case 0x0f: /* DW_CFA_def_cfa_expression */
        run_cfa_expression(machine, cursor);
        break;
    case 0x10: /* DW_CFA_expression, DW_CFA_val_expression */
    case 0x16:
        run_register_expression(machine, cursor, opcode == 0x10);
        break;
    case 0x2e: /* DW_CFA_GNU_args_size */
        eh_read_uleb(cursor);
        break;
    default:
        if (arch_cfa_signs(opcode))
            machine->now.ra_signed = !machine->now.ra_signed;
        else
            machine->bad = true;
    }
}

/* Runs a CFA program until the row for pc is complete. */
static void run_cfa_program(struct machine *machine, struct eh_reader cursor, uintptr_t pc)
{
    while (cursor.at < cursor.end && machine->location <= pc && !machine->bad) {
        uint8_t opcode = eh_read_uint(&cursor, 1);
        uint8_t operand = opcode & 0x3f;
        switch (opcode & 0xc0) {
        case 0x40: /* DW_CFA_advance_loc */
            machine->location += operand * machine->entry->code_align;
            break;
        case 0x80: /* DW_CFA_offset */
            set_register_rule(machine, operand, SAVED_AT,
                              scale_offset(machine, eh_read_uleb(&cursor)));
            break;
        case 0xc0: /* DW_CFA_restore */
            restore_register_rule(machine, operand);
            break;
        default:
            run_extended_opcode(machine, opcode, &cursor);
        }
        if (cursor.bad)
            machine->bad = true;
    }
}

static bool is_saved(const struct rule *rule)
{
    return rule->how == SAVED_AT || rule->how == SAVED_NEAR_FP;
}

static bool offset_fits(const struct rule *rule, int64_t base, int64_t least, int64_t most)
{
    return !is_saved(rule) || (rule->offset >= INT32_MIN && rule->offset <= INT32_MAX &&
                               rule->offset - base >= least && rule->offset - base <= most);
}

static bool saved_offsets_fit(const struct state *state, int64_t base)
{
    return offset_fits(&state->fp, base, INT16_MIN + 1, CFI_FP_KEPT - 1) &&
           offset_fits(&state->ra, base, CFI_RA_LEAST, CFI_RA_MOST);
}

/* Stores in the CFI row where fp and the return address are saved. False: a CFI row cannot express
 * that. */
static bool set_saved_offsets(const struct state *state, struct cfi_row *row)
{
    const struct rule *fp = &state->fp, *ra = &state->ra;
    int64_t base = 0; /* the row's offsets count from CFA + base */
    if (ARCH_LINK_REGISTER && !state->cfa_deref && !saved_offsets_fit(state, 0)) {
        base = -(int64_t)row->offset;
        row->ra_offset |= CFI_NEAR_BOTTOM;
    }
    if (!saved_offsets_fit(state, base) || (is_saved(ra) && (ra->offset - base) & CFI_RA_ODD))
        return false;
    row->fp_offset = is_saved(fp) ? fp->offset - base : CFI_FP_KEPT;
    row->ra_offset += is_saved(ra) ? ra->offset - base : CFI_RA_KEPT;
    row->ra_offset |= state->ra_signed ? CFI_RA_SIGNED : 0;
    return true;
}

static struct cfi_row row_from_state(const struct state *state)
{
    struct cfi_row row = {.rule = CFI_COMPLEX}, full = {.offset = (int32_t)state->cfa_offset};
    if (state->ra.how == SAVED_UNDEFINED) {
        row.rule = CFI_END;
        return row;
    }
    bool of_sp = state->cfa_register == ARCH_DWARF_SP, of_fp = state->cfa_register == ARCH_DWARF_FP;
    bool of_other = state->cfa_register == ARCH_DWARF_OTHER;
    bool ra_known =
        state->ra.how == SAVED_AT || (ARCH_LINK_REGISTER && state->ra.how == SAVED_SAME);
    /* A CFI row with cfa_deref gives the place of the caller's fp relative to fp, any other row
     * relative to the CFA. If the table gives it relative to the other one, a row cannot express
     * it. */
    bool fp_known = is_saved(&state->fp) ? (state->fp.how == SAVED_NEAR_FP) == state->cfa_deref
                                         : state->fp.how != SAVED_ODD;
    if (state->cfa_odd || (!of_sp && !of_fp && !of_other) || !ra_known || !fp_known ||
        state->cfa_offset != full.offset || !set_saved_offsets(state, &full))
        return row;
    full.rule = of_sp ? CFI_SP : of_other ? CFI_OTHER : state->cfa_deref ? CFI_FP_DEREF : CFI_FP;
    return full;
}

/* Computes the state at pc. CFI_NONE: pc is not in this FDE. CFI_SIGNAL: the frame is a signal
 * frame, and *out is not set. CFI_COMPLEX: the CFA program contains something that cfi.c does not
 * support. */
static enum cfi_rule cfa_state_at(const struct cfi_section *section, const uint8_t *fde,
                                  uintptr_t pc, struct state *out)
{
    struct entry entry;
    if (!read_fde(section, fde, pc, &entry))
        return CFI_NONE;
    if (entry.signal)
        return CFI_SIGNAL;
    struct machine machine = {.entry = &entry, .location = entry.start, .pc = pc};
    /* The program of the CIE computes the initial state of the function. */
    machine.now.cfa_odd = true; /* true until an opcode defines the CFA */
    run_cfa_program(&machine, entry.initial, UINTPTR_MAX);
    machine.initial = machine.now;
    machine.location = entry.start;
    run_cfa_program(&machine, entry.program, pc);
    *out = machine.now;
    return machine.bad ? CFI_COMPLEX : CFI_SP;
}

static struct cfi_row find_row(const struct cfi_section *section, const uint8_t *fde, uintptr_t pc)
{
    struct state state;
    enum cfi_rule rule = cfa_state_at(section, fde, pc, &state);
    return rule == CFI_SP ? row_from_state(&state) : (struct cfi_row){.rule = rule};
}

struct cfi_row cfi_row_of_fde(const uint8_t *fde, uintptr_t pc)
{
    return find_row(NULL, fde, pc);
}

struct cfi_row cfi_row_of_debug_fde(const struct cfi_section *section, size_t fde, uintptr_t pc)
{
    return find_row(section, section->start + fde, pc);
}

struct cfi_row cfi_row_at(const void *eh_frame_hdr, uintptr_t pc)
{
    const uint8_t *fde = eh_frame_hdr ? find_fde(eh_frame_hdr, pc) : NULL;
    return fde ? cfi_row_of_fde(fde, pc) : (struct cfi_row){.rule = CFI_NONE};
}

int16_t cfi_other_of_fde(const uint8_t *fde, uintptr_t pc)
{
    struct state state;
    if (cfa_state_at(NULL, fde, pc, &state) != CFI_SP)
        return CFI_LOST;
    if (state.other.how == SAVED_SAME)
        return CFI_FP_KEPT;
    return state.other.how == SAVED_AT &&
                   offset_fits(&state.other, 0, INT16_MIN + 2, CFI_FP_KEPT - 1)
               ? state.other.offset
               : CFI_LOST;
}

int16_t cfi_other_at(const void *eh_frame_hdr, uintptr_t pc)
{
    const uint8_t *fde = eh_frame_hdr ? find_fde(eh_frame_hdr, pc) : NULL;
    return fde ? cfi_other_of_fde(fde, pc) : CFI_LOST;
}

bool cfi_function_at(const void *eh_frame_hdr, uintptr_t pc, struct cfi_function *out)
{
    struct entry entry;
    const uint8_t *fde = eh_frame_hdr ? find_fde(eh_frame_hdr, pc) : NULL;
    if (!fde || !read_fde(NULL, fde, pc, &entry))
        return false;
    *out = (struct cfi_function){entry.start, entry.end, entry.has_handlers};
    return true;
}
