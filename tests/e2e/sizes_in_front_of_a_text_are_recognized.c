// Single blocks that are held behind a header whose content proves it: strings of redis (length, capacity and
// type in front) and counted boxes of GLib (a magic number). One wrong field, and it is any pointer.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("sds_short") == {"reachable": (1, 24)} and one("sds_short").header is True
// JSON: verdict("sds_long") == {"reachable": (1, 1000)}
// JSON: verdict("sds_of_other_type") == {"possible": (1, 24)} and verdict("sds_without_end") == {"possible": (1, 24)}
// JSON: verdict("sds_too_small") == {"possible": (1, 100)} and verdict("cursor") == {"possible": (1, 24)}
// JSON: verdict("box") == {"reachable": (1, 96)} and verdict("no_box") == {"possible": (1, 96)}

#include "lib/verdicts.h"
#include <string.h>

static char *volatile held[8];
TAKE(sds_short, 24)
TAKE(sds_long, 1000)
TAKE(sds_of_other_type, 24)
TAKE(sds_without_end, 24)
TAKE(sds_too_small, 24 + 76)
TAKE(cursor, 24)
TAKE(box, 96)
TAKE(no_box, 96)

FAR static char *sds(char *block, unsigned width, size_t capacity, int type, const char *text)
{
    size_t length = strlen(text);
    memcpy(block, &length, width);
    memcpy(block + width, &capacity, width);
    block[2 * width] = (char)type;
    strcpy(block + 2 * width + 1, text);
    return block + 2 * width + 1;
}

FAR static char *boxed(size_t *block, unsigned magic)
{
    block[0] = 1;
    block[1] = 56;
    block[3] = magic;
    return (char *)(block + 4);
}

FAR static void fill(void)
{
    held[0] = sds(sds_short(), 1, 24 - 4, 1, "short");
    held[1] = sds(sds_long(), 2, 1000 - 6, 2, "a longer one");
    held[2] = sds(sds_of_other_type(), 1, 24 - 4, 2, "short");
    held[3] = sds(sds_without_end(), 1, 24 - 4, 1, "short");
    held[3][5] = '!';
    held[4] = sds(sds_too_small(), 1, 24 - 4, 1, "short");
    held[5] = strcpy(cursor(), "\"quoted\"") + 3;
    held[6] = boxed(box(), 0x44ae2bf0);
    held[7] = boxed(no_box(), 0x44ae2bf1);
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
