/* block_type.c - finds the type of blocks from the code and debug information around their
 * allocation. */
#include "common/typeinfo/block_type.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "common/typeinfo/result_flow.h"

#define COOKIE 8 /* bytes in front of the elements of new T[n], where compilers may store n */

/* ---- Sizes of blocks and types --------------------------------------------------------------- */

static bool is_array_of(uint64_t bytes, uint64_t size, bool cookie)
{
    return bytes >= size && (bytes % size == 0 || (cookie && bytes % size == COOKIE % size));
}

static bool fits_flexibly(Dwarf_Die *plain, uint64_t size, const struct block_question *question)
{
    uint64_t head, element;

    if (!type_is_flexible(plain, &head, &element))
        return false;
    for (size_t i = 0; i < question->size_count; i++) {
        uint64_t bytes = question->sizes[i];

        if (bytes < head || (bytes != size && (bytes - head) % element && bytes < size))
            return false;
    }
    return true;
}

/* Says whether an object of the type may begin at the offset question->into of a block. False also
 * if the block is an array of such objects, since the object is then an element, not a part. */
static bool fits_as_part(uint64_t size, const struct block_question *question)
{
    bool array = question->into % size == 0;

    for (size_t i = 0; i < question->size_count; i++) {
        if (question->into + size > question->sizes[i])
            return false;
        array &= question->sizes[i] % size == 0;
    }
    return !array;
}

/* Finds how the blocks are made of objects of the type. False: blocks of these sizes cannot be made
 * of them. */
static bool fit_layout(Dwarf_Die *type, const struct block_question *question,
                       enum type_layout *layout)
{
    uint64_t size = type_size(type);
    Dwarf_Die plain;
    bool one = true, array = !question->single, larger = true;

    if (!size || !question->size_count || !type_make_plain(type, &plain))
        return false;
    *layout = TYPE_PART;
    if (question->into)
        return fits_as_part(size, question);
    for (size_t i = 0; i < question->size_count; i++) {
        one &= question->sizes[i] == size;
        larger &= question->sizes[i] > size;
        array &= is_array_of(question->sizes[i], size, question->cookie);
    }
    *layout = TYPE_ONE;
    if (one)
        return true;
    *layout = TYPE_FLEXIBLE;
    if (fits_flexibly(&plain, size, question))
        return true;
    *layout = array ? TYPE_ARRAY : TYPE_HEAD;
    return array || (larger && type_is_aggregate(&plain));
}

/* ---- Candidates for the type ----------------------------------------------------------------- */

struct candidate {
    Dwarf_Die type;
    enum type_source source;
    enum type_layout layout;
    const char *via;
    uint64_t at; /* layout TYPE_PART: offset of the object in the block */
    bool bytes, aggregate;
};

enum { RANK_BYTES, RANK_HEAD, RANK_ARRAY, RANK_OBJECT };

/* Returns the rank of a candidate; a higher one is better evidence. From the best to the worst: a
 * structure of the right size, an array, a type that is only a part of the block, bytes. */
static int rank_of(const struct candidate *candidate)
{
    if (candidate->bytes)
        return RANK_BYTES;
    if (candidate->layout == TYPE_HEAD || candidate->layout == TYPE_PART)
        return RANK_HEAD;
    return candidate->aggregate && candidate->layout != TYPE_ARRAY ? RANK_OBJECT : RANK_ARRAY;
}

static void set_found(const struct elf_binary_parts *parts, struct candidate *candidate,
                      struct block_type_found *found)
{
    Dwarf_Die plain;

    found->answer = BLOCK_FOUND;
    found->bytes = candidate->bytes;
    found->weak = rank_of(candidate) < RANK_OBJECT;
    found->source = candidate->source;
    found->layout = candidate->layout;
    found->size = type_size(&candidate->type);
    found->at = candidate->at;
    found->id = type_id_of(parts->dwarf, &candidate->type);
    found->polymorphic = type_make_plain(&candidate->type, &plain) && type_is_polymorphic(&plain);
    type_write_name(&candidate->type, found->name);
    snprintf(found->via, sizeof(found->via), "%s", candidate->via ? candidate->via : "");
}

