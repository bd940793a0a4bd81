/* result_flow.c - executes a function symbolically, to see where the result of a call goes. */
#include "common/typeinfo/result_flow.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/typeinfo/type_info.h"

/* most instructions behind the call that are executed; later uses of the result are missed */
#define STEPS_MOST 800
#define SLOTS_MOST 16 /* most words of the frame that are remembered */
#define PATHS_MOST 64 /* most branches that are still to be followed */

/* What a register or a word of the frame contains. Variables with fixed addresses, and
 * functions, are looked up only when their type is needed: the first lookup reads the debug
 * information of the whole file. */
struct value {
    enum {
        UNKNOWN,
        RESULT,  /* the result of the call + offset */
        POINTER, /* a pointer to `offset` in an object of a type, or in one element of an array */
        FRAME,   /* the canonical frame address + offset */
        STATIC,  /* the fixed address `offset` in the file */
        LOADED,  /* what is stored at the fixed address `offset` */
        CALLED,  /* what the function at the address `offset` returned */
    } sort;
    int64_t offset;
    bool indexed;   /* POINTER, STATIC: an unknown multiple of an element's size is added */
    Dwarf_Die type; /* POINTER: type of the object */
};

struct slot {
    int64_t offset; /* offset from the canonical frame address */
    struct value value;
};

struct machine {
    struct value reg[X86_REGISTERS];
    struct slot slot[SLOTS_MOST];
    unsigned next_slot; /* index of the slot to replace next */
};

struct walk {
    struct program_code *code;
    struct result_flow *flow;
    uint64_t back;
    int64_t ahead; /* offset in the block of the address that the program uses as the result; 0 =
                    * the block's start */
    uint8_t *seen; /* for each offset in the function: the instruction there was followed */
    struct machine *waiting;
    uint64_t waiting_at[PATHS_MOST];
    size_t waiting_count;
    unsigned steps;
};

/* The place of an operand in memory. IN_FRAME: at `offset` from the canonical frame address.
 * IN_OBJECT: at `offset` in an object of a known type. NOWHERE: unknown. */
struct place {
    enum { NOWHERE, IN_FRAME, IN_OBJECT } sort;
    int64_t offset;
    bool indexed;
    Dwarf_Die type;   /* IN_OBJECT: type of the object */
    const char *name; /* name of a variable with a fixed address */
};

/* ---- Uses of the result ---------------------------------------------------------------------- */

static void add_object_use(struct result_flow *flow, enum flow_target target, Dwarf_Die *type,
                           const char *name)
{
    struct flow_use use = {.target = target, .type = *type, .name = name};

    if (flow->count == FLOW_USES_MOST)
        return;
    for (size_t i = 0; i < flow->count; i++)
        if (flow->uses[i].type.addr == use.type.addr && flow->uses[i].target == target)
            return;
    flow->uses[flow->count++] = use;
}

/* Adds a use of the result as a pointer of this type. */
static void add_use(struct result_flow *flow, enum flow_target target, Dwarf_Die *type,
                    const char *name)
{
    Dwarf_Die pointee;

    if (type_pointee(type, &pointee))
        add_object_use(flow, target, &pointee, name);
}

/* Says whether a variable is a parameter, perhaps of an inlined function, or another variable. */
static enum flow_target target_of_variable(Dwarf_Die *variable)
{
    return dwarf_tag(variable) == DW_TAG_formal_parameter ? FLOW_PARAMETER : FLOW_VARIABLE;
}

static void add_variable_use(struct result_flow *flow, const struct variable_place *place,
                             int64_t into)
{
    Dwarf_Die variable = place->variable, type, found;
    const char *name = dwarf_diename(&variable);

    if (type_of_die(&variable, &type) && type_at(&type, into, &found, &name))
        add_use(flow, target_of_variable(&variable), &found, name);
}

/* ---- Values of registers and words ----------------------------------------------------------- */

static struct value value_of_type(Dwarf_Die *type)
{
    struct value value = {.sort = POINTER};

