/* dwarf.c - finds functions, inlined calls and variables of one ELF file in its DWARF
 * information. */
#include "common/debuginfo/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/interval_map.h"

/* Most namespaces, or blocks, inside one another that are searched; deeper ones are skipped. */
#define NESTING 16

struct unit {
    Dwarf_Die die;         /* the compilation unit; if it is split (.dwo) its skeleton, which has
                            * the address ranges and the line table */
    Dwarf_Die code;        /* the unit that has the functions: of a split unit the part in the
                            * .dwo file, else `die` */
    const char *directory; /* directory in which the unit was compiled, NULL = unknown */
    struct source_paths *paths;
    bool indexed;
    struct interval_map functions; /* address ranges of functions; values are indices of
                                    * function[] */
    Dwarf_Die *function;
    size_t function_count, function_capacity;
    bool nested;        /* function[] has those inside of other functions, too */
    size_t outer_count; /* those come behind so many others */
};

struct dwarf_index {
    struct unit *units;
    size_t count, capacity;
    struct interval_map spans; /* address ranges of units; values are indices of units[] */
};

/* ---- Building the indices of units and of functions ------------------------------------------ */

static void add_ranges(struct interval_map *spans, Dwarf_Die *die, uint32_t value)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
        interval_map_add(spans, low, high, value);
}

struct dwarf_index *dwarf_index_begin(Dwarf *dwarf, struct source_paths *paths)
{
    size_t capacity = 0;
    struct dwarf_index *index = array_grow(NULL, &capacity, 1, sizeof(*index));
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    memset(index, 0, sizeof(*index));
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
        struct unit *unit;

        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        index->units = array_grow(index->units, &index->capacity, index->count + 1, sizeof(*unit));
        unit = &index->units[index->count];
        *unit = (struct unit){
            .die = die, .code = die, .directory = source_directory(&die), .paths = paths};
        if (type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit)
            unit->code = split;
        add_ranges(&index->spans, &unit->die, (uint32_t)index->count++);
    }
    interval_map_sort(&index->spans);
    return index;
}

void dwarf_index_end(struct dwarf_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->count; i++) {
        interval_map_end(&index->units[i].functions);
        free(index->units[i].function);
    }
    interval_map_end(&index->spans);
    free(index->units);
    free(index);
}

static bool may_hold_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_enumeration_type; /* Rust has methods also in unions and enumerations */
}

static void add_function(struct unit *unit, const Dwarf_Die *die)
{
    Dwarf_Die *function;

    unit->function = array_grow(unit->function, &unit->function_capacity, unit->function_count + 1,
                                sizeof(*die));
    function = &unit->function[unit->function_count];
    *function = *die;
    add_ranges(&unit->functions, function, (uint32_t)unit->function_count++);
}

