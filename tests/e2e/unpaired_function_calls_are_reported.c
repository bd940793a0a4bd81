// The option pair=: an object that one function of a library creates and no other function destroys is reported with
// the stack of its creation; a destroyed one is not. Calls come from the program, bound at once or lazily, and from a
// plugin loaded later; without the option nothing is reported, and a pair that does not exist does no harm.
// NOBUILD:
// BUILD: gcc -w -O1 -g -shared -fPIC -o %d/libthings.so %S/lib/things.c
// BUILD: gcc -w -O1 -g -fno-optimize-sibling-calls -shared -fPIC -DPLUGIN -o %d/plugin.so %s -L%d -lthings -Wl,-rpath,%d
// BUILD: for o in now lazy; do gcc -w -D_GNU_SOURCE -O1 -g -fno-optimize-sibling-calls -Wl,-z,$o -Wl,-rpath,%d -o %d/$o %s -L%d -lthings; done
// RUN: export LIBLEAK_OPTIONS; for p in "pair='thing_open:arg1,thing_close;gadget_new,gadget_free:arg1'" "pair='thing_open:arg1,thing_close:arg0;missing_new,missing_free'" ''; do LIBLEAK_OPTIONS=$p; for o in now lazy; do mkdir -p $o.d; cp $o $o.d/t; %leak $o.d/t %d/plugin.so || exit; done; done
// RUN: LIBLEAK_OPTIONS="pair='thing_open,'"; %leak now.d/t %d/plugin.so
// EXPECT: bad value in 'pair=thing_open,'
// EXPECT: destroyed 40
// REFUSE: destroyed ([0-35-9]|4[1-9])
// JSON: len(procs) == 7 and all(q.end.value == 0 and not q.errors for q in procs)
// JSON: [(opened("keep_things", q), opened("keep_gadgets", q)) for q in procs] == [({"pair": 10}, {"pair": 6})] * 2 + [({"pair": 10}, {})] * 2 + [({}, {})] * 3
// JSON: [opened("of_plugin", q) for q in procs] == [{"pair": 8}] * 2 + [{"pair": 5}] * 2 + [{}] * 3
// JSON: all(opened("", q).get("pair", 0) == n for q, n in zip(procs, [16, 16, 10, 10, 0, 0, 0]))
// JSON: set(names("keep_things")) == {"thing_open"} and set(names("keep_gadgets")) == {"gadget_new"}

#include <dlfcn.h>
#include <stdio.h>

#define FAR __attribute__((noinline))
struct thing;
int thing_open(const char *, struct thing **), thing_close(struct thing *), things_destroyed(void);
struct thing *gadget_new(int, int, int, int, int, int);
void gadget_free(int, struct thing *);

static struct thing *made;
FAR void keep_things(void) { thing_open("kept", &made); }
FAR void keep_gadgets(void) { made = gadget_new(1, 2, 3, 4, 5, 6); }

FAR void all_of(int things, int gadgets)
{
    for (int i = 0; i < 10; i++) {
        thing_open("closed", &made);
        thing_close(made);
        thing_open(NULL, &made); /* creates nothing */
        gadget_free(7, gadget_new(1, 2, 3, 4, 5, 6));
        gadget_new(0, 2, 3, 4, 5, 6); /* nor does this */
    }
    while (things--)
        keep_things();
    while (gadgets--)
        keep_gadgets();
}

#ifdef PLUGIN
void of_plugin(void) { all_of(5, 3); }
#else
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);

    all_of(5, 3);
    ((void (*)(void))dlsym(plugin, "of_plugin"))();
    printf("destroyed %d\n", things_destroyed());
    return 0;
}
#endif
