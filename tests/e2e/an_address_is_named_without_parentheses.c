// A place without symbol is written as module and offset, without the () of a function, also where the report names an owner;
// a function has them (holders_that_were_freed_are_named).
// CFLAGS: -O1 -fno-builtin -fno-optimize-sibling-calls
// AFTER: strip %t
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^ +it was owned by a block from [^ ]+\+0x[0-9a-f]+, which was freed in
// REFUSE: 0x[0-9a-f]+\(\)

#include <stdlib.h>

#define FAR __attribute__((noinline))

FAR static char *make_name(void)
{
    return malloc(40);
}

FAR static char **make_user(void)
{
    char **user = malloc(sizeof *user);
    *user = make_name();
    return user;
}

FAR static void drop_user(char **user)
{
    free(user);
}

int main(void)
{
    for (int i = 0; i < 30; i++)
        drop_user(make_user());
    return 0;
}