    return type_pointee(type, &value.type) ? value : (struct value){.sort = UNKNOWN};
}

static struct value typed_value(Dwarf_Die *type, int64_t offset)
{
    Dwarf_Die found;

    return type_at(type, offset, &found, NULL) ? value_of_type(&found)
                                               : (struct value){.sort = UNKNOWN};
}

static struct place static_place(const struct walk *walk, uint64_t address, bool indexed);

/* Returns the pointer that a variable with a fixed address contains. */
static struct value loaded_value(const struct walk *walk, uint64_t address)
{
    struct place place = static_place(walk, address, false);

    return place.sort == IN_OBJECT ? typed_value(&place.type, place.offset)
                                   : (struct value){.sort = UNKNOWN};
}

/* Returns the pointer that a function has returned. */
static struct value called_value(const struct walk *walk, uint64_t address)
{
    Dwarf_Die function, type;

    return program_code_function(walk->code, address, &function) && type_of_die(&function, &type)
               ? value_of_type(&type)
               : (struct value){.sort = UNKNOWN};
}

static struct value look_up(const struct walk *walk, struct value value)
{
    if (value.sort == LOADED)
        return loaded_value(walk, (uint64_t)value.offset);
    return value.sort == CALLED ? called_value(walk, (uint64_t)value.offset) : value;
}

/* Returns the value of a register. If nothing was stored in it so far, the debug information may
 * name a variable that is in the register. */
static struct value register_value(const struct walk *walk, const struct machine *machine,
                                   uint64_t address, int number)
{
    struct value value = machine->reg[number];
    const struct variable_place *place;
    size_t index = 0;

    if (value.sort == CALLED)
        value = look_up(walk, value);
    if (value.sort != UNKNOWN)
        return value;
    while ((place = program_code_in_register(walk->code, address, number, &index))) {
        Dwarf_Die variable = place->variable, type;

        if (!type_of_die(&variable, &type))
            continue;
        value = typed_value(&type, place->into);
        if (value.sort == POINTER)
            return value;
    }
    return (struct value){.sort = UNKNOWN};
}

static struct slot *find_slot(struct machine *machine, int64_t offset)
{
    for (unsigned i = 0; i < SLOTS_MOST; i++)
        if (machine->slot[i].value.sort != UNKNOWN && machine->slot[i].offset == offset)
            return &machine->slot[i];
    return NULL;
}

static void set_slot(struct machine *machine, int64_t offset, struct value value)
{
    struct slot *slot = find_slot(machine, offset);

    if (!slot && value.sort == UNKNOWN)
        return;
    if (!slot)
        slot = &machine->slot[machine->next_slot++ % SLOTS_MOST];
    *slot = (struct slot){offset, value};
}

/* Forgets remembered words of the frame (slots) near an offset where something unknown, or less
 * than a word, was stored. */
static void spoil_slots(struct machine *machine, int64_t offset)
{
    for (unsigned i = 0; i < SLOTS_MOST; i++)
        if (machine->slot[i].offset - offset < 8 && offset - machine->slot[i].offset < 8)
            machine->slot[i].value.sort = UNKNOWN;
}

/* ---- Operands in memory ---------------------------------------------------------------------- */

static struct place static_place(const struct walk *walk, uint64_t address, bool indexed)
{
    struct place place = {.sort = IN_OBJECT, .indexed = indexed};
    Dwarf_Die variable;

    if (!program_code_static(walk->code, address, &variable, &place.offset) ||
        !type_of_die(&variable, &place.type))
        return (struct place){.sort = NOWHERE};
    place.name = dwarf_diename(&variable);
    return place;
}

static struct place object_place(const struct value *value, int64_t displacement, bool indexed)
{
    return (struct place){.sort = IN_OBJECT,
                          .offset = value->offset + displacement,
                          .indexed = value->indexed || indexed,
                          .type = value->type};
}

