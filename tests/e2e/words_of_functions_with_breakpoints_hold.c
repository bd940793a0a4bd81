// Hard case 3: a debugger or a tracer has put a breakpoint over the first byte of an instruction of a
// function on the stack. What follows is no instruction then, and the words that the function names are
// not known. libleak reads code on x86_64 alone.
// CFLAGS: -O0 -g
// CFLAGS: -O2 -g
// JSON: verdict("stored") == {"reachable": (1, 40)}
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"
#include <stdint.h>
#include <sys/mman.h>

TAKE(stored, 40)

static struct pair {
    void *nothing, *block;
} pair;

/* Stores the pair in its frame, and calls the function. */
void keep_pair(struct pair *pair, void (*function)(void));
#ifdef __x86_64__
extern unsigned char store_pair[];
__asm__(".text\n"
        ".globl keep_pair\n"
        ".type keep_pair, @function\n"
        "keep_pair:\n"
        ".cfi_startproc\n"
        "sub $0x28, %rsp\n"
        ".cfi_adjust_cfa_offset 0x28\n"
        "movups (%rdi), %xmm0\n"
        ".globl store_pair\n"
        "store_pair:\n"
        "movaps %xmm0, 0x10(%rsp)\n" /* without its first byte: sub %eax, 0x10(%rsp) */
        "call *%rsi\n"
        "add $0x28, %rsp\n"
        ".cfi_adjust_cfa_offset -0x28\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size keep_pair, .-keep_pair\n");

static void set_breakpoint(void)
{
    char *page = (char *)((uintptr_t)store_pair & -(uintptr_t)4096);

    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    *store_pair = 0xcc; /* int3 */
}
#else
void keep_pair(struct pair *pair, void (*function)(void))
{
    struct pair kept = *pair;

    opaque(&kept);
    function();
    opaque(&kept);
}

static void set_breakpoint(void)
{
}
#endif

static void (*volatile leave)(int) = exit; /* the compiler does not know that it never returns */

FAR static void finish(void)
{
    pair.block = NULL;
    set_breakpoint();
    opaque(NULL);
    leave(0);
}

FAR static void take(void)
{
    pair.block = stored();
    opaque(NULL);
}

int main(int count, char **arguments)
{
    char room[16 * count];

    opaque(room);
    opaque(arguments);
    take();
    keep_pair(&pair, finish);
}
