// What threads allocate under a tag counts for that tag and no other, to the byte: nested, in scopes of C++, left by
// an exception, reallocated, freed by another thread; with call stacks and without. The stack stays one record.
// RUN: export LIBLEAK_OPTIONS; for how in exit_look=off exit_look=off:site_stacks=off exit_look=off:depth=1 exit_look=off:free_stacks=all; do LIBLEAK_OPTIONS=$how; rm -f store/*; echo "$how told: "$(%leak %t); echo "$how shown: "$(%report --by=tag store/*.leak | awk '/ (mesh|texture)$/ { print $6, $3, $4 }'); done
// RUN: rm -f store/*; LIBLEAK_OPTIONS=exit_look=off; %leak %t >told
// EXPECT: ^exit_look=off told: mesh 0 24040 in 6001 texture 0 400007 in 4001 none -1 0 in 0 beyond -1$
// EXPECT: ^exit_look=off shown: texture 400,007 4,001 mesh 24,040 6,001$
// EXPECT: ^exit_look=off:site_stacks=off told: mesh 0 24040 in 6001 texture 0 400007 in 4001 none -1 0 in 0 beyond -1$
// EXPECT: ^exit_look=off:site_stacks=off shown: texture 400,007 4,001 mesh 24,040 6,001$
// EXPECT: ^exit_look=off:depth=1 told: mesh 0 24040 in 6001 texture 0 400007 in 4001 none -1 0 in 0 beyond -1$
// EXPECT: ^exit_look=off:depth=1 shown: texture 400,007 4,001 mesh 24,040 6,001$
// EXPECT: ^exit_look=off:free_stacks=all told: mesh 0 24040 in 6001 texture 0 400007 in 4001 none -1 0 in 0 beyond -1$
// EXPECT: ^exit_look=off:free_stacks=all shown: texture 400,007 4,001 mesh 24,040 6,001$
// JSON: {t.name: (t.blocks, t.bytes) for t in one("work").tags} == {"mesh": (6000, 24000), "texture": (4000, 400000)}
// JSON: (one("work").blocks, one("work").bytes) == (14000, 436000) and len(set(sig("work"))) == 1
// JSON: {t.name: (t.blocks, t.bytes) for t in one("grows_into_a_mesh").tags} == {"mesh": (1, 40)}
// JSON: one("grows_out_of_a_texture").tags == [] and one("grows_out_of_a_texture").bytes == 80
// JSON: {t.name: (t.blocks, t.bytes) for t in one("throws").tags} == {"texture": (1, 7)}

#include "../../include/libleak.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS 1000
#define KEEP(pointer) (*(void *volatile *)&sink = (pointer))

static void *sink, *meshes[THREADS][ROUNDS];

/* One place, whatever the tag. */
__attribute__((noinline)) static void *make(size_t size)
{
    void *made = malloc(size);
    KEEP(made);
    return made;
}

__attribute__((noinline)) static void *work(void *places)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int step = 0; step < 4; step++) {
            if (step == 0)
                LIBLEAK_TAG_PUSH("mesh");
            if (step == 1)
                LIBLEAK_TAG_PUSH("texture");
            if (step == 2)
                LIBLEAK_TAG_POP();
            if (step == 3)
                LIBLEAK_TAG_POP();
            void *made = make((size_t[]){10, 100, 1, 3}[step]);
            if (step == 0)
                ((void **)places)[i] = made;
        }
    return NULL;
}

__attribute__((noinline)) static void grows_into_a_mesh()
{
    void *block = malloc(20);
    LIBLEAK_TAG_SCOPE("mesh");
    KEEP(realloc(block, 40));
}

__attribute__((noinline)) static void grows_out_of_a_texture()
{
    void *block;
    {
        libleak::tag texture("texture");
        block = malloc(60);
    }
    KEEP(realloc(block, 80));
}

__attribute__((noinline)) static void throws()
{
    libleak::tag mesh("mesh");
    LIBLEAK_TAG_SCOPE("texture");
    KEEP(new char[7]);
    throw 1;
}

static void tell(const char *name)
{
    libleak_counts counts;
    int known = LIBLEAK_COUNT_TAG(name, &counts);
    printf("%s %d %lld in %lld\n", name, known, counts.live_bytes, counts.live_blocks);
}

int main()
{
    static char buffer[4096];
    pthread_t thread[THREADS];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, meshes[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < ROUNDS; k += 2)
            free(meshes[i][k]);
    grows_into_a_mesh();
    grows_out_of_a_texture();
    try {
        throws();
    } catch (int) {
    }
    tell("mesh");
    tell("texture");
    tell("none");
    printf("beyond %d\n", LIBLEAK_TAG_POP());
    return 0;
}
