#include "preload/interpose/operator_override.h"
#include "preload/base/base.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/strbuf.h"

#include <dlfcn.h>
#include <link.h>

struct operator_override operator_override;

bool operator_override_has(const char *name)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *first = dlsym(RTLD_DEFAULT, name);
    /* If a program takes the address of a function, its symbol table has an undefined symbol with
     * the address of its PLT entry. Such a symbol is not a definition. */
    return first && !modules_is_own((uintptr_t)first) &&
           dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
           symbol->st_shndx != SHN_UNDEF;
}

static int is_cxx_runtime(struct dl_phdr_info *info, size_t size UNUSED, void *found UNUSED)
{
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    return slash && (starts_with(slash, "/libstdc++.so") || starts_with(slash, "/libc++"));
}

/* Finds the C++ library's own forms of the operators (the originals). It searches only if a C++
 * runtime is loaded, because a search that fails allocates. */
void operator_override_find_originals(struct guard *guard)
{
    /* The value of modules_state.changes at the last search; if it is the same, nothing was loaded
     * since. */
    static uint32_t searched_at = UINT32_MAX;
    uint32_t changes = load_relaxed(&modules_state.changes);
    if (load_relaxed(&searched_at) == changes)
        return;
    store_relaxed(&searched_at, changes);
    if (!dl_iterate_phdr(is_cxx_runtime, NULL))
        return;
    guard->calling_real = true;
#define X(name)                                                                                    \
    if (!operator_override.original.name)                                                          \
        operator_override.original.name = real_functions_find_cxx(OPERATOR_NAME(name));
    OPERATOR_DEPENDENT_FORMS(X)
#undef X
    guard->calling_real = false;
}

void operator_override_start(void)
{
    static const char *const names[] = {OPERATOR_BASIC_FORMS};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        operator_override.any |= operator_override_has(names[i]);
}
