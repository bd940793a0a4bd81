/* frame_code.c (x86_64) - reads the code of a function as far as it concerns the function's frame.
 *
 * A variadic function begins like this, in the code of gcc and of clang. With rbp as the frame
 * pointer the offsets differ; clang may save the other registers behind the vector registers:
 *
 *         sub    $0xd8,%rsp
 *         mov    %rsi,0x28(%rsp)      the arguments that have no name
 *         ...
 *         mov    %r9,0x48(%rsp)
 *         test   %al,%al              number of vector registers with arguments
 *         je     1f
 *         movaps %xmm0,0x50(%rsp)     area + 48
 *         ...
 *         movaps %xmm7,0xc0(%rsp)     area + 160
 *     1:
 *
 * Compilers use the area of 176 bytes for nothing else. */
#include "preload/roots/frame_code.h"
#include "instruction.h"

#define RSP 4 /* numbers of registers in instructions */
#define RBP 5
#define NO_BASE 16

#define ARGUMENT_BYTES 48 /* size of the part of the save area for general registers */
#define VECTORS 8
#define VECTOR_BYTES (VECTORS * 16)

/* An instruction whose operand is given by a byte ModRM. */
struct operand {
    bool exists, in_memory, has_index;
    unsigned reg;   /* the register, or the part of the opcode, in the middle of ModRM */
    unsigned base;  /* the register that holds the operand, or the base of its address */
    unsigned index; /* of the address, if it has one */
    int32_t distance;
    bool is_wide; /* has the prefix REX.W: 64 bits */
    const uint8_t *behind;
};

struct reader {
    const struct frame_function *function;
    size_t at;
    struct instruction now;
    struct operand operand;
    uintptr_t depth; /* bytes from sp to the CFA, behind the instructions read so far */
    bool has_room;   /* the one subtraction from rsp was read */
    bool has_body;   /* more was read than pushes and the like, so that rax may hold a value */
    bool has_frame_pointer; /* rbp is CFA - 16 */
};

static bool has_operand(unsigned opcode)
{
    if (opcode >= 0x0f00)
        return opcode < 0x0f80 || opcode > 0x0f8f;
    return opcode < 0x40 ? (opcode & 7) < 4
                         : memchr("\x63\x69\x6b\x80\x81\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8d"
                                  "\xc0\xc1\xc6\xc7\xd0\xd1\xd2\xd3\xf6\xf7\xfe\xff",
                                  opcode, 27) != NULL;
}

/* Says whether the middle of ModRM is a general register: otherwise it is a vector register, or a
 * part of the opcode. */
static bool names_register(unsigned opcode)
{
    if (opcode >= 0x0f00)
        return (opcode >= 0x0f40 && opcode <= 0x0f4f) ||
               memchr("\xaf\xb0\xb1\xb6\xb7\xbc\xbd\xbe\xbf\xc0\xc1", opcode & 0xff, 11);
    return opcode < 0x40 ||
           memchr("\x63\x69\x6b\x84\x85\x86\x87\x88\x89\x8a\x8b\x8d", opcode, 12) != NULL;
}

/* Says whether an operand that is a register is a vector register. */
static bool is_of_vectors(unsigned opcode)
{
    return opcode >= 0x0f00 &&
           memchr("\x10\x11\x28\x29\x57\x6f\x7f\xd6\xef", opcode & 0xff, 9) != NULL;
}

/* Reads the operand of an instruction that instruction_read knows. */
static struct operand read_operand(const uint8_t *at, const struct instruction *instruction)
{
    struct operand out = {.exists = has_operand(instruction->opcode)};
    unsigned rex = 0;
    while (memchr("\x66\x64\x65\x2e\xf0\xf2\xf3", *at, 7))
        at++;
    if ((*at & 0xf0) == 0x40)
        rex = *at++;
    at += instruction->opcode >= 0x0f00 ? 2 : 1;
    out.is_wide = rex & 8;
    if (!out.exists)
        return out;
    unsigned mode = *at >> 6, low = *at & 7;
    out.reg = (*at++ >> 3 & 7) | (rex & 4) << 1;
    out.base = low | (rex & 1) << 3;
    out.in_memory = mode != 3;
    if (out.in_memory && low == 4) {
        unsigned sib = *at++;
        out.index = (sib >> 3 & 7) | (rex & 2) << 2;
        out.has_index = out.index != RSP;
        low = sib & 7;
        out.base = low | (rex & 1) << 3;
    }
    if (out.in_memory && mode == 0 && low == 5)
        out.base = NO_BASE;
    if (mode == 1)
        out.distance = (int8_t)*at++;
    else if (mode == 2 || out.base == NO_BASE) {
        memcpy(&out.distance, at, sizeof out.distance);
        at += sizeof out.distance;
    }
    out.behind = at;
    return out;
}

