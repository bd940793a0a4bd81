/* asks.c - calls every function of libleak.h by its alias, in C99 and in C++; for api.t. It prints the
 * answers, and leaks 77 bytes. */
#include <libleak.h>
#include <stdio.h>
#include <stdlib.h>
static void *volatile sink;
static char region[64], arena[256] __attribute__((aligned(16)));
static void lose(size_t size)
{
    sink = malloc(size);
    sink = NULL;
}
static void farewell(void)
{
    puts("farewell");
}
static void failed(const char *file, int line, long blocks)
{
    printf("failed %d %d %ld\n", file != NULL, line, blocks);
}
static int shown(const char *line, void *context)
{
    printf("shown %d\n", line != NULL && context == NULL);
    return 1;
}
static void quietly(size_t size)
{
    LIBLEAK_DISABLED_SCOPE();
    if (size > 2000) {
        lose(size);
        return;
    }
    lose(size);
}
static void under_a_tag(const char *name, long long bytes)
{
    struct libleak_counts counts;
    LIBLEAK_TAG_SCOPE("scope");
    int pushed = LIBLEAK_TAG_PUSH(name);
    sink = malloc(10), free(sink), sink = NULL;
    int counted = LIBLEAK_COUNT_TAG(name, &counts);
    printf("tags %d %d %d %d\n", pushed, counted, LIBLEAK_TAG_POP(),
           counts.allocated_bytes == bytes);
}
int main(void)
{
    long lost = LIBLEAK_SNAPSHOT();
    printf("calls %d %d %d\n", lost == 0, LIBLEAK_MARK("one"), LIBLEAK_AT_REPORT(farewell));
    LIBLEAK_MARK("unused"), LIBLEAK_SNAPSHOT(), LIBLEAK_SNAPSHOT_GRAPH("graph");
    if ((LIBLEAK_VERSION() != NULL) != (lost >= 0))
        printf("version\n");
    struct libleak_counts all, mine;
    printf("counts %d %d\n", LIBLEAK_COUNT(&all), LIBLEAK_COUNT_THREAD(&mine));
    if (all.live_blocks != all.allocations - all.frees || mine.allocations > all.allocations)
        printf("differ\n");
    LIBLEAK_DISABLE_THREAD();
    lose(1000);
    LIBLEAK_ENABLE_THREAD();
    LIBLEAK_DISABLE_ALL();
    lose(1001);
    LIBLEAK_ENABLE_ALL();
    quietly(1002);
    quietly(3003);
    printf("reports %d %d\n", LIBLEAK_REPORT("now") != 0, LIBLEAK_REPORT_THREAD("now") != 0);
    under_a_tag("mesh", lost < 0 ? 0 : 10);
    printf("beyond %d\n", LIBLEAK_TAG_POP());
    char depth[8];
    int set = LIBLEAK_SET_OPTION("depth", "50"),
        get = LIBLEAK_GET_OPTION("depth", depth, sizeof depth);
    printf("options %d %d %s\n", set, get, depth);
    unsigned long moment = LIBLEAK_MOMENT();
    printf("moment %d %d\n", moment != 0, LIBLEAK_LOST_SINCE(moment) >= 0);
    LIBLEAK_AT_EXPECT_FAILED(failed);
    LIBLEAK_EXPECT_FAILED("file", 1, 2L);
    libleak_expect_no_leaks printf("once\n");
    libleak_expect_no_leaks
    {
        LIBLEAK_AT_EXPECT_FAILED(NULL);
    }
    LIBLEAK_SET_REPORT_HOOK(shown, NULL);
    void *ignored = malloc(2000);
    printf("known %d %d\n", LIBLEAK_IGNORE(ignored), LIBLEAK_MARK_REPORTED());
    ignored = NULL;
    LIBLEAK_ADD_ROOT(region, sizeof region);
    LIBLEAK_REMOVE_ROOT(region, sizeof region);
    LIBLEAK_BACKTRACE_FD(NULL, 2);
    LIBLEAK_BLOCK_NEW(arena, 16);
    LIBLEAK_BLOCK_RESIZE(arena, 32);
    LIBLEAK_BLOCK_GONE(arena);
    LIBLEAK_POOL_CREATE(region, "region");
    LIBLEAK_POOL_ALLOC(region, arena + 32, 16);
    LIBLEAK_POOL_ALLOC(region, arena + 64, 16);
    LIBLEAK_POOL_CHANGE(region, arena + 64, arena + 96, 8);
    LIBLEAK_POOL_MOVE(region, arena);
    LIBLEAK_POOL_FREE(arena, arena + 96);
    LIBLEAK_POOL_TRIM(arena, arena, 16);
    printf("pools %d %d\n", LIBLEAK_POOL_EXISTS(region), LIBLEAK_POOL_EXISTS(arena));
    LIBLEAK_POOL_DESTROY(arena);
    struct libleak_findings found;
    int looked = LIBLEAK_FOUND(&found);
    printf("found %d %d\n", looked, found.reachable_blocks > 0);
#ifdef __cplusplus
    {
        libleak::disabled quiet;
        libleak::tag tag("object");
        libleak::root root(region, sizeof region);
        lose(1004);
    }
#endif
    lose(77);
    if (lost >= 0)
        printf("answers\n");
    return 0;
}
