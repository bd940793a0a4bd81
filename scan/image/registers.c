/* registers.c - see registers.h. */
#include "scan/image/registers.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "common/processes/traced_thread.h"

void registers_take_more(struct arena *mem, struct image_thread *thread, const uint8_t *bytes,
                         size_t size)
{
    size_t more = size / 8;
    uint64_t *words = arena_alloc_array(mem, thread->word_count + more, sizeof(*words));

    if (thread->word_count)
        memcpy(words, thread->words, thread->word_count * sizeof(*words));
    if (more)
        memcpy(words + thread->word_count, bytes, more * sizeof(*words));
    thread->words = words;
    thread->word_count += more;
}

#if defined(__x86_64__)

#define CALLS_MOST 1024 /* -1: in no call */

static bool is_call_of_malloc(uint64_t call)
{
    return call == SYS_futex || call == SYS_brk || call == SYS_mmap || call == SYS_munmap ||
           call == SYS_mremap || call == SYS_mprotect || call == SYS_madvise;
}

void registers_take_general(struct arena *mem, struct image_thread *thread, const uint8_t *bytes,
                            size_t size)
{
    struct user_regs_struct registers;

    if (size < sizeof(registers))
        return;
    memcpy(&registers, bytes, sizeof(registers));
    thread->sp = registers.rsp;
    thread->tls = registers.fs_base;
    thread->waits = registers.orig_rax < CALLS_MOST && !is_call_of_malloc(registers.orig_rax);
    registers_take_more(mem, thread, bytes, sizeof(registers));
}

void registers_take_tls(struct image_thread *thread, const uint8_t *bytes, size_t size)
{
    (void)thread;
    (void)bytes;
    (void)size;
}

#elif defined(__aarch64__)

void registers_take_general(struct arena *mem, struct image_thread *thread, const uint8_t *bytes,
                            size_t size)
{
    struct user_regs_struct registers;

    if (size < sizeof(registers))
        return;
    memcpy(&registers, bytes, sizeof(registers));
    thread->sp = registers.sp;
    registers_take_more(mem, thread, bytes, sizeof(registers));
}

void registers_take_tls(struct image_thread *thread, const uint8_t *bytes, size_t size)
{
    if (size >= 8)
        memcpy(&thread->tls, bytes, 8);
}

#elif defined(__riscv)

void registers_take_general(struct arena *mem, struct image_thread *thread, const uint8_t *bytes,
                            size_t size)
{
    uint64_t registers[32]; /* pc, x1 to x31 */

    if (size < sizeof(registers))
        return;
    memcpy(registers, bytes, sizeof(registers));
    thread->sp = registers[2];
    thread->tls = registers[4];
    registers_take_more(mem, thread, bytes, sizeof(registers));
}

void registers_take_tls(struct image_thread *thread, const uint8_t *bytes, size_t size)
{
    (void)thread;
    (void)bytes;
    (void)size;
}

#endif

bool registers_repeat_call(uint8_t *bytes, size_t size)
{
    struct user_regs_struct registers;

    if (size < sizeof(registers))
        return false;
    memcpy(&registers, bytes, sizeof(registers));
    if (!traced_thread_repeat_call(&registers))
        return false;
    memcpy(bytes, &registers, sizeof(registers));
    return true;
}