static void add_functions(struct unit *unit, Dwarf_Die *parent, int nesting)
{
    Dwarf_Die die;

    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_subprogram)
            add_function(unit, &die);
        else if (may_hold_functions(tag))
            add_functions(unit, &die, nesting + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Adds the functions inside of functions: lambdas, and methods of local classes. inside: `parent` is
 * inside of a function, or is one. */
static void add_nested_functions(struct unit *unit, Dwarf_Die *parent, bool inside, int nesting)
{
    Dwarf_Die die;

    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_subprogram && inside)
            add_function(unit, &die);
        if (tag == DW_TAG_subprogram || (tag == DW_TAG_lexical_block && inside) ||
            may_hold_functions(tag))
            add_nested_functions(unit, &die, inside || tag == DW_TAG_subprogram, nesting + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* ---- Finding the functions at an address ----------------------------------------------------- */

static Dwarf_Die *find_indexed_function(struct unit *unit, Dwarf_Addr address)
{
    size_t cursor = unit->functions.count;
    uint32_t found = interval_map_next(&unit->functions, address, &cursor);

    return found == INTERVAL_NONE ? NULL : &unit->function[found];
}

/* Finds the function around an address. The functions inside of others are indexed only when an
 * address is in none of the others, because to find them takes longer. */
static Dwarf_Die *find_function(struct unit *unit, Dwarf_Addr address)
{
    Dwarf_Die *found;

    if (!unit->indexed) {
        add_functions(unit, &unit->code, 0);
        interval_map_sort(&unit->functions);
        unit->indexed = true;
    }
    found = find_indexed_function(unit, address);
    if (!found && !unit->nested) {
        unit->outer_count = unit->function_count;
        add_nested_functions(unit, &unit->code, false, 0);
        interval_map_sort(&unit->functions);
        unit->nested = true;
        found = find_indexed_function(unit, address);
    }
    return found;
}

static bool is_block(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Moves *scope to its child that contains the address: a block, or an inlined call. False: no child
 * contains it. */
static bool enter_scope(Dwarf_Die *scope, Dwarf_Addr address)
{
    Dwarf_Die die;

    if (dwarf_child(scope, &die) != 0)
        return false;
    do {
        if (is_block(dwarf_tag(&die)) && dwarf_haspc(&die, address) > 0) {
            *scope = die;
            return true;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

static const char *linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : dwarf_diename(die);
}

/* Follows a function's entry to the one that declares it: from an inlined call or a copy to the
 * original, and from there to the declaration in its class. */
static Dwarf_Die find_declaration(Dwarf_Die die)
{
    static const unsigned ways[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Attribute attribute;
    Dwarf_Die next;

    for (size_t i = 0; i < 2 * (sizeof(ways) / sizeof(*ways)); i++)
        if (dwarf_formref_die(dwarf_attr(&die, ways[i % 2], &attribute), &next))
            die = next;
    return die;
}

static bool is_class(int tag)
{
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
}

/* GCC names the class of a lambda "<lambda(int)>", clang does not name it. */
static bool is_lambda_class(Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);

    return is_class(dwarf_tag(die)) && (!name || strncmp(name, "<lambda", 7) == 0);
}

static bool has_linkage_name(Dwarf_Die *die)
{
    return dwarf_hasattr_integrate(die, DW_AT_linkage_name) ||
           dwarf_hasattr_integrate(die, DW_AT_MIPS_linkage_name);
}

/* Says whether the function around an address is inside of another one, and its debug information
 * has only its short name. */
static bool is_local(struct unit *unit, Dwarf_Addr address)
{
    Dwarf_Die *function = find_function(unit, address);

    return unit->nested && function && function >= unit->function + unit->outer_count &&
           !has_linkage_name(function);
}

/* Finds where a call operator without a linkage name is declared, as its own name says nothing: the
 * function that contains the lambda, or the class. */
static void find_operators_scope(Dwarf_Die *scope, struct dwarf_frame *frame)
{
    Dwarf_Die declaration, *parents = NULL;
    int count;

    if (!frame->name || strncmp(frame->name, "operator()", 10) != 0)
        return;
    declaration = find_declaration(*scope);
    count = dwarf_getscopes_die(&declaration, &parents);
    frame->in_lambda = count > 1 && is_lambda_class(&parents[1]);
    if (!frame->in_lambda && count > 1 && is_class(dwarf_tag(&parents[1])))
        frame->scope = dwarf_diename(&parents[1]);
    for (int i = 2; i < count && frame->in_lambda && !frame->scope; i++)
        if (dwarf_tag(&parents[i]) == DW_TAG_subprogram)
            frame->scope = linkage_name(&parents[i]);
    free(parents);
}

static unsigned unsigned_attribute(Dwarf_Die *die, unsigned what)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word = 0;

    if (dwarf_formudata(dwarf_attr(die, what, &attribute), &word) != 0)
        return 0;
    return (unsigned)word;
}

static const char *path_in_unit(struct unit *unit, const char *file)
{
    return source_path_find(unit->paths, unit->directory, file);
}

/* Fills in file and line of the place where an inlined function is called; they belong to the
 * frame of the calling function. */
static void fill_call_place(struct unit *unit, Dwarf_Die *call, struct dwarf_frame *frame)
{
    Dwarf_Files *files;
    size_t count;

    if (dwarf_getsrcfiles(&unit->code, &files, &count) == 0)
        frame->file = path_in_unit(
            unit, dwarf_filesrc(files, unsigned_attribute(call, DW_AT_call_file), NULL, NULL));
    frame->line = unsigned_attribute(call, DW_AT_call_line);
    frame->column = unsigned_attribute(call, DW_AT_call_column);
}

static void fill_address_place(struct unit *unit, Dwarf_Addr address, struct dwarf_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
    int number = 0, column = 0;

    if (!line)
        return;
    frame->file = path_in_unit(unit, dwarf_linesrc(line, NULL, NULL));
    dwarf_lineno(line, &number);
    dwarf_linecol(line, &column);
    frame->line = number > 0 ? (unsigned)number : 0;
    frame->column = column > 0 ? (unsigned)column : 0;
}

/* Says whether a frame is an inline function of libleak.h. Such frames are left out: the program's
 * function that calls it is of interest. */
static bool is_api_call(const struct dwarf_frame *frame)
{
    static const char header[] = "/libleak.h";
    size_t length = frame->file ? strlen(frame->file) : 0;

    return frame->inlined && frame->name &&
           (strncmp(frame->name, "libleak_", 8) == 0 ||
            strncmp(frame->name, "_ZN7libleak", 11) == 0) &&
           length >= strlen(header) && strcmp(frame->file + length - strlen(header), header) == 0;
}

static size_t skip_api_calls(struct dwarf_frame *frames, size_t count)
{
    size_t skipped = 0;

    while (skipped < count && is_api_call(&frames[skipped]))
        skipped++;
    memmove(frames, frames + skipped, (count - skipped) * sizeof(*frames));
    return count - skipped;
}

static size_t find_scopes(struct unit *unit, Dwarf_Addr address, Dwarf_Die scopes[DWARF_INLINE_MAX])
{
    Dwarf_Die *function = find_function(unit, address);
    size_t count = 0;

    if (!function)
        return 0;
    scopes[count++] = *function;
    for (Dwarf_Die scope = *function; enter_scope(&scope, address) && count < DWARF_INLINE_MAX;)
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
            scopes[count++] = scope;
    return count;
}

static struct unit *find_unit(struct dwarf_index *index, Dwarf_Addr address)
{
    size_t cursor = index->spans.count;
    uint32_t found = interval_map_next(&index->spans, address, &cursor);

    return found == INTERVAL_NONE ? NULL : &index->units[found];
}

size_t dwarf_index_scopes(struct dwarf_index *index, Dwarf_Addr address,
                          Dwarf_Die scopes[DWARF_INLINE_MAX])
{
    struct unit *unit = find_unit(index, address);

    return unit ? find_scopes(unit, address, scopes) : 0;
}

size_t dwarf_index_find(struct dwarf_index *index, Dwarf_Addr address,
                        struct dwarf_frame frames[DWARF_INLINE_MAX])
{
    Dwarf_Die scopes[DWARF_INLINE_MAX];
    struct unit *unit = find_unit(index, address);
    size_t count;

    if (!unit)
        return 0;
    memset(frames, 0, DWARF_INLINE_MAX * sizeof(*frames));
    fill_address_place(unit, address, &frames[0]);
    count = find_scopes(unit, address, scopes);
    if (!count)
        return frames[0].file ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *scope = &scopes[count - 1 - i];

        frames[i].name = linkage_name(scope);
        find_operators_scope(scope, &frames[i]);
        frames[i].inlined = i + 1 < count;
        if (frames[i].inlined)
            fill_call_place(unit, scope, &frames[i + 1]);
    }
    frames[count - 1].local = is_local(unit, address);
    return skip_api_calls(frames, count);
}

bool dwarf_index_function(struct dwarf_index *index, Dwarf_Addr address,
                          struct dwarf_function *function)
{
    struct unit *unit = find_unit(index, address);
    Dwarf_Die *found = unit ? find_function(unit, address) : NULL;

    if (found)
        *function = (struct dwarf_function){*found, unit->directory};
    return found != NULL;
}

struct variable {
    Dwarf_Die die;
    const char *function;
    const char *directory; /* directory in which the variable's unit was compiled, NULL = unknown */
};

/* The name of the file that declares a DIE, NULL = none. dwarf_decl_file() would crash on a unit
 * without a table of files. */
static const char *declaring_file(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Half version;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;

    if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &index) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
        (!index && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) != 0 || index >= count)
        return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

static unsigned declaring_line(Dwarf_Die *die)
{
    int line = 0;

    return dwarf_decl_line(die, &line) == 0 && line > 0 ? (unsigned)line : 0;
}

bool dwarf_index_named(struct dwarf_index *index, Dwarf_Addr address, dwarf_name_fits *fits,
                       void *context, struct dwarf_frame *found)
{
    struct unit *unit = find_unit(index, address);
    unsigned best = 0;

    if (!unit || !find_function(unit, address))
        return false;
    for (size_t i = 0; i < unit->function_count; i++) {
        Dwarf_Die *die = &unit->function[i];
        const char *name = dwarf_hasattr(die, DW_AT_declaration) ? NULL : linkage_name(die);
        unsigned fit = name ? fits(name, context) : 0;

        if (fit <= best)
            continue;
        best = fit;
        *found = (struct dwarf_frame){.name = name,
                                      .file = path_in_unit(unit, declaring_file(die)),
                                      .line = declaring_line(die)};
    }
    return best > 0;
}

static struct dwarf_variable describe_variable(struct variable *variable,
                                               struct source_paths *paths)
{
    Dwarf_Die *die = &variable->die;
    struct dwarf_variable made = {
        .name = dwarf_diename(die), .function = variable->function, .die = *die};

    made.file = source_path_find(paths, variable->directory, declaring_file(die));
    made.line = declaring_line(die);
    return made;
}

/* ---- Variables with a fixed address ---------------------------------------------------------- */

/* Reads the address of a variable from its location: DW_OP_addr A, or in TLS a constant and an
 * operation that turns it into an address. False: the location has another form. */
static bool variable_start(Dwarf_Die *die, uint64_t *start)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;

    if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &op, &count) != 0 || !count)
        return false;
    if (count == 1 && op->atom == DW_OP_addr) {
        *start = op->number;
        return true;
    }
    if (count == 1 && (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index)) {
        Dwarf_Attribute address;

        return dwarf_getlocation_attr(&attribute, op, &address) == 0 &&
               dwarf_formaddr(&address, start) == 0;
    }
    *start = op->number | DWARF_DATA_TLS;
    return count == 2 &&
           (op[1].atom == DW_OP_form_tls_address || op[1].atom == DW_OP_GNU_push_tls_address) &&
           (op->atom == DW_OP_const8u || op->atom == DW_OP_const4u || op->atom == DW_OP_addr);
}

