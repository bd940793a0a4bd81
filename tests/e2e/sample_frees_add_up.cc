// sample=: whatever way blocks go, by whichever thread or process, what was freed leaves exactly nothing:
// no block, no byte, no error. Frees of blocks that were no samples are not "unknown".
// CFLAGS: -O1 -g -fno-builtin
// RUN: for n in 1 20 500 5000 524288; do LIBLEAK_OPTIONS=sample=$n; %leak %t || exit 1; done
// RUN: LIBLEAK_OPTIONS=sample=500:site_stacks=off; %leak %t
// RUN: LIBLEAK_OPTIONS=sample=500:max_memory=6m; %leak %t
// JSON: len(procs) == 14 and all(q.end.value == 0 for q in procs)
// JSON: all(of("churn", q).records == of("cross", q).records == of("parent", q).records == 0 for q in procs)
// JSON: all(q.coverage.unknown_frees == 0 for q in procs)
// JSON: all(120000 < q.totals.allocations < 180000 for q in procs[:8:2])
// JSON: all(r.verdict == "runtime" for q in procs for r in q.records if r.frames)

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <new>

enum { BLOCKS = 4000, ROUNDS = 20000, THREADS = 4 };
#define FAR __attribute__((noinline))

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

// Each way to get a block, with the way to give it back.
static FAR void *get(unsigned way, size_t size)
{
    void *block = nullptr;
    switch (way) {
    case 0: return malloc(size);
    case 1: return calloc(1, size);
    case 2: return realloc(nullptr, size);
    case 3: return realloc(malloc(size / 2 + 1), size + 1);
    case 4: return posix_memalign(&block, 64, size) ? nullptr : block;
    case 5: return aligned_alloc(16, (size + 15) & ~15ul);
    case 6: return operator new(size);
    case 7: return operator new[](size, std::nothrow);
    case 8: return operator new(size, std::align_val_t(128));
    default: return reallocarray(malloc(3), size + 1, 2);
    }
}
static FAR void give(unsigned way, void *block)
{
    switch (way) {
    case 6: return operator delete(block);
    case 7: return operator delete[](block, std::nothrow);
    case 8: return operator delete(block, std::align_val_t(128));
    case 9: // a chain, up and down
        for (int i = 1; i < 5; i++)
            block = realloc(block, 1000 * i % 3001 + 1);
    default: return free(block);
    }
}

static FAR void churn(uint64_t seed)
{
    struct place { void *block; unsigned way; } *heap = new place[BLOCKS]();
    for (int i = 0; i < ROUNDS; i++) {
        auto &one = heap[next(&seed) % BLOCKS];
        if (one.block)
            give(one.way, one.block);
        one.way = next(&seed) % 10;
        one.block = get(one.way, next(&seed) % (next(&seed) % 50 ? 200 : 20000));
    }
    for (int i = 0; i < BLOCKS; i++)
        if (heap[i].block)
            give(heap[i].way, heap[i].block);
    delete[] heap;
}

// Threads put blocks into one table and free what others put there.
static void *table[BLOCKS];
static FAR void *cross(void *seed)
{
    uint64_t state = (uintptr_t)seed;
    for (int i = 0; i < ROUNDS; i++) {
        void *mine = malloc(next(&state) % 300);
        free(__atomic_exchange_n(&table[next(&state) % BLOCKS], mine, __ATOMIC_ACQ_REL));
    }
    return nullptr;
}

static FAR void parent(void **kept)
{
    for (int i = 0; i < BLOCKS; i++)
        kept[i] = malloc(i % 700);
}

int main()
{
    static void *kept[BLOCKS];
    pthread_t threads[THREADS];
    churn(88172645463325252);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], nullptr, cross, (void *)(i + 77));
    for (auto thread : threads)
        pthread_join(thread, nullptr);
    for (void *block : table)
        free(block);
    parent(kept);
    pid_t child = fork(); // it frees what it inherited
    if (child == 0)
        churn(99);
    for (void *block : kept)
        free(block);
    churn(5);
    if (child == 0)
        return 0;
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
