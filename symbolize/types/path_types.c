/* path_types.c - finds the types of blocks by the pointers to them; described in types.h. A path
 * from a root to a block is analysed as a whole, with the debug information of the root's file.
 * Types that the allocating stacks show for blocks on the path help to analyse it. */
#include "symbolize/types/types.h"

#include <stdio.h>
#include <string.h>

/* The types of the blocks on a path: of the first `count` steps, as far as the analysis came.
 * type_path.h describes a step. */
struct path_types {
    struct type_step_found *found;
    size_t count;
    struct binary *binary; /* has the debug information of the root's variable */
};

/* most paths of a process that are analysed, because each takes time; others show no types */
#define PATHS_MOST 2048

/* ---- Analysing one path ---------------------------------------------------------------------- */

/* Finds the binary with the debug information of a root, and the location of the root's variable in
 * that binary. NULL = there is no debug information. */
static struct binary *find_root(struct types *types, const struct leak_held *held,
                                struct variable_location *root)
{
    const struct store *store = types->store;
    const struct store_module *module = NULL;
    struct store_module global;

    switch ((enum leak_root_class)held->root_class) {
    case LEAK_ROOT_CLASS_GLOBALS:
        if (roots_find_module(store, held->address, &global))
            module = &global;
        *root = (struct variable_location){VARIABLE_IN_DATA, {held->address}};
        break;
    case LEAK_ROOT_CLASS_STACKS:
        module = held->pc && held->cfa ? store_find_last_module(store, held->pc) : NULL;
        *root = (struct variable_location){VARIABLE_IN_FRAME, {held->pc, held->cfa, held->address}};
        break;
    case LEAK_ROOT_CLASS_TLS:
        module = held->key ? NULL : roots_program_module(store);
        *root = (struct variable_location){VARIABLE_IN_TLS,
                                           {store->header.machine, (uint64_t)held->tls_offset}};
        break;
    default:
        break;
    }
    if (!module)
        return NULL;
    if (root->kind != VARIABLE_IN_TLS)
        root->given[0] -= module->bias;
    return signatures_module(types->signatures, module)->binary;
}

/* Sets the type of the block on a step of a path, if the stack that allocated this block shows the
 * type. */
static void set_known(struct types *types, const struct store_step *at, struct binary *binary,
                      struct type_step *step)
{
    struct share share = {.site = at->site, .found = STORE_NONE, .blocks = 1, .bytes = at->size};
    const struct site_type *of = types_of_stack(types, &share);

    if (!of->type || of->binary != binary || !of->id.offset)
        return;
    step->known = of->id;
    step->layout = of->type->layout;
}

static void find_path(struct types *types, uint32_t index, struct path_types *path)
{
    const struct store_leak_check *look = types->store->look;
    const struct store_found *of = &look->found[index];
    struct type_step steps[TYPE_STEPS_MOST];
    struct variable_location root;
    size_t count = 0;

    if (of->root == STORE_NONE || types->paths_asked++ >= PATHS_MOST)
        return;
    path->binary = find_root(types, &look->roots[of->root], &root);
    if (!path->binary || binary_state(path->binary) != BINARY_COMPLETE)
        return;
    for (; count < of->path_count && count < TYPE_STEPS_MOST; count++) {
        const struct store_step *at = &look->steps[of->path + count];

        if (at->site == STORE_NO_SITE)
            break;
        steps[count] = (struct type_step){.offset = at->offset, .into = at->into, .size = at->size};
        set_known(types, at, path->binary, &steps[count]);
    }
    path->found = arena_alloc_array(types->mem, count, sizeof(*path->found));
    if (count)
        path->count = binary_find_path(path->binary, &root, steps, count, path->found);
}

/* Returns the types on the path to a result of the leak check; analyses the path if this was not
 * done yet. Never NULL. */
static const struct path_types *types_of_path(struct types *types, uint32_t found)
{
    uint64_t *slot = hashmap_put(&types->paths, found + 1ull, NULL);
    struct path_types *made;

    if (*slot)
        return (const struct path_types *)(uintptr_t)*slot;
    made = arena_alloc(types->mem, sizeof(*made));
    *slot = (uintptr_t)made;
    find_path(types, found, made);
    return made;
}

void types_forget_path(struct types *types, uint32_t found)
{
    *hashmap_put(&types->paths, found + 1ull, NULL) = 0;
}

