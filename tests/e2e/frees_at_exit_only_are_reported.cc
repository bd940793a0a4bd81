// Others of a lost block are freed when the program ends, by a destructor of a global object, by a handler of atexit or
// by a function that main calls: the report tells the first two from the last, and those of which only a part is.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// ENV: LIBLEAK_OPTIONS=free_stacks=all
// RUN: %leak %t
// RUN: %report --substitute-path=%S=e2e store/*.leak | tr '\n' '@' | sed -E 's/@ +(at|called) / \1 /g' | tr '@' '\n'
// EXPECT: ^ +(> )?others are freed in cache::.cache at .*:[0-9]+ \(all 9\), only at exit$
// EXPECT: ^ +(> )?others are freed in drop_all at .*:[0-9]+ \(all 9\), only at exit$
// EXPECT: ^ +(> )?others are freed in by_main, called by main at .*:[0-9]+ \(all 9\)$
// EXPECT: ^ +(> )?others are freed in by_main, called by main at .*:[0-9]+ \(44 % of 9\)$
// EXPECT: ^ +most are freed in drop_rest at .*:[0-9]+ \(56 % of 9\)$
// JSON: [getattr(hits(n)[0], "freed_at_exit", None) for n in ("for_cache", "for_handler", "for_main")] == [1, 1, None]
// JSON: 0.5 < hits("for_both")[0].freed_at_exit < 0.6

#include <cstdlib>

#define FAR __attribute__((noinline))
#define MAKE(name)                                                                                 \
    FAR static char *name()                                                                        \
    {                                                                                              \
        return static_cast<char *>(malloc(40));                                                    \
    }
MAKE(for_cache)
MAKE(for_handler)
MAKE(for_main)
MAKE(for_both)

struct cache {
    char *volatile block[9];
    FAR ~cache()
    {
        for (int i = 0; i < 9; i++)
            free(block[i]);
    }
};

static cache all;
static char *volatile late[9], *volatile both[9], *volatile early[9], *volatile lost;

FAR static void drop_all()
{
    for (int i = 0; i < 9; i++)
        free(late[i]);
}

FAR static void drop_rest()
{
    for (int i = 0; i < 5; i++)
        free(both[i]);
}

FAR static void by_main()
{
    for (int i = 0; i < 9; i++)
        free(early[i]);
    for (int i = 5; i < 9; i++)
        free(both[i]);
}

int main()
{
    for (int i = 0; i < 10; i++) {
        char *one = for_cache(), *two = for_handler(), *three = for_main(), *four = for_both();
        if (i == 9)
            break;
        all.block[i] = one;
        late[i] = two;
        early[i] = three;
        both[i] = four;
    }
    atexit(drop_all);
    atexit(drop_rest);
    by_main();
    lost = nullptr;
    return 0;
}