#define INT3 0xcc

/* Reads the next instruction. False: it is not known, or a breakpoint, which may stand in the place
 * of the first byte of another one. */
static bool read_next(struct reader *reader)
{
    const struct frame_function *function = reader->function;
    const uint8_t *code = function->code + reader->at;
    reader->now = instruction_read(code, function->size - reader->at);
    if (reader->now.form == INSN_UNKNOWN || reader->now.opcode == INT3)
        return false;
    reader->operand = read_operand(code, &reader->now);
    reader->at += reader->now.length;
    return true;
}

/* Returns the bytes of the instruction that was read last. */
static const uint8_t *code_of_now(const struct reader *reader)
{
    return reader->function->code + reader->at - reader->now.length;
}

/* Says whether the instruction is mov %rsp,%rbp, which makes rbp the frame pointer. */
static bool sets_frame_pointer(const struct reader *reader)
{
    const struct operand *operand = &reader->operand;
    unsigned from = reader->now.opcode == 0x89 ? operand->reg : operand->base;
    unsigned to = reader->now.opcode == 0x89 ? operand->base : operand->reg;
    return (reader->now.opcode == 0x89 || reader->now.opcode == 0x8b) && operand->is_wide &&
           !operand->in_memory && from == RSP && to == RBP;
}

/* Says whether the instruction adds a constant to rsp; *change is the constant. */
static bool adds_to_stack_pointer(const struct reader *reader, int32_t *change)
{
    const struct operand *operand = &reader->operand;
    if ((reader->now.opcode != 0x81 && reader->now.opcode != 0x83) || !operand->is_wide ||
        operand->in_memory || operand->base != RSP || (operand->reg != 0 && operand->reg != 5))
        return false;
    if (reader->now.opcode == 0x83)
        *change = (int8_t)*operand->behind;
    else
        memcpy(change, operand->behind, sizeof *change);
    if (operand->reg == 5)
        *change = -*change;
    return true;
}

static bool is_push(const struct reader *reader)
{
    unsigned opcode = reader->now.opcode;
    return (opcode >= 0x50 && opcode <= 0x57) || opcode == 0x68 || opcode == 0x6a ||
           (opcode == 0xff && reader->operand.reg == 6);
}

/* Says whether a function may begin with the instruction before rax holds anything: endbr64 or a
 * push. */
static bool is_of_entry(const struct reader *reader)
{
    return reader->now.opcode == 0x0f1e || is_push(reader);
}

/* Follows rsp through the instructions at the beginning that make the frame. A push of rax at the
 * very beginning, where it holds nothing, makes room; later it passes an argument. False: the frame
 * is not made as compilers make one. */
static bool follow_stack_pointer(struct reader *reader)
{
    int32_t change;
    bool had_body = reader->has_body;
    reader->has_body |= !is_of_entry(reader) && !sets_frame_pointer(reader);
    if (sets_frame_pointer(reader)) {
        bool first = reader->depth == 16 && !reader->has_frame_pointer;
        reader->has_frame_pointer = true;
        return first;
    }
    bool subtracts = adds_to_stack_pointer(reader, &change) && change < 0;
    bool pushes_nothing = reader->now.opcode == 0x50 && reader->now.length == 1 && !had_body;
    if (!subtracts && !is_push(reader))
        return true;
    bool had_room = reader->has_room;
    reader->has_room |= subtracts || pushes_nothing;
    reader->depth += subtracts ? (uintptr_t) - (int64_t)change : WORD;
    return !had_room;
}