static struct place place_of_value(const struct walk *walk, struct value value,
                                   int64_t displacement, bool indexed)
{
    value = look_up(walk, value);
    if (value.sort == STATIC)
        return static_place(walk, (uint64_t)(value.offset + displacement),
                            indexed || value.indexed);
    if (value.sort == FRAME && !indexed)
        return (struct place){.sort = IN_FRAME, .offset = value.offset + displacement};
    if (value.sort == POINTER)
        return object_place(&value, displacement, indexed);
    return (struct place){.sort = NOWHERE};
}

/* Returns the place of an element, whose index is unknown, of an array in the frame. */
static struct place indexed_frame(const struct walk *walk, uint64_t address, int64_t offset)
{
    struct place place = {.sort = IN_OBJECT, .indexed = true};
    size_t index = 0;
    const struct variable_place *variable =
        program_code_in_frame(walk->code, address, offset, &index, &place.offset);
    Dwarf_Die die;

    if (!variable)
        return (struct place){.sort = NOWHERE};
    die = variable->variable;
    if (!type_of_die(&die, &place.type))
        place.sort = NOWHERE;
    return place;
}

/* Says whether an operand has a fixed address; computes the address. */
static bool find_static(uint64_t address, const struct x86_instruction *at, struct value *value)
{
    if (at->base != X86_IP && at->base != X86_NONE)
        return false;
    *value = (struct value){
        .sort = STATIC, .offset = at->displacement, .indexed = at->index != X86_NONE};
    if (at->base == X86_IP)
        value->offset += (int64_t)(address + at->length);
    return true;
}

static struct place find_place(const struct walk *walk, const struct machine *machine,
                               uint64_t address, const struct x86_instruction *at)
{
    bool indexed = at->index != X86_NONE;
    struct value fixed;
    struct place place;
    int number;
    int64_t distance;

    if (find_static(address, at, &fixed))
        return place_of_value(walk, fixed, 0, false);
    if ((at->base == X86_SP || at->base == X86_BP) &&
        program_code_frame(walk->code, address, &number, &distance) && number == at->base)
        return indexed ? indexed_frame(walk, address, at->displacement - distance)
                       : (struct place){.sort = IN_FRAME, .offset = at->displacement - distance};
    place = place_of_value(walk, register_value(walk, machine, address, at->base), at->displacement,
                           indexed);
    if (place.sort == NOWHERE && indexed && at->scale == 1)
        place = place_of_value(walk, register_value(walk, machine, address, at->index),
                               at->displacement, true);
    return place;
}

/* Finds the type of what is at a place in memory. In an array with an unknown index it is the place
 * within one element. False: the type is unknown. */
static bool type_of_place(struct place *place, Dwarf_Die *found, const char **name)
{
    Dwarf_Die plain, element;

    *name = place->name;
    if (place->indexed && type_make_plain(&place->type, &plain) &&
        dwarf_tag(&plain) == DW_TAG_array_type && type_of_die(&plain, &element))
        return type_at(&element, place->offset, found, name);
    return type_at(&place->type, place->offset, found, name);
}

static struct value load(const struct walk *walk, struct machine *machine, uint64_t address,
                         const struct x86_instruction *at)
{
    const struct variable_place *variable;
    const struct slot *slot;
    const char *name;
    size_t index = 0;
    int64_t into;
    struct value fixed;
    struct place place;
    Dwarf_Die found, die;

    if (find_static(address, at, &fixed) && !fixed.indexed) {
        fixed.sort = LOADED;
        return fixed;
    }
    place = find_place(walk, machine, address, at);
    if (place.sort == IN_OBJECT)
        return type_of_place(&place, &found, &name) ? value_of_type(&found)
                                                    : (struct value){.sort = UNKNOWN};
    if (place.sort == NOWHERE)
        return (struct value){.sort = UNKNOWN};
    if ((slot = find_slot(machine, place.offset)))
        return slot->value;
    variable = program_code_in_frame(walk->code, address, place.offset, &index, &into);
    if (!variable)
        return (struct value){.sort = UNKNOWN};
    die = variable->variable;
    return type_of_die(&die, &found) ? typed_value(&found, into) : (struct value){.sort = UNKNOWN};
}

