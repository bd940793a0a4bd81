// Where the function that frees other blocks freed the owner of the lost one, too, it is named with the line of that free,
// and not the function in between that both go through. Where another function freed the owner, the one in between is.
// CFLAGS: -O0 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report --color=never store/*.leak
// EXPECT: freed in close_session
// EXPECT: at [^ ]*frees_beside.*:29.*, below open_session$
// EXPECT: freed in drop_all
// EXPECT: called by open_query at
// REFUSE: freed in leave
// REFUSE: below open_query
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))

struct session {
    char filler[40];
    char *table;
    int keep;
};

FAR void *zeroed(size_t size)
{
    return memset(malloc(size), 0, size);
}
FAR void close_session(struct session *session)
{
    if (!session->keep)
        free(session->table); /* else it is forgotten */
    free(session);
}
FAR void leave(struct session *session)
{
    close_session(session);
}
FAR struct session *open_session(int keep)
{
    struct session *session = zeroed(sizeof(*session));
    session->table = zeroed(64);
    session->keep = keep;
    if (keep)
        return session;
    leave(session);
    return NULL;
}

struct query {
    char filler[50];
    char *text;
};
FAR void drop_text(char *text)
{
    free(text);
}
FAR void drop_all(struct query *query)
{
    drop_text(query->text);
    query->text = NULL;
}
FAR void drop_query(struct query *query)
{
    free(query); /* not its text */
}
FAR struct query *open_query(int keep)
{
    struct query *query = zeroed(sizeof(*query));
    query->text = zeroed(70);
    if (!keep)
        drop_all(query);
    return query;
}

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(void)
{
    for (int i = 0; i < 6; i++) {
        struct session *session = open_session(i % 2);

        if (session)
            leave(session);
        drop_query(open_query(i % 2));
    }
    scrub();
    return 0;
}
