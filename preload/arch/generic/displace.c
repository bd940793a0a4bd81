/* displace.c (generic) - changes no function, because it cannot read the instructions of the CPU. */
#include "preload/interpose/displace.h"

struct displace_step displace_read(const uint8_t *code, size_t left, uintptr_t address)
{
    (void)code, (void)address;
    return (struct displace_step){.unknown = true, .length = left};
}

const char *displace_plan(const struct displace_function *function, uintptr_t to,
                          struct displaced *out)
{
    (void)function, (void)to;
    *out = (struct displaced){0};
    return "libleak does not change code on this CPU";
}

bool displace_jump(uintptr_t from, uintptr_t to, uint8_t *out)
{
    (void)from, (void)to;
    memset(out, 0, ARCH_JUMP);
    return false;
}

void displace_far_jump(uintptr_t to, uint8_t *out)
{
    (void)to;
    memset(out, 0, DISPLACE_FAR_JUMP);
}
