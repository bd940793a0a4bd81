/* signal_words.c - describes a fatal signal in words; described in faults.h. */
#include "symbolize/faults/faults.h"

#include "leak_cpu.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/model/model.h"
#include "common/base/term_text.h"

#define NULL_PAGE                                                                                  \
    65536 /* addresses below this limit are never mapped: they come from a null pointer */
/* greatest distance in bytes at which a mapping near the address is named */
#define NEIGHBOUR (1 << 20)

/* Numbers of signals, and of causes (si_code), in Linux. */
enum { ILL = 4, TRAP = 5, ABRT = 6, BUS = 7, FPE = 8, SEGV = 11, SYS = 31 };
enum { BY_KERNEL = 0x80, BY_TKILL = -6, BY_QUEUE = -1 };

const char *signal_name(int32_t signal)
{
    switch (signal) {
    case ILL:
        return "SIGILL";
    case TRAP:
        return "SIGTRAP";
    case ABRT:
        return "SIGABRT";
    case BUS:
        return "SIGBUS";
    case FPE:
        return "SIGFPE";
    case SEGV:
        return "SIGSEGV";
    case SYS:
        return "SIGSYS";
    }
    return NULL;
}

static const char *access_word(uint32_t access)
{
    static const char *const words[] = {"access", "read", "write", "jump"};

    return words[access < 4 ? access : 0];
}

static const char *preposition(uint32_t access)
{
    return access == LEAK_ACCESS_READ ? "from" : "to";
}

static const char *segv_place(const struct leak_crash *crash)
{
    if (crash->address < NULL_PAGE)
        return "a null pointer";
    if (!crash->at.end)
        return "an unmapped address";
    if (!(crash->at.flags & (LEAK_MAPPING_READ | LEAK_MAPPING_WRITE | LEAK_MAPPING_EXECUTE)))
        return "memory without access";
    if (crash->access == LEAK_ACCESS_EXECUTE)
        return "memory that is no code";
    if (!(crash->at.flags & LEAK_MAPPING_WRITE))
        return "read-only memory";
    return "a forbidden address";
}

static const char *segv_words(struct arena *mem, const struct leak_crash *crash)
{
    const char *word = access_word(crash->access);

    if (!(crash->flags & LEAK_CRASH_HAS_ADDRESS))
        return "access to a non-canonical address: not a pointer";
    if (crash->flags & LEAK_CRASH_OVERFLOW)
        return arena_format(mem, "%s %s 0x%" PRIx64 ", just below the stack", word,
                            preposition(crash->access), crash->address);
    if (crash->address && crash->address < NULL_PAGE)
        return arena_format(mem, "%s %s 0x%" PRIx64 ", %s away from a null pointer", word,
                            preposition(crash->access), crash->address,
                            term_count(crash->address, "byte").text);
    return arena_format(mem, "%s %s %s, 0x%" PRIx64, word, preposition(crash->access),
                        segv_place(crash), crash->address);
}

static const char *bus_words(struct arena *mem, const struct leak_crash *crash)
{
    static const char *const words[] = {NULL,
                                        "unaligned access to",
                                        "access to",
                                        "hardware error at",
                                        "uncorrectable memory error at",
                                        "uncorrectable memory error at"};

    if (crash->code == 2 && crash->at.flags & LEAK_MAPPING_FILE)
        return arena_format(mem, "%s past the end of a mapped file, 0x%" PRIx64,
                            access_word(crash->access), crash->address);
    return arena_format(mem, "%s 0x%" PRIx64,
                        crash->code > 0 && crash->code < 6 ? words[crash->code] : "access to",
                        crash->address);
}

static const char *code_words(int32_t signal, int32_t code)
{
    static const char *const fpe[] = {"",
                                      "integer divided by zero",
                                      "integer overflow",
                                      "floating point divided by zero",
                                      "floating point overflow",
                                      "floating point underflow",
                                      "inexact floating point result",
                                      "invalid floating point operation",
                                      "subscript out of range"};
    static const char *const ill[] = {"",
                                      "illegal instruction",
                                      "illegal operand",
                                      "illegal addressing",
                                      "illegal trap",
                                      "privileged instruction",
                                      "privileged register",
                                      "coprocessor error",
                                      "internal stack error"};
    static const char *const trap[] = {"", "breakpoint", "single step", "branch",
                                       "hardware watchpoint"};

    if (signal == FPE)
        return code > 0 && code < 9 ? fpe[code] : "arithmetic error";
    if (signal == ILL)
        return code > 0 && code < 9 ? ill[code] : "illegal instruction";
    if (signal == TRAP)
        return code > 0 && code < 5 ? trap[code] : "breakpoint";
    if (signal == SYS)
        return "forbidden system call (seccomp)";
    return "abort";
}

