#include "preload/interpose/operator_override.h"
#include "preload/base/base.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/base/strbuf.h"

#include <dlfcn.h>
#include <link.h>

bool operators_replaced_;
struct operators_originals operators_original;

bool operators_is_anothers(const char *name)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *first = dlsym(RTLD_DEFAULT, name);
    /* A program that takes malloc's address has an undefined symbol at its PLT: not its own. */
    return first && !modules_own((uintptr_t)first) &&
           dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
           symbol->st_shndx != SHN_UNDEF;
}

static int is_runtime(struct dl_phdr_info *info, size_t size UNUSED, void *found UNUSED)
{
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    return slash && (starts_with(slash, "/libstdc++.so") || starts_with(slash, "/libc++"));
}

/* A search that fails allocates: where there is nothing to be found there is none. */
void operators_look_up(struct guard *guard)
{
    static uint32_t looked = UINT32_MAX; /* nothing has been loaded since */
    uint32_t changes = load_relaxed(&modules_changes_);
    if (load_relaxed(&looked) == changes)
        return;
    store_relaxed(&looked, changes);
    if (!dl_iterate_phdr(is_runtime, NULL))
        return;
    guard->calling_real = true;
#define X(name)                                                                                    \
    if (!operators_original.name)                                                                  \
        operators_original.name = real_find_cxx(#name);
    OPERATORS_TABLE(X)
#undef X
    guard->calling_real = false;
}

void operators_start(void)
{
    static const char *const names[] = {
        "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZnwmSt11align_val_t", "_ZdlPvSt11align_val_t"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        operators_replaced_ |= operators_is_anothers(names[i]);
}