static bool is_result(const struct value *value)
{
    return value->sort == RESULT && value->offset == 0;
}

/* If the program passes on an address more bytes than this behind the block's start, the address is
 * probably that of an element, not behind a header. */
#define HEADER_MOST 64

static void note_inside(struct walk *walk, const struct value *value)
{
    walk->flow->given_inside |=
        value->sort == RESULT && value->offset > 0 && value->offset <= HEADER_MOST;
}

static struct value result_at(const struct walk *walk, int64_t offset)
{
    return (struct value){.sort = RESULT, .offset = offset == walk->ahead ? 0 : offset};
}

static void add_slot_uses(struct walk *walk, int64_t offset, uint64_t address)
{
    const struct variable_place *variable;
    size_t index = 0;
    int64_t into;

    while ((variable = program_code_in_frame(walk->code, address, offset, &index, &into)))
        add_variable_use(walk->flow, variable, into);
}

static void store_in_frame(struct walk *walk, struct machine *machine, uint64_t address,
                           int64_t offset, struct value value)
{
    spoil_slots(machine, offset);
    set_slot(machine, offset, value);
    if (is_result(&value))
        add_slot_uses(walk, offset, address);
}

static void store(struct walk *walk, struct machine *machine, uint64_t address,
                  const struct x86_instruction *at, struct value value)
{
    const char *name;
    struct value fixed;
    struct place place;
    Dwarf_Die found;

    if (value.sort != RESULT && find_static(address, at, &fixed))
        return;
    place = find_place(walk, machine, address, at);
    if (place.sort != IN_FRAME &&
        !(at->base >= 0 && at->base < X86_REGISTERS && machine->reg[at->base].sort == RESULT))
        note_inside(walk, &value);
    if (place.sort == IN_FRAME)
        store_in_frame(walk, machine, address, place.offset, value);
    else if (place.sort == IN_OBJECT && is_result(&value) && type_of_place(&place, &found, &name))
        add_use(walk->flow, FLOW_MEMBER, &found, name);
}

static struct value address_value(const struct walk *walk, struct machine *machine,
                                  uint64_t address, const struct x86_instruction *at)
{
    struct value fixed;
    struct place place;

    if (find_static(address, at, &fixed))
        return fixed;
    if (at->base >= 0 && at->base < X86_REGISTERS && at->index == X86_NONE &&
        machine->reg[at->base].sort == RESULT)
        return result_at(walk, machine->reg[at->base].offset + at->displacement);
    place = find_place(walk, machine, address, at);
    if (place.sort == IN_FRAME)
        return (struct value){.sort = FRAME, .offset = place.offset};
    if (place.sort == IN_OBJECT)
        return (struct value){
            .sort = POINTER, .offset = place.offset, .indexed = place.indexed, .type = place.type};
    return (struct value){.sort = UNKNOWN};
}

/* ---- Calls of functions ---------------------------------------------------------------------- */

static const int argument_registers[] = {X86_DI, X86_SI, X86_DX, X86_CX, 8, 9};
#define ARGUMENTS (sizeof(argument_registers) / sizeof(*argument_registers))

/* Says whether a parameter of this type is passed in a general register. */
static bool is_in_general_register(Dwarf_Die *type)
{
    Dwarf_Die plain;

    return type_make_plain(type, &plain) && !type_is_aggregate(&plain) &&
           dwarf_tag(&plain) != DW_TAG_array_type && type_size(&plain) <= 8;
}

static bool is_floating(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;
    Dwarf_Die plain;

    return type_make_plain(type, &plain) &&
           dwarf_formudata(dwarf_attr(&plain, DW_AT_encoding, &attribute), &encoding) == 0 &&
           encoding == DW_ATE_float;
}