/* ---- Writing the pointer to a block as a C expression ---------------------------------------- */

#define EXPRESSION_SIZE 512
/* most equal words in a row that are all written; of a longer row one is written with the number,
 * as "->next{5}" */
#define REPEATED_MOST 3

static bool append_word(char text[EXPRESSION_SIZE], const char *word)
{
    size_t used = strlen(text);

    return snprintf(text + used, EXPRESSION_SIZE - used, "%s", word) <
           (int)(EXPRESSION_SIZE - used);
}

static bool apply_cast(char text[EXPRESSION_SIZE], const struct type_step_found *found)
{
    char whole[EXPRESSION_SIZE];
    int length;

    if (found->cast == CAST_TYPE)
        length = snprintf(whole, sizeof(whole), "((%s *)%s)", found->block.name, text);
    else
        length = snprintf(whole, sizeof(whole), "container_of(%s, %s, %s)", text, found->block.name,
                          found->link);
    if (length >= EXPRESSION_SIZE)
        return false;
    memcpy(text, whole, (size_t)length + 1);
    return true;
}

static size_t count_equal(const struct path_types *path, size_t at, size_t end)
{
    size_t next = at + 1;

    while (next < end && path->found[next].named && path->found[next - 1].cast == CAST_NONE &&
           strcmp(path->found[next].word, path->found[at].word) == 0)
        next++;
    return next - at;
}

/* Writes the pointer to the last of `count` blocks as an expression: the variable, then the members
 * and casts that lead to the block. Returns how many steps have names. */
static size_t write_expression(const struct path_types *path, size_t count, const char *variable,
                               char text[EXPRESSION_SIZE])
{
    size_t at = 0, end = count < path->count ? count : path->count;

    snprintf(text, EXPRESSION_SIZE, "%.200s", variable);
    while (at < end && path->found[at].named) {
        char before[EXPRESSION_SIZE], times[32] = "";
        size_t equal = count_equal(path, at, end);

        memcpy(before, text, sizeof(before));
        if (equal > REPEATED_MOST)
            snprintf(times, sizeof(times), "{%zu}", equal);
        else
            equal = 1;
        if ((at && path->found[at - 1].cast != CAST_NONE &&
             !apply_cast(text, &path->found[at - 1])) ||
            !append_word(text, path->found[at].word) || !append_word(text, times)) {
            memcpy(text, before, sizeof(before));
            break;
        }
        at += equal;
    }
    return at;
}

/* Replaces the name of the variable in the description of a root by an expression: "queue->next
 * (queue.c:7)". NULL: the description does not contain the variable. */
static const char *replace_variable(struct types *types, const struct root *root, const char *text)
{
    const char *at = strstr(root->words, root->variable);

    return at ? arena_format(types->mem, "%.*s%s%s", (int)(at - root->words), root->words, text,
                             at + strlen(root->variable))
              : NULL;
}

static const char *pointer_words(struct types *types, uint32_t found, size_t count,
                                 const struct root *root)
{
    char text[EXPRESSION_SIZE];
    const struct path_types *path = types_of_path(types, found);

    if (!root->variable || write_expression(path, count, root->variable, text) != count)
        return NULL;
    return arena_copy(types->mem, text, strlen(text));
}

/* ---- Adding names to the paths of the model -------------------------------------------------- */

static void fill_step(struct types *types, const struct type_step_found *found,
                      struct path_step *step)
{
    if (found->named)
        step->word = arena_copy(types->mem, found->word, strlen(found->word));
    if (*found->block.name && (found->pointed || found->block.answer == BLOCK_UNKNOWN))
        step->type = arena_copy(types->mem, found->block.name, strlen(found->block.name));
}

void types_name_path(struct types *types, struct path *path)
{
    const struct path_types *known = types_of_path(types, path->found);
    size_t named, head = path->skipped ? path->skipped_at : path->count;
    char text[EXPRESSION_SIZE];

    for (size_t i = 0; i < path->count; i++) {
        size_t at = i + (i < head ? 0 : path->skipped);

        if (at < known->count)
            fill_step(types, &known->found[at], (struct path_step *)&path->steps[i]);
    }
    if (!path->root->variable)
        return;
    named = write_expression(known, path->count + path->skipped, path->root->variable, text);
    if (!named)
        return;
    path->words = replace_variable(types, path->root, text);
    if (path->words)
        path->named = named <= head                  ? named
                      : named < head + path->skipped ? head
                                                     : named - path->skipped;
}