/* Completes a candidate whose type is set. False: blocks of these sizes cannot have this type. */
static bool make_candidate(const struct elf_binary_parts *parts, struct type_index *index,
                           const struct block_question *question, struct candidate *candidate)
{
    Dwarf_Die plain;

    if (!type_index_define(index, parts->dwarf, &candidate->type) ||
        !type_make_plain(&candidate->type, &plain))
        return false;
    candidate->bytes = type_is_bytes(&plain);
    candidate->aggregate = type_is_aggregate(&plain);
    candidate->at = question->into;
    return fit_layout(&candidate->type, question, &candidate->layout);
}

/* ---- Template arguments of allocators -------------------------------------------------------- */

static const char *const allocators[] = {"__new_allocator<", "new_allocator<", "allocator<",
                                         "malloc_allocator<", "__allocator<"};

static bool is_allocator(const char *name)
{
    for (size_t i = 0; name && i < sizeof(allocators) / sizeof(*allocators); i++)
        if (strncmp(name, allocators[i], strlen(allocators[i])) == 0)
            return true;
    return false;
}

/* Returns the DWARF entry (DIE) of the function as written in the source, for the entry of an
 * inlined call or of a compiled instance. */
static Dwarf_Die origin_of(Dwarf_Die *scope)
{
    Dwarf_Die at = *scope;
    Dwarf_Attribute attribute;

    for (int i = 0; i < 4; i++)
        if (!dwarf_attr(&at, DW_AT_abstract_origin, &attribute) ||
            !dwarf_formref_die(&attribute, &at))
            break;
    return at;
}

/* Finds the class of a member function, by its parameter "this". */
static bool class_of(Dwarf_Die *function, Dwarf_Die *class)
{
    Dwarf_Die parameter, type, pointee;

    if (dwarf_child(function, &parameter) != 0)
        return false;
    do {
        if (dwarf_tag(&parameter) == DW_TAG_formal_parameter)
            return dwarf_hasattr_integrate(&parameter, DW_AT_artificial) &&
                   type_of_die(&parameter, &type) && type_pointee(&type, &pointee) &&
                   type_make_plain(&pointee, class);
    } while (dwarf_siblingof(&parameter, &parameter) == 0);
    return false;
}

/* Says whether a function returns a pointer to `element`, as allocate(n) of a class template
 * with the argument T returns T *. */
static bool is_allocation_of(Dwarf_Die *function, Dwarf_Die *element)
{
    Dwarf_Die result, pointee;

    return type_of_die(function, &result) && type_pointee(&result, &pointee) &&
           type_is_same(&pointee, element);
}

/* Says whether a function is __new_allocator<T>::allocate(n), or that of another allocator; sets
 * *type to T. */
static bool is_cxx_allocation(Dwarf_Die *function, Dwarf_Die *type)
{
    const char *name = dwarf_diename(function);
    Dwarf_Die class;

    return name && strcmp(name, "allocate") == 0 && class_of(function, &class) &&
           type_template_argument(&class, 0, type) &&
           (is_allocator(dwarf_diename(&class)) || is_allocation_of(function, type));
}

/* Says whether a function makes the object that a std::function or std::any contains; sets *type
 * to the object's type. */
static bool is_cxx_holder(Dwarf_Die *function, Dwarf_Die *type)
{
    static const char *const names[] = {"_M_create<", "_S_create<"};
    const char *name = dwarf_diename(function);
    Dwarf_Die plain;

    for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0 &&
            type_template_argument(function, 0, type) && type_make_plain(type, &plain))
            return !type_is_pointer(&plain) || type_pointee(type, type);
    return false;
}

static const char *linkage_name_of(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute)
               ? dwarf_formstring(&attribute)
               : NULL;
}

/* Says whether a function is alloc::boxed::Box<T>::new, alloc::raw_vec::RawVec<T, A>::grow_one
 * or the like; sets *type to T. */