/* Says whether the operand is memory of the frame; *offset is its offset from the CFA. */
static bool is_in_frame(const struct reader *reader, int64_t *offset)
{
    const struct operand *operand = &reader->operand;
    bool by_frame_pointer = operand->base == RBP && reader->has_frame_pointer;
    if (!operand->exists || !operand->in_memory || (operand->base != RSP && !by_frame_pointer))
        return false;
    *offset = operand->distance - (by_frame_pointer ? 16 : (int64_t)reader->depth);
    return true;
}

/* ---- The register save area ------------------------------------------------------------------ */

/* Returns which argument the register with this number is; 6: none. */
static unsigned argument_of(unsigned reg)
{
    static const uint8_t order[] = {7, 6, 2, 1, 8, 9};
    unsigned i = 0;
    while (i < ARRAY_LENGTH(order) && order[i] != reg)
        i++;
    return i;
}

/* What is known of a save area at some point of a variadic function. stored[i]: the offset from the
 * CFA at which argument i was stored last; 0: nowhere. */
struct save_area {
    int64_t stored[ARGUMENT_BYTES / 8];
    int64_t vectors; /* offset from the CFA; 0: there is no area */
};

static void note_store(const struct reader *reader, struct save_area *area)
{
    int64_t offset;
    unsigned argument = argument_of(reader->operand.reg);
    if (reader->now.opcode == 0x89 && reader->operand.is_wide && argument < 6 &&
        !reader->operand.has_index && is_in_frame(reader, &offset))
        area->stored[argument] = offset;
}

/* Reads the eight instructions that save the vector registers. end: offset in the code behind the
 * last of them. */
static bool read_vector_stores(struct reader *reader, size_t end, struct save_area *area)
{
    for (unsigned i = 0; i < VECTORS; i++) {
        int64_t offset;
        if (!read_next(reader) || reader->now.opcode != 0x0f29 ||
            memchr("\x66\xf2\xf3", *code_of_now(reader), 3) || reader->operand.reg != i ||
            reader->operand.has_index || !is_in_frame(reader, &offset))
            return false;
        if (i == 0)
            area->vectors = offset;
        if (offset != area->vectors + 16 * (int64_t)i)
            return false;
    }
    return reader->at == end;
}

/* Says whether the instruction changes rsp in a way that is not followed, by and $-64,%rsp say:
 * offsets from rsp are not known any more then. */
static bool loses_stack_pointer(const struct reader *reader)
{
    const struct operand *operand = &reader->operand;
    unsigned opcode = reader->now.opcode;
    int32_t change;
    if ((opcode >= 0x58 && opcode <= 0x5f) || opcode == 0xc9) /* pop, leave */
        return true;
    if (!operand->exists || sets_frame_pointer(reader))
        return false;
    if (adds_to_stack_pointer(reader, &change))
        return change > 0;
    return (!operand->in_memory && !is_of_vectors(opcode) && operand->base == RSP) ||
           (names_register(opcode) && operand->reg == RSP);
}

/* Reads the beginning of the function up to the first branch or call behind the stores of the
 * vector registers. False: not all stores of arguments were seen. */
static bool read_variadic_beginning(struct reader *reader, struct save_area *area)
{
    bool tested = false;
    while (reader->at < reader->function->size && read_next(reader)) {
        const uint8_t *code = code_of_now(reader);
        if (!follow_stack_pointer(reader) || (!area->vectors && loses_stack_pointer(reader)))
            return false;
        note_store(reader, area);
        if (reader->now.form == INSN_BRANCH && tested && (reader->now.opcode & 0xf) == 4 &&
            !area->vectors) {
            uintptr_t end = instruction_target(&reader->now, code, reader->at - reader->now.length);
            if (!read_vector_stores(reader, end, area)) {
                area->vectors = 0;
                return false;
            }
        } else if (reader->now.form != INSN_PLAIN && reader->now.form != INSN_STACK) {
            return area->vectors;
        }
        tested = code[0] == 0x84 && code[1] == 0xc0; /* test %al,%al */
    }
    return false;
}