/* ---- Finding the type of a site's blocks by the pointers to them ----------------------------- */

#define PLACES_MOST 32 /* most places of one site on paths of pointers that are used as evidence */

struct path_place {
    /* step number `step` of the path to result number `found` of the leak check */
    uint32_t found, step;
    /* the next place with a block of the same site, as index in types.places + 1; 0: none */
    uint32_t next;
};

static void index_places(struct types *types)
{
    const struct store_leak_check *look = types->store->look;
    size_t count = 0;

    for (size_t i = 0; i < look->found_count; i++)
        count += look->found[i].root != STORE_NONE ? look->found[i].path_count : 0;
    types->places = arena_alloc_array(types->mem, count, sizeof(*types->places));
    count = 0;
    for (size_t i = 0; i < look->found_count; i++)
        for (uint32_t k = 0; look->found[i].root != STORE_NONE && k < look->found[i].path_count;
             k++) {
            uint32_t site = look->steps[look->found[i].path + k].site;
            uint64_t *first;

            if (site == STORE_NO_SITE)
                break;
            first = hashmap_put(&types->first_place, site + 1ull, NULL);
            types->places[count] = (struct path_place){(uint32_t)i, k, (uint32_t)*first};
            *first = ++count;
        }
}

struct vote {
    /* the type with the strongest evidence so far; NULL = none yet */
    const struct type_step_found *found;
    struct path_place place;
    struct binary *binary;
    unsigned agree, differ;
};

enum { OF_A_PART, OF_BYTES, STRONG };

/* Ranks the evidence of a pointer. Only strong evidence of another type counts against a type. */
static int strength_of(const struct block_type_found *block)
{
    if (block->layout == TYPE_PART)
        return OF_A_PART;
    return block->bytes ? OF_BYTES : STRONG;
}

static void count_vote(struct vote *vote, const struct path_types *path,
                       const struct path_place *place)
{
    const struct block_type_found *block = &path->found[place->step].block;
    bool better = !vote->found || strength_of(block) > strength_of(&vote->found->block);

    if (!better && strcmp(vote->found->block.name, block->name) == 0) {
        vote->agree++;
    } else if (better) {
        *vote = (struct vote){&path->found[place->step], *place, path->binary, 1, 0};
    } else if (strength_of(block) == STRONG) {
        vote->differ++;
    }
}

static struct vote collect_votes(struct types *types, uint32_t site)
{
    struct vote vote = {.found = NULL};
    uint32_t at = (uint32_t)hashmap_get(&types->first_place, site + 1ull);

    for (int asked = 0; at && asked < PLACES_MOST; asked++) {
        const struct path_place *place = &types->places[at - 1];
        const struct path_types *path = types_of_path(types, place->found);

        if (place->step < path->count && path->found[place->step].pointed)
            count_vote(&vote, path, place);
        at = place->next;
    }
    return vote;
}

/* Returns how certain a type is that pointers show. For bytes and arrays of structures, the
 * evidence is weak: a pointer to the first member of a larger structure looks the same. */
static double confidence_of(const struct vote *vote, const struct block_type_found *found)
{
    if (found->bytes || found->layout == TYPE_PART || found->polymorphic ||
        (found->layout == TYPE_ARRAY && !found->weak))
        return 0.5;
    return vote->agree > 1 ? 0.8 : 0.75;
}

bool types_by_pointers(struct types *types, uint32_t site, const struct block_question *question,
                       struct pointed_type *type)
{
    const struct store_leak_check *look = types->store->look;
    struct block_question at = *question;
    struct vote vote;

    *type = (struct pointed_type){.conflict = false};
    if (!look || !question->size_count)
        return false;
    if (!types->places)
        index_places(types);
    vote = collect_votes(types, site);
    type->conflict = vote.found && vote.differ;
    if (vote.found)
        at.into = vote.found->block.at;
    if (!vote.found || vote.differ ||
        !binary_fit_type(vote.binary, vote.found->block.id, &at, &type->found) ||
        type->found.answer != BLOCK_FOUND)
        return false;
    type->binary = vote.binary;
    type->confidence = confidence_of(&vote, &type->found);
    type->via = pointer_words(types, vote.place.found, vote.place.step + 1,
                              roots_describe(types->roots, look->found[vote.place.found].root));
    return true;
}