static void add_variable(struct dwarf_data *data, const struct variable *variable)
{
    struct variable made = *variable;
    uint64_t start, *slot;
    bool fresh;

    if (!variable_start(&made.die, &start))
        return;
    slot = hashmap_put(&data->by_start, start, &fresh);
    if (!fresh)
        return;
    data->variables =
        array_grow(data->variables, &data->capacity, data->count + 1, sizeof(*data->variables));
    data->variables[data->count++] = made;
    *slot = data->count;
}

/* Adds the variables that a unit, namespace, class or function contains, directly or in a nested
 * one. parent->function: the function that contains the parent, NULL = none. locals: true = add
 * only variables inside of functions, false = add only those outside of functions. */
static void add_variables(struct dwarf_data *data, struct variable *parent, bool locals,
                          int nesting)
{
    struct variable child = *parent;
    Dwarf_Die *die = &child.die;

    if (nesting == NESTING || dwarf_child(&parent->die, die) != 0)
        return;
    do {
        int tag = dwarf_tag(die);

        child.function = parent->function;
        if (tag == DW_TAG_variable && (child.function != NULL) == locals) {
            add_variable(data, &child);
        } else if (tag == DW_TAG_namespace || tag == DW_TAG_module ||
                   tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                   (locals && is_block(tag))) {
            add_variables(data, &child, locals, nesting + 1);
        } else if (locals && tag == DW_TAG_subprogram) {
            child.function = linkage_name(die);
            add_variables(data, &child, locals, nesting + 1);
        }
    } while (dwarf_siblingof(die, die) == 0);
}