/* Finds the parameter in general register number n for arguments, from 0. False: an earlier
 * parameter is neither number nor pointer, so the registers are uncertain. */
static bool find_parameter(Dwarf_Die *function, size_t n, Dwarf_Die *parameter, Dwarf_Die *type)
{
    if (dwarf_child(function, parameter) != 0)
        return false;
    do {
        if (dwarf_tag(parameter) != DW_TAG_formal_parameter)
            continue;
        if (!type_of_die(parameter, type) || !is_in_general_register(type))
            return false;
        if (!is_floating(type) && n-- == 0)
            return true;
    } while (dwarf_siblingof(parameter, parameter) == 0);
    return false;
}

/* Says whether a function is a constructor: it has the name of the class of `this`, without
 * template arguments. */
static bool is_constructor(Dwarf_Die *function, Dwarf_Die *this_type)
{
    const char *name = dwarf_diename(function), *of;
    Dwarf_Die pointee, plain;

    if (!name || !type_pointee(this_type, &pointee) || !type_make_plain(&pointee, &plain))
        return false;
    of = dwarf_diename(&plain);
    return of && strncmp(of, name, strlen(name)) == 0 &&
           (!of[strlen(name)] || of[strlen(name)] == '<');
}

/* Says whether a function stores its result, a structure, where a hidden first argument points. */
static bool returns_in_memory(Dwarf_Die *function, Dwarf_Die *type)
{
    Dwarf_Die plain;

    if (!type_of_die(function, type) || !type_make_plain(type, &plain) ||
        !type_is_aggregate(&plain))
        return false;
    return type_size(&plain) > 2 * sizeof(uint64_t) || type_has_destructor(&plain);
}

/* Adds the use that a call makes of the result, which is in general register number n for
 * arguments, from 0. */
static void pass_to(struct walk *walk, uint64_t address, size_t n)
{
    Dwarf_Die function, parameter, type;
    bool is_this, hidden;

    if (!program_code_function(walk->code, address, &function))
        return;
    hidden = returns_in_memory(&function, &type);
    if (hidden && n == 0) {
        add_object_use(walk->flow, FLOW_CONSTRUCTOR, &type, dwarf_diename(&function));
        return;
    }
    if (!find_parameter(&function, n - hidden, &parameter, &type))
        return;
    is_this = n == 0 && is_constructor(&function, &type);
    add_use(walk->flow, is_this ? FLOW_CONSTRUCTOR : FLOW_PARAMETER, &type,
            is_this ? dwarf_diename(&function) : dwarf_diename(&parameter));
}

static void add_call(struct result_flow *flow, uint64_t from, uint64_t function)
{
    for (size_t i = 0; i < flow->call_count; i++)
        if (flow->calls[i].function == function)
            return;
    if (flow->call_count < FLOW_CALLS_MOST)
        flow->calls[flow->call_count++] = (struct flow_call){from, function};
}

/* Says whether a function returns its first argument. */
static bool returns_its_argument(const struct walk *walk, uint64_t address)
{
    static const char *const names[] = {"memset",  "memcpy",       "memmove",      "strcpy",
                                        "strncpy", "__memset_chk", "__memcpy_chk", "__strcpy_chk"};
    const char *name = program_code_import(walk->code, address);

    for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Executes a call at the address `from`: registers that a function may change are unknown
 * afterwards. known: `address` is the address of the called function. */
static void call(struct walk *walk, struct machine *machine, uint64_t from, uint64_t address,
                 bool known)
{
    static const int lost[] = {X86_AX, X86_CX, X86_DX, X86_SI, X86_DI, 8, 9, 10, 11};
    struct value first = machine->reg[X86_DI];

    for (size_t i = 0; i < ARGUMENTS; i++) {
        const struct value *value = &machine->reg[argument_registers[i]];

        if (known && is_result(value)) {
            pass_to(walk, address, i);
            add_call(walk->flow, from, address);
        }
        note_inside(walk, value);
        if (value->sort == FRAME)
            spoil_slots(machine, value->offset);
    }
    for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++)
        machine->reg[lost[i]].sort = UNKNOWN;
    if (known && is_result(&first) && returns_its_argument(walk, address))
        machine->reg[X86_AX] = first;
    else if (known)
        machine->reg[X86_AX] = (struct value){.sort = CALLED, .offset = (int64_t)address};
}

