/* site_types.c - finds the type of a site's blocks; described in types.h. The frames of the
 * allocating stack are analysed from the allocation call outwards, as long as a function returns
 * the block to its caller or belongs to a library. */
#include "symbolize/types/types.h"

#include <string.h>

#include "common/names/names.h"

#define FRAMES_MOST 24   /* most frames of a stack that are analysed, the innermost ones */
#define STACKS_MOST 4096 /* most stacks of a process that are analysed; others show no types */

struct types types_begin(struct arena *mem, struct signatures *signatures, struct roots *roots)
{
    return (struct types){
        .mem = mem, .signatures = signatures, .store = signatures->store, .roots = roots};
}

void types_end(struct types *types)
{
    hashmap_end(&types->stacks);
    hashmap_end(&types->sites);
    hashmap_end(&types->paths);
    hashmap_end(&types->first_place);
    hashmap_end(&types->contents);
}

/* ---- Sizes of the blocks --------------------------------------------------------------------- */

static void add_size(struct block_question *question, uint64_t size)
{
    for (size_t i = 0; i < question->size_count; i++)
        if (question->sizes[i] == size)
            return;
    if (question->size_count < BLOCK_SIZES_MOST)
        question->sizes[question->size_count++] = size;
}

/* Adds the sizes of the sample blocks to a question, and the sum of the sizes of the other blocks:
 * it must consist of whole objects, too. Returns the size of each block, 0 = the sizes differ. */
static uint64_t add_sizes(const struct store *store, const struct share *share,
                          struct block_question *question)
{
    uint64_t bytes = share->bytes, blocks = share->blocks, each;
    const struct store_found *found;

    each = blocks && bytes % blocks == 0 ? bytes / blocks : 0;
    if (share->found != STORE_NONE) {
        found = &store->look->found[share->found];
        bytes = found->bytes;
        blocks = found->blocks;
        each = blocks && bytes % blocks == 0 ? bytes / blocks : 0;
        for (uint32_t i = 0; i < found->sample_count && blocks; i++) {
            uint64_t size = store->look->samples[found->sample + i].size;

            add_size(question, size);
            bytes -= size < bytes ? size : bytes;
            blocks--;
            each = each == size ? each : 0;
        }
    }
    if (blocks && each)
        add_size(question, each);
    else if (blocks)
        add_size(question, bytes);
    return each;
}

static struct block_question begin_question(const struct store *store, const struct share *share,
                                            uint64_t *each)
{
    uint32_t kind = store->sites[share->site].kind;
    struct block_question question = {.single =
                                          kind == LEAK_KIND_NEW || kind == LEAK_KIND_ALIGNED_NEW,
                                      .cookie = kind == LEAK_KIND_NEW_ARRAY,
                                      .by_pointer = kind == LEAK_KIND_MEMALIGN};

    *each = add_sizes(store, share, &question);
    return question;
}

/* ---- Virtual tables that blocks point to ----------------------------------------------------- */

/* Returns the name of the class whose virtual table contains the address; NULL = the address is in
 * no virtual table. */
static const char *class_of_table(struct types *types, uint64_t address, struct binary **binary)
{
    static const char words[] = "vtable for ";
    struct store_module module;
    struct binary_variable found;
    const char *name;

    if (!address || address % sizeof(uint64_t) ||
        !roots_find_module(types->store, address, &module))
        return NULL;
    *binary = signatures_module(types->signatures, &module)->binary;
    if (!binary_find_data(*binary, address - module.bias, &found) || !found.symbol ||
        strncmp(found.symbol, "_ZTV", 4) != 0 || found.offset < 2 * sizeof(uint64_t))
        return NULL;
    name = resolve_name(types->signatures->resolver,
                        arena_copy(types->mem, found.symbol, strlen(found.symbol)));
    return strncmp(name, words, strlen(words)) == 0 ? name + strlen(words) : NULL;
}

/* Returns the class whose virtual table all sample blocks of a share point to; NULL = none, or they
 * differ. */
static const char *class_of_samples(struct types *types, const struct share *share,
                                    struct binary **binary)
{
    const struct store_leak_check *look = types->store->look;
    const char *name = NULL;

    if (share->found == STORE_NONE)
        return NULL;
    for (uint32_t i = 0; i < look->found[share->found].sample_count; i++) {
        const struct leak_sample *sample = &look->samples[look->found[share->found].sample + i];
        uint64_t word;
        const char *one;

        if (sample->content.count < sizeof(word))
            return NULL;
        memcpy(&word, look->contents + sample->content.first, sizeof(word));
        one = class_of_table(types, word, binary);
        if (!one || (name && strcmp(name, one) != 0))
            return NULL;
        name = one;
    }
    return name;
}

/* ---- Functions whose names show the type of the block ---------------------------------------- */

/* Functions that return text. Their libraries usually have no debug information, so the name is the
 * evidence. */