static void index_variables(struct dwarf_data *data, bool locals)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    while (dwarf_get_units(data->dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
        struct variable unit = {.die = die, .directory = source_directory(&die)};

        if (type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit)
            unit.die = split;
        else if (type != DW_UT_compile)
            continue;
        add_variables(data, &unit, locals, 0);
    }
}

static struct variable *find_variable(struct dwarf_data *data, uint64_t start, bool local)
{
    uint64_t at;

    if (!data->dwarf)
        return NULL;
    if (!data->indexed)
        index_variables(data, false);
    data->indexed = true;
    at = hashmap_get(&data->by_start, start);
    if (!at && local && !data->indexed_locals) {
        index_variables(data, true);
        data->indexed_locals = true;
        at = hashmap_get(&data->by_start, start);
    }
    return at ? &data->variables[at - 1] : NULL;
}

bool dwarf_data_find(struct dwarf_data *data, uint64_t start, bool local,
                     struct dwarf_variable *found)
{
    struct variable *variable = find_variable(data, start, local);

    if (variable)
        *found = describe_variable(variable, data->paths);
    return variable != NULL;
}

bool dwarf_data_find_die(struct dwarf_data *data, uint64_t start, bool local, Dwarf_Die *die)
{
    struct variable *variable = find_variable(data, start, local);

    if (variable)
        *die = variable->die;
    return variable != NULL;
}