/* ---- Single instructions --------------------------------------------------------------------- */

static void forget(struct machine *machine, uint32_t changed)
{
    for (int i = 0; i < X86_REGISTERS; i++)
        if (changed >> i & 1)
            machine->reg[i].sort = UNKNOWN;
}

static void add(const struct walk *walk, struct machine *machine, uint64_t address,
                const struct x86_instruction *at)
{
    struct value to = register_value(walk, machine, address, at->to);
    struct value from = register_value(walk, machine, address, at->from);

    if (to.sort == UNKNOWN || to.sort == RESULT)
        to = from;
    to = look_up(walk, to);
    to.indexed = true;
    machine->reg[at->to] =
        to.sort == POINTER || to.sort == STATIC ? to : (struct value){.sort = UNKNOWN};
}

/* Executes "add constant to memory", as in "block++" for a variable in the frame. */
static void add_in_memory(struct walk *walk, struct machine *machine, uint64_t address,
                          const struct x86_instruction *at)
{
    struct value value = load(walk, machine, address, at);

    if (value.sort == RESULT)
        value = result_at(walk, value.offset + at->immediate);
    else
        value = (struct value){.sort = UNKNOWN};
    store(walk, machine, address, at, value);
}

/* Executes an instruction that does not change the flow of control. */
static void execute(struct walk *walk, struct machine *machine, uint64_t address,
                    const struct x86_instruction *at)
{
    switch (at->operation) {
    case X86_MOVE:
        machine->reg[at->to] = register_value(walk, machine, address, at->from);
        break;
    case X86_LOAD:
        machine->reg[at->to] = load(walk, machine, address, at);
        break;
    case X86_STORE:
        store(walk, machine, address, at, machine->reg[at->from]);
        break;
    case X86_STORE_OTHER:
        store(walk, machine, address, at, (struct value){.sort = UNKNOWN});
        forget(machine, at->changed);
        break;
    case X86_ADD_TO_MEMORY:
        add_in_memory(walk, machine, address, at);
        break;
    case X86_ADDRESS:
        machine->reg[at->to] = address_value(walk, machine, address, at);
        break;
    case X86_ADD_CONSTANT:
        machine->reg[at->to] = look_up(walk, register_value(walk, machine, address, at->to));
        machine->reg[at->to].offset += at->immediate;
        if (machine->reg[at->to].sort == RESULT)
            machine->reg[at->to] = result_at(walk, machine->reg[at->to].offset);
        break;
    case X86_ADD:
        add(walk, machine, address, at);
        break;
    case X86_SET:
        machine->reg[at->to] = (struct value){.sort = UNKNOWN};
        if (at->immediate > 0xffff) /* in a program with fixed addresses a larger constant may be an
                                     * address */
            machine->reg[at->to] = (struct value){.sort = STATIC, .offset = at->immediate};
        break;
    default:
        forget(machine, at->changed);
    }
}

/* ---- The code before the call ---------------------------------------------------------------- */

static uint64_t target_of(uint64_t address, const struct x86_instruction *at)
{
    return address + at->length + (uint64_t)at->immediate;
}

/* A jump to an address farther on, with the state of the machine there. */
struct jump {
    uint64_t to;
    struct machine machine;
};

#define JUMPS_MOST 16

struct jumps {
    struct jump jump[JUMPS_MOST];
    unsigned next; /* index of the entry to replace next */
};

static void add_jump(struct jumps *jumps, uint64_t to, const struct machine *machine)
{
    jumps->jump[jumps->next++ % JUMPS_MOST] = (struct jump){to, *machine};
}