static bool is_rust_allocation(Dwarf_Die *function, Dwarf_Die *type)
{
    static const char *const modules[] = {"5boxed",  "7raw_vec",  "3vec",  "2rc",  "4sync",
                                          "boxed..", "raw_vec..", "vec..", "rc..", "sync.."};
    const char *linkage = type_is_rust(function) ? linkage_name_of(function) : NULL;

    if (!linkage || !strstr(linkage, "5alloc"))
        return false;
    for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++)
        if (strstr(linkage, modules[i]))
            return type_template_argument(function, 0, type) && type_size(type);
    return false;
}

/* Says whether the size of a class is unknown because this file only declares it, as clang does
 * with std::string. */
static bool is_unknown_size(const struct elf_binary_parts *parts, struct type_index *index,
                            Dwarf_Die *type)
{
    return !type_index_define(index, parts->dwarf, type) && !type_size(type);
}

/* Finds the innermost function around the call, inlined or not, that belongs to a standard
 * allocator or container of some type; the type is the answer. False: there is none. */
static bool find_template(const struct elf_binary_parts *parts, struct type_index *index,
                          const struct block_question *question, struct block_type_found *found)
{
    Dwarf_Die scopes[DWARF_INLINE_MAX];
    struct block_question any = *question;
    size_t count = dwarf_index_scopes(parts->index, question->address + parts->to_dwarf, scopes);

    any.single = any.cookie = false;
    while (count--) {
        struct candidate candidate = {.source = TYPE_BY_ALLOCATOR};
        Dwarf_Die function = origin_of(&scopes[count]);

        if (!is_cxx_allocation(&function, &candidate.type) &&
            !is_cxx_holder(&function, &candidate.type) &&
            !is_rust_allocation(&function, &candidate.type))
            continue;
        candidate.via = dwarf_diename(&function);
        if (is_unknown_size(parts, index, &candidate.type)) {
            set_found(parts, &candidate, found);
            found->layout = TYPE_ARRAY;
            found->weak = found->bytes = false;
            return true;
        }
        if (make_candidate(parts, index, &any, &candidate) && candidate.layout != TYPE_HEAD) {
            set_found(parts, &candidate, found);
            found->weak = found->bytes = false;
        } else {
            found->answer = BLOCK_MISFIT;
        }
        return true;
    }
    return false;
}

/* ---- Variables and parameters that the result reaches ---------------------------------------- */

static enum type_source source_of(enum flow_target target)
{
    static const enum type_source sources[] = {
        [FLOW_VARIABLE] = TYPE_BY_VARIABLE,   [FLOW_MEMBER] = TYPE_BY_MEMBER,
        [FLOW_PARAMETER] = TYPE_BY_PARAMETER, [FLOW_CONSTRUCTOR] = TYPE_BY_CONSTRUCTOR,
        [FLOW_RETURNED] = TYPE_BY_RESULT,     [FLOW_CALLED] = TYPE_BY_RESULT,
    };

    return sources[target];
}

#define LINKS_MOST 4

/* Says whether a structure only points to others of its kind. Such a type is no evidence: a pool
 * links its free slots in this way, and an intrusive list its members, which may be of any type. */
static bool is_only_links(Dwarf_Die *type)
{
    uint64_t size = type_size(type);

    if (size % sizeof(uint64_t) || size > LINKS_MOST * sizeof(uint64_t))
        return false;
    for (uint64_t at = 0; at < size; at += sizeof(uint64_t)) {
        Dwarf_Die found, next;

        if (!type_at(type, (int64_t)at, &found, NULL) || !type_pointee(&found, &next) ||
            !type_is_same(type, &next))
            return false;
    }
    return size != 0;
}

/* Says whether a longer structure of that size begins with the candidate's structure: a pointer
 * to the shorter one may then point to the longer. */
static bool may_be_longer(const struct elf_binary_parts *parts, struct type_index *index,
                          uint64_t size, struct candidate *candidate)
{
    return candidate->aggregate && type_index_begins(index, parts->dwarf, &candidate->type, size);
}

