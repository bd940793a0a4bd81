#include "preload/operators.h"
#include "preload/modules.h"

#include <dlfcn.h>
#include <link.h>

bool operators_replaced_;

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

void operators_start(void)
{
    static const char *const names[] = {
        "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZnwmSt11align_val_t", "_ZdlPvSt11align_val_t"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        operators_replaced_ |= operators_is_anothers(names[i]);
}