/* Sets the state behind a jump or return: that of a jump that leads to this address, else an
 * unknown state. */
static void enter(const struct jumps *jumps, uint64_t address, struct machine *machine)
{
    for (unsigned i = 0; i < JUMPS_MOST; i++)
        if (jumps->jump[i].to == address) {
            *machine = jumps->jump[i].machine;
            return;
        }
    memset(machine, 0, sizeof(*machine));
}

/* Executes one instruction before the call. False: the instruction behind is not reached from
 * this one. */
static bool run_before(struct walk *walk, struct machine *machine, struct jumps *jumps,
                       uint64_t address, const struct x86_instruction *at)
{
    switch (at->operation) {
    case X86_CALL:
        call(walk, machine, address, target_of(address, at), true);
        return true;
    case X86_CALL_POINTER:
        call(walk, machine, address, 0, false);
        return true;
    case X86_BRANCH:
    case X86_JUMP:
        add_jump(jumps, target_of(address, at), machine);
        return at->operation == X86_BRANCH;
    case X86_JUMP_POINTER:
    case X86_RETURN:
    case X86_STOP:
        return false;
    default:
        execute(walk, machine, address, at);
        return true;
    }
}

/* Executes the code up to the call, and returns the address of the called function (0 =
 * unknown). Where two paths meet, the state of the path that falls through is used: a register
 * that is used later has the same type on both. */
static uint64_t run_to_call(struct walk *walk, struct machine *machine)
{
    struct jumps jumps = {.next = 0};
    struct x86_instruction at;
    uint64_t address = walk->code->start;
    bool reached = true;

    while (address < walk->back && program_code_read(walk->code, address, &at)) {
        if (!reached)
            enter(&jumps, address, machine);
        if (address + at.length == walk->back)
            return at.operation == X86_CALL ? target_of(address, &at) : 0;
        reached = run_before(walk, machine, &jumps, address, &at);
        address += at.length;
    }
    memset(machine, 0, sizeof(*machine));
    return 0;
}

static void prepare(struct walk *walk, struct machine *machine, bool by_pointer)
{
    uint64_t called = run_to_call(walk, machine);
    struct value first = machine->reg[X86_DI];
    Dwarf_Die function, type;

    if (called && program_code_function(walk->code, called, &function) &&
        type_of_die(&function, &type)) {
        add_use(walk->flow, FLOW_CALLED, &type, dwarf_diename(&function));
        walk->flow->pointer = walk->flow->count != 0;
    }
    call(walk, machine, walk->back - 1, 0, false);
    if (!by_pointer || first.sort != FRAME)
        machine->reg[X86_AX] = (struct value){.sort = RESULT};
    else
        store_in_frame(walk, machine, walk->back, first.offset, (struct value){.sort = RESULT});
}

/* ---- The code behind the call ---------------------------------------------------------------- */

/* Adds the variables that have the result now. If a variable was in the register already before the
 * call, its value is an older one, so it is left out. */
static void look_at_registers(struct walk *walk, const struct machine *machine, uint64_t address)
{
    for (int i = 0; i < X86_REGISTERS; i++) {
        const struct variable_place *place;
        size_t index = 0;

        if (!is_result(&machine->reg[i]))
            continue;
        while ((place = program_code_in_register(walk->code, address, i, &index)))
            if (place->start >= walk->back)
                add_variable_use(walk->flow, place, place->into);
    }
    for (int i = 0; i < SLOTS_MOST; i++)
        if (is_result(&machine->slot[i].value))
            add_slot_uses(walk, machine->slot[i].offset, address);
}

static void add_path(struct walk *walk, const struct machine *machine, uint64_t address)
{
    if (address < walk->code->start || address >= walk->code->end ||
        walk->waiting_count == PATHS_MOST)
        return;
    walk->waiting[walk->waiting_count] = *machine;
    walk->waiting_at[walk->waiting_count++] = address;
}