static bool may_all_be_longer(const struct elf_binary_parts *parts, struct type_index *index,
                              const struct block_question *question, struct candidate *candidate)
{
    for (size_t i = 0; i < question->size_count; i++)
        if (!may_be_longer(parts, index, question->sizes[i], candidate))
            return false;
    return true;
}

static bool may_any_be_longer(const struct elf_binary_parts *parts, struct type_index *index,
                              const struct block_question *question, struct candidate *candidate)
{
    for (size_t i = 0; i < question->size_count; i++)
        if (may_be_longer(parts, index, question->sizes[i], candidate))
            return true;
    return false;
}

/* Says whether a structure may count as a header that the program puts in front of other data.
 * It must have no virtual functions, and no structure of the block's size may begin with it. */
static bool counts_as_head(const struct elf_binary_parts *parts, struct type_index *index,
                           const struct block_question *question, struct candidate *candidate)
{
    Dwarf_Die plain;

    return !question->single && type_make_plain(&candidate->type, &plain) &&
           !type_is_polymorphic(&plain) && !may_any_be_longer(parts, index, question, candidate);
}

/* Says whether a candidate counts as evidence. A candidate of the block's size does. A parameter of
 * a smaller type does not: it often has the type of the first member or of one element. inside: the
 * program also passes on an address inside the block, so what is in front may be a header. */
static bool counts(const struct elf_binary_parts *parts, struct type_index *index,
                   const struct block_question *question, struct candidate *candidate, bool inside)
{
    if (candidate->layout != TYPE_ARRAY && candidate->layout != TYPE_HEAD)
        return true;
    if (inside || candidate->source == TYPE_BY_PARAMETER ||
        candidate->source == TYPE_BY_CONSTRUCTOR || is_only_links(&candidate->type))
        return false;
    if (candidate->layout == TYPE_HEAD)
        return counts_as_head(parts, index, question, candidate);
    return !type_is_c(&candidate->type) || !may_all_be_longer(parts, index, question, candidate);
}

struct choice {
    struct candidate best;
    bool any, conflict, misfit;
};

static void consider(struct choice *choice, struct candidate *candidate)
{
    int rank = rank_of(candidate), best = choice->any ? rank_of(&choice->best) : -1;

    if (rank < best)
        return;
    if (rank > best) {
        choice->best = *candidate;
        choice->any = true;
        choice->conflict = false;
        return;
    }
    if (rank == 0 || type_begins_with(&choice->best.type, &candidate->type))
        return;
    if (type_begins_with(&candidate->type, &choice->best.type))
        choice->best = *candidate;
    else
        choice->conflict = true;
}

static void choose(const struct elf_binary_parts *parts, struct type_index *index,
                   const struct block_question *question, const struct result_flow *flow,
                   struct choice *choice)
{
    for (size_t i = 0; i < flow->count; i++) {
        struct candidate candidate = {.type = flow->uses[i].type,
                                      .source = source_of(flow->uses[i].target),
                                      .via = flow->uses[i].name};

        if (make_candidate(parts, index, question, &candidate) &&
            counts(parts, index, question, &candidate, flow->given_inside))
            consider(choice, &candidate);
        else
            choice->misfit |= !candidate.bytes;
    }
}

/* ---- Inlined constructors -------------------------------------------------------------------- */

/* number of instructions behind the call that are searched for an inlined constructor */
#define LOOK_AHEAD 16

/* Says whether a scope is an inlined constructor of a class of the block's size. */
static bool is_inlined_constructor(const struct elf_binary_parts *parts, struct type_index *index,
                                   const struct block_question *question, Dwarf_Die *scope,
                                   struct candidate *candidate)
{
    Dwarf_Die function = origin_of(scope), class;
    const char *name = dwarf_diename(&function), *of;

    if (dwarf_tag(scope) != DW_TAG_inlined_subroutine || !name || !class_of(&function, &class) ||
        !(of = dwarf_diename(&class)) || strncmp(of, name, strlen(name)) != 0 ||
        (of[strlen(name)] && of[strlen(name)] != '<'))
        return false;
    *candidate = (struct candidate){.type = class, .source = TYPE_BY_CONSTRUCTOR, .via = name};
    return make_candidate(parts, index, question, candidate) && candidate->layout == TYPE_ONE;
}