static void add_hole(struct frame_holes *out, int64_t start, int64_t end, uintptr_t frame_size)
{
    if (start >= end || end > -(int64_t)WORD || start < -(int64_t)frame_size ||
        out->count == FRAME_HOLES_MOST)
        return;
    out->hole[out->count].start = start;
    out->hole[out->count++].end = end;
}

/* Returns the first argument without a name: from it on, all were stored in the area. 6: the
 * function saves none. */
static unsigned first_unnamed(const struct save_area *area)
{
    int64_t start = area->vectors - ARGUMENT_BYTES;
    unsigned i = ARRAY_LENGTH(area->stored);
    while (i > 0 && area->stored[i - 1] == start + 8 * (int64_t)(i - 1))
        i--;
    return i;
}

/* Says whether the instruction loads or stores the number with which va_start begins a va_list: the
 * offset in the save area of the first argument without a name. It is the lower half of a constant
 * whose upper half is the offset of the first vector register, or a constant of its own. A function
 * that reads only floating-point arguments has none: what lies below its vector registers are
 * variables. */
static bool is_first_offset(const struct reader *reader, uint32_t offset)
{
    const uint8_t *behind = code_of_now(reader) + reader->now.length;
    uint32_t half[2];
    int64_t place;
    if (reader->now.opcode >= 0xb8 && reader->now.opcode <= 0xbf && reader->now.length == 10) {
        memcpy(half, behind - sizeof half, sizeof half);
        return half[0] == offset && half[1] >= ARGUMENT_BYTES && half[1] % 16 == 0 &&
               half[1] < ARGUMENT_BYTES + VECTOR_BYTES;
    }
    if (reader->now.opcode != 0xc7 || reader->operand.is_wide || *code_of_now(reader) == 0x66 ||
        !is_in_frame(reader, &place))
        return false;
    memcpy(half, behind - sizeof *half, sizeof *half);
    return half[0] == offset;
}

/* Says whether the function begins a va_list whose first argument is this one. */
static bool begins_list_at(const struct frame_function *function, unsigned argument)
{
    struct reader reader = {.function = function, .depth = WORD};
    while (reader.at < function->size && read_next(&reader)) {
        bool follows = follow_stack_pointer(&reader);
        if (is_first_offset(&reader, 8 * argument))
            return true;
        if (!follows)
            break;
    }
    return false;
}

/* Finds the words of the save area that hold no pointer: those of the vector registers, and those
 * in front of the first argument that is stored. Returns the offset of the area; 0: there is
 * none. */
static int64_t find_save_area(const struct frame_function *function, struct frame_holes *out)
{
    struct reader reader = {.function = function, .depth = WORD};
    struct save_area area = {0};
    bool all = read_variadic_beginning(&reader, &area);
    int64_t start = area.vectors - ARGUMENT_BYTES;
    unsigned first = first_unnamed(&area);
    if (area.vectors)
        add_hole(out, area.vectors, area.vectors + VECTOR_BYTES, function->frame_size);
    if (!all || first == ARRAY_LENGTH(area.stored))
        return 0;
    if (first > 0 && begins_list_at(function, first))
        add_hole(out, start, area.stored[first], function->frame_size);
    return start;
}

/* ---- Words that no instruction names ---------------------------------------------------------- */

#define WORDS_MOST 64 /* words of a frame that are looked at, from the lowest one on */
#define ADDRESSES_MOST 16
#define LIST_BYTES 24 /* size of a va_list */
#define SAVE_AREA_BYTES (ARGUMENT_BYTES + VECTOR_BYTES)

/* What the instructions of a function name. Offsets are from the CFA. */
struct named {
    int64_t bottom;                    /* offset of the frame's lowest word */
    uint64_t words;                    /* bit i: word i from the bottom on is named */
    int64_t addresses[ADDRESSES_MOST]; /* addresses that the function computes */
    unsigned address_count;
    bool names_caller;      /* words of the caller's frame are named: arguments on the stack */
    int64_t save_area;      /* offset of the register save area; 0: there is none */
    int64_t list;           /* offset of a va_list that va_start has filled; 0: there is none */
    unsigned area_register; /* holds the address of the save area; NO_BASE: none does */
};

