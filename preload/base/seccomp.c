#include "preload/base/seccomp.h"

#include <linux/seccomp.h>

struct machine {
    const struct seccomp_data *call;
    uint32_t a, x; /* the accumulator and the index register */
    uint32_t memory[BPF_MEMWORDS];
};

static bool compute(uint32_t *a, uint16_t operation, uint32_t by)
{
    switch (operation) {
    case BPF_ADD:
        *a += by;
        return true;
    case BPF_SUB:
        *a -= by;
        return true;
    case BPF_MUL:
        *a *= by;
        return true;
    case BPF_DIV:
        *a = by ? *a / by : 0;
        return by;
    case BPF_OR:
        *a |= by;
        return true;
    case BPF_AND:
        *a &= by;
        return true;
    case BPF_XOR:
        *a ^= by;
        return true;
    case BPF_LSH:
        *a <<= by % 32;
        return true;
    case BPF_RSH:
        *a >>= by % 32;
        return true;
    case BPF_NEG:
        *a = -*a;
        return true;
    default:
        return false;
    }
}

static bool is_taken(uint32_t a, uint16_t operation, uint32_t with)
{
    switch (operation) {
    case BPF_JEQ:
        return a == with;
    case BPF_JGT:
        return a > with;
    case BPF_JGE:
        return a >= with;
    default:
        return a & with; /* the operation BPF_JSET */
    }
}

/* Finds the word that a load instruction loads. False: the instruction names a word that does not
 * exist. */
static bool load_word(const struct machine *machine, const struct sock_filter *at, uint32_t *word)
{
    switch (BPF_MODE(at->code)) {
    case BPF_IMM:
        *word = at->k;
        return true;
    case BPF_LEN:
        *word = sizeof *machine->call;
        return true;
    case BPF_MEM:
        if (at->k < BPF_MEMWORDS)
            *word = machine->memory[at->k];
        return at->k < BPF_MEMWORDS;
    case BPF_ABS:
        if (at->k % sizeof *word || at->k + sizeof *word > sizeof *machine->call)
            return false;
        memcpy(word, (const char *)machine->call + at->k, sizeof *word);
        return true;
    default:
        return false;
    }
}

/* Executes an instruction that is neither a jump nor a return. False: the instruction is invalid. */
static bool execute(struct machine *machine, const struct sock_filter *at)
{
    uint32_t by = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;
    switch (BPF_CLASS(at->code)) {
    case BPF_LD:
        return load_word(machine, at, &machine->a);
    case BPF_LDX:
        return load_word(machine, at, &machine->x);
    case BPF_ST:
    case BPF_STX:
        if (at->k < BPF_MEMWORDS)
            machine->memory[at->k] = BPF_CLASS(at->code) == BPF_ST ? machine->a : machine->x;
        return at->k < BPF_MEMWORDS;
    case BPF_ALU:
        return compute(&machine->a, BPF_OP(at->code), by);
    default: /* BPF_MISC */
        if (BPF_MISCOP(at->code) == BPF_TAX)
            machine->x = machine->a;
        else
            machine->a = machine->x;
        return true;
    }
}

uint32_t seccomp_run(const struct sock_filter *code, unsigned count,
                     const struct seccomp_data *call)
{
    struct machine machine = {.call = call};
    /* The loop ends, because jumps of classic BPF lead forward only. */
    for (uint64_t next = 0; next < count;) {
        const struct sock_filter *at = &code[next++];
        if (BPF_CLASS(at->code) == BPF_RET)
            return BPF_RVAL(at->code) == BPF_A ? machine.a : at->k;
        if (at->code == (BPF_JMP | BPF_JA)) {
            next += at->k;
        } else if (BPF_CLASS(at->code) == BPF_JMP) {
            uint32_t with = BPF_SRC(at->code) == BPF_X ? machine.x : at->k;
            next += is_taken(machine.a, BPF_OP(at->code), with) ? at->jt : at->jf;
        } else if (!execute(&machine, at)) {
            break;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}