static const char *const text_functions[] = {
    "strdup",
    "__strdup",
    "strndup",
    "__strndup",
    "asprintf",
    "__asprintf",
    "vasprintf",
    "__vasprintf",
    "getdelim",
    "_IO_getdelim",
    "getline",
    "getcwd",
    "__vasprintf_internal",
    "realpath",
    "__realpath",
    "wcsdup",
};

/* Functions that allocate the characters of a std::string. Their code for char is in libstdc++,
 * without debug information. */
static const char *const string_scopes[] = {"std::__cxx11::basic_string<char,",
                                            "std::string::", "std::basic_string<char,"};

static bool makes_text(const struct frame *frame)
{
    if (!frame->function)
        return false;
    for (size_t i = 0; i < sizeof(text_functions) / sizeof(*text_functions); i++)
        if (strcmp(frame->function, text_functions[i]) == 0)
            return classify_is_runtime_module(frame->module);
    for (size_t i = 0; i < sizeof(string_scopes) / sizeof(*string_scopes); i++)
        if (strncmp(demangle_scope(frame->function), string_scopes[i], strlen(string_scopes[i])) ==
            0)
            return true;
    return false;
}

/* ---- The frames of the allocating stack ------------------------------------------------------ */

/* What the frames of a stack have shown so far, while they are analysed from the innermost
 * outwards. */
struct stack_answer {
    struct block_type_found found;
    struct binary *binary;
    bool conflict;
};

/* Takes over what one frame shows about the type. library: the frame is code of a library. False:
 * frames farther out cannot add anything. */
static bool take_answer(struct stack_answer *answer, const struct block_type_found *found,
                        struct binary *binary, bool library)
{
    struct block_type_found *best = &answer->found;
    bool any = best->answer == BLOCK_FOUND;

    if (library && found->answer == BLOCK_FOUND && found->bytes &&
        /* a library that allocates, like std::vector, sees only bytes, which are weak evidence */
        found->source != TYPE_BY_ALLOCATOR)
        return !any || (best->weak && found->passed);

    if (found->answer == BLOCK_CONFLICT) {
        answer->conflict = !any || best->bytes;
        best->answer = answer->conflict ? BLOCK_UNKNOWN : best->answer;
        return false;
    }
    if (found->answer == BLOCK_FOUND && (!any || !found->weak || (best->bytes && !found->bytes))) {
        *best = *found;
        answer->binary = binary;
    }
    return best->answer != BLOCK_FOUND ? found->passed || library : best->weak && found->passed;
}

static const struct frame *concrete_frame(const struct resolved_place *place)
{
    return &place->frames[place->count - 1];
}

static bool is_library(const struct resolved_place *place)
{
    return !frame_is_user_code(concrete_frame(place));
}

static void take_text(struct stack_answer *answer, const struct frame *frame)
{
    answer->found = (struct block_type_found){.answer = BLOCK_FOUND,
                                              .source = TYPE_BY_NAME,
                                              .size = 1,
                                              .layout = TYPE_ARRAY,
                                              .name = "char"};
    snprintf(answer->found.via, sizeof(answer->found.via), "%.90s", frame->function);
}

/* Analyses one frame of the stack. False: stop, the frames farther out are not analysed. */
static bool ask_frame(struct types *types, uint32_t node, struct block_question *question,
                      struct stack_answer *answer)
{
    const struct store_node *at = &types->store->nodes[node];
    const struct store_module *module = store_find_module(types->store, at->pc, at->number);
    const struct resolved_place *place = signatures_place_at_node(types->signatures, node);
    struct block_type_found found = {.answer = BLOCK_UNKNOWN};
    struct binary *binary;

    if (!place || !module)
        /* a node without frames is skipped; generated code, which is in no module, ends the
         * search */
        return place == NULL;
    if (classify_is_libleak_frame(concrete_frame(place)))
        return true;
    for (size_t i = 0; i < place->count; i++)
        if (answer->found.answer != BLOCK_FOUND && makes_text(&place->frames[i])) {
            take_text(answer, &place->frames[i]);
            return false;
        }
    binary = signatures_module(types->signatures, module)->binary;
    question->address = at->pc - 1 - module->bias;
    binary_find_type(binary, question, &found);
    question->by_pointer = false;
    question->by_template |= !found.passed;
    return take_answer(answer, &found, binary, is_library(place));
}

static struct stack_answer ask_stack(struct types *types, uint32_t node,
                                     struct block_question question)
{
    struct stack_answer answer = {.found.answer = BLOCK_UNKNOWN};
    uint32_t asked = 0;

    if (++types->asked > STACKS_MOST)
        return answer;
    while (node >= LEAK_NODE_FIRST && asked++ < FRAMES_MOST &&
           ask_frame(types, node, &question, &answer))
        node = types->store->nodes[node].parent;
    return answer;
}

/* ---- Making the type of a site --------------------------------------------------------------- */

/* Confidence in a class that is known by a pointer to it: the block's class may be derived from
 * it. */