static void name_words(struct named *named, int64_t offset, int64_t size)
{
    for (unsigned i = 0; i < WORDS_MOST; i++) {
        int64_t word = named->bottom + (int64_t)WORD * i;
        if (word < offset + size && word + (int64_t)WORD > offset)
            named->words |= 1ull << i;
    }
}

static bool name_address(struct named *named, int64_t offset)
{
    if (named->address_count == ADDRESSES_MOST)
        return false;
    named->addresses[named->address_count++] = offset;
    return true;
}

/* Says whether a register of the instruction is rsp, or rbp as the frame pointer. */
static bool is_frame_register(const struct reader *reader, unsigned reg)
{
    return reg == RSP || (reg == RBP && reader->has_frame_pointer);
}

/* Notes a copy of rsp, the address of the lowest word. False: a register of the frame is used in
 * another way. */
static bool note_registers(const struct reader *reader, struct named *named)
{
    const struct operand *operand = &reader->operand;
    unsigned opcode = reader->now.opcode;
    int32_t change;
    if (opcode == 0x54 || opcode == 0x5c) /* push and pop of rsp or, with a prefix, of r12 */
        return reader->now.length > 1;
    if (opcode >= 0xb8 && opcode <= 0xbf) /* a constant for a register; of 8 to 15 with a prefix */
        return (*code_of_now(reader) & 1 && (*code_of_now(reader) & 0xf0) == 0x40) ||
               !is_frame_register(reader, opcode & 7);
    if (!operand->exists || sets_frame_pointer(reader) || adds_to_stack_pointer(reader, &change))
        return true;
    if (operand->has_index && is_frame_register(reader, operand->index))
        return false;
    bool in_middle = names_register(opcode) && is_frame_register(reader, operand->reg);
    bool is_operand =
        !operand->in_memory && !is_of_vectors(opcode) && is_frame_register(reader, operand->base);
    if (in_middle && opcode == 0x89 && operand->reg == RSP && operand->is_wide &&
        !operand->in_memory && !is_operand && reader->has_room)
        return name_address(named, named->bottom);
    return !in_middle && !is_operand;
}

/* Notes the words and addresses of an operand in the frame. Where rsp is not at the bottom of the
 * frame yet, an operand counts for both places. */
static bool note_operand(const struct reader *reader, struct named *named)
{
    int64_t offset, size = reader->now.opcode >= 0x0f00 ? 16 : 8;
    if (!is_in_frame(reader, &offset))
        return true;
    if (reader->operand.has_index || offset < named->bottom)
        return false;
    named->names_caller |= offset + size > 0 && reader->now.opcode != 0x8d;
    if (reader->now.opcode == 0x8d)
        return (reader->has_room || reader->operand.base == RBP || offset >= 0) &&
               name_address(named, offset);
    name_words(named, offset, size);
    if (reader->operand.base == RSP)
        name_words(named, named->bottom + reader->operand.distance, size);
    return true;
}

/* Recognizes the place where va_start writes the address of the save area: the last word of a
 * va_list. Between the instruction that computes the address and the one that writes it only moves
 * are expected. */
static void note_list(const struct reader *reader, struct named *named)
{
    const struct operand *operand = &reader->operand;
    unsigned opcode = reader->now.opcode;
    int64_t offset;
    bool in_frame = is_in_frame(reader, &offset);
    if (named->save_area && opcode == 0x8d && in_frame && offset == named->save_area)
        named->area_register = operand->reg;
    else if (opcode == 0x89 && operand->in_memory && operand->reg == named->area_register)
        named->list = in_frame && operand->is_wide ? offset + (int64_t)WORD - LIST_BYTES : 0;
    else if (!((opcode == 0x89 || opcode == 0xc7) && operand->in_memory) &&
             !((opcode == 0x8b || opcode == 0x8d) && operand->reg != named->area_register) &&
             !(opcode == 0x89 && operand->base != named->area_register))
        named->area_register = NO_BASE;
}

/* Says whether the next instruction may be one outside of the function, which uses the same
 * frame. */
