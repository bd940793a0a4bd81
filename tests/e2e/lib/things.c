/* A library whose objects are created and destroyed; of each kind it has a static few, so that no block is in it. */
#include <stddef.h>

struct thing { int number; };
static struct thing things[100], gadgets[100];
static int thing_count, gadget_count, destroyed;

int thing_open(const char *name, struct thing **out)
{
    *out = name ? &things[thing_count++] : NULL;
    return name ? 0 : -1;
}

int thing_close(struct thing *thing) { return thing ? ++destroyed : -1; }

struct thing *gadget_new(int a, int b, int c, int d, int e, int f)
{
    return a + b + c + d + e + f == 21 ? &gadgets[gadget_count++] : NULL;
}

void gadget_free(int how, struct thing *gadget) { destroyed += gadget != NULL && how == 7; }
int things_destroyed(void) { return destroyed; }
