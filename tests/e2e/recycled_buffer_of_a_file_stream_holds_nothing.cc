// The same for the buffer of a std::ofstream, which libstdc++ allocates with new char[].
// JSON: verdict("old") == {"lost": (4000, 4000 * 72)} and "lost" not in verdict("use")

#include "lib/verdicts.h"
#include <fstream>

FAR static void *old(void) { return opaque(malloc(72)); }
static void *volatile apart;
static std::ofstream out;

FAR static void recycle(void)
{
    void **all = (void **)opaque(malloc(4000 * sizeof *all));

    for (int i = 0; i < 4000; i++)
        all[i] = old();
    apart = malloc(64);
    free(all);
}

FAR static void use(void)
{
    out.open("/dev/null");
    out << 'x';
}

int main()
{
    recycle();
    use();
    scrub();
    return 0;
}