void dwarf_data_end(struct dwarf_data *data)
{
    free(data->variables);
    hashmap_end(&data->by_start);
    *data = (struct dwarf_data){0};
}

/* ---- Variables on a stack -------------------------------------------------------------------- */

struct frame_base {
    uint64_t pc, base; /* base: the address that DW_OP_fbreg counts from */
};

/* Finds the frame base: the CFA, or the frame pointer, which on x86-64 is two words below the CFA.
 * False: the function has another frame base. */
static bool find_frame_base(Dwarf_Die *function, uint64_t pc, uint64_t cfa,
                            struct frame_base *frame)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;

    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, pc, &op, &count, 1) != 1 || count != 1)
        return false;
    *frame = (struct frame_base){.pc = pc, .base = cfa};
    if (op->atom == DW_OP_reg6)
        frame->base -= 2 * sizeof(uint64_t);
    return op->atom == DW_OP_call_frame_cfa || op->atom == DW_OP_reg6;
}

static bool local_covers(Dwarf_Die *die, const struct frame_base *frame, uint64_t address,
                         uint64_t *start)
{
    Dwarf_Attribute attribute, type;
    Dwarf_Die of;
    Dwarf_Word size;
    Dwarf_Op *op;
    size_t count;

    if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, frame->pc, &op, &count, 1) != 1 || count != 1 ||
        op->atom != DW_OP_fbreg || !dwarf_attr_integrate(die, DW_AT_type, &type) ||
        !dwarf_formref_die(&type, &of) || dwarf_aggregate_size(&of, &size) != 0)
        return false;
    *start = frame->base + op->number;
    return address >= *start && address - *start < size;
}

static bool find_covering_local(Dwarf_Die *parent, const struct frame_base *frame, uint64_t address,
                                int nesting, Dwarf_Die *found, uint64_t *start)
{
    Dwarf_Die die;

    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);

        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
            local_covers(&die, frame, address, start)) {
            *found = die;
            return true;
        }
        if (is_block(tag) && dwarf_haspc(&die, frame->pc) > 0 &&
            find_covering_local(&die, frame, address, nesting + 1, found, start))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool dwarf_data_local(struct dwarf_function *function, struct source_paths *paths, uint64_t pc,
                      uint64_t cfa, uint64_t address, struct dwarf_variable *found, uint64_t *start)
{
    struct variable variable = {.directory = function->directory};
    struct frame_base frame;

    if (!find_frame_base(&function->die, pc, cfa, &frame) ||
        !find_covering_local(&function->die, &frame, address, 0, &variable.die, start))
        return false;
    variable.function = linkage_name(&function->die);
    *found = describe_variable(&variable, paths);
    return true;
}