const char *signal_cause(struct arena *mem, const struct leak_crash *crash, int32_t pid)
{
    if (crash->code <= 0 && crash->sender == pid)
        return crash->signal == ABRT ? "abort: raised by the program itself"
                                     : "raised by the program itself";
    if (crash->code == 0 || crash->code == BY_TKILL || crash->code == BY_QUEUE)
        return crash->sender ? arena_format(mem, "sent by process %" PRId32, crash->sender)
                             : "sent by a process outside of the container";
    if (crash->code < 0)
        return "sent by a timer, a message queue or asynchronous I/O";
    if (crash->signal == SEGV)
        return segv_words(mem, crash);
    if (crash->signal == BUS)
        return bus_words(mem, crash);
    return code_words(crash->signal, crash->code);
}

/* Names a mapping: "the stack of the main thread", "/lib/libm.so.6", "anonymous memory". */
static const char *mapping_words(const struct leak_crash_mapping *mapping)
{
    if (strcmp(mapping->path, "[stack]") == 0)
        return "the stack of the main thread";
    if (strcmp(mapping->path, "[heap]") == 0)
        return "the heap (brk)";
    return mapping->path[0] ? mapping->path : "anonymous memory";
}

static const char *inside_mapping(struct arena *mem, const struct leak_crash_mapping *at)
{
    bool code = at->flags & LEAK_MAPPING_EXECUTE, write = at->flags & LEAK_MAPPING_WRITE;
    const char *what = code ? "code of" : write ? "in" : "read-only data of";

    if (!(at->flags & (LEAK_MAPPING_READ | LEAK_MAPPING_WRITE | LEAK_MAPPING_EXECUTE)))
        return at->path[0] ? arena_format(mem, "a gap in %s", mapping_words(at))
                           : "memory without access: a guard page or reserved memory";
    return arena_format(mem, "%s %s", what, mapping_words(at));
}

static uint64_t saturating_distance(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

const char *signal_address_words(struct arena *mem, const struct leak_crash *crash)
{
    uint64_t address = crash->address;

    if (!(crash->flags & LEAK_CRASH_HAS_ADDRESS))
        return NULL;
    if (crash->flags & LEAK_CRASH_OVERFLOW)
        return arena_format(
            mem, "%s below the stack, which has %s",
            term_count(saturating_distance(address, crash->stack.start), "byte").text,
            term_size(crash->stack.end - crash->stack.start).text);
    if (address < NULL_PAGE)
        return "the page of the null pointer";
    if (crash->at.end)
        return inside_mapping(mem, &crash->at);
    if (crash->below.end && address - crash->below.end < NEIGHBOUR)
        return arena_format(mem, "%s past the end of %s",
                            term_count(address - crash->below.end, "byte").text,
                            mapping_words(&crash->below));
    if (crash->above.end && crash->above.start - address < NEIGHBOUR)
        return arena_format(mem, "%s before %s",
                            term_count(crash->above.start - address, "byte").text,
                            mapping_words(&crash->above));
    return "far from any memory";
}

const char *signal_register_name(uint32_t machine, uint32_t i)
{
    static const struct {
        uint32_t machine;
        const char *registers[LEAK_CRASH_REGISTERS + 1];
    } cpus[] = {
#define X(name, number, tls, ...) {number, {__VA_ARGS__, NULL}},
        LEAK_CPU_TABLE(X)
#undef X
    };

    for (size_t cpu = 0; cpu < sizeof(cpus) / sizeof(*cpus); cpu++)
        if (cpus[cpu].machine == machine && i < LEAK_CRASH_REGISTERS)
            return cpus[cpu].registers[i];
    return NULL;
}
