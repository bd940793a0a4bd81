// Where a lost block was owned by another one that was freed, no caller that frees other blocks of its line is marked
// as the function to fix; the function that frees those others is told where it is not the one that freed the owner.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t owned; %report store/*.leak
// RUN: LIBLEAK_OPTIONS=free_stacks=all; %leak %t dropped
// EXPECT: ^     another block is freed in drop_all,$
// EXPECT: ^       the free is in drop_name,$
// EXPECT: ^ +it was owned by a block from make_user\(\), which was freed in drop_user( at .*)?$
// REFUSE: ^   >
// JSON: hits("make_name")[0].holder_freed.frames and len(hits("make_name")) == 1
// JSON: hits("make_name", procs[1])[0].holder_freed is None

#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))

struct user {
    long number[4];
    char *name;
};

FAR char *make_name(void) { return malloc(40); }
FAR struct user *make_user(void)
{
    struct user *user = malloc(sizeof *user);
    user->name = make_name();
    return user;
}
FAR void drop_name(struct user *user)
{
    free(user->name);
    user->name = NULL;
}
FAR void drop_user(struct user *user) { free(user); }
FAR void drop_all(struct user *one, struct user *other, int owned)
{
    drop_name(one);
    if (!owned)
        other->name = NULL;
    drop_user(one);
    drop_user(other);
}
FAR void work(int owned)
{
    struct user *users[2];
    for (volatile int i = 0; i < 2; i++)
        users[i] = make_user();
    drop_all(users[0], users[1], owned);
    memset(users, 0, sizeof users);
}

int main(int argc, char **argv)
{
    work(argc > 1 && strcmp(argv[1], "owned") == 0);
    return 0;
}
