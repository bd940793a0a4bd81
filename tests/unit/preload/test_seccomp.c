/* Does seccomp_run answer as the kernel does? Random filters, each installed in a child, judge random calls of a harmless
 * system call: the answer comes back as its errno. */
#include "unit.h"
#include "preload/base/seccomp.h"

#include "../../filter.h"

#include "leak_cpu.h"
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define JUDGED SYS_getpriority
#define FILTERS 400
#define CALLS 20
#define BODY 40 /* random instructions */

static uint64_t state;

static uint32_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static uint32_t below(uint32_t most)
{
    return next_random() % most;
}

/* Few values, so that comparisons are often equal. */
static uint32_t value(void)
{
    return below(3) ? below(9) : next_random();
}

static struct sock_filter random_instruction(unsigned left)
{
    static const uint16_t operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR, BPF_AND,
                                          BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
    static const uint16_t tests[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    uint16_t source = below(2) ? BPF_X : BPF_K, operation = operations[below(9)];
    bool shifts = operation == BPF_LSH || operation == BPF_RSH;

    switch (below(9)) {
    case 0: /* not the words 2 and 3, which are the address of the instruction */
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (below(14) + 4) % 16 * 4);
    case 1:
        return (struct sock_filter)BPF_STMT((below(2) ? BPF_LD : BPF_LDX) | BPF_IMM, value());
    case 2:
        return (struct sock_filter)BPF_STMT((below(2) ? BPF_LD : BPF_LDX) | BPF_MEM,
                                            below(BPF_MEMWORDS));
    case 3:
        return (struct sock_filter)BPF_STMT(below(2) ? BPF_ST : BPF_STX, below(BPF_MEMWORDS));
    case 4:
        return (struct sock_filter)BPF_STMT(BPF_MISC | (below(2) ? BPF_TAX : BPF_TXA), 0);
    case 5:
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
    case 6:
        return (struct sock_filter)BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 1 + value());
    case 7:
        return (struct sock_filter)BPF_JUMP(BPF_JMP | tests[below(4)] | source, value(),
                                            below(left), below(left));
    default:
        return (struct sock_filter)BPF_STMT(BPF_ALU | operation |
                                                (operation == BPF_NEG ? 0 : source),
                                            shifts ? below(32) : value());
    }
}

/* {judge one system call; allow the others}: the errno is made of what the body leaves in A. */
static unsigned random_filter(struct sock_filter *code)
{
    unsigned length = 0;
    code[length++] = (struct sock_filter)FILTER_LOAD(nr);
    code[length++] = (struct sock_filter)FILTER_UNLESS(JUDGED, BPF_MEMWORDS + BODY + 3);
    for (unsigned word = 0; word < BPF_MEMWORDS;
         word++) /* the kernel wants them written before they are read */
        code[length++] = (struct sock_filter)BPF_STMT(BPF_ST, word);
    for (unsigned i = 0; i < BODY; i++)
        code[length++] = random_instruction(BODY - i);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfff);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    code[length++] = (struct sock_filter)FILTER_RETURN(SECCOMP_RET_ALLOW);
    return length;
}

struct trial {
    bool installed;
    uint64_t argument[CALLS][6];
    uint32_t kernel[CALLS];
};

static void ask_kernel(struct trial *trial, struct sock_filter *code, unsigned length)
{
    pid_t child = fork();
    if (child == 0) {
        trial->installed = filter_set(code, length);
        for (unsigned i = 0; trial->installed && i < CALLS; i++) {
            uint64_t *a = trial->argument[i];
            trial->kernel[i] = -arch_syscall(JUDGED, a[0], a[1], a[2], a[3], a[4], a[5]);
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

START_TEST(random_filters_answer_as_in_the_kernel)
{
    struct trial *trial =
        mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned compared = 0, differing = 0;
    state = 2026;
    for (unsigned n = 0; n < FILTERS; n++) {
        struct sock_filter code[BPF_MEMWORDS + BODY + 8];
        unsigned length = random_filter(code);
        for (unsigned i = 0; i < CALLS * 6; i++)
            trial->argument[i / 6][i % 6] = (uint64_t)value() << 32 | value();
        ask_kernel(trial, code, length);
        for (unsigned i = 0; trial->installed && i < CALLS; i++) {
            struct seccomp_data call = {.nr = JUDGED, .arch = LEAK_CPU_AUDIT};
            memcpy(call.args, trial->argument[i], sizeof call.args);
            call.instruction_pointer = 0;
            uint32_t ours = seccomp_run(code, length, &call);
            differing += ours != (SECCOMP_RET_ERRNO | trial->kernel[i]);
            compared++;
        }
    }
    if (!compared)
        return UNIT_SKIP("no seccomp here (qemu-user)");
    ck_assert_uint_eq(differing, 0);
    ck_assert_uint_gt(compared, FILTERS * CALLS / 2);
}
END_TEST

START_TEST(code_that_the_kernel_refuses_kills)
{
    static const struct sock_filter bad[][1] = {
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 62)},
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data))},
        {BPF_STMT(BPF_ST, BPF_MEMWORDS)},
        {BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS)},
        {BPF_STMT(BPF_JMP | BPF_JA, 1000)},
        {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0)},
    };
    struct seccomp_data call = {.nr = JUDGED, .arch = LEAK_CPU_AUDIT};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        ck_assert_uint_eq(seccomp_run(bad[i], 1, &call), SECCOMP_RET_KILL_PROCESS);
    ck_assert_uint_eq(seccomp_run(NULL, 0, &call), SECCOMP_RET_KILL_PROCESS);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("seccomp");
    TCase *filters = tcase_create("filters");
    tcase_set_timeout(filters, 120);
    tcase_add_test(filters, random_filters_answer_as_in_the_kernel);
    tcase_add_test(filters, code_that_the_kernel_refuses_kills);
    suite_add_tcase(suite, filters);
    return unit_main(argc, argv, suite);
}