static bool leaves_function(const struct reader *reader)
{
    const struct frame_function *function = reader->function;
    size_t here = reader->at - reader->now.length;
    if (reader->now.form == INSN_BRANCH)
        return instruction_target(&reader->now, function->code + here, here) >= function->size;
    return reader->now.opcode == 0xff && reader->operand.reg >= 3 && reader->operand.reg <= 5;
}

/* Says whether the code that follows the instruction in memory is reached from it. */
static bool goes_on(const struct reader *reader)
{
    unsigned opcode = reader->now.opcode;
    return reader->now.form == INSN_PLAIN || reader->now.form == INSN_STACK ||
           (reader->now.form == INSN_BRANCH && opcode != 0xe9 && opcode != 0xeb) || opcode == 0xc9;
}

/* Reads the whole function. False: it may use its frame in ways that are not understood. */
static bool read_names(const struct frame_function *function, struct named *named)
{
    struct reader reader = {.function = function, .depth = WORD};
    while (reader.at < function->size) {
        bool had_room = reader.has_room;
        if (!read_next(&reader) || !follow_stack_pointer(&reader) || leaves_function(&reader) ||
            !note_registers(&reader, named) || !note_operand(&reader, named))
            return false;
        if (is_push(&reader) && !(reader.has_room && !had_room))
            name_words(named, -(int64_t)reader.depth, WORD);
        note_list(&reader, named);
    }
    name_words(named, -(int64_t)WORD, WORD);
    return reader.depth == function->frame_size && !goes_on(&reader);
}

/* What is known of the addresses that a function computes. */
struct computed {
    bool unknown; /* there is one of an object that is not known */
    bool caller;  /* there is one in the caller's frame: of arguments */
    bool list;    /* there is that of the va_list */
};

/* The save area of a function is reached through its va_list, which has also the address of the
 * arguments on the stack; nobody writes these. */
static struct computed look_at_addresses(const struct named *named)
{
    struct computed out = {0};
    for (unsigned i = 0; i < named->address_count; i++) {
        int64_t at = named->addresses[i];
        out.list |= named->list && at == named->list;
        if (at >= 0) {
            out.caller |= !named->save_area || !named->list;
            out.unknown |= !named->save_area || !named->list;
        } else if (!(named->save_area && at == named->save_area) &&
                   !(named->list && at == named->list))
            out.unknown = true;
    }
    return out;
}

/* Finds the words that no instruction names. If the function computes an address of its frame, the
 * object may extend from there in both directions, so that nothing is known; except for the register
 * save area and the va_list, which may be the beginning of a larger object, up to the save area.
 * Elsewhere only single words count then, which are padding. */
static void find_unnamed(const struct frame_function *function, int64_t save_area,
                         struct frame_holes *out)
{
    struct named named = {
        .bottom = -(int64_t)function->frame_size, .save_area = save_area, .area_register = NO_BASE};
    if (!read_names(function, &named))
        return;
    struct computed computed = look_at_addresses(&named);
    out->leaves_caller_alone = !named.names_caller && !computed.caller;
    if (computed.unknown || function->passes_arguments)
        return;
    if (save_area)
        name_words(&named, save_area, SAVE_AREA_BYTES);
    if (computed.list)
        name_words(&named, named.list, (named.list < save_area ? save_area : 0) - named.list);
    unsigned count = -named.bottom / (int64_t)WORD < WORDS_MOST ? -named.bottom / WORD : WORDS_MOST;
    for (unsigned i = 0, end; i < count; i = end + 1) {
        for (end = i; end < count && !(named.words >> end & 1); end++)
            continue;
        if (!named.address_count || end - i == 1)
            add_hole(out, named.bottom + (int64_t)WORD * i, named.bottom + (int64_t)WORD * end,
                     function->frame_size);
    }
}

void frame_code_find_holes(const struct frame_function *function, struct frame_holes *out)
{
    *out = (struct frame_holes){0};
    if (function->size > FRAME_CODE_MOST)
        return;
    int64_t save_area = find_save_area(function, out);
    if (!function->has_handlers)
        find_unnamed(function, save_area, out);
}