/* Finds the constructor that begins just behind the call of operator new and is inlined there:
 * the outermost one of the right size. It is found even if an optimizer has removed all
 * variables. */
static bool find_constructor(struct program_code *code, struct type_index *index,
                             const struct block_question *question, struct candidate *candidate)
{
    const struct elf_binary_parts *parts = &code->parts;
    Dwarf_Die before[DWARF_INLINE_MAX], scopes[DWARF_INLINE_MAX];
    uint64_t address = question->address + 1;
    size_t around = dwarf_index_scopes(parts->index, question->address + parts->to_dwarf, before);

    for (int i = 0; i < LOOK_AHEAD; i++) {
        struct x86_instruction at;
        size_t count = dwarf_index_scopes(parts->index, address + parts->to_dwarf, scopes);

        for (size_t k = 0; k < count; k++)
            if ((k >= around || scopes[k].addr != before[k].addr) &&
                is_inlined_constructor(parts, index, question, &scopes[k], candidate))
                return true;
        if (!program_code_read(code, address, &at) || at.operation == X86_CALL ||
            at.operation == X86_JUMP || at.operation == X86_RETURN)
            return false;
        address += at.length;
    }
    return false;
}

static void find_by_flow(const struct elf_binary_parts *parts, struct type_index *index,
                         const struct block_question *question, struct block_type_found *found)
{
    struct choice choice = {.any = false};
    struct result_call call = {.back = question->address + 1,
                               .ahead = question->cookie ? COOKIE : 0,
                               .by_pointer = question->by_pointer};
    struct program_code code;
    struct result_flow flow;

    if (!program_code_begin(&code, parts, question->address))
        return;
    result_flow_find(&code, &call, &flow);
    choose(parts, index, question, &flow, &choice);
    if (question->single && !choice.any)
        choice.any = find_constructor(&code, index, question, &choice.best);
    program_code_end(&code);
    found->passed = flow.returned;
    if (choice.conflict)
        found->answer = BLOCK_CONFLICT;
    else if (choice.misfit && (!choice.any || choice.best.bytes))
        found->answer = BLOCK_MISFIT;
    else if (choice.any)
        set_found(parts, &choice.best, found);
}

void block_type_find(const struct elf_binary_parts *parts, struct type_index *index,
                     const struct block_question *question, struct block_type_found *found)
{
    *found = (struct block_type_found){.answer = BLOCK_UNKNOWN};
    if (!find_template(parts, index, question, found) && !question->by_template)
        find_by_flow(parts, index, question, found);
}

void block_type_fit(const struct elf_binary_parts *parts, struct type_index *index,
                    const struct block_question *question, Dwarf_Die *type,
                    struct block_type_found *found)
{
    struct candidate candidate = {.type = *type, .source = TYPE_BY_POINTER};

    *found = (struct block_type_found){.answer = BLOCK_UNKNOWN};
    if (make_candidate(parts, index, question, &candidate) && candidate.layout != TYPE_HEAD &&
        !(candidate.layout == TYPE_PART && !candidate.aggregate) &&
        !(candidate.layout == TYPE_ARRAY && is_only_links(&candidate.type)))
        set_found(parts, &candidate, found);
    else if (type_size(&candidate.type))
        found->answer = BLOCK_MISFIT;
}

void block_type_find_class(const struct elf_binary_parts *parts, struct type_index *index,
                           const struct block_question *question, const char *name,
                           struct block_type_found *found)
{
    struct candidate candidate = {.source = TYPE_BY_VTABLE};

    *found = (struct block_type_found){.answer = BLOCK_UNKNOWN};
    if (!type_index_find(index, parts->dwarf, name, &candidate.type))
        return;
    if (make_candidate(parts, index, question, &candidate))
        set_found(parts, &candidate, found);
    else
        found->answer = BLOCK_MISFIT;
}
