/* names.c - see names.h. */
#include "top/names.h"

#include <stdlib.h>

#include "common/sites/signature.h"

struct resolver *names_resolver(struct arena *mem)
{
    static const struct binary_search_path nowhere_else;

    return resolve_begin(mem, &nowhere_else);
}

struct names names_begin(struct resolver *resolver)
{
    struct names names = {.mem = arena_begin(), .resolver = resolver, .own = !resolver};

    if (names.own)
        names.resolver = names_resolver(names.mem);
    return names;
}

void names_end(struct names *names)
{
    hashmap_end(&names->of_site);
    hashmap_end(&names->of_key);
    free(names->at);
    if (names->own)
        resolve_end(names->resolver);
    arena_end(names->mem);
    *names = (struct names){0};
}

static const struct name *make(struct names *names, struct signatures *signatures,
                               const struct store_site *site, uint64_t signature)
{
    struct name *name = arena_alloc(names->mem, sizeof(*name));
    struct record like;

    *name = (struct name){.signature = signature,
                          .kind = site->kind,
                          .stack = stack_from_node(names->mem, signatures, site->node)};
    name->user = frame_first_user(name->stack.frames, name->stack.count);
    like = (struct record){
        .frames = name->stack.frames, .frame_count = name->stack.count, .user = name->user};
    name->title = record_title_frame(&like);
    return name;
}

static void learn(struct names *names, struct signatures *signatures, const struct store_site *site)
{
    uint64_t signature = signatures_of_node(signatures, site->node);
    uint64_t *slot = hashmap_put(&names->of_key, hash_mix(signature, site->kind), NULL);

    if (!*slot) {
        names->at = array_grow(names->at, &names->capacity, names->count + 1, sizeof(*names->at));
        names->at[names->count++] = make(names, signatures, site, signature);
        *slot = names->count;
    }
    *hashmap_put(&names->of_site, site->id, NULL) = *slot;
}

void names_learn(struct names *names, const struct store *store)
{
    size_t fresh = 0;
    struct signatures signatures;

    for (size_t i = 0; i < store->site_count; i++)
        fresh += !hashmap_get(&names->of_site, store->sites[i].id);
    if (!fresh)
        return;
    signatures = signatures_begin(names->resolver, store);
    for (size_t i = 0; i < store->site_count; i++)
        if (!hashmap_get(&names->of_site, store->sites[i].id))
            signatures_request(&signatures, store->sites[i].node);
    signatures_resolve(&signatures);
    for (size_t i = 0; i < store->site_count; i++)
        if (!hashmap_get(&names->of_site, store->sites[i].id))
            learn(names, &signatures, &store->sites[i]);
    signatures_end(&signatures);
}

size_t names_of(const struct names *names, const struct store_site *site)
{
    return hashmap_get(&names->of_site, site->id) - 1;
}