static void return_result(struct walk *walk, const struct machine *machine)
{
    Dwarf_Die type;

    note_inside(walk, &machine->reg[X86_AX]);
    if (!is_result(&machine->reg[X86_AX]) || !type_of_die(&walk->code->function, &type) ||
        type_size(&type) != sizeof(uint64_t))
        return;
    walk->flow->returned = true;
    add_use(walk->flow, FLOW_RETURNED, &type, dwarf_diename(&walk->code->function));
}

/* most instructions between a place where paths meet and the return of the function */
#define ENDING_MOST 16

/* Executes the end of the function from a place on that another path has reached before: this path may
 * return the result where that one did not. */
static void execute_ending(struct walk *walk, struct machine *machine, uint64_t address)
{
    for (unsigned i = 0; i < ENDING_MOST && !walk->flow->returned; i++) {
        struct x86_instruction at;

        if (address < walk->code->start || address >= walk->code->end ||
            !program_code_read(walk->code, address, &at))
            return;
        switch (at.operation) {
        case X86_RETURN:
            return_result(walk, machine);
            return;
        case X86_BRANCH: /* around a call that ends the program */
        case X86_JUMP:
            address = target_of(address, &at);
            break;
        case X86_CALL:
        case X86_CALL_POINTER:
        case X86_JUMP_POINTER:
        case X86_STOP:
            return;
        default:
            execute(walk, machine, address, &at);
            address += at.length;
        }
    }
}

/* Executes one instruction. False: the path ends here. */
static bool step(struct walk *walk, struct machine *machine, uint64_t *address)
{
    struct x86_instruction at;
    uint64_t here = *address;

    if (here < walk->code->start || here >= walk->code->end || ++walk->steps > STEPS_MOST)
        return false;
    if (walk->seen[here - walk->code->start]) {
        execute_ending(walk, machine, here);
        return false;
    }
    walk->seen[here - walk->code->start] = 1;
    look_at_registers(walk, machine, here);
    if (!program_code_read(walk->code, here, &at))
        return false;
    *address += at.length;
    switch (at.operation) {
    case X86_CALL:
        call(walk, machine, here, target_of(here, &at), true);
        return true;
    case X86_CALL_POINTER:
        call(walk, machine, here, 0, false);
        return true;
    case X86_BRANCH:
        add_path(walk, machine, target_of(here, &at));
        return true;
    case X86_JUMP:
        *address = target_of(here, &at);
        if (*address < walk->code->start || *address >= walk->code->end) {
            call(walk, machine, here, *address,
                 true); /* a tail call, the last call of the function */
            return_result(walk, machine);
        }
        return true;
    case X86_RETURN:
        return_result(walk, machine);
        return false;
    case X86_JUMP_POINTER:
    case X86_STOP:
        return false;
    default:
        execute(walk, machine, here, &at);
        return true;
    }
}

static void follow(struct walk *walk, const struct machine *begin)
{
    struct machine machine;

    add_path(walk, begin, walk->back);
    while (walk->waiting_count) {
        uint64_t address = walk->waiting_at[--walk->waiting_count];

        machine = walk->waiting[walk->waiting_count];
        while (step(walk, &machine, &address))
            ;
    }
}

void result_flow_find(struct program_code *code, const struct result_call *of,
                      struct result_flow *flow)
{
    struct walk walk = {.code = code, .flow = flow, .back = of->back, .ahead = of->ahead};
    struct machine begin = {.next_slot = 0};

    *flow = (struct result_flow){.count = 0};
    if (!code->bytes) {
        begin.reg[X86_AX].sort = RESULT;
        if (!of->by_pointer)
            look_at_registers(&walk, &begin, of->back);
        return;
    }
    walk.seen = calloc(code->end - code->start, 1);
    walk.waiting = calloc(PATHS_MOST, sizeof(*walk.waiting));
    if (walk.seen && walk.waiting) {
        prepare(&walk, &begin, of->by_pointer);
        follow(&walk, &begin);
    }
    free(walk.seen);
    free(walk.waiting);
}
