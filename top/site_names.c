/* site_names.c - names the allocation sites of a process; described in site_names.h. */
#include "top/site_names.h"

#include <stdlib.h>

#include "common/sites/signature.h"

struct resolver *site_names_resolver(struct arena *mem)
{
    static const struct binary_search_path no_other_place;

    return resolve_begin(mem, &no_other_place);
}

struct site_names site_names_begin(struct resolver *resolver)
{
    struct site_names names = {
        .mem = arena_begin(), .resolver = resolver, .owns_resolver = !resolver};

    if (names.owns_resolver)
        names.resolver = site_names_resolver(names.mem);
    return names;
}

void site_names_end(struct site_names *names)
{
    hashmap_end(&names->of_site);
    hashmap_end(&names->of_key);
    free(names->at);
    if (names->owns_resolver)
        resolve_end(names->resolver);
    arena_end(names->mem);
    *names = (struct site_names){0};
}

static const struct site_name *make_site_name(struct site_names *names,
                                              struct signatures *signatures,
                                              const struct store_site *site, uint64_t signature)
{
    struct site_name *name = arena_alloc(names->mem, sizeof(*name));
    struct record like;

    *name = (struct site_name){.signature = signature,
                               .kind = site->kind,
                               .stack = stack_from_node(names->mem, signatures, site->node)};
    name->user = frame_first_user(name->stack.frames, name->stack.count);
    like = (struct record){
        .frames = name->stack.frames, .frame_count = name->stack.count, .user = name->user};
    name->title = record_title_frame(&like);
    return name;
}

static void add_site(struct site_names *names, struct signatures *signatures,
                     const struct store_site *site)
{
    uint64_t signature = signatures_of_node(signatures, site->node);
    uint64_t *slot = hashmap_put(&names->of_key, hash_mix(signature, site->kind), NULL);

    if (!*slot) {
        names->at = array_grow(names->at, &names->capacity, names->count + 1, sizeof(*names->at));
        names->at[names->count++] = make_site_name(names, signatures, site, signature);
        *slot = names->count;
    }
    *hashmap_put(&names->of_site, site->id, NULL) = *slot;
}

void site_names_update(struct site_names *names, const struct store *store)
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
            add_site(names, &signatures, &store->sites[i]);
    signatures_end(&signatures);
}

size_t site_names_index(const struct site_names *names, const struct store_site *site)
{
    return hashmap_get(&names->of_site, site->id) - 1;
}