#define CONFIDENCE_OF_A_BASE 0.7
/* Confidence in a type of which the block has one object at its start, but is larger than that
 * object. */
#define CONFIDENCE_OF_A_HEAD 0.8

static const struct block_type *make_type(struct types *types, const struct block_type_found *found)
{
    static const unsigned percent[] = {
#define T(name, word, words, number) number,
        TYPE_SOURCE_TABLE(T)
#undef T
    };
    struct block_type *type = arena_alloc(types->mem, sizeof(*type));
    bool base =
        found->polymorphic && found->source != TYPE_BY_VTABLE && found->source != TYPE_BY_ALLOCATOR;

    *type = (struct block_type){.name = arena_copy(types->mem, found->name, strlen(found->name)),
                                .source = found->source,
                                .layout = found->layout,
                                .confidence =
                                    base ? CONFIDENCE_OF_A_BASE : percent[found->source] / 100.0,
                                .size = found->size,
                                .at = found->at};
    if (found->layout == TYPE_HEAD && type->confidence > CONFIDENCE_OF_A_HEAD)
        type->confidence = CONFIDENCE_OF_A_HEAD;
    if (*found->via)
        type->via = arena_copy(types->mem, found->via, strlen(found->via));
    return type;
}

/* Replaces the type that the stack shows by the class that the virtual table shows, unless the
 * stack has an allocator of that type, which is the best evidence. */
static void ask_table(struct types *types, const struct share *share,
                      const struct block_question *question, uint64_t each,
                      struct stack_answer *answer)
{
    struct block_type_found found = {.answer = BLOCK_UNKNOWN};
    struct binary *binary;
    const char *name;

    if (answer->found.answer == BLOCK_FOUND && answer->found.source == TYPE_BY_ALLOCATOR)
        return;
    name = class_of_samples(types, share, &binary);
    if (!name)
        return;
    if (!binary_find_class(binary, name, question, &found) || found.answer == BLOCK_UNKNOWN) {
        found = (struct block_type_found){.answer = BLOCK_FOUND, .source = TYPE_BY_VTABLE};
        found.size = each;
        snprintf(found.name, sizeof(found.name), "%s", name);
    }
    if (found.answer != BLOCK_FOUND)
        return;
    answer->found = found;
    answer->binary = binary;
    answer->conflict = false;
}

static uint64_t key_of_question(const struct store_site *site,
                                const struct block_question *question, uint32_t found)
{
    uint64_t key = hash_mix(hash_mix(site->node, site->kind), found);

    for (size_t i = 0; i < question->size_count; i++)
        key = hash_mix(key, question->sizes[i]);
    return key;
}

const struct site_type *types_of_stack(struct types *types, const struct share *share)
{
    const struct store_site *site = &types->store->sites[share->site];
    uint64_t each, *slot;
    struct block_question question = begin_question(types->store, share, &each);
    struct stack_answer answer;
    struct site_type *made;
    bool fresh;

    slot = hashmap_put(&types->stacks, key_of_question(site, &question, share->found), &fresh);
    if (!fresh)
        return (const struct site_type *)(uintptr_t)*slot;
    made = arena_alloc(types->mem, sizeof(*made));
    *slot = (uintptr_t)made;
    answer = ask_stack(types, site->node, question);
    ask_table(types, share, &question, each, &answer);
    made->conflict = answer.conflict;
    made->block_size = each;
    if (answer.found.answer != BLOCK_FOUND)
        return made;
    made->type = make_type(types, &answer.found);
    made->binary = answer.binary;
    made->id = answer.found.id;
    return made;
}

static void add_pointed(struct types *types, const struct pointed_type *pointed,
                        struct site_type *made)
{
    struct block_type *type = (struct block_type *)make_type(types, &pointed->found);

    type->confidence = pointed->confidence;
    type->via = pointed->via;
    made->type = type;
    made->binary = pointed->binary;
    made->id = pointed->found.id;
}

const struct site_type *types_of_share(struct types *types, const struct share *share)
{
    const struct site_type *of_stack = types_of_stack(types, share);
    uint64_t each, *slot;
    struct block_question question;
    struct pointed_type pointed;
    struct site_type *made;
    bool fresh;

    if (of_stack->type || of_stack->conflict)
        return of_stack;
    question = begin_question(types->store, share, &each);
    slot = hashmap_put(&types->sites,
                       key_of_question(&types->store->sites[share->site], &question, share->found),
                       &fresh);
    if (!fresh)
        return (const struct site_type *)(uintptr_t)*slot;
    made = arena_alloc(types->mem, sizeof(*made));
    *slot = (uintptr_t)made;
    *made = *of_stack;
    if (types_by_pointers(types, share->site, &question, &pointed))
        add_pointed(types, &pointed, made);
    else
        made->conflict = pointed.conflict;
    return made;
}

size_t types_fields(struct binary *binary, struct type_id id,
                    struct named_field fields[TYPE_FIELDS_MOST])
{
    return binary && id.offset ? binary_find_fields(binary, id, fields) : 0;
}
